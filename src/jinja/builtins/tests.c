/* tests.c - what stands after `is`. */
#include "jinja/builtins/util.h"

#define ANSWER(yes)                                                                                \
    do {                                                                                           \
        (void)vm;                                                                                  \
        (void)self;                                                                                \
        (void)args;                                                                                \
        *ret = td_bool(yes);                                                                       \
        return TD_OK;                                                                              \
    } while (0)

#define TEST_OF(name, yes)                                                                         \
    td_code jj_t_##name(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)              \
    {                                                                                              \
        ANSWER(yes);                                                                               \
    }

TEST_OF(defined, self.tag != TD_V_UNDEFINED)
TEST_OF(undefined, self.tag == TD_V_UNDEFINED)
TEST_OF(none, self.tag == TD_V_NONE)
TEST_OF(boolean, self.tag == TD_V_BOOL)
TEST_OF(true, self.tag == TD_V_BOOL && self.as.integer != 0)
TEST_OF(false, self.tag == TD_V_BOOL && self.as.integer == 0)
TEST_OF(integer, self.tag == TD_V_INT || self.tag == TD_V_BIGINT)
TEST_OF(float, self.tag == TD_V_FLOAT)
TEST_OF(number, jj_is_number(self) || jj_is_complex(self))
TEST_OF(string, self.tag == TD_V_STR)
TEST_OF(mapping, self.tag == TD_V_DICT)
TEST_OF(escaped, jj_is_markup(self))
TEST_OF(iterable, jj_is_iterable(self))
TEST_OF(callable, self.tag == TD_V_UNDEFINED || jj_is_callable(self))

td_code jj_t_sequence(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    switch ((td_vtag)self.tag) {
    case TD_V_UNDEFINED:
    case TD_V_STR:
    case TD_V_LIST:
    case TD_V_TUPLE:
    case TD_V_DICT:
        ANSWER(true);
    case TD_V_OBJECT:
        ANSWER(self.as.object->type->length != NULL && self.as.object->type->getitem != NULL);
    default:
        ANSWER(false);
    }
}

/* self % by == remainder, with Python's % (so also the text formatting one). */
static td_code remainder_is(jj_vm *vm, td_value self, td_value by, int64_t remainder,
                            td_value *ret)
{
    td_value left;
    bool equal;
    TD_TRY(jj_binop(vm, JJ_MOD, self, by, &left));
    TD_TRY(jj_eq(vm, left, td_int(remainder), &equal));
    *ret = td_bool(equal);
    return TD_OK;
}

td_code jj_t_odd(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return remainder_is(vm, self, td_int(2), 1, ret);
}

td_code jj_t_even(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return remainder_is(vm, self, td_int(2), 0, ret);
}

td_code jj_t_divisibleby(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return remainder_is(vm, self, args->pos[0], 0, ret);
}

/* ---- comparisons ---- */

td_code jj_t_eq(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(jj_eq(vm, self, args->pos[0], &yes));
    ANSWER(yes);
}

td_code jj_t_ne(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(jj_eq(vm, self, args->pos[0], &yes));
    ANSWER(!yes);
}

td_code jj_t_lt(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(jj_less(vm, self, args->pos[0], &yes));
    ANSWER(yes);
}

td_code jj_t_gt(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(jj_less(vm, args->pos[0], self, &yes));
    ANSWER(yes);
}

/* a <= b: less raises where Python does; equality then differs from "not b < a" for NaN only. */
static td_code at_most(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    TD_TRY(jj_less(vm, a, b, ret));
    return *ret ? TD_OK : jj_eq(vm, a, b, ret);
}

td_code jj_t_le(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(at_most(vm, self, args->pos[0], &yes));
    ANSWER(yes);
}

td_code jj_t_ge(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(at_most(vm, args->pos[0], self, &yes));
    ANSWER(yes);
}

td_code jj_t_in(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool yes;
    TD_TRY(jj_contains(vm, self, args->pos[0], &yes));
    ANSWER(yes);
}

/* Keys of one request: its reader makes equal ones one object, as json.loads does. */
static bool both_json_keys(td_value a, td_value b)
{
    return (a.flags & b.flags & TD_VF_JSON_KEY) != 0;
}

/* Identity as far as values without an identity have one: the same bits. Small ints, bools, none
 * and one-character Latin-1 texts are singletons in Python; other equal numbers count as the same
 * here, equal texts only when they are the same bytes in memory. */
static bool same(td_value a, td_value b)
{
    if (a.tag != b.tag)
        return false;
    if (a.tag == TD_V_STR) {
        if ((a.flags & TD_VF_MARKUP) != (b.flags & TD_VF_MARKUP) || a.len != b.len)
            return false;
        if (a.as.str == b.as.str || (a.len == 0 && !jj_is_markup(a)))
            return true;
        if (both_json_keys(a, b) && !jj_is_markup(a))
            return memcmp(a.as.str, b.as.str, a.len) == 0;
        bool single = a.len == 1 || (a.len == 2 && (unsigned char)a.as.str[0] <= 0xC3);
        return single && !jj_is_markup(a) && memcmp(a.as.str, b.as.str, a.len) == 0;
    }
    if (a.tag == TD_V_UNDEFINED || a.tag == TD_V_NONE) /* each lookup makes its own undefined */
        return a.tag == TD_V_NONE;
    if ((a.tag == TD_V_LIST || a.tag == TD_V_TUPLE) && a.len != b.len)
        return false;
    return a.as.integer == b.as.integer;
}

TEST_OF(sameas, same(self, args->pos[0]))

/* ---- text ---- */

td_code jj_t_lower(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_islower(vm, self, args, ret);
}

td_code jj_t_upper(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_isupper(vm, self, args, ret);
}

td_code jj_t_filter(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_hashable(vm, self));
    ANSWER(self.tag == TD_V_STR && jj_find_filter(td_as_str(self)) != NULL);
}

td_code jj_t_test(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_hashable(vm, self));
    ANSWER(self.tag == TD_V_STR && jj_find_test(td_as_str(self)) != NULL);
}

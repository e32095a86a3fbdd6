/* value_cmp.c - Python's comparisons and "in". Equality never fails, order between kinds does. */
#include <math.h>

#include "base/str.h"
#include "jinja/vm_internal.h"
#include "value/bigint.h"

static bool is_number(td_value v)
{
    return v.tag == TD_V_BOOL || v.tag == TD_V_INT || v.tag == TD_V_BIGINT ||
           v.tag == TD_V_FLOAT;
}

/* What comparing two long texts costs. */
static td_code charge_texts(jj_vm *vm, size_t bytes)
{
    return bytes < JJ_LONG_TEXT ? TD_OK : jj_charge(vm, bytes / 256);
}

/* ---- equality ---- */

static td_code items_eq(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    *ret = a.len == b.len;
    if (a.as.items == b.as.items) /* items are compared by identity first */
        return TD_OK;
    if (*ret)
        TD_TRY(jj_charge(vm, a.len / 16));
    for (uint32_t i = 0; *ret && i < a.len; i++)
        TD_TRY(jj_eq(vm, a.as.items[i], b.as.items[i], ret));
    return TD_OK;
}

static td_code dicts_eq(jj_vm *vm, const td_dict *a, const td_dict *b, bool *ret)
{
    *ret = a->count == b->count;
    if (a == b)
        return TD_OK;
    if (*ret)
        TD_TRY(jj_charge(vm, a->count / 16));
    for (uint32_t i = 0; *ret && i < a->count; i++) {
        const td_value *other = td_dict_get(b, a->entries[i].key);
        *ret = other != NULL;
        if (*ret)
            TD_TRY(jj_eq(vm, a->entries[i].val, *other, ret));
    }
    return TD_OK;
}

static td_code objects_eq(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    if (a.tag == TD_V_OBJECT && a.as.object->type->eq != NULL)
        return a.as.object->type->eq(vm, a.as.object, b, ret);
    if (b.tag == TD_V_OBJECT && b.as.object->type->eq != NULL)
        return b.as.object->type->eq(vm, b.as.object, a, ret);
    *ret = a.tag == b.tag && a.as.object == b.as.object;
    return TD_OK;
}

td_code jj_eq(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    td_code code;
    if (a.tag == TD_V_OBJECT || b.tag == TD_V_OBJECT)
        return objects_eq(vm, a, b, ret);
    if (a.tag == b.tag && (a.tag == TD_V_LIST || a.tag == TD_V_TUPLE || a.tag == TD_V_DICT)) {
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_enter(vm));
        code = a.tag == TD_V_DICT ? dicts_eq(vm, a.as.dict, b.as.dict, ret)
                                  : items_eq(vm, a, b, ret);
        jj_leave(vm);
        return code;
    }
    if (td_is_str(a) && td_is_str(b) && a.len == b.len)
        TD_TRY(charge_texts(vm, a.len));
    if (a.tag == TD_V_UNDEFINED || b.tag == TD_V_UNDEFINED)
        *ret = a.tag == b.tag;
    else
        *ret = td_value_eq(a, b);
    return TD_OK;
}

/* ---- order ---- */

static int cmp_int64_double(int64_t i, double d)
{
    if (isnan(d))
        return 2;
    if (d >= 9223372036854775808.0)
        return -1;
    if (d < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)d;
    if (i != whole)
        return i < whole ? -1 : 1;
    double rest = d - (double)whole;
    return rest > 0 ? -1 : rest < 0 ? 1 : 0;
}

static int cmp_int_float(td_value i, double d)
{
    return i.tag == TD_V_BIGINT ? td_bigint_cmp_double(i.as.bigint, d)
                                : cmp_int64_double(i.as.integer, d);
}

/* <0, 0, >0, or 2 when one is not a number. */
static int cmp_numbers(td_value a, td_value b)
{
    int r;
    if (a.tag == TD_V_FLOAT && b.tag == TD_V_FLOAT) {
        double x = a.as.real, y = b.as.real;
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    if (b.tag == TD_V_FLOAT)
        return cmp_int_float(a, b.as.real);
    if (a.tag == TD_V_FLOAT) {
        r = cmp_int_float(b, a.as.real);
        return r == 2 ? 2 : -r;
    }
    bool big_a = a.tag == TD_V_BIGINT, big_b = b.tag == TD_V_BIGINT;
    if (big_a && big_b)
        return td_bigint_cmp(a.as.bigint, b.as.bigint);
    if (big_a)
        return a.as.bigint->negative ? -1 : 1;
    if (big_b)
        return b.as.bigint->negative ? 1 : -1;
    return (a.as.integer > b.as.integer) - (a.as.integer < b.as.integer);
}

static bool holds(jj_cmp op, int order)
{
    switch (op) {
    case JJ_LT: return order < 0;
    case JJ_LE: return order <= 0;
    case JJ_GT: return order > 0 && order != 2;
    default: return order >= 0 && order != 2;
    }
}

static td_code not_ordered(jj_vm *vm, jj_cmp op, td_value a, td_value b)
{
    static const char *const names[] = { "==", "!=", "<", "<=", ">", ">=" };
    if (a.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, a);
    if (b.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, b);
    return jj_raise(vm, JJ_TYPE_ERROR,
                    "'%s' not supported between instances of '%s' and '%s'", names[op],
                    jj_type_name(a), jj_type_name(b));
}

static td_code order(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret);

/* The first items that differ decide, else the lengths. */
static td_code order_items(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret)
{
    uint32_t n = a.len < b.len ? a.len : b.len;
    TD_TRY(jj_charge(vm, n / 16));
    for (uint32_t i = 0; i < n; i++) {
        bool same;
        TD_TRY(jj_eq(vm, a.as.items[i], b.as.items[i], &same));
        if (!same)
            return order(vm, op, a.as.items[i], b.as.items[i], ret);
    }
    *ret = holds(op, (a.len > b.len) - (a.len < b.len));
    return TD_OK;
}

static td_code order_objects(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret)
{
    bool done = false, swapped = op == JJ_GT || op == JJ_GE;
    bool or_equal = op == JJ_LE || op == JJ_GE;
    td_value x = swapped ? b : a, y = swapped ? a : b;
    if (x.tag == TD_V_OBJECT && x.as.object->type->less != NULL)
        TD_TRY(x.as.object->type->less(vm, x, y, or_equal, ret, &done));
    if (!done && y.tag == TD_V_OBJECT && y.as.object->type->less != NULL)
        TD_TRY(y.as.object->type->less(vm, x, y, or_equal, ret, &done));
    return done ? TD_OK : not_ordered(vm, op, a, b);
}

static td_code order(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret)
{
    if (is_number(a) && is_number(b)) {
        *ret = holds(op, cmp_numbers(a, b));
        return TD_OK;
    }
    if (td_is_str(a) && td_is_str(b)) {
        TD_TRY(charge_texts(vm, a.len < b.len ? a.len : b.len));
        *ret = holds(op, td_str_cmp(td_as_str(a), td_as_str(b)));
        return TD_OK;
    }
    if (a.tag == b.tag && (a.tag == TD_V_LIST || a.tag == TD_V_TUPLE)) {
        TD_TRY(jj_enter(vm));
        td_code code = order_items(vm, op, a, b, ret);
        jj_leave(vm);
        return code;
    }
    if (a.tag == TD_V_OBJECT || b.tag == TD_V_OBJECT)
        return order_objects(vm, op, a, b, ret);
    return not_ordered(vm, op, a, b);
}

td_code jj_less(jj_vm *vm, td_value a, td_value b, bool *ret)
{
    return order(vm, JJ_LT, a, b, ret);
}

/* ---- in ---- */

static td_code contains_by_iteration(jj_vm *vm, td_value needle, td_value haystack, bool *ret)
{
    jj_iter it;
    TD_TRY(jj_iter_init(vm, haystack, &it));
    for (;;) {
        td_value item;
        bool more;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        *ret = false;
        if (!more)
            return TD_OK;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_eq(vm, needle, item, ret));
        if (*ret)
            return TD_OK;
    }
}

td_code jj_contains(jj_vm *vm, td_value needle, td_value haystack, bool *ret)
{
    switch (haystack.tag) {
    case TD_V_STR:
        if (!td_is_str(needle))
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "'in <string>' requires string as left operand, not %s",
                            jj_type_name(needle));
        TD_TRY(charge_texts(vm, haystack.len));
        *ret = td_str_find(td_as_str(haystack), td_as_str(needle), 0) != TD_NOT_FOUND;
        return TD_OK;
    case TD_V_LIST:
    case TD_V_TUPLE:
        *ret = false;
        TD_TRY(jj_charge(vm, haystack.len / 16));
        for (uint32_t i = 0; !*ret && i < haystack.len; i++)
            TD_TRY(jj_eq(vm, needle, haystack.as.items[i], ret));
        return TD_OK;
    case TD_V_DICT:
        TD_TRY(jj_hashable(vm, needle));
        *ret = td_dict_get(haystack.as.dict, needle) != NULL;
        return TD_OK;
    case TD_V_UNDEFINED:
        *ret = false;
        return TD_OK;
    case TD_V_OBJECT:
        if (haystack.as.object->type->contains != NULL)
            return haystack.as.object->type->contains(vm, haystack.as.object, needle, ret);
        if (jj_is_iterable(haystack))
            return contains_by_iteration(vm, needle, haystack, ret);
        break;
    default:
        break;
    }
    return jj_raise(vm, JJ_TYPE_ERROR, "argument of type '%s' is not iterable",
                    jj_type_name(haystack));
}

td_code jj_compare(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret)
{
    switch (op) {
    case JJ_EQ:
    case JJ_NE:
        TD_TRY(jj_eq(vm, a, b, ret));
        *ret = *ret == (op == JJ_EQ);
        return TD_OK;
    case JJ_IN:
    case JJ_NOT_IN:
        TD_TRY(jj_contains(vm, a, b, ret));
        *ret = *ret == (op == JJ_IN);
        return TD_OK;
    default:
        return order(vm, op, a, b, ret);
    }
}

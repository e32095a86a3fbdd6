/* methods_str_case.c - str methods about case and about classes of characters. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

static td_code mapped(jj_vm *vm, td_value self, td_code (*map)(td_buf *, td_str), td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    PUT(map(b, td_as_str(self)));
    return jj_take(vm, b, jj_is_markup(self), ret);
}

td_code jj_m_str_upper(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_upper, ret);
}

td_code jj_m_str_lower(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_lower, ret);
}

td_code jj_m_str_title(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_title, ret);
}

td_code jj_m_str_capitalize(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_capitalize, ret);
}

td_code jj_m_str_swapcase(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_swapcase, ret);
}

td_code jj_m_str_casefold(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return mapped(vm, self, td_py_casefold, ret);
}

/* ---- predicates ---- */

static td_code all(td_value self, bool (*is)(uint32_t), bool empty, td_value *ret)
{
    const char *p = self.as.str, *end = p + self.len;
    bool yes = self.len != 0 || empty;
    while (yes && p < end)
        yes = is(td_utf8_next(&p, end));
    *ret = td_bool(yes);
    return TD_OK;
}

#define PREDICATE(name, function, empty)                                                           \
    td_code jj_m_str_##name(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)          \
    {                                                                                              \
        (void)vm;                                                                                  \
        (void)args;                                                                                \
        return all(self, function, empty, ret);                                                    \
    }

static bool is_ascii(uint32_t c)
{
    return c < 0x80;
}

PREDICATE(isalnum, td_py_isalnum, false)
PREDICATE(isalpha, td_py_isalpha, false)
PREDICATE(isascii, is_ascii, true)
PREDICATE(isdecimal, td_py_isdecimal, false)
PREDICATE(isdigit, td_py_isdigit, false)
PREDICATE(isnumeric, td_py_isnumeric, false)
PREDICATE(isprintable, td_py_isprintable, true)
PREDICATE(isspace, td_py_isspace, false)

/* All cased characters have the case that is wanted, and there is one. */
static bool all_cased(td_value self, bool upper)
{
    bool cased = false;
    const char *p = self.as.str, *end = p + self.len;
    while (p < end) {
        uint32_t c = td_utf8_next(&p, end);
        if (td_py_istitle(c) || (upper ? td_py_islower(c) : td_py_isupper(c)))
            return false;
        cased |= upper ? td_py_isupper(c) : td_py_islower(c);
    }
    return cased;
}

td_code jj_m_str_isupper(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_bool(all_cased(self, true));
    return TD_OK;
}

td_code jj_m_str_islower(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_bool(all_cased(self, false));
    return TD_OK;
}

td_code jj_m_str_istitle(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    bool cased = false, previous = false, good = true;
    const char *p = self.as.str, *end = p + self.len;
    while (good && p < end) {
        uint32_t c = td_utf8_next(&p, end);
        if (td_py_isupper(c) || td_py_istitle(c)) {
            good = !previous;
            previous = cased = true;
        } else if (td_py_islower(c)) {
            good = previous;
            previous = cased = true;
        } else {
            previous = false;
        }
    }
    *ret = td_bool(good && cased);
    return TD_OK;
}

td_code jj_m_str_isidentifier(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    const char *p = self.as.str, *end = p + self.len, *second = p;
    bool good = p < end && (*p == '_' || td_py_is_id_start(td_utf8_next(&second, end)));
    while (good && p < end)
        good = td_py_is_id_continue(td_utf8_next(&p, end));
    *ret = td_bool(good);
    return TD_OK;
}

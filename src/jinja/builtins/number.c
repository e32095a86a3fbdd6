/* number.c - int() and float() of texts and floats, as CPython's constructors read them. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"
#include "value/bigint.h"
#include "value/number.h"

#include <math.h>

/* Longer texts are refused by int() in CPython, unless the base is a power of two. */
enum { INT_DIGITS_MAX = 4300 };

/* s stripped, with Unicode decimal digits as ASCII ones and other non-ASCII as '?', in arena. */
static td_code ascii_number(jj_vm *vm, td_str s, td_str *ret)
{
    s = td_py_strip(s);
    char *out = td_arena_alloc(jj_arena(vm), s.len + 1, 1);
    if (out == NULL)
        return jj_nomem(vm);
    size_t n = 0;
    for (const char *p = s.ptr, *end = s.ptr + s.len; p < end;) {
        uint32_t c = td_utf8_next(&p, end);
        int digit = c < 0x80 ? -1 : td_py_decimal_value(c);
        if (c < 0x80)
            out[n++] = (char)c;
        else
            out[n++] = digit >= 0 ? (char)('0' + digit) : td_py_isspace(c) ? ' ' : '?';
    }
    *ret = (td_str){ out, n };
    return TD_OK;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

/* The base that a prefix 0x, 0o, 0b tells; 0: none. */
static unsigned prefix_base(td_str s)
{
    if (s.len < 2 || s.ptr[0] != '0')
        return 0;
    switch (s.ptr[1]) {
    case 'x':
    case 'X':
        return 16;
    case 'o':
    case 'O':
        return 8;
    case 'b':
    case 'B':
        return 2;
    default:
        return 0;
    }
}

/* Takes the underscores out; false: one is not between two digits, or a character is no digit. */
static bool clean_digits(char *digits, size_t *len, unsigned base)
{
    size_t n = 0;
    bool last_was_digit = false;
    for (size_t i = 0; i < *len; i++) {
        if (digits[i] == '_') {
            if (!last_was_digit)
                return false;
            last_was_digit = false;
        } else {
            if (digit_value(digits[i]) >= (int)base)
                return false;
            digits[n++] = digits[i];
            last_was_digit = true;
        }
    }
    *len = n;
    return last_was_digit;
}

td_code jj_parse_int(jj_vm *vm, td_str text, int64_t base, td_value *ret, bool *ret_ok)
{
    td_str s;
    *ret_ok = false;
    if (base != 0 && (base < 2 || base > 36))
        return TD_OK;
    TD_TRY(ascii_number(vm, text, &s));
    bool negative = s.len != 0 && s.ptr[0] == '-';
    if (s.len != 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
        s = td_str_from_offset(s, 1);
    unsigned prefix = prefix_base(s), use = (unsigned)base;
    if (base == 0)
        use = prefix != 0 ? prefix : 10;
    if (prefix != 0 && prefix == use) {
        s = td_str_from_offset(s, 2);
        if (s.len != 0 && s.ptr[0] == '_') /* one underscore may follow the prefix */
            s = td_str_from_offset(s, 1);
    }
    char *digits = (char *)(uintptr_t)s.ptr; /* our own copy */
    if (!clean_digits(digits, &s.len, use))
        return TD_OK;
    if (base == 0 && prefix == 0 && s.len > 1 && s.ptr[0] == '0') {
        for (size_t i = 0; i < s.len; i++)
            if (s.ptr[i] != '0')
                return TD_OK;
    }
    if (s.len > INT_DIGITS_MAX && (use & (use - 1)) != 0)
        return TD_OK;
    TD_TRY(jj_charge(vm, (uint64_t)s.len * s.len / 4096));
    if (!td_bigint_parse(jj_arena(vm), s, use, ret))
        return jj_nomem(vm);
    *ret_ok = true;
    return negative ? jj_neg(vm, *ret, ret) : TD_OK;
}

static bool equals_fold(td_str s, const char *lower)
{
    size_t n = strlen(lower);
    if (s.len != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] + 32) : s.ptr[i];
        if (c != lower[i])
            return false;
    }
    return true;
}

/* Underscores only between digits; takes them out. */
static bool drop_underscores(char *s, size_t *len)
{
    size_t n = 0;
    for (size_t i = 0; i < *len; i++) {
        if (s[i] != '_') {
            s[n++] = s[i];
            continue;
        }
        bool before = i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9';
        bool after = i + 1 < *len && s[i + 1] >= '0' && s[i + 1] <= '9';
        if (!before || !after)
            return false;
    }
    *len = n;
    return true;
}

td_code jj_parse_float(jj_vm *vm, td_str text, double *ret, bool *ret_ok)
{
    td_str s;
    TD_TRY(ascii_number(vm, text, &s));
    bool negative = s.len != 0 && s.ptr[0] == '-';
    td_str body = s.len != 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? td_str_from_offset(s, 1) : s;
    *ret_ok = true;
    if (equals_fold(body, "inf") || equals_fold(body, "infinity")) {
        *ret = negative ? -(double)INFINITY : (double)INFINITY;
    } else if (equals_fold(body, "nan")) {
        *ret = negative ? -(double)NAN : (double)NAN;
    } else {
        /* in place is safe: a shift to the left over bytes that were read */
        char *digits = (char *)(uintptr_t)s.ptr;
        *ret_ok = drop_underscores(digits, &s.len) && td_float_parse(s, ret);
    }
    return TD_OK;
}

td_code jj_int_of_double(jj_vm *vm, double d, td_value *ret)
{
    if (isnan(d))
        return jj_raise(vm, JJ_VALUE_ERROR, "cannot convert float NaN to integer");
    if (isinf(d))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "cannot convert float infinity to integer");
    if (!td_bigint_from_double(jj_arena(vm), d, ret))
        return jj_nomem(vm);
    return TD_OK;
}

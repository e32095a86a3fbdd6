#include "aggregator/parse_number.h"

#include <math.h>

#include "base/buf.h"
#include "base/str.h"
#include "value/number.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static td_str trim(const char *text)
{
    td_str s = td_str_from(text);
    while (s.len != 0 && strchr(" \t\n\r\v\f", s.ptr[0]) != NULL) {
        s.ptr++;
        s.len--;
    }
    while (s.len != 0 && strchr(" \t\n\r\v\f", s.ptr[s.len - 1]) != NULL)
        s.len--;
    return s;
}

/* Copies s without its underscores; false when one does not stand between digits. */
static bool drop_underscores(td_str s, td_buf *out)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '_') {
            if (td_buf_byte(out, s.ptr[i]) != TD_OK)
                return false;
        } else if (i == 0 || i + 1 == s.len || !is_digit(s.ptr[i - 1]) ||
                   !is_digit(s.ptr[i + 1])) {
            return false;
        }
    }
    return out->len != 0;
}

static bool parse_digits(td_str s, int64_t *ret)
{
    bool negative = s.ptr[0] == '-';
    if (negative || s.ptr[0] == '+')
        s = td_str_from_offset(s, 1);
    uint64_t value = 0, max = (uint64_t)INT64_MAX + negative;
    for (size_t i = 0; i < s.len; i++) {
        if (!is_digit(s.ptr[i]))
            return false;
        uint64_t digit = (uint64_t)(s.ptr[i] - '0');
        value = value > (max - digit) / 10 ? max : value * 10 + digit;
    }
    *ret = negative ? (int64_t)(0 - value) : (int64_t)value;
    return s.len != 0;
}

bool td_parse_int(const char *text, int64_t *ret)
{
    td_buf digits = { 0 };
    bool ok = drop_underscores(trim(text), &digits) && parse_digits(td_buf_view(&digits), ret);
    td_buf_done(&digits);
    return ok;
}

static bool same_ignoring_case(td_str s, const char *lower)
{
    if (s.len != strlen(lower))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != lower[i])
            return false;
    }
    return true;
}

bool td_parse_float(const char *text, double *ret)
{
    td_str s = trim(text);
    td_str bare = s.len != 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? td_str_from_offset(s, 1) : s;
    if (same_ignoring_case(bare, "inf") || same_ignoring_case(bare, "infinity")) {
        *ret = s.ptr[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (same_ignoring_case(bare, "nan")) {
        *ret = (double)NAN;
        return true;
    }
    td_buf digits = { 0 };
    bool ok = drop_underscores(s, &digits) && td_float_parse(td_buf_view(&digits), ret);
    td_buf_done(&digits);
    return ok;
}

bool td_parse_size(const char *text, size_t *ret)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = { { "", 0 },   { "b", 0 },    { "k", 10 },  { "kib", 10 }, { "m", 20 },
                  { "mib", 20 }, { "g", 30 }, { "gib", 30 } };
    td_str s = td_str_from(text);
    size_t digits = 0;
    while (digits < s.len && is_digit(s.ptr[digits]))
        digits++;
    int64_t value;
    if (digits == 0 || !parse_digits((td_str){ s.ptr, digits }, &value))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!same_ignoring_case(td_str_from_offset(s, digits), units[i].name))
            continue;
        if ((uint64_t)value > SIZE_MAX >> units[i].shift)
            return false;
        *ret = (size_t)value << units[i].shift;
        return true;
    }
    return false;
}

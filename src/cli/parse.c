/* parse.c - numbers, sizes and moments of the command line. */
#include <string.h>

#include "cli/options.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at *p; moves it behind them. */
static bool read_digits(const char **p, uint64_t *ret)
{
    if (!is_digit(**p))
        return false;
    uint64_t n = 0;
    for (; is_digit(**p); ++*p) {
        unsigned digit = (unsigned)(**p - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *ret = n;
    return true;
}

bool cli_parse_count(const char *text, uint64_t *ret)
{
    const char *p = text;
    return read_digits(&p, ret) && *p == '\0';
}

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit units[] = {
    { "", 1 },
    { "B", 1 },
    { "k", 1 << 10 },
    { "K", 1 << 10 },
    { "KiB", 1 << 10 },
    { "kB", 1000 },
    { "KB", 1000 },
    { "M", 1 << 20 },
    { "MiB", 1 << 20 },
    { "MB", 1000000 },
    { "G", 1 << 30 },
    { "GiB", 1 << 30 },
    { "GB", 1000000000 },
};

bool cli_parse_size(const char *text, size_t *ret)
{
    const char *p = text;
    uint64_t n;
    if (!read_digits(&p, &n) || n == 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(p, units[i].name) == 0 && n <= SIZE_MAX / units[i].factor) {
            *ret = (size_t)(n * units[i].factor);
            return true;
        }
    }
    return false;
}

bool cli_parse_seconds(const char *text, uint64_t *ret_ns)
{
    const char *p = text;
    uint64_t whole = 0, part = 0, scale = 1000000000;
    if (*p != '.' && !read_digits(&p, &whole))
        return false;
    if (*p == '.') {
        p++;
        if (!is_digit(*p))
            return false;
        for (; is_digit(*p); p++) {
            scale /= 10;
            part += (uint64_t)(*p - '0') * scale;
        }
    }
    if (*p != '\0' || whole > UINT64_MAX / 2000000000)
        return false;
    *ret_ns = whole * 1000000000 + part;
    return true;
}

/* ---- moments ---- */

/* Exactly n digits, between low and high. */
static bool fixed(const char **p, int n, unsigned low, unsigned high, unsigned *ret)
{
    unsigned value = 0;
    for (int i = 0; i < n; i++, ++*p) {
        if (!is_digit(**p))
            return false;
        value = value * 10 + (unsigned)(**p - '0');
    }
    *ret = value;
    return value >= low && value <= high;
}

static bool skip(const char **p, char c)
{
    if (**p != c)
        return false;
    ++*p;
    return true;
}

/* Days since 1970-01-01 of a date in the Gregorian calendar. */
static int64_t days_of(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool read_offset(const char **p, int32_t *ret)
{
    *ret = 0;
    if (skip(p, 'Z') || **p == '\0')
        return true;
    int sign = **p == '-' ? -1 : 1;
    if (!skip(p, '+') && !skip(p, '-'))
        return false;
    unsigned hours, minutes;
    if (!fixed(p, 2, 0, 23, &hours))
        return false;
    (void)skip(p, ':');
    if (!fixed(p, 2, 0, 59, &minutes))
        return false;
    *ret = sign * (int32_t)(hours * 3600 + minutes * 60);
    return true;
}

static bool read_time(const char **p, unsigned *ret_seconds, uint32_t *ret_us)
{
    unsigned hour, minute, second = 0;
    if (!fixed(p, 2, 0, 23, &hour) || !skip(p, ':') || !fixed(p, 2, 0, 59, &minute))
        return false;
    if (skip(p, ':') && !fixed(p, 2, 0, 59, &second))
        return false;
    *ret_us = 0;
    if (skip(p, '.')) {
        uint32_t scale = 100000;
        if (!is_digit(**p))
            return false;
        for (; is_digit(**p); ++*p, scale /= 10)
            *ret_us += (uint32_t)(**p - '0') * scale;
    }
    *ret_seconds = hour * 3600 + minute * 60 + second;
    return true;
}

bool cli_parse_moment(const char *text, td_now *ret)
{
    const char *p = text;
    unsigned year, month, day, seconds = 0;
    *ret = (td_now){ .fixed = true };
    if (!fixed(&p, 4, 1, 9999, &year) || !skip(&p, '-') || !fixed(&p, 2, 1, 12, &month) ||
        !skip(&p, '-') || !fixed(&p, 2, 1, 31, &day))
        return false;
    if (*p != '\0') {
        if (!skip(&p, 'T') && !skip(&p, ' '))
            return false;
        if (!read_time(&p, &seconds, &ret->microseconds) ||
            !read_offset(&p, &ret->utc_offset_seconds))
            return false;
    }
    bool next_month_first = month == 12;
    int64_t days = days_of(year, month, day);
    int64_t end = next_month_first ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1);
    ret->unix_seconds = days * 86400 + seconds - ret->utc_offset_seconds;
    return *p == '\0' && days < end;
}

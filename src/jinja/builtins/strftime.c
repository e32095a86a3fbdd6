/* strftime.c - strftime_now: datetime.now().strftime(format) in the C locale, with the flags and
 * widths of glibc, written out here so that a fixed moment gives the same text everywhere. */
#include "jinja/builtins/util.h"

#include <stdio.h>
#include <time.h>

typedef struct moment {
    int64_t year, seconds; /* seconds since the epoch, UTC */
    int month, day, hour, minute, second, weekday, yearday; /* month 0.., weekday 0 = Sunday */
    uint32_t microseconds;
} moment;

static const char *const days[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday",
                                    "Friday", "Saturday" };
static const char *const months[] = { "January", "February", "March", "April", "May", "June",
                                      "July", "August", "September", "October", "November",
                                      "December" };

static bool is_leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Civil date of a day number counted from 1970-01-01 (proleptic Gregorian calendar). */
static void set_date(moment *m, int64_t day_number)
{
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    m->weekday = (int)(((day_number + 4) % 7 + 7) % 7);
    int64_t z = day_number + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t day = of_era - (365 * year + year / 4 - year / 100);
    int64_t mp = (5 * day + 2) / 153;
    m->day = (int)(day - (153 * mp + 2) / 5 + 1);
    m->month = (int)(mp < 10 ? mp + 2 : mp - 10);
    m->year = year + era * 400 + (m->month < 2);
    m->yearday = before[m->month] + m->day - 1 + (m->month > 1 && is_leap(m->year));
}

static void set_fixed(moment *m, int64_t unix_seconds, int32_t offset)
{
    int64_t local = unix_seconds + offset;
    int64_t day = local >= 0 ? local / 86400 : -((86399 - local) / 86400);
    int64_t rest = local - day * 86400;
    set_date(m, day);
    m->hour = (int)(rest / 3600);
    m->minute = (int)(rest / 60 % 60);
    m->second = (int)(rest % 60);
    m->seconds = unix_seconds;
}

static td_code get_moment(jj_vm *vm, moment *m)
{
    const jj_now *now = jj_vm_now(vm);
    *m = (moment){ 0 };
    if (now != NULL && now->fixed) {
        set_fixed(m, now->unix_seconds, now->utc_offset_seconds);
        m->microseconds = now->microseconds;
        return TD_OK;
    }
    struct timespec ts;
    struct tm tm;
    if (clock_gettime(CLOCK_REALTIME, &ts) != 0 || localtime_r(&ts.tv_sec, &tm) == NULL)
        return jj_raise(vm, JJ_RUNTIME_ERROR, "strftime_now: the clock cannot be read");
    *m = (moment){ .year = (int64_t)tm.tm_year + 1900, .month = tm.tm_mon, .day = tm.tm_mday,
                   .hour = tm.tm_hour, .minute = tm.tm_min, .second = tm.tm_sec,
                   .weekday = tm.tm_wday, .yearday = tm.tm_yday, .seconds = ts.tv_sec,
                   .microseconds = (uint32_t)(ts.tv_nsec / 1000) };
    return TD_OK;
}

/* ISO 8601: the week, and the year that it belongs to. */
static int iso_week(const moment *m, int64_t *ret_year)
{
    int64_t year = m->year;
    int from_monday = (m->weekday + 6) % 7;
    int week = (m->yearday - from_monday + 10) / 7; /* yearday is 0-based: +10 is +9 +1 */
    if (week < 1) {
        year--;
        int days_before = m->yearday + (is_leap(year) ? 366 : 365);
        week = (days_before - from_monday + 10) / 7;
    } else if (week == 53) {
        int length = is_leap(year) ? 366 : 365;
        int last_weekday = (from_monday + (length - 1 - m->yearday)) % 7;
        if (last_weekday < 3) { /* the year's last days belong to week 1 of the next */
            week = 1;
            year++;
        }
    }
    *ret_year = year;
    return week;
}

typedef struct directive {
    char pad;   /* _ - 0, or 0 for the usual one */
    bool upper, swap;
    int width;     /* -1: the usual one */
    char modifier; /* E or O, or 0 */
    char type;
} directive;

/* A number of digits at least, padded as the directive says. */
static td_code put_number(td_buf *b, const directive *d, int64_t value, int digits, char pad)
{
    char text[24];
    if (d->pad != 0)
        pad = d->pad;
    int n = snprintf(text, sizeof text, "%lld", (long long)(value < 0 ? -value : value));
    int width = d->width >= 0 ? d->width : digits, sign = value < 0;
    bool zeros = pad != '_' && pad != '-';
    if (pad == '-') /* no padding of its own, blanks up to a width that is asked for */
        width = d->width;
    for (int i = n + sign; !zeros && i < width; i++)
        TD_TRY(td_buf_byte(b, ' '));
    if (sign)
        TD_TRY(td_buf_byte(b, '-'));
    for (int i = n + sign; zeros && i < width; i++)
        TD_TRY(td_buf_byte(b, '0'));
    return td_buf_append(b, text, (size_t)n);
}

static td_code put_text(td_buf *b, const directive *d, td_str text)
{
    int64_t extra = d->width - (int64_t)text.len;
    for (int64_t i = 0; i < extra; i++)
        TD_TRY(td_buf_byte(b, d->pad == '0' || d->pad == '+' ? '0' : ' '));
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (d->upper && c >= 'a' && c <= 'z')
            c = (char)(c - 32);
        else if (d->swap && c >= 'A' && c <= 'Z')
            c = (char)(c + 32);
        TD_TRY(td_buf_byte(b, c));
    }
    return TD_OK;
}

static td_code put_format(td_buf *b, td_str format, const moment *m, bool nested);

/* A directive that stands for several: its text, as a whole padded. */
static td_code put_composite(td_buf *b, const directive *d, const char *format, const moment *m)
{
    td_buf part = { .limit = b->limit };
    td_code code = put_format(&part, td_str_from(format), m, true);
    if (code == TD_OK) {
        directive text = *d;
        text.swap = false;
        code = put_text(b, &text, td_buf_view(&part));
    }
    td_buf_done(&part);
    return code;
}

static td_code put_names(td_buf *b, directive d, const moment *m)
{
    /* # makes names upper case, AM and PM (and zones) lower case */
    if (d.swap && d.type != 'p' && d.type != 'P') {
        d.upper = true;
        d.swap = false;
    }
    switch (d.type) {
    case 'a':
        return put_text(b, &d, (td_str){ days[m->weekday], 3 });
    case 'A':
        return put_text(b, &d, td_str_from(days[m->weekday]));
    case 'b':
    case 'h':
        return put_text(b, &d, (td_str){ months[m->month], 3 });
    case 'B':
        return put_text(b, &d, td_str_from(months[m->month]));
    case 'P':
        d.upper = false;
        return put_text(b, &d, m->hour < 12 ? TD_STR("am") : TD_STR("pm"));
    default:
        return put_text(b, &d, m->hour < 12 ? TD_STR("AM") : TD_STR("PM"));
    }
}

static td_code put_numbers(td_buf *b, const directive *d, const moment *m, bool *ret_known)
{
    int64_t iso_year;
    int week = iso_week(m, &iso_year), hour12 = m->hour % 12 == 0 ? 12 : m->hour % 12;
    *ret_known = true;
    switch (d->type) {
    case 'C':
        return put_number(b, d, m->year / 100 - (m->year % 100 < 0), 2, '0');
    case 'd':
        return put_number(b, d, m->day, 2, '0');
    case 'e':
        return put_number(b, d, m->day, 2, '_');
    case 'g':
        return put_number(b, d, (iso_year % 100 + 100) % 100, 2, '0');
    case 'G':
        return put_number(b, d, iso_year, 1, '0');
    case 'H':
        return put_number(b, d, m->hour, 2, '0');
    case 'I':
        return put_number(b, d, hour12, 2, '0');
    case 'j':
        return put_number(b, d, m->yearday + 1, 3, '0');
    case 'k':
        return put_number(b, d, m->hour, 2, '_');
    case 'l':
        return put_number(b, d, hour12, 2, '_');
    case 'm':
        return put_number(b, d, m->month + 1, 2, '0');
    case 'M':
        return put_number(b, d, m->minute, 2, '0');
    case 's':
        return put_number(b, d, m->seconds, 1, '_');
    case 'S':
        return put_number(b, d, m->second, 2, '0');
    case 'u':
        return put_number(b, d, (m->weekday + 6) % 7 + 1, 1, '0');
    case 'U':
        return put_number(b, d, (m->yearday - m->weekday + 7) / 7, 2, '0');
    case 'V':
        return put_number(b, d, week, 2, '0');
    case 'w':
        return put_number(b, d, m->weekday, 1, '0');
    case 'W':
        return put_number(b, d, (m->yearday - (m->weekday + 6) % 7 + 7) / 7, 2, '0');
    case 'y':
        return put_number(b, d, (m->year % 100 + 100) % 100, 2, '0');
    case 'Y':
        return put_number(b, d, m->year, 1, '0');
    default:
        *ret_known = false;
        return TD_OK;
    }
}

/* The format that a composite directive stands for; NULL: it is none. */
static const char *composite(char type)
{
    switch (type) {
    case 'c':
        return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
        return "%m/%d/%y";
    case 'F':
        return "%Y-%m-%d";
    case 'r':
        return "%I:%M:%S %p";
    case 'R':
        return "%H:%M";
    case 'T':
    case 'X':
        return "%H:%M:%S";
    default:
        return NULL;
    }
}

static td_code put_directive(td_buf *b, const directive *d, td_str source, const moment *m)
{
    bool known;
    /* the letters before which glibc does not take E, or O */
    const char *refused = d->modifier == 'E' ? "aAbBdDeFgGhHIjklmMSUVwW" : "aAcDFxXY";
    if (d->modifier != 0 && strchr(refused, d->type) != NULL)
        return put_text(b, d, source);
    if (strchr("aAbhBpP", d->type) != NULL)
        return put_names(b, *d, m);
    if (composite(d->type) != NULL)
        return put_composite(b, d, composite(d->type), m);
    switch (d->type) {
    case '%':
        return put_text(b, d, TD_STR("%"));
    case 'n':
        return put_text(b, d, TD_STR("\n"));
    case 't':
        return put_text(b, d, TD_STR("\t"));
    case 'z': /* a naive moment has no zone */
        return TD_OK;
    case 'Z':
        return put_text(b, d, TD_STR(""));
    default:
        break;
    }
    TD_TRY(put_numbers(b, d, m, &known));
    return known ? TD_OK : put_text(b, d, source); /* glibc leaves what it does not know */
}

/* Flags, width, E or O, and the letter; *p stands behind the % and is moved behind it all. */
static void parse_directive(const char **p, const char *end, directive *d)
{
    *d = (directive){ .width = -1 };
    for (; *p < end; ++*p) {
        if (**p == '_' || **p == '-' || **p == '0' || **p == '+')
            d->pad = **p;
        else if (**p == '^')
            d->upper = true;
        else if (**p == '#')
            d->swap = true;
        else
            break;
    }
    if (*p < end && **p >= '0' && **p <= '9') {
        d->width = 0;
        for (; *p < end && **p >= '0' && **p <= '9'; ++*p)
            d->width = d->width < 100000 ? d->width * 10 + (**p - '0') : d->width;
    }
    if (*p < end && (**p == 'E' || **p == 'O'))
        d->modifier = *(*p)++;
    if (*p < end)
        d->type = *(*p)++;
}

static td_code put_format(td_buf *b, td_str format, const moment *m, bool nested)
{
    const char *p = format.ptr, *end = format.ptr + format.len;
    while (p < end) {
        if (*p != '%') {
            TD_TRY(td_buf_byte(b, *p++));
            continue;
        }
        const char *start = p++;
        if (!nested && p < end && (*p == 'f' || *p == 'z' || *p == 'Z')) {
            /* Python's own: microseconds; and nothing for the zone of a naive moment */
            if (*p++ == 'f')
                TD_TRY(td_buf_printf(b, "%06u", m->microseconds));
            continue;
        }
        directive d;
        parse_directive(&p, end, &d);
        td_str source = { start, (size_t)(p - start) };
        TD_TRY(d.type == 0 ? put_text(b, &d, source) : put_directive(b, &d, source, m));
    }
    return TD_OK;
}

/* CPython doubles a buffer of 1024 characters until the text fits or the buffer has 256 characters
 * for each of the format; what does not fit then is the empty text. */
static bool outgrows(td_str format, td_str text)
{
    size_t chars = td_utf8_count(format), room = 1024;
    for (size_t i = 0; i + 1 < format.len; i++) {
        if (format.ptr[i] != '%')
            continue;
        char type = format.ptr[++i]; /* Python's own were replaced before */
        chars += type == 'f' ? 4 : 0;
        chars -= type == 'z' || type == 'Z' ? 2 : 0;
    }
    while (room < 256 * chars)
        room *= 2;
    return td_utf8_count(text) >= room;
}

td_code jj_g_strftime_now(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    td_value format;
    moment m;
    TD_TRY(jj_arg_text(vm, args, 0, "strftime()", &format));
    if (memchr(format.as.str, 0, format.len) != NULL)
        return jj_raise(vm, JJ_VALUE_ERROR, "embedded null character");
    TD_TRY(get_moment(vm, &m));
    td_buf *b = jj_scratch(vm);
    PUT(put_format(b, td_as_str(format), &m, false));
    if (outgrows(td_as_str(format), td_buf_view(b)))
        b->len = 0;
    return jj_take(vm, b, false, ret);
}

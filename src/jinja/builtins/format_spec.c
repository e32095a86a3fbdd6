/* format_spec.c - format(value, spec): the mini-language of str, numbers and bool.
 *
 * A spec is [[fill]align][sign][z][#][0][width][grouping][.precision][type]. Numbers are laid out
 * as prefix (sign, 0x), zeros or fill, digits in groups, and the rest (fraction, exponent, %). A
 * complex number is two floats with padding around both. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"
#include "value/bigint.h"

#include <limits.h>
#include <math.h>

enum { REPR = 0x110000 }; /* a type that no text can name: as repr, but without ".0" */

typedef struct spec {
    uint32_t fill;
    uint32_t align; /* < > = ^ */
    char sign;      /* + - space, 0: none */
    bool no_negative_zero, alternate;
    int64_t width, precision; /* -1: none */
    char grouping;            /* , _ or 0 */
    uint32_t type;            /* 0: none */
} spec;

/* ---- parsing ---- */

static bool is_align(uint32_t c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

/* An int of decimal digits (of any script) at *p; *ret_any false: none there. */
static td_code parse_count(jj_vm *vm, const char **p, const char *end, int64_t *ret, bool *ret_any)
{
    *ret_any = false;
    *ret = 0;
    while (*p < end) {
        const char *next = *p;
        int d = td_py_decimal_value(td_utf8_next(&next, end));
        if (d < 0)
            break;
        if (*ret > (INT64_MAX - d) / 10)
            return jj_raise(vm, JJ_VALUE_ERROR, "Too many decimal digits in format string");
        *ret = *ret * 10 + d;
        *ret_any = true;
        *p = next;
    }
    return TD_OK;
}

/* Fill, align, sign, z, # and 0. */
static void parse_flags(const char **p, const char *end, spec *s, char default_align)
{
    bool fill_given = false, align_given = false;
    const char *second = *p;
    if (*p < end)
        td_utf8_next(&second, end);
    if (second < end && is_align((unsigned char)*second)) {
        s->fill = td_utf8_next(p, end);
        s->align = (unsigned char)*(*p)++;
        fill_given = align_given = true;
    } else if (*p < end && is_align((unsigned char)**p)) {
        s->align = (unsigned char)*(*p)++;
        align_given = true;
    }
    if (*p < end && (**p == '+' || **p == '-' || **p == ' '))
        s->sign = *(*p)++;
    if (*p < end && **p == 'z') {
        s->no_negative_zero = true;
        ++*p;
    }
    if (*p < end && **p == '#') {
        s->alternate = true;
        ++*p;
    }
    if (!fill_given && *p < end && **p == '0') {
        s->fill = '0';
        if (!align_given && default_align == '>')
            s->align = '=';
        ++*p;
    }
}

static td_code parse_grouping(jj_vm *vm, const char **p, const char *end, spec *s)
{
    if (*p < end && **p == ',')
        s->grouping = *(*p)++;
    if (*p < end && **p == '_') {
        if (s->grouping != 0)
            return jj_raise(vm, JJ_VALUE_ERROR, "Cannot specify both ',' and '_'.");
        s->grouping = *(*p)++;
    }
    if (*p < end && **p == ',' && s->grouping == '_')
        return jj_raise(vm, JJ_VALUE_ERROR, "Cannot specify both ',' and '_'.");
    return TD_OK;
}

/* Grouping goes with the types that make digits. */
static td_code check_grouping(jj_vm *vm, const spec *s)
{
    if (s->grouping == 0)
        return TD_OK;
    const char *good = s->grouping == '_' ? "deEfFgG%boxX" : "deEfFgG%";
    if (s->type == 0 || (s->type < 0x80 && strchr(good, (int)s->type) != NULL))
        return TD_OK;
    return jj_raise(vm, JJ_VALUE_ERROR, "Cannot specify '%c' with this format type.", s->grouping);
}

static td_code parse_spec(jj_vm *vm, td_str text, char default_type, char default_align, spec *s)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    bool any;
    *s = (spec){ .fill = ' ', .align = (unsigned char)default_align, .precision = -1,
                 .type = (unsigned char)default_type };
    parse_flags(&p, end, s, default_align);
    TD_TRY(parse_count(vm, &p, end, &s->width, &any));
    if (!any)
        s->width = -1;
    TD_TRY(parse_grouping(vm, &p, end, s));
    if (p < end && *p == '.') {
        p++;
        TD_TRY(parse_count(vm, &p, end, &s->precision, &any));
        if (!any)
            return jj_raise(vm, JJ_VALUE_ERROR, "Format specifier missing precision");
    }
    if (p < end)
        s->type = td_utf8_next(&p, end);
    if (p < end)
        return jj_raise(vm, JJ_VALUE_ERROR, "Invalid format specifier");
    return check_grouping(vm, s);
}

static td_code unknown_type(jj_vm *vm, const spec *s, const char *type)
{
    return jj_raise(vm, JJ_VALUE_ERROR, "Unknown format code U+%04X for object of type '%s'",
                    (unsigned)s->type, type);
}

/* ---- padding ---- */

/* The fill on each side of count characters. */
static void split_padding(const spec *s, int64_t count, int64_t *ret_left, int64_t *ret_right)
{
    int64_t extra = s->width > count ? s->width - count : 0;
    *ret_left = s->align == '>' ? extra : s->align == '^' ? extra / 2 : 0;
    *ret_right = extra - *ret_left;
    if (s->align == '=')
        *ret_right = 0;
}

static td_code format_str(jj_vm *vm, td_buf *b, td_value v, td_str text)
{
    spec s;
    TD_TRY(parse_spec(vm, text, 's', '<', &s));
    if (s.type != 's')
        return unknown_type(vm, &s, "str");
    if (s.sign != 0 || s.no_negative_zero || s.alternate)
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "Sign, z and # are not allowed in string format specifier");
    if (s.align == '=')
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "'=' alignment not allowed in string format specifier");
    int64_t count = jj_text_count(v), left, right;
    if (s.precision >= 0 && s.precision < count) {
        v = jj_text_slice(v, 0, s.precision);
        count = s.precision;
    }
    split_padding(&s, count, &left, &right);
    TD_TRY(jj_put_fill(vm, b, s.fill, left));
    PUT(td_buf_put(b, td_as_str(v)));
    return jj_put_fill(vm, b, s.fill, right);
}

/* ---- numbers ---- */

/* What a number consists of; all ASCII. */
typedef struct parts {
    char sign; /* 0: none */
    td_str prefix, digits, rest;
} parts;

/* Digits in groups of n from the right, with zeros in front until min_width is reached; built
 * backwards into out, of room bytes, and given as its tail. */
static td_str group_digits(td_str digits, char separator, unsigned n, int64_t min_width, char *out,
                           size_t room)
{
    size_t at = room, left = digits.len;
    unsigned in_group = 0;
    while (left > 0 || (int64_t)(room - at) < min_width) {
        if (separator != 0 && in_group == n) {
            out[--at] = separator;
            in_group = 0;
        }
        out[--at] = left > 0 ? digits.ptr[--left] : '0';
        in_group++;
    }
    return (td_str){ out + at, room - at };
}

static td_code put_number(jj_vm *vm, td_buf *b, const spec *s, const parts *n)
{
    int64_t around = (n->sign != 0) + (int64_t)n->prefix.len + (int64_t)n->rest.len;
    bool zeros = s->fill == '0' && s->align == '=';
    int64_t min_width = zeros && s->width > around ? s->width - around : 0;
    bool any_group = s->grouping != 0;
    unsigned size = s->type == 'b' || s->type == 'o' || s->type == 'x' || s->type == 'X' ? 4 : 3;
    td_str digits = n->digits;
    if (any_group && digits.len != 0) {
        if ((uint64_t)min_width > SIZE_MAX / 4)
            return jj_raise(vm, JJ_OVERFLOW_ERROR, "field is too wide");
        size_t room = (digits.len + (size_t)min_width) * 2 + 8;
        TD_TRY(jj_charge(vm, room / 64));
        char *out = td_arena_alloc(jj_arena(vm), room, 1);
        if (out == NULL)
            return jj_nomem(vm);
        digits = group_digits(digits, s->grouping, size, min_width, out, room);
    }
    int64_t count = around + (int64_t)digits.len, left, right;
    split_padding(s, count, &left, &right);
    int64_t inside = s->align == '=' && s->width > count ? s->width - count : 0;
    TD_TRY(jj_put_fill(vm, b, s->fill, left));
    if (n->sign != 0)
        PUT(td_buf_byte(b, n->sign));
    PUT(td_buf_put(b, n->prefix));
    TD_TRY(jj_put_fill(vm, b, s->fill, inside));
    PUT(td_buf_put(b, digits));
    PUT(td_buf_put(b, n->rest));
    return jj_put_fill(vm, b, s->fill, right);
}

static char sign_of(const spec *s, bool negative)
{
    return negative ? '-' : s->sign == '+' || s->sign == ' ' ? s->sign : 0;
}

static td_code format_char(jj_vm *vm, td_buf *b, td_value v, const spec *s)
{
    char unit[4];
    if (s->sign != 0 || s->alternate)
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "Sign and # are not allowed with integer format specifier 'c'");
    if (v.tag == TD_V_BIGINT || v.as.integer < 0 || v.as.integer > 0x10FFFF)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
    parts n = { 0, { NULL, 0 }, { unit, td_utf8_put(unit, (uint32_t)v.as.integer) }, { NULL, 0 } };
    /* one character whatever its bytes: the width is corrected by what the bytes exceed one */
    spec one = *s;
    one.grouping = 0;
    if (one.width > 0)
        one.width += (int64_t)n.digits.len - 1;
    return put_number(vm, b, &one, &n);
}

static td_code format_float(jj_vm *vm, td_buf *b, double d, const spec *s);

static td_code format_int(jj_vm *vm, td_buf *b, td_value v, td_str text)
{
    spec s;
    TD_TRY(parse_spec(vm, text, 'd', '>', &s));
    if (s.type < 0x80 && s.type != 0 && strchr("eEfFgG%", (int)s.type) != NULL) {
        double d;
        TD_TRY(jj_number_to_double(vm, v, &d));
        return format_float(vm, b, d, &s);
    }
    unsigned base = s.type == 'b' ? 2 : s.type == 'o' ? 8
                    : s.type == 'x' || s.type == 'X' ? 16 : 10;
    if (base == 10 && s.type != 'd' && s.type != 'n' && s.type != 'c')
        return unknown_type(vm, &s, "int");
    if (s.precision >= 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "Precision not allowed in integer format specifier");
    if (s.no_negative_zero)
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "Negative zero coercion (z) not allowed in format specifier with integer");
    if (s.type == 'c')
        return format_char(vm, b, v, &s);
    td_buf digits = { .limit = b->limit };
    td_code code = jj_put_int_digits(vm, &digits, v, base, s.type == 'X');
    if (code == TD_OK) {
        parts n = { sign_of(&s, jj_int_negative(v)), { NULL, 0 }, td_buf_view(&digits),
                    { NULL, 0 } };
        if (s.alternate && base != 10)
            n.prefix = base == 2 ? TD_STR("0b") : base == 8 ? TD_STR("0o")
                       : s.type == 'X' ? TD_STR("0X") : TD_STR("0x");
        code = put_number(vm, b, &s, &n);
    }
    td_buf_done(&digits);
    return code;
}

static bool is_zero_text(td_str digits)
{
    for (size_t i = 0; i < digits.len && digits.ptr[i] != 'e' && digits.ptr[i] != 'E'; i++)
        if (digits.ptr[i] >= '1' && digits.ptr[i] <= '9')
            return false;
    return true;
}

static td_code format_float(jj_vm *vm, td_buf *b, double d, const spec *given)
{
    spec s = *given;
    jj_float_style style = { .type = (char)s.type, .alternate = s.alternate };
    bool percent = s.type == '%';
    if (s.type != 0 && s.type != REPR &&
        (s.type >= 0x80 || strchr("eEfFgGn%", (int)s.type) == NULL))
        return unknown_type(vm, &s, "float");
    if (s.precision > INT_MAX)
        return jj_raise(vm, JJ_VALUE_ERROR, "precision too big");
    int64_t precision = s.precision;
    if (s.type == 0) {
        style.type = precision < 0 ? 'r' : 'g';
        style.add_dot_0 = true;
        precision = precision < 0 ? 0 : precision;
    } else if (s.type == REPR) {
        style.type = 'r';
        precision = 0;
    } else if (s.type == 'n') {
        style.type = 'g';
    }
    if (percent) {
        style.type = 'f';
        d *= 100;
    }
    style.precision = (unsigned)(precision < 0 ? 6 : precision);
    TD_TRY(jj_charge(vm, style.precision / 16));
    td_buf text = { .limit = b->limit };
    td_code code = jj_put_float(&text, d, &style);
    if (code == TD_OK && percent)
        code = td_buf_byte(&text, '%');
    if (code != TD_OK) {
        td_buf_done(&text);
        return jj_buf_fail(vm, b, code);
    }
    td_str all = td_buf_view(&text);
    size_t whole = 0;
    while (whole < all.len && all.ptr[whole] >= '0' && all.ptr[whole] <= '9')
        whole++;
    bool negative = signbit(d) != 0 && !isnan(d);
    if (s.no_negative_zero && negative && !isinf(d) && is_zero_text(all))
        negative = false;
    parts n = { sign_of(&s, negative), { NULL, 0 }, { all.ptr, whole },
                td_str_from_offset(all, whole) };
    code = put_number(vm, b, &s, &n);
    td_buf_done(&text);
    return code;
}

/* ---- complex numbers ---- */

/* One of the two floats: like a float of its own, but without a width. */
static td_code format_part(jj_vm *vm, td_buf *b, double d, const spec *s, char sign)
{
    spec part = *s;
    part.width = -1;
    part.sign = sign;
    return format_float(vm, b, d, &part);
}

static td_code format_complex(jj_vm *vm, td_buf *b, const jj_complex *c, td_str text)
{
    spec s;
    TD_TRY(parse_spec(vm, text, 0, '>', &s));
    if (s.type >= 0x80 || (s.type != 0 && strchr("eEfFgGn", (int)s.type) == NULL))
        return unknown_type(vm, &s, "complex");
    if (s.fill == '0' || s.align == '=')
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "Zero padding and '=' are not allowed in complex format specifier");
    bool like_repr = s.type == 0, imaginary = like_repr && c->re == 0 && signbit(c->re) == 0;
    bool parentheses = like_repr && !imaginary;
    if (like_repr)
        s.type = s.precision < 0 ? REPR : 'g';
    td_buf all = { .limit = b->limit };
    td_code code = parentheses ? td_buf_byte(&all, '(') : TD_OK;
    if (code == TD_OK && !imaginary)
        code = format_part(vm, &all, c->re, &s, s.sign);
    if (code == TD_OK)
        code = format_part(vm, &all, c->im, &s, imaginary ? s.sign : '+');
    if (code == TD_OK)
        code = td_buf_put(&all, parentheses ? TD_STR("j)") : TD_STR("j"));
    int64_t left, right;
    split_padding(&s, (int64_t)all.len, &left, &right);
    if (code == TD_OK)
        code = jj_put_fill(vm, b, s.fill, left);
    if (code == TD_OK)
        code = td_buf_put(b, td_buf_view(&all));
    if (code == TD_OK)
        code = jj_put_fill(vm, b, s.fill, right);
    td_buf_done(&all);
    return code == TD_OK ? TD_OK : jj_buf_fail(vm, b, code);
}

/* ---- any value ---- */

td_code jj_format_value(jj_vm *vm, td_buf *b, td_value v, td_str text)
{
    spec s;
    if (text.len == 0)
        return jj_append_str(vm, b, v);
    switch ((td_vtag)v.tag) {
    case TD_V_STR:
        return format_str(vm, b, v, text);
    case TD_V_BOOL:
    case TD_V_INT:
    case TD_V_BIGINT:
        return format_int(vm, b, v, text);
    case TD_V_FLOAT:
        TD_TRY(parse_spec(vm, text, 0, '>', &s));
        return format_float(vm, b, v.as.real, &s);
    default:
        if (jj_is_complex(v))
            return format_complex(vm, b, (const jj_complex *)v.as.object, text);
        return jj_raise(vm, JJ_TYPE_ERROR, "unsupported format string passed to %s.__format__",
                        jj_type_name(v));
    }
}

td_code jj_put_ascii(jj_vm *vm, td_buf *b, td_value v)
{
    td_buf text = { .limit = b->limit };
    td_code code = jj_append_repr(vm, &text, v);
    for (const char *p = text.ptr, *end = p + text.len; code == TD_OK && p < end;) {
        uint32_t c = td_utf8_next(&p, end);
        if (c < 0x80)
            code = td_buf_byte(b, (char)c);
        else
            code = td_buf_printf(b, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
        if (code != TD_OK)
            code = jj_buf_fail(vm, b, code);
    }
    td_buf_done(&text);
    return code;
}

/* numtext.c - digits of floats and ints, as CPython's formatters get them. */
#include "jinja/builtins/util.h"
#include "value/bigint.h"
#include "value/number.h"

#include <math.h>
#include <stdlib.h>

/* ---- floats ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Lays out significant digits with the decimal point behind decpt of them. */
static td_code put_plain(td_buf *b, td_str digits, int decpt, unsigned min_fraction, bool dot)
{
    if (decpt <= 0) {
        TD_TRY(td_buf_put(b, TD_STR("0.")));
        for (int i = decpt; i < 0; i++)
            TD_TRY(td_buf_byte(b, '0'));
        return td_buf_put(b, digits);
    }
    size_t whole = (size_t)decpt;
    for (size_t i = 0; i < whole; i++)
        TD_TRY(td_buf_byte(b, i < digits.len ? digits.ptr[i] : '0'));
    size_t fraction = digits.len > whole ? digits.len - whole : 0;
    if (fraction == 0 && min_fraction == 0)
        return dot ? td_buf_byte(b, '.') : TD_OK;
    TD_TRY(td_buf_byte(b, '.'));
    if (fraction != 0)
        TD_TRY(td_buf_put(b, td_str_from_offset(digits, whole)));
    for (size_t i = fraction; i < min_fraction; i++)
        TD_TRY(td_buf_byte(b, '0'));
    return TD_OK;
}

static td_code put_exponent(td_buf *b, td_str digits, int exponent, bool dot, bool upper)
{
    TD_TRY(td_buf_append(b, digits.ptr, 1));
    if (digits.len > 1 || dot)
        TD_TRY(td_buf_byte(b, '.'));
    TD_TRY(td_buf_put(b, td_str_from_offset(digits, 1)));
    return td_buf_printf(b, "%c%c%02d", upper ? 'E' : 'e', exponent < 0 ? '-' : '+',
                         exponent < 0 ? -exponent : exponent);
}

/* %g and its relatives: significant digits, as many as asked for, trailing zeros cut. */
static td_code put_general(td_buf *b, double d, const jj_float_style *style)
{
    unsigned precision = style->precision == 0 ? 1 : style->precision;
    td_buf tmp = { .limit = b->limit };
    td_code code = td_float_print_exp(&tmp, d, precision - 1);
    if (code == TD_OK) {
        /* "d.ddde+XX": the digits move together, the exponent is read */
        size_t e = tmp.len;
        while (tmp.ptr[e - 1] != 'e')
            e--;
        int exponent = 0;
        for (size_t i = e + 1; i < tmp.len; i++)
            exponent = exponent * 10 + (tmp.ptr[i] - '0');
        if (tmp.ptr[e] == '-')
            exponent = -exponent;
        size_t n = 1;
        for (size_t i = 2; i + 1 < e; i++)
            tmp.ptr[n++] = tmp.ptr[i];
        while (!style->alternate && n > 1 && tmp.ptr[n - 1] == '0')
            n--;
        td_str digits = { tmp.ptr, n };
        int decpt = exponent + 1, limit = (int)precision - (style->add_dot_0 ? 1 : 0);
        if (decpt <= -4 || decpt > limit)
            code = put_exponent(b, digits, exponent, style->alternate, is_upper(style->type));
        else
            code = put_plain(b, digits, decpt, style->add_dot_0, style->alternate);
    }
    td_buf_done(&tmp);
    return code;
}

/* The shortest text that reads back; without the ".0" of repr unless asked for. */
static td_code put_repr(td_buf *b, double d, const jj_float_style *style)
{
    char text[TD_FLOAT_TEXT_MAX];
    size_t n = td_float_repr(d, text);
    if (!style->add_dot_0 && n > 2 && memcmp(text + n - 2, ".0", 2) == 0)
        n -= style->alternate ? 1 : 2;
    char *e = style->alternate ? memchr(text, 'e', n) : NULL;
    if (e == NULL || memchr(text, '.', n) != NULL)
        return td_buf_append(b, text, n);
    TD_TRY(td_buf_append(b, text, (size_t)(e - text)));
    TD_TRY(td_buf_byte(b, '.'));
    return td_buf_append(b, e, n - (size_t)(e - text));
}

td_code jj_put_float(td_buf *b, double d, const jj_float_style *style)
{
    bool upper = is_upper(style->type);
    d = fabs(d);
    if (isnan(d) || isinf(d))
        return td_buf_put(b, isnan(d) ? (upper ? TD_STR("NAN") : TD_STR("nan"))
                                      : (upper ? TD_STR("INF") : TD_STR("inf")));
    size_t from = b->len;
    switch (style->type) {
    case 'f':
    case 'F':
        TD_TRY(td_float_print_fixed(b, d, style->precision));
        return style->alternate && style->precision == 0 ? td_buf_byte(b, '.') : TD_OK;
    case 'e':
    case 'E':
        TD_TRY(td_float_print_exp(b, d, style->precision));
        if (style->alternate && style->precision == 0) { /* "1e+00" becomes "1.e+00" */
            TD_TRY(td_buf_byte(b, '.'));
            memmove(b->ptr + from + 2, b->ptr + from + 1, b->len - from - 2);
            b->ptr[from + 1] = '.';
        }
        for (size_t i = from; upper && i < b->len; i++)
            if (b->ptr[i] == 'e')
                b->ptr[i] = 'E';
        return TD_OK;
    case 'r':
        return put_repr(b, d, style);
    default:
        return put_general(b, d, style);
    }
}

/* ---- ints ---- */

bool jj_int_negative(td_value v)
{
    return v.tag == TD_V_BIGINT ? v.as.bigint->negative : v.as.integer < 0;
}

static char digit_char(unsigned d, bool upper)
{
    return (upper ? "0123456789ABCDEF" : "0123456789abcdef")[d];
}

/* Base 2, 8 or 16 of the limbs: bits taken from the lowest up, written from the end. */
static td_code put_big_bits(jj_vm *vm, td_buf *b, const td_bigint *v, unsigned bits, bool upper)
{
    uint64_t total = (uint64_t)v->count * 32;
    size_t count = (size_t)((total + bits - 1) / bits), from = b->len;
    PUT(td_buf_reserve(b, count));
    bool leading = true;
    for (size_t i = count; i-- > 0;) {
        uint64_t at = (uint64_t)i * bits;
        unsigned d = 0;
        for (unsigned k = 0; k < bits; k++) {
            uint64_t bit = at + k;
            if (bit < total)
                d |= (v->limbs[bit / 32] >> (bit % 32) & 1u) << k;
        }
        leading = leading && d == 0;
        if (!leading)
            PUT(td_buf_byte(b, digit_char(d, upper)));
    }
    if (b->len == from)
        PUT(td_buf_byte(b, '0'));
    return TD_OK;
}

td_code jj_put_int_digits(jj_vm *vm, td_buf *b, td_value v, unsigned base, bool upper)
{
    if (v.tag == TD_V_BIGINT) {
        const td_bigint *big = v.as.bigint;
        if (base != 10)
            return put_big_bits(vm, b, big, base == 16 ? 4 : base == 8 ? 3 : 1, upper);
        TD_TRY(jj_charge(vm, (uint64_t)big->count * big->count / 64));
        size_t from = b->len;
        TD_TRY(jj_append_str(vm, b, v)); /* raises beyond 4,300 digits as Python does */
        if (big->negative) {
            memmove(b->ptr + from, b->ptr + from + 1, b->len - from - 1);
            b->len--;
        }
        return TD_OK;
    }
    int64_t i = v.as.integer;
    uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    char text[64];
    size_t at = sizeof text;
    do {
        text[--at] = digit_char((unsigned)(u % base), upper);
        u /= base;
    } while (u != 0);
    PUT(td_buf_append(b, text + at, sizeof text - at));
    return TD_OK;
}

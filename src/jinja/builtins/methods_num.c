/* methods_num.c - methods and properties of int (bool) and float. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"
#include "value/bigint.h"

#include <math.h>

/* ---- int ---- */

td_code jj_m_int_real(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_pos(vm, self, ret);
}

td_code jj_m_int_numerator(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_pos(vm, self, ret);
}

td_code jj_m_int_conjugate(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_pos(vm, self, ret);
}

td_code jj_m_int_imag(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)self;
    (void)args;
    *ret = td_int(0);
    return TD_OK;
}

td_code jj_m_int_denominator(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)self;
    (void)args;
    *ret = td_int(1);
    return TD_OK;
}

td_code jj_m_int_as_integer_ratio(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_pos(vm, self, &self));
    return jj_new_pair(vm, self, td_int(1), ret);
}

static uint64_t magnitude(td_value v)
{
    return v.as.integer < 0 ? 0 - (uint64_t)v.as.integer : (uint64_t)v.as.integer;
}

static int bits_of(uint64_t u)
{
    int n = 0;
    for (; u != 0; u >>= 1)
        n++;
    return n;
}

static int ones_of(uint64_t u)
{
    int n = 0;
    for (; u != 0; u &= u - 1)
        n++;
    return n;
}

td_code jj_m_int_bit_length(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    if (self.tag == TD_V_BIGINT) {
        const td_bigint *b = self.as.bigint;
        *ret = td_int((int64_t)(b->count - 1) * 32 + bits_of(b->limbs[b->count - 1]));
    } else {
        *ret = td_int(bits_of(magnitude(self)));
    }
    return TD_OK;
}

td_code jj_m_int_bit_count(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    int64_t n = 0;
    if (self.tag == TD_V_BIGINT)
        for (uint32_t i = 0; i < self.as.bigint->count; i++)
            n += ones_of(self.as.bigint->limbs[i]);
    else
        n = ones_of(magnitude(self));
    *ret = td_int(n);
    return TD_OK;
}

/* byteorder and signed of to_bytes and from_bytes. */
static td_code byte_order(jj_vm *vm, const jj_args *args, bool *ret_big, bool *ret_signed)
{
    *ret_big = true;
    if (jj_given(args, 1)) {
        td_value order;
        TD_TRY(jj_arg_text(vm, args, 1, "byteorder", &order));
        *ret_big = td_str_eq(td_as_str(order), TD_STR("big"));
        if (!*ret_big && !td_str_eq(td_as_str(order), TD_STR("little")))
            return jj_raise(vm, JJ_VALUE_ERROR, "byteorder must be either 'little' or 'big'");
    }
    return jj_arg_bool(vm, args, 2, false, ret_signed);
}

/* Byte i (from the lowest) of v in two's complement. */
static unsigned byte_at(td_value v, int64_t i, bool negative, unsigned *borrow)
{
    unsigned byte = 0;
    if (v.tag == TD_V_BIGINT) {
        if (i / 4 < v.as.bigint->count)
            byte = v.as.bigint->limbs[i / 4] >> (i % 4 * 8) & 0xFF;
    } else if (i < 8) {
        byte = (unsigned)(magnitude(v) >> (i * 8) & 0xFF);
    }
    if (!negative)
        return byte;
    unsigned inverted = (~byte & 0xFF) + *borrow;
    *borrow = inverted >> 8;
    return inverted & 0xFF;
}

td_code jj_m_int_to_bytes(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t length = 1, bits;
    bool big, with_sign, negative = jj_int_negative(self);
    if (jj_given(args, 0))
        TD_TRY(jj_arg_int(vm, args->pos[0], &length));
    TD_TRY(byte_order(vm, args, &big, &with_sign));
    if (length < 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "length argument must be non-negative");
    if (negative && !with_sign)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "can't convert negative int to unsigned");
    td_value n, less = self;
    if (negative) { /* -2**k fits k + 1 bits */
        TD_TRY(jj_neg(vm, self, &less));
        TD_TRY(jj_binop(vm, JJ_SUB, less, td_int(1), &less));
    }
    TD_TRY(jj_m_int_bit_length(vm, less, args, &n));
    bits = n.as.integer + with_sign;
    if (length < (bits + 7) / 8)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "int too big to convert");
    TD_TRY(jj_charge(vm, (uint64_t)length / 16));
    char *out = td_arena_alloc(jj_arena(vm), (size_t)length + 1, 1);
    if (out == NULL)
        return jj_nomem(vm);
    unsigned carry = 1;
    for (int64_t i = 0; i < length; i++)
        out[big ? length - 1 - i : i] = (char)byte_at(self, i, negative, &carry);
    return jj_new_bytes(vm, (td_str){ out, (size_t)length }, ret);
}

td_code jj_m_int_from_bytes(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool big, with_sign;
    td_value v = args->pos[0], list, sum = td_int(0), unit = td_int(1);
    TD_TRY(byte_order(vm, args, &big, &with_sign));
    if (v.tag == TD_V_STR || !jj_is_iterable(v))
        return jj_raise(vm, JJ_TYPE_ERROR, "cannot convert '%s' object to bytes", jj_type_name(v));
    TD_TRY(jj_to_list(vm, v, &list));
    td_arena *a = jj_arena(vm);
    td_value last = td_int(0);
    TD_TRY(jj_charge(vm, (uint64_t)list.len * list.len / 64));
    for (uint32_t i = 0; i < list.len; i++) {
        td_value byte = list.as.items[big ? list.len - 1 - i : i], part;
        int64_t n;
        TD_TRY(jj_index(vm, byte, &n));
        if (n < 0 || n > 255)
            return jj_raise(vm, JJ_VALUE_ERROR, "bytes must be in range(0, 256)");
        last = td_int(n);
        if (!td_bigint_mul(a, unit, last, &part) || !td_bigint_add(a, sum, part, &sum) ||
            !td_bigint_mul(a, unit, td_int(256), &unit))
            return jj_nomem(vm);
    }
    if (with_sign && last.as.integer >= 128 && !td_bigint_sub(a, sum, unit, &sum))
        return jj_nomem(vm);
    if (self.tag == TD_V_BOOL) /* the class is bool then */
        sum = td_bool(sum.tag == TD_V_BIGINT || sum.as.integer != 0);
    *ret = sum;
    return TD_OK;
}

/* ---- float ---- */

td_code jj_m_float_real(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = self;
    return TD_OK;
}

td_code jj_m_float_conjugate(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return jj_m_float_real(vm, self, args, ret);
}

td_code jj_m_float_imag(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)self;
    (void)args;
    *ret = td_float(0.0);
    return TD_OK;
}

td_code jj_m_float_is_integer(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_bool(isfinite(self.as.real) && floor(self.as.real) == self.as.real);
    return TD_OK;
}

td_code jj_m_float_as_integer_ratio(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    int exponent;
    td_value num, den = td_int(1), power;
    if (isnan(self.as.real))
        return jj_raise(vm, JJ_VALUE_ERROR, "cannot convert NaN to integer ratio");
    if (isinf(self.as.real))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "cannot convert Infinity to integer ratio");
    double m = frexp(self.as.real, &exponent);
    for (int i = 0; i < 300 && m != floor(m); i++) {
        m *= 2;
        exponent--;
    }
    TD_TRY(jj_int_of_double(vm, m, &num));
    TD_TRY(jj_binop(vm, JJ_POW, td_int(2), td_int(exponent < 0 ? -exponent : exponent), &power));
    if (exponent > 0)
        TD_TRY(jj_binop(vm, JJ_MUL, num, power, &num));
    else
        den = power;
    return jj_new_pair(vm, num, den, ret);
}

td_code jj_m_float_hex(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    double d = self.as.real;
    if (!isfinite(d))
        return jj_str(vm, self, ret);
    td_buf *b = jj_scratch(vm);
    if (signbit(d))
        PUT(td_buf_byte(b, '-'));
    if (d == 0) {
        PUT(td_buf_put(b, TD_STR("0x0.0p+0")));
        return jj_take(vm, b, false, ret);
    }
    int exponent;
    double m = frexp(fabs(d), &exponent);
    int shift = 1 - (-1021 - exponent > 0 ? -1021 - exponent : 0);
    m = ldexp(m, shift);
    exponent -= shift;
    PUT(td_buf_printf(b, "0x%d.", (int)m));
    m -= (int)m;
    for (int i = 0; i < 13; i++) {
        m *= 16;
        PUT(td_buf_byte(b, "0123456789abcdef"[(int)m]));
        m -= (int)m;
    }
    PUT(td_buf_printf(b, "p%c%d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent));
    return jj_take(vm, b, false, ret);
}

/* ---- float.fromhex ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                                              : -1;
}

static bool take(td_str *s, const char *lower)
{
    size_t n = strlen(lower);
    if (s->len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((s->ptr[i] | (lower[i] >= 'a' ? 32 : 0)) != lower[i])
            return false;
    *s = td_str_from_offset(*s, n);
    return true;
}

/* p and a signed decimal exponent; false: what is there is none. */
static bool take_exponent(td_str *s, int64_t *ret)
{
    *ret = 0;
    if (!take(s, "p"))
        return true;
    bool negative = take(s, "-");
    if (!negative)
        take(s, "+");
    if (s->len == 0 || *s->ptr < '0' || *s->ptr > '9')
        return false;
    for (; s->len != 0 && *s->ptr >= '0' && *s->ptr <= '9'; *s = td_str_from_offset(*s, 1))
        if (*ret < 1000000)
            *ret = *ret * 10 + (*s->ptr - '0');
    if (negative)
        *ret = -*ret;
    return true;
}

/* Digits with a point; the value is mantissa * 2 ** exponent, its last bit sticky. */
static bool take_mantissa(td_str *s, uint64_t *ret, int64_t *ret_exponent)
{
    bool any = false, point = false;
    *ret = 0;
    *ret_exponent = 0;
    for (; s->len != 0; *s = td_str_from_offset(*s, 1)) {
        if (*s->ptr == '.' && !point) {
            point = true;
            continue;
        }
        int d = hex_digit(*s->ptr);
        if (d < 0)
            break;
        any = true;
        if (*ret < (uint64_t)1 << 58) {
            *ret = *ret * 16 + (unsigned)d;
            *ret_exponent -= point ? 4 : 0;
        } else {
            *ret |= d != 0;
            *ret_exponent += point ? 0 : 4;
        }
    }
    return any;
}

/* m * 2 ** e correctly rounded: the bits beyond the precision are rounded to even by hand. */
static double scale(uint64_t m, int64_t e)
{
    if (m == 0)
        return 0;
    int bits = bits_of(m);
    int64_t top = e + bits; /* value < 2 ** top */
    if (top > 1100)
        return (double)INFINITY;
    if (top < -1080)
        return 0;
    int64_t lowest = top - 53 > -1074 ? top - 53 : -1074; /* exponent of the last bit kept */
    int64_t drop = lowest - e;
    if (drop > 0) {
        if (drop > 63)
            return 0;
        uint64_t rest = m & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
        m >>= drop;
        if (rest > half || (rest == half && (m & 1) != 0))
            m++;
        e = lowest;
    }
    return ldexp((double)m, (int)e);
}

td_code jj_m_float_fromhex(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    td_value text;
    TD_TRY(jj_arg_text(vm, args, 0, "fromhex()", &text));
    td_str s = td_py_strip(td_as_str(text));
    bool negative = take(&s, "-");
    if (!negative)
        take(&s, "+");
    double d = 0;
    bool ok = true;
    if (take(&s, "infinity") || take(&s, "inf")) {
        d = (double)INFINITY;
    } else if (take(&s, "nan")) {
        d = (double)NAN;
    } else {
        uint64_t m;
        int64_t e, exponent = 0;
        take(&s, "0x");
        ok = take_mantissa(&s, &m, &e) && take_exponent(&s, &exponent);
        d = ok ? scale(m, e + exponent) : 0;
        if (isinf(d))
            return jj_raise(vm, JJ_OVERFLOW_ERROR, "hexadecimal value too large to represent");
    }
    if (!ok || s.len != 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "invalid hexadecimal floating-point string");
    *ret = td_float(negative ? -d : d);
    return TD_OK;
}

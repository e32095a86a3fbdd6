/* complex.c - complex numbers, which a template gets from a negative number to a fractional power.
 *
 * Arithmetic is CPython's, step by step, so that the last bit of a result is the same: Smith's
 * division, powers of small integers by squaring, others by polar coordinates. */
#include "jinja/builtins/util.h"
#include "value/bigint.h"
#include "value/number.h"

#include <math.h>

static const jj_complex one = { { &jj_complex_type }, 1.0, 0.0 };

td_code jj_new_complex(jj_vm *vm, double re, double im, td_value *ret)
{
    jj_complex *o = td_arena_new(jj_arena(vm), jj_complex);
    if (o == NULL)
        return jj_nomem(vm);
    *o = (jj_complex){ { &jj_complex_type }, re, im };
    *ret = td_object_of(&o->base);
    return TD_OK;
}

static jj_complex value_of(td_value v)
{
    return *(const jj_complex *)v.as.object;
}

/* ---- arithmetic ---- */

static jj_complex product(jj_complex a, jj_complex b)
{
    a = (jj_complex){ a.base, a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
    return a;
}

/* false: division by zero. */
static bool quotient(jj_complex a, jj_complex b, jj_complex *ret)
{
    double re = fabs(b.re), im = fabs(b.im);
    *ret = a;
    if (re >= im) {
        if (re == 0)
            return false;
        double ratio = b.im / b.re, denominator = b.re + b.im * ratio;
        ret->re = (a.re + a.im * ratio) / denominator;
        ret->im = (a.im - a.re * ratio) / denominator;
    } else if (im >= re) {
        double ratio = b.re / b.im, denominator = b.re * ratio + b.im;
        ret->re = (a.re * ratio + a.im) / denominator;
        ret->im = (a.im * ratio - a.re) / denominator;
    } else { /* something is NaN */
        ret->re = ret->im = (double)NAN;
    }
    return true;
}

/* a to the power of a whole number of 0..100. */
static jj_complex power_by_squaring(jj_complex a, long n)
{
    jj_complex r = one;
    for (long mask = 1; n >= mask; mask <<= 1) {
        if (n & mask)
            r = product(r, a);
        a = product(a, a);
    }
    return r;
}

/* false: zero to a negative or complex power. */
static bool power(jj_complex a, jj_complex b, jj_complex *ret)
{
    *ret = one;
    if (b.im == 0 && b.re == floor(b.re) && fabs(b.re) <= 100) {
        long n = (long)b.re;
        if (n <= 0)
            return quotient(one, power_by_squaring(a, -n), ret);
        *ret = power_by_squaring(a, n);
        return true;
    }
    if (a.re == 0 && a.im == 0) {
        ret->re = 0;
        return b.im == 0 && !(b.re < 0);
    }
    double size = hypot(a.re, a.im), length = pow(size, b.re), angle = atan2(a.im, a.re);
    double phase = angle * b.re;
    if (b.im != 0) {
        length /= exp(angle * b.im);
        phase += b.im * log(size);
    }
    ret->re = length * cos(phase);
    ret->im = length * sin(phase);
    return true;
}

static td_code finish_power(jj_vm *vm, jj_complex a, jj_complex b, td_value *ret)
{
    jj_complex r;
    if (!power(a, b, &r))
        return jj_raise(vm, JJ_ZERO_DIVISION, "0.0 to a negative or complex power");
    if (isinf(r.re) || isinf(r.im))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "complex exponentiation");
    return jj_new_complex(vm, r.re, r.im, ret);
}

td_code jj_complex_pow(jj_vm *vm, double a, double b, td_value *ret)
{
    jj_complex x = one, y = one;
    x.re = a;
    y.re = b;
    return finish_power(vm, x, y, ret);
}

/* A number as a complex one; *ret_ok false: v is none. */
static td_code as_complex(jj_vm *vm, td_value v, jj_complex *ret, bool *ret_ok)
{
    *ret = one;
    *ret_ok = true;
    if (jj_is_complex(v))
        *ret = value_of(v);
    else if (jj_is_number(v))
        return jj_number_to_double(vm, v, &ret->re);
    else
        *ret_ok = false;
    return TD_OK;
}

static td_code complex_binop(jj_vm *vm, jj_op op, td_value x, td_value y, td_value *ret,
                             bool *ret_done)
{
    jj_complex a, b, r;
    *ret_done = false;
    if (op == JJ_FLOORDIV || op == JJ_MOD)
        return TD_OK;
    TD_TRY(as_complex(vm, x, &a, ret_done));
    if (*ret_done)
        TD_TRY(as_complex(vm, y, &b, ret_done));
    if (!*ret_done)
        return TD_OK;
    switch (op) {
    case JJ_ADD:
        return jj_new_complex(vm, a.re + b.re, a.im + b.im, ret);
    case JJ_SUB:
        return jj_new_complex(vm, a.re - b.re, a.im - b.im, ret);
    case JJ_MUL:
        r = product(a, b);
        return jj_new_complex(vm, r.re, r.im, ret);
    case JJ_POW:
        return finish_power(vm, a, b, ret);
    default:
        break;
    }
    if (!quotient(a, b, &r))
        return jj_raise(vm, JJ_ZERO_DIVISION, "complex division by zero");
    return jj_new_complex(vm, r.re, r.im, ret);
}

td_code jj_complex_neg(jj_vm *vm, td_value v, td_value *ret)
{
    return jj_new_complex(vm, -value_of(v).re, -value_of(v).im, ret);
}

td_code jj_complex_abs(jj_vm *vm, td_value v, td_value *ret)
{
    jj_complex c = value_of(v);
    double d = hypot(c.re, c.im);
    if (isinf(d) && isfinite(c.re) && isfinite(c.im))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "absolute value too large");
    *ret = td_float(d);
    return TD_OK;
}

/* ---- protocol ---- */

static bool complex_key_eq(const td_object *self, td_value other)
{
    const jj_complex *c = (const jj_complex *)self;
    if (!jj_is_complex(other))
        return jj_is_number(other) && c->im == 0 && td_value_eq(td_float(c->re), other);
    return value_of(other).re == c->re && value_of(other).im == c->im;
}

/* As the real number when it is one: that is the same key. */
static uint64_t complex_key_hash(const td_object *self, uint64_t seed)
{
    const jj_complex *c = (const jj_complex *)self;
    uint64_t re = td_value_hash_seeded(td_float(c->re), seed);
    return c->im == 0 ? re : re * 31 + td_value_hash_seeded(td_float(c->im), seed);
}

static td_code complex_eq(jj_vm *vm, td_object *self, td_value other, bool *ret)
{
    (void)vm;
    *ret = complex_key_eq(self, other);
    return TD_OK;
}

static td_code complex_truth(jj_vm *vm, td_object *self, bool *ret)
{
    (void)vm;
    *ret = ((const jj_complex *)self)->re != 0 || ((const jj_complex *)self)->im != 0;
    return TD_OK;
}

/* One part as repr prints it, without the ".0". */
static td_code put_part(td_buf *out, double d, bool plus)
{
    const jj_float_style style = { .type = 'r' };
    if (signbit(d) != 0 && !isnan(d))
        TD_TRY(td_buf_byte(out, '-'));
    else if (plus)
        TD_TRY(td_buf_byte(out, '+'));
    return jj_put_float(out, d, &style);
}

static td_code complex_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    const jj_complex *c = (const jj_complex *)self;
    bool imaginary = c->re == 0 && signbit(c->re) == 0;
    if (!imaginary) {
        TD_TRY(td_buf_byte(out, '('));
        TD_TRY(put_part(out, c->re, false));
    }
    TD_TRY(put_part(out, c->im, !imaginary));
    return td_buf_put(out, imaginary ? TD_STR("j") : TD_STR("j)"));
}

static td_code complex_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    return jj_object_attr(vm, JJ_TYPE_complex, self, name, ret);
}

const td_object_type jj_complex_type = {
    .key = { complex_key_eq, complex_key_hash },
    .name = "complex",
    .getattr = complex_getattr,
    .eq = complex_eq,
    .repr = complex_repr,
    .truth = complex_truth,
    .binop = complex_binop,
};

/* ---- attributes ---- */

td_code jj_m_complex_real(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_float(value_of(self).re);
    return TD_OK;
}

td_code jj_m_complex_imag(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    *ret = td_float(value_of(self).im);
    return TD_OK;
}

td_code jj_m_complex_conjugate(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_new_complex(vm, value_of(self).re, -value_of(self).im, ret);
}

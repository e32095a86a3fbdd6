/* filters_num.c - filters about numbers: abs, int, float, round, filesizeformat; and default. */
#include "jinja/builtins/util.h"
#include "value/bigint.h"
#include "value/number.h"

#include <math.h>

td_code jj_f_default(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool boolean = false, use = self.tag == TD_V_UNDEFINED;
    if (!use)
        TD_TRY(jj_arg_bool(vm, args, 1, false, &boolean));
    if (boolean) {
        bool truth;
        TD_TRY(jj_truth(vm, self, &truth));
        use = !truth;
    }
    *ret = use ? jj_arg(args, 0, td_string(TD_STR(""))) : self;
    return TD_OK;
}

td_code jj_f_abs(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    if (self.tag == TD_V_FLOAT) {
        *ret = td_float(fabs(self.as.real));
        return TD_OK;
    }
    if (jj_is_complex(self))
        return jj_complex_abs(vm, self, ret);
    if (!jj_is_int(self))
        return jj_raise(vm, JJ_TYPE_ERROR, "bad operand type for abs(): '%s'", jj_type_name(self));
    return jj_int_negative(self) ? jj_neg(vm, self, ret) : jj_pos(vm, self, ret);
}

/* ---- int, float ---- */

/* int(float(v)), the default where Python gives up. */
static td_code int_by_float(jj_vm *vm, td_value self, td_value fallback, td_value *ret)
{
    double d = 0;
    bool ok = false;
    if (self.tag == TD_V_FLOAT) {
        d = self.as.real;
        ok = true;
    } else if (self.tag == TD_V_STR) {
        TD_TRY(jj_parse_float(vm, td_as_str(self), &d, &ok));
    }
    if (!ok || isnan(d) || isinf(d)) {
        *ret = fallback;
        return TD_OK;
    }
    return jj_int_of_double(vm, d, ret);
}

td_code jj_f_int(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value fallback = jj_arg(args, 0, td_int(0)), base = jj_arg(args, 1, td_int(10));
    bool ok = false;
    switch ((td_vtag)self.tag) {
    case TD_V_BOOL:
    case TD_V_INT:
    case TD_V_BIGINT:
        return jj_pos(vm, self, ret);
    case TD_V_FLOAT:
        if (isinf(self.as.real))
            return jj_int_of_double(vm, self.as.real, ret); /* raises: not caught there either */
        return int_by_float(vm, self, fallback, ret);
    case TD_V_STR:
        if (jj_is_int(base)) {
            int64_t b;
            TD_TRY(jj_index(vm, base, &b));
            TD_TRY(jj_parse_int(vm, td_as_str(self), b, ret, &ok));
        }
        return ok ? TD_OK : int_by_float(vm, self, fallback, ret);
    case TD_V_UNDEFINED:
        return jj_raise_undefined(vm, self);
    case TD_V_OBJECT:
        if (jj_is_bytes(self)) {
            const jj_bytes *raw = (const jj_bytes *)self.as.object;
            TD_TRY(jj_parse_int(vm, raw->data, 10, ret, &ok));
            return ok ? TD_OK : int_by_float(vm, td_string(raw->data), fallback, ret);
        }
        break;
    default:
        break;
    }
    *ret = fallback;
    return TD_OK;
}

td_code jj_f_float(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    double d = 0;
    bool ok = jj_is_number(self);
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (ok)
        TD_TRY(jj_number_to_double(vm, self, &d));
    else if (self.tag == TD_V_STR)
        TD_TRY(jj_parse_float(vm, td_as_str(self), &d, &ok));
    else if (jj_is_bytes(self))
        TD_TRY(jj_parse_float(vm, ((const jj_bytes *)self.as.object)->data, &d, &ok));
    *ret = ok ? td_float(d) : jj_arg(args, 0, td_float(0.0));
    return TD_OK;
}

/* ---- round ---- */

/* round(i, n) for negative n: to a multiple of 10 ** -n, half to even. */
static td_code round_int(jj_vm *vm, td_value v, int64_t digits, td_value *ret)
{
    td_value unit, div, mod, twice, half;
    bool less, equal;
    if (digits >= 0)
        return jj_pos(vm, v, ret);
    /* below half of 10 ** -digits for sure: a limb of 32 bits has less than 10 decimal digits */
    if (digits < -20 - 10 * (int64_t)(v.tag == TD_V_BIGINT ? v.as.bigint->count : 0)) {
        *ret = td_int(0);
        return TD_OK;
    }
    td_arena *a = jj_arena(vm);
    TD_TRY(jj_binop(vm, JJ_POW, td_int(10), td_int(-digits), &unit));
    if (!td_bigint_divmod(a, v, unit, &div, &mod) || !td_bigint_mul(a, mod, td_int(2), &twice))
        return jj_nomem(vm);
    TD_TRY(jj_less(vm, unit, twice, &less));
    TD_TRY(jj_eq(vm, unit, twice, &equal));
    if (equal) {
        TD_TRY(jj_binop(vm, JJ_MOD, div, td_int(2), &half));
        less = half.as.integer != 0;
    }
    if (less && !td_bigint_add(a, div, td_int(1), &div))
        return jj_nomem(vm);
    if (!td_bigint_mul(a, div, unit, ret))
        return jj_nomem(vm);
    return TD_OK;
}

/* Rounds the exact decimal digits of |d| at 10 ** -digits (digits < 0), half to even. */
static td_code round_left(jj_vm *vm, double d, int64_t digits, double *ret)
{
    td_value i;
    double fraction, whole;
    fraction = modf(fabs(d), &whole);
    TD_TRY(jj_int_of_double(vm, whole, &i));
    /* a half is a tie only without a fraction behind it: put a sticky digit behind the number */
    td_arena *a = jj_arena(vm);
    if (!td_bigint_mul(a, i, td_int(10), &i) ||
        !td_bigint_add(a, i, td_int(fraction != 0), &i))
        return jj_nomem(vm);
    TD_TRY(round_int(vm, i, digits - 1, &i));
    double scaled;
    td_value whole_value;
    if (!td_bigint_divmod(a, i, td_int(10), &whole_value, &i))
        return jj_nomem(vm);
    TD_TRY(jj_number_to_double(vm, whole_value, &scaled));
    *ret = copysign(scaled, d);
    return TD_OK;
}

static td_code round_float(jj_vm *vm, double d, int64_t digits, td_value *ret)
{
    double rounded = d;
    if (isnan(d) || isinf(d) || digits > 323) {
        *ret = td_float(d);
        return TD_OK;
    }
    if (digits < -308) {
        *ret = td_float(0.0 * d);
        return TD_OK;
    }
    if (digits < 0) {
        TD_TRY(round_left(vm, d, digits, &rounded));
    } else {
        td_buf *b = jj_scratch(vm);
        PUT(td_float_print_fixed(b, d, (unsigned)digits));
        if (!td_float_parse(td_buf_view(b), &rounded))
            return jj_raise(vm, JJ_VALUE_ERROR, "round: unreadable digits");
        b->len = 0;
    }
    if (isinf(rounded))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "rounded value too large to represent");
    *ret = td_float(rounded);
    return TD_OK;
}

static td_code round_common(jj_vm *vm, td_value self, td_value precision, td_value *ret)
{
    int64_t digits = 0;
    if (!jj_is_number(self))
        return self.tag == TD_V_UNDEFINED
                   ? jj_raise_undefined(vm, self)
                   : jj_raise(vm, JJ_TYPE_ERROR, "type %s doesn't define __round__ method",
                              jj_type_name(self));
    if (td_is_none(precision)) {
        if (self.tag != TD_V_FLOAT)
            return jj_pos(vm, self, ret);
        TD_TRY(round_float(vm, self.as.real, 0, ret));
        return jj_int_of_double(vm, ret->as.real, ret);
    }
    if (self.tag == TD_V_FLOAT) {
        TD_TRY(jj_index(vm, precision, &digits));
        return round_float(vm, self.as.real, digits, ret);
    }
    TD_TRY(jj_index(vm, precision, &digits));
    return round_int(vm, self, digits, ret);
}

/* ceil or floor of self * 10 ** precision, divided by 10 ** precision again. */
static td_code round_directed(jj_vm *vm, td_value self, td_value precision, bool up, td_value *ret)
{
    td_value unit, scaled;
    TD_TRY(jj_binop(vm, JJ_POW, td_int(10), precision, &unit));
    TD_TRY(jj_binop(vm, JJ_MUL, self, unit, &scaled));
    if (scaled.tag == TD_V_FLOAT)
        TD_TRY(jj_int_of_double(vm, up ? ceil(scaled.as.real) : floor(scaled.as.real), &scaled));
    else if (!jj_is_int(scaled))
        return jj_raise(vm, JJ_TYPE_ERROR, "must be real number, not %s", jj_type_name(scaled));
    return jj_binop(vm, JJ_DIV, scaled, unit, ret);
}

td_code jj_f_round(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value precision = jj_arg(args, 0, td_int(0));
    td_value method = jj_arg(args, 1, td_string(TD_STR("common")));
    TD_TRY(jj_hashable(vm, method));
    td_str name = method.tag == TD_V_STR ? td_as_str(method) : TD_STR("");
    if (td_str_eq(name, TD_STR("common")))
        return round_common(vm, self, precision, ret);
    if (td_str_eq(name, TD_STR("ceil")))
        return round_directed(vm, self, precision, true, ret);
    if (td_str_eq(name, TD_STR("floor")))
        return round_directed(vm, self, precision, false, ret);
    return jj_raise(vm, JJ_FILTER_ARGUMENT, "method must be common, ceil or floor");
}

/* ---- filesizeformat ---- */

static td_code size_of(jj_vm *vm, td_value self, double *ret)
{
    bool ok = jj_is_number(self);
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (ok)
        return jj_number_to_double(vm, self, ret);
    if (self.tag == TD_V_STR)
        TD_TRY(jj_parse_float(vm, td_as_str(self), ret, &ok));
    if (!ok)
        return jj_raise(vm, self.tag == TD_V_STR ? JJ_VALUE_ERROR : JJ_TYPE_ERROR,
                        "could not convert %s to float", jj_type_name(self));
    return TD_OK;
}

td_code jj_f_filesizeformat(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    static const char *const prefixes[2][8] = {
        { "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB" },
        { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB" },
    };
    double bytes;
    bool binary;
    TD_TRY(size_of(vm, self, &bytes));
    TD_TRY(jj_arg_bool(vm, args, 0, false, &binary));
    double base = binary ? 1024 : 1000, unit = base;
    if (bytes == 1)
        return jj_new_text(vm, TD_STR("1 Byte"), ret);
    if (bytes < base) {
        TD_TRY(jj_int_of_double(vm, bytes, ret));
        td_buf *b = jj_scratch(vm);
        TD_TRY(jj_append_str(vm, b, *ret));
        PUT(td_buf_put(b, TD_STR(" Bytes")));
        return jj_take(vm, b, false, ret);
    }
    int i = 0;
    /* Python compares with the exact int: 10 ** 24 lies just above the double 1e24 */
    static const double decimal[8] = { 1e6, 1e9, 1e12, 1e15, 1e18, 1e21, 1e24, 1e27 };
    for (;; i++) {
        unit = binary ? ldexp(1.0, 10 * (i + 2)) : decimal[i];
        if (bytes < unit || (!binary && i == 6 && bytes == unit) || i == 7)
            break;
    }
    td_buf *b = jj_scratch(vm);
    PUT(jj_put_float(b, base * bytes / unit,
                     &(jj_float_style){ .type = 'f', .precision = 1 }));
    PUT(td_buf_byte(b, ' '));
    PUT(td_buf_put(b, td_str_from(prefixes[binary][i])));
    return jj_take(vm, b, false, ret);
}

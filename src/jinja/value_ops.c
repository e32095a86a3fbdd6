/* value_ops.c - Python's arithmetic on values. Integers that overflow go on as big integers. */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "jinja/vm_internal.h"
#include "value/bigint.h"

enum { POW_BITS_MAX = 1 << 24 };

static const char *const op_names[] = { "+", "-", "*", "/", "//", "%", "** or pow()" };

static bool is_int(td_value v)
{
    return v.tag == TD_V_INT || v.tag == TD_V_BOOL || v.tag == TD_V_BIGINT;
}

static bool is_small(td_value v)
{
    return v.tag == TD_V_INT || v.tag == TD_V_BOOL;
}

static bool is_number(td_value v)
{
    return is_int(v) || v.tag == TD_V_FLOAT;
}

static bool is_complex(td_value v)
{
    return v.tag == TD_V_OBJECT && v.as.object->type == &jj_complex_type;
}

static td_code unsupported(jj_vm *vm, jj_op op, td_value a, td_value b)
{
    const char *kind = jj_type_name(a);
    if (op == JJ_ADD && (a.tag == TD_V_STR || a.tag == TD_V_LIST || a.tag == TD_V_TUPLE) &&
        !jj_is_markup(a))
        return jj_raise(vm, JJ_TYPE_ERROR, "can only concatenate %s (not \"%s\") to %s", kind,
                        jj_type_name(b), kind);
    return jj_raise(vm, JJ_TYPE_ERROR, "unsupported operand type(s) for %s: '%s' and '%s'",
                    op_names[op], jj_type_name(a), jj_type_name(b));
}

/* ---- numbers ---- */

static td_code as_double(jj_vm *vm, td_value v, double *ret)
{
    if (v.tag == TD_V_FLOAT)
        *ret = v.as.real;
    else if (v.tag == TD_V_BIGINT)
        *ret = td_bigint_to_double(v.as.bigint);
    else
        *ret = (double)v.as.integer;
    if (isinf(*ret) && v.tag == TD_V_BIGINT)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "int too large to convert to float");
    return TD_OK;
}

static td_code zero_division(jj_vm *vm, const char *what)
{
    return jj_raise(vm, JJ_ZERO_DIVISION, "%s", what);
}

static bool is_zero(td_value v)
{
    return v.tag == TD_V_FLOAT ? v.as.real == 0 : is_small(v) && v.as.integer == 0;
}

static double float_mod(double a, double b)
{
    double m = fmod(a, b);
    if (m == 0)
        return copysign(0.0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}

/* CPython's float_divmod, the quotient part. */
static double float_floordiv(double a, double b)
{
    double m = fmod(a, b), div = (a - m) / b;
    if (m != 0 && (b < 0) != (m < 0))
        div -= 1.0;
    if (div == 0)
        return copysign(0.0, a / b);
    double floored = floor(div);
    return div - floored > 0.5 ? floored + 1.0 : floored;
}

static td_code float_pow(jj_vm *vm, double a, double b, td_value *ret)
{
    if (a == 0 && b < 0)
        return zero_division(vm, "0.0 cannot be raised to a negative power");
    if (isfinite(a) && a < 0 && isfinite(b) && b != floor(b))
        return jj_complex_pow(vm, a, b, ret);
    double r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "(34, 'Numerical result out of range')");
    *ret = td_float(r);
    return TD_OK;
}

static td_code float_op(jj_vm *vm, jj_op op, td_value x, td_value y, td_value *ret)
{
    double a = 0, b = 0;
    TD_TRY(as_double(vm, x, &a));
    TD_TRY(as_double(vm, y, &b));
    if (b == 0 && (op == JJ_DIV || op == JJ_FLOORDIV || op == JJ_MOD))
        return zero_division(vm, op == JJ_DIV        ? "float division by zero"
                                 : op == JJ_FLOORDIV ? "float floor division by zero"
                                                     : "float modulo");
    switch (op) {
    case JJ_ADD: *ret = td_float(a + b); break;
    case JJ_SUB: *ret = td_float(a - b); break;
    case JJ_MUL: *ret = td_float(a * b); break;
    case JJ_DIV: *ret = td_float(a / b); break;
    case JJ_FLOORDIV: *ret = td_float(float_floordiv(a, b)); break;
    case JJ_MOD: *ret = td_float(float_mod(a, b)); break;
    default: return float_pow(vm, a, b, ret);
    }
    return TD_OK;
}

static uint64_t magnitude(int64_t i)
{
    return i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
}

static td_code divide_ints(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    double d;
    if (is_zero(b))
        return zero_division(vm, "division by zero");
    if (is_small(a) && is_small(b) && a.as.integer != 0 &&
        magnitude(a.as.integer) <= (uint64_t)1 << 53 &&
        magnitude(b.as.integer) <= (uint64_t)1 << 53) {
        *ret = td_float((double)a.as.integer / (double)b.as.integer);
        return TD_OK;
    }
    if (!td_bigint_true_div(vm->arena, a, b, &d))
        return jj_nomem(vm);
    if (isinf(d))
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "integer division result too large for a float");
    *ret = td_float(d);
    return TD_OK;
}

/* base ** exponent could not fit in POW_BITS_MAX bits; 0, 1 and -1 always do. */
static bool power_too_large(td_value base, int64_t exponent)
{
    uint64_t bits = 64;
    if (base.tag == TD_V_BIGINT)
        bits = (uint64_t)base.as.bigint->count * 32;
    else if (magnitude(base.as.integer) <= 1)
        return false;
    else
        bits = 64 - (uint64_t)__builtin_clzll(magnitude(base.as.integer));
    return (uint64_t)exponent > POW_BITS_MAX / bits;
}

static bool is_negative(td_value v)
{
    return v.tag == TD_V_BIGINT ? v.as.bigint->negative : v.as.integer < 0;
}

static td_code int_pow(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    double x = 0, y = 0;
    if (is_negative(b)) {
        if (is_zero(a))
            return zero_division(vm, "0.0 cannot be raised to a negative power");
        TD_TRY(as_double(vm, a, &x));
        TD_TRY(as_double(vm, b, &y));
        return float_pow(vm, x, y, ret);
    }
    if (b.tag == TD_V_BIGINT ? !(is_small(a) && magnitude(a.as.integer) <= 1)
                             : power_too_large(a, b.as.integer))
        return td_fail(vm->err, TD_E_LIMIT, "integer power too large");
    if (b.tag == TD_V_BIGINT) { /* 0, 1 or -1: only whether the exponent is odd counts */
        td_value half, odd;
        if (!td_bigint_divmod(vm->arena, b, td_int(2), &half, &odd))
            return jj_nomem(vm);
        *ret = td_int(a.as.integer < 0 && odd.as.integer == 0 ? 1 : a.as.integer);
        return TD_OK;
    }
    TD_TRY(jj_charge(vm, (uint64_t)b.as.integer < 64 ? 1 : 64));
    return td_bigint_pow(vm->arena, a, b, ret) ? TD_OK : jj_nomem(vm);
}

static td_code divmod_ints(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret)
{
    td_value div, mod;
    if (is_zero(b))
        return zero_division(vm, "integer division or modulo by zero");
    if (is_small(a) && is_small(b) && a.as.integer != INT64_MIN) {
        int64_t q = a.as.integer / b.as.integer, r = a.as.integer % b.as.integer;
        if (r != 0 && (r < 0) != (b.as.integer < 0)) {
            q--;
            r += b.as.integer;
        }
        *ret = td_int(op == JJ_MOD ? r : q);
        return TD_OK;
    }
    if (!td_bigint_divmod(vm->arena, a, b, &div, &mod))
        return jj_nomem(vm);
    *ret = op == JJ_MOD ? mod : div;
    return TD_OK;
}

/* The work of a big multiplication or division, so that it counts against the limit. */
static uint64_t int_cost(td_value a, td_value b)
{
    uint64_t x = a.tag == TD_V_BIGINT ? a.as.bigint->count : 1;
    uint64_t y = b.tag == TD_V_BIGINT ? b.as.bigint->count : 1;
    return x * y / 16;
}

static td_code int_op(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret)
{
    bool ok = true;
    int64_t r = 0;
    if (is_small(a) && is_small(b)) {
        bool over = op == JJ_ADD   ? __builtin_add_overflow(a.as.integer, b.as.integer, &r)
                    : op == JJ_SUB ? __builtin_sub_overflow(a.as.integer, b.as.integer, &r)
                    : op == JJ_MUL ? __builtin_mul_overflow(a.as.integer, b.as.integer, &r)
                                   : true;
        if (!over) {
            *ret = td_int(r);
            return TD_OK;
        }
    }
    TD_TRY(jj_charge(vm, int_cost(a, b)));
    switch (op) {
    case JJ_ADD: ok = td_bigint_add(vm->arena, a, b, ret); break;
    case JJ_SUB: ok = td_bigint_sub(vm->arena, a, b, ret); break;
    case JJ_MUL: ok = td_bigint_mul(vm->arena, a, b, ret); break;
    case JJ_DIV: return divide_ints(vm, a, b, ret);
    case JJ_POW: return int_pow(vm, a, b, ret);
    default: return divmod_ints(vm, op, a, b, ret);
    }
    return ok ? TD_OK : jj_nomem(vm);
}

/* ---- sequences ---- */

/* a followed by b. A text that was made here and is added to again grows in place while there is
 * room behind it: nobody else owns those bytes, and older values keep their own length. */
static td_code join(jj_vm *vm, td_str a, td_str b, char **ret)
{
    enum { SLACK = 32, ROOM_FROM = 64 };
    size_t len = a.len + b.len, room = len;
    jj_growing *g = NULL;
    for (int i = 0; a.len != 0 && i < JJ_GROWING; i++)
        if (vm->growing[i].end == a.ptr + a.len)
            g = &vm->growing[i];
    if (g != NULL && b.len <= (size_t)(g->limit - g->end)) {
        if (b.len != 0)
            memcpy(g->end, b.ptr, b.len);
        g->end += b.len;
        *ret = (char *)(uintptr_t)a.ptr;
        return TD_OK;
    }
    if (g != NULL && len >= ROOM_FROM)
        room = 2 * len;
    if (g == NULL)
        g = &vm->growing[vm->next_growing++ % JJ_GROWING];
    char *to = td_arena_alloc(vm->arena, room + SLACK, 1);
    if (to == NULL)
        return jj_nomem(vm);
    if (a.len != 0)
        memcpy(to, a.ptr, a.len);
    if (b.len != 0)
        memcpy(to + a.len, b.ptr, b.len);
    *g = (jj_growing){ to + len, to + room };
    *ret = to;
    return TD_OK;
}

static td_code add_text(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    bool markup = jj_is_markup(a) || jj_is_markup(b);
    if (markup && !jj_is_markup(a))
        TD_TRY(jj_escape(vm, a, &a));
    if (markup && !jj_is_markup(b))
        TD_TRY(jj_escape(vm, b, &b));
    size_t len = (size_t)a.len + b.len;
    char *to = NULL;
    if (len > UINT32_MAX)
        return td_fail(vm->err, TD_E_LIMIT, "text of %zu bytes", len);
    TD_TRY(join(vm, td_as_str(a), td_as_str(b), &to));
    *ret = td_string((td_str){ to, len });
    ret->flags = (uint8_t)((markup ? TD_VF_MARKUP : 0) | (a.flags & b.flags & TD_VF_ASCII));
    return TD_OK;
}

static td_code add_items(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    uint64_t len = (uint64_t)a.len + b.len;
    if (len > UINT32_MAX)
        return td_fail(vm->err, TD_E_LIMIT, "sequence too long");
    td_value *items = td_arena_array(vm->arena, td_value, len + 1);
    if (items == NULL)
        return jj_nomem(vm);
    TD_TRY(jj_charge(vm, len / 8));
    if (a.len != 0)
        memcpy(items, a.as.items, a.len * sizeof *items);
    if (b.len != 0)
        memcpy(items + a.len, b.as.items, b.len * sizeof *items);
    *ret = a;
    ret->len = (uint32_t)len;
    ret->as.items = items;
    return TD_OK;
}

/* Fills total bytes with repetitions of the first: what is there is doubled, in pieces between
 * which the clock is looked at. */
static td_code fill(jj_vm *vm, char *to, const char *from, size_t one, size_t total)
{
    enum { PIECE = 1 << 22 };
    size_t done = one < total ? one : total;
    if (done != 0)
        memcpy(to, from, done);
    while (done < total) {
        size_t period = done < PIECE ? done : PIECE / one * one;
        if (period == 0)
            period = one;
        size_t n = period < total - done ? period : total - done;
        TD_TRY(jj_charge(vm, n / 64 + 1));
        memcpy(to + done, to, n);
        done += n;
    }
    return TD_OK;
}

static td_code repeat(jj_vm *vm, td_value v, td_value times, td_value *ret)
{
    int64_t n = 0;
    if (times.tag == TD_V_BIGINT)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer");
    TD_TRY(jj_index(vm, times, &n));
    if (n < 0)
        n = 0;
    if (v.len != 0 && n > (int64_t)(UINT32_MAX / v.len))
        return td_fail(vm->err, TD_E_LIMIT, "repeated sequence too long");
    size_t unit = td_is_str(v) ? 1 : sizeof(td_value), one = v.len * unit;
    char *to = td_arena_alloc(vm->arena, one * (size_t)n + 32, _Alignof(td_value));
    if (to == NULL)
        return jj_nomem(vm);
    TD_TRY(fill(vm, to, v.as.str, one, one * (size_t)n));
    *ret = v;
    ret->len = (uint32_t)(v.len * (size_t)n);
    ret->hash = 0;
    if (td_is_str(v)) {
        ret->flags = (uint8_t)(v.flags & (TD_VF_MARKUP | TD_VF_ASCII | TD_VF_NONASCII));
        ret->as.str = to;
    } else {
        ret->as.items = (const td_value *)(const void *)to;
    }
    return TD_OK;
}

static bool is_sequence(td_value v)
{
    return v.tag == TD_V_STR || v.tag == TD_V_LIST || v.tag == TD_V_TUPLE;
}

/* ---- any two values ---- */

/* Markup + x and x + Markup: x must be text or bring its own escaping. */
static td_code add_sequences(jj_vm *vm, td_value a, td_value b, td_value *ret, bool *ret_done)
{
    *ret_done = true;
    if (td_is_str(a) && td_is_str(b))
        return add_text(vm, a, b, ret);
    if (a.tag == b.tag && (a.tag == TD_V_LIST || a.tag == TD_V_TUPLE))
        return add_items(vm, a, b, ret);
    *ret_done = false;
    return TD_OK;
}

static td_code object_op(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret,
                         bool *ret_done)
{
    *ret_done = false;
    if (a.tag == TD_V_OBJECT && a.as.object->type->binop != NULL)
        TD_TRY(a.as.object->type->binop(vm, op, a, b, ret, ret_done));
    if (!*ret_done && b.tag == TD_V_OBJECT && b.as.object->type->binop != NULL)
        TD_TRY(b.as.object->type->binop(vm, op, a, b, ret, ret_done));
    return TD_OK;
}

td_code jj_binop(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret)
{
    bool done;
    if (is_int(a) && is_int(b))
        return int_op(vm, op, a, b, ret);
    if (is_number(a) && is_number(b))
        return float_op(vm, op, a, b, ret);
    if (op == JJ_MOD && td_is_str(a))
        return jj_percent(vm, a, b, ret);
    if (a.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, a);
    if (b.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, b);
    if (op == JJ_ADD) {
        TD_TRY(add_sequences(vm, a, b, ret, &done));
        if (done)
            return TD_OK;
    }
    if (op == JJ_MUL && is_sequence(a) && is_int(b))
        return repeat(vm, a, b, ret);
    if (op == JJ_MUL && is_int(a) && is_sequence(b))
        return repeat(vm, b, a, ret);
    TD_TRY(object_op(vm, op, a, b, ret, &done));
    return done ? TD_OK : unsupported(vm, op, a, b);
}

td_code jj_add(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    return jj_binop(vm, JJ_ADD, a, b, ret);
}

td_code jj_neg(jj_vm *vm, td_value a, td_value *ret)
{
    if (a.tag == TD_V_FLOAT) {
        *ret = td_float(-a.as.real);
        return TD_OK;
    }
    if (is_small(a) && a.as.integer != INT64_MIN) {
        *ret = td_int(-a.as.integer);
        return TD_OK;
    }
    if (is_int(a))
        return td_bigint_neg(vm->arena, a, ret) ? TD_OK : jj_nomem(vm);
    if (is_complex(a))
        return jj_complex_neg(vm, a, ret);
    if (a.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, a);
    return jj_raise(vm, JJ_TYPE_ERROR, "bad operand type for unary -: '%s'", jj_type_name(a));
}

td_code jj_pos(jj_vm *vm, td_value a, td_value *ret)
{
    if (is_number(a)) {
        *ret = a.tag == TD_V_BOOL ? td_int(a.as.integer) : a;
        return TD_OK;
    }
    if (is_complex(a)) {
        *ret = a;
        return TD_OK;
    }
    if (a.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, a);
    return jj_raise(vm, JJ_TYPE_ERROR, "bad operand type for unary +: '%s'", jj_type_name(a));
}

td_code jj_index(jj_vm *vm, td_value v, int64_t *ret)
{
    if (v.tag == TD_V_BIGINT)
        *ret = v.as.bigint->negative ? INT64_MIN : INT64_MAX;
    else if (is_small(v))
        *ret = v.as.integer;
    else
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object cannot be interpreted as an integer",
                        jj_type_name(v));
    return TD_OK;
}

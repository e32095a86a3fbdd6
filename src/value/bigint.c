/* bigint.c - Python's int beyond 64 bits.
 *
 * Operands of any integer kind are first seen as sign and magnitude (struct operand, which needs no
 * memory); results go through finish(), which trims them and turns those that fit back into
 * TD_V_INT, so that equal integers always have the same form. */
#include "value/bigint.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "value/nat.h"

enum { LIMBS_MAX = TD_BIGINT_BITS_MAX / 32 };

typedef struct operand {
    bool negative;
    size_t n;
    const uint32_t *limbs;
    uint32_t small[2];
} operand;

/* o->limbs may point into *o, so an operand stays where it is. */
static void load(operand *o, td_value v)
{
    if (v.tag == TD_V_BIGINT) {
        o->negative = v.as.bigint->negative;
        o->n = v.as.bigint->count;
        o->limbs = v.as.bigint->limbs;
        return;
    }
    assert(v.tag == TD_V_INT || v.tag == TD_V_BOOL);
    int64_t i = v.as.integer;
    uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
    o->negative = i < 0;
    o->small[0] = (uint32_t)magnitude;
    o->small[1] = (uint32_t)(magnitude >> 32);
    o->limbs = o->small;
    o->n = td_nat_trim(o->small, 2);
}

static bool too_large(td_arena *a)
{
    a->over_limit = true;
    return false;
}

enum { SHIFT_LIMBS = 40 }; /* what intermediate numbers may have more: see td_bigint_true_div */

/* A number with room for n limbs. */
static td_bigint *make(td_arena *a, size_t n)
{
    if (n > LIMBS_MAX + SHIFT_LIMBS) {
        too_large(a);
        return NULL;
    }
    return td_arena_alloc(a, sizeof(td_bigint) + n * sizeof(uint32_t), _Alignof(td_bigint));
}

static bool finish(td_arena *a, td_bigint *b, size_t n, bool negative, td_value *ret)
{
    n = td_nat_trim(b->limbs, n);
    if (td_nat_bits(b->limbs, n) > TD_BIGINT_BITS_MAX)
        return too_large(a);
    if (n <= 2) {
        uint64_t low = n > 0 ? b->limbs[0] : 0, high = n > 1 ? b->limbs[1] : 0;
        uint64_t magnitude = high << 32 | low;
        if (magnitude <= (uint64_t)INT64_MAX + negative) {
            *ret = td_int((int64_t)(negative ? -magnitude : magnitude));
            return true;
        }
    }
    b->negative = negative;
    b->count = (uint32_t)n;
    *ret = (td_value){ .tag = TD_V_BIGINT, .as.bigint = b };
    return true;
}

/* x + y, where flip says that y counts with the other sign. */
static bool add(td_arena *a, td_value x, td_value y, bool flip, td_value *ret)
{
    operand p, q;
    load(&p, x);
    load(&q, y);
    q.negative ^= flip;
    td_bigint *b = make(a, (p.n > q.n ? p.n : q.n) + 1);
    if (b == NULL)
        return false;
    if (p.negative == q.negative)
        return finish(a, b, td_nat_add(b->limbs, p.limbs, p.n, q.limbs, q.n), p.negative, ret);
    if (td_nat_cmp(p.limbs, p.n, q.limbs, q.n) >= 0)
        return finish(a, b, td_nat_sub(b->limbs, p.limbs, p.n, q.limbs, q.n), p.negative, ret);
    return finish(a, b, td_nat_sub(b->limbs, q.limbs, q.n, p.limbs, p.n), q.negative, ret);
}

bool td_bigint_add(td_arena *a, td_value x, td_value y, td_value *ret)
{
    return add(a, x, y, false, ret);
}

bool td_bigint_sub(td_arena *a, td_value x, td_value y, td_value *ret)
{
    return add(a, x, y, true, ret);
}

bool td_bigint_neg(td_arena *a, td_value x, td_value *ret)
{
    return add(a, td_int(0), x, true, ret);
}

bool td_bigint_mul(td_arena *a, td_value x, td_value y, td_value *ret)
{
    operand p, q;
    load(&p, x);
    load(&q, y);
    td_bigint *b = make(a, p.n + q.n);
    if (b == NULL)
        return false;
    size_t n = td_nat_mul(b->limbs, p.limbs, p.n, q.limbs, q.n);
    return finish(a, b, n, p.negative != q.negative, ret);
}

/* Quotient and remainder of the magnitudes; *ret_q has room for one more limb. */
static bool divide(td_arena *a, const operand *p, const operand *q, td_bigint **ret_q, size_t *nq,
                   td_bigint **ret_r, size_t *nr)
{
    td_bigint *quot = make(a, p->n + 2), *rem = make(a, (p->n > q->n ? p->n : q->n) + 1);
    if (quot == NULL || rem == NULL)
        return false;
    *ret_q = quot;
    *ret_r = rem;
    *nr = p->n;
    memcpy(rem->limbs, p->limbs, p->n * sizeof *rem->limbs);
    if (p->n < q->n) {
        *nq = 0;
    } else if (q->n == 1) {
        memcpy(quot->limbs, p->limbs, p->n * sizeof *quot->limbs);
        *nq = td_nat_div_small(quot->limbs, p->n, q->limbs[0], &rem->limbs[0]);
        *nr = td_nat_trim(rem->limbs, 1);
    } else {
        uint32_t *scratch = td_arena_array(a, uint32_t, q->n);
        if (scratch == NULL)
            return false;
        *nq = td_nat_divmod(quot->limbs, rem->limbs, nr, q->limbs, q->n, scratch);
    }
    return true;
}

bool td_bigint_divmod(td_arena *a, td_value x, td_value y, td_value *ret_div, td_value *ret_mod)
{
    operand p, q;
    load(&p, x);
    load(&q, y);
    assert(q.n != 0);
    td_bigint *quot, *rem;
    size_t nq, nr;
    if (!divide(a, &p, &q, &quot, &nq, &rem, &nr))
        return false;
    if (nr != 0 && p.negative != q.negative) { /* floor: one further away from zero */
        const uint32_t one = 1;
        nq = td_nat_add(quot->limbs, quot->limbs, nq, &one, 1);
        nr = td_nat_sub(rem->limbs, q.limbs, q.n, rem->limbs, nr);
    }
    return finish(a, quot, nq, p.negative != q.negative, ret_div) &&
           finish(a, rem, nr, q.negative, ret_mod);
}

static bool shift_left(td_arena *a, operand *o, size_t bits)
{
    td_bigint *b = make(a, o->n + bits / 32 + 1);
    if (b == NULL)
        return false;
    memcpy(b->limbs, o->limbs, o->n * sizeof *b->limbs);
    o->n = td_nat_shl(b->limbs, o->n, bits);
    o->limbs = b->limbs;
    return true;
}

/* As CPython: a quotient of at least 55 bits (fewer where the result is subnormal), what is left as
 * a sticky bit, rounded half to even once. */
bool td_bigint_true_div(td_arena *a, td_value x, td_value y, double *ret)
{
    operand p, q;
    load(&p, x);
    load(&q, y);
    assert(q.n != 0);
    long bits = (long)td_nat_bits(p.limbs, p.n) - (long)td_nat_bits(q.limbs, q.n);
    double sign = p.negative != q.negative ? -1.0 : 1.0;
    *ret = p.n != 0 && bits > DBL_MAX_EXP ? sign * (double)INFINITY : sign * 0.0;
    if (p.n == 0 || bits > DBL_MAX_EXP || bits < DBL_MIN_EXP - DBL_MANT_DIG - 1)
        return true;
    long shift = (bits > DBL_MIN_EXP ? bits : DBL_MIN_EXP) - DBL_MANT_DIG - 2;
    td_bigint *quot, *rem;
    size_t nq, nr;
    if (!shift_left(a, shift <= 0 ? &p : &q, (size_t)(shift <= 0 ? -shift : shift)) ||
        !divide(a, &p, &q, &quot, &nq, &rem, &nr))
        return false;
    nq = td_nat_trim(quot->limbs, nq);
    uint64_t m = nq > 0 ? quot->limbs[0] : 0;
    if (nq > 1)
        m |= (uint64_t)quot->limbs[1] << 32;
    long top = (long)td_nat_bits(quot->limbs, nq);
    long extra = (top > DBL_MIN_EXP - shift ? top : DBL_MIN_EXP - shift) - DBL_MANT_DIG;
    uint64_t half = (uint64_t)1 << (extra - 1);
    m |= nr != 0;
    if ((m & half) != 0 && (m & (3 * half - 1)) != 0)
        m += half;
    *ret = sign * ldexp((double)(m & ~(2 * half - 1)), (int)shift);
    return true;
}

bool td_bigint_pow(td_arena *a, td_value x, td_value y, td_value *ret)
{
    operand p, q;
    load(&p, x);
    load(&q, y);
    assert(!q.negative);
    bool odd = q.n > 0 && (q.limbs[0] & 1) != 0;
    if (q.n == 0 || (p.n == 1 && p.limbs[0] == 1)) {
        *ret = td_int(p.negative && odd ? -1 : 1);
        return true;
    }
    if (p.n == 0) {
        *ret = td_int(0);
        return true;
    }
    size_t bits = td_nat_bits(p.limbs, p.n);
    if (q.n > 1 || q.limbs[0] > TD_BIGINT_BITS_MAX || (bits - 1) * q.limbs[0] > TD_BIGINT_BITS_MAX)
        return too_large(a);
    td_value result = td_int(1);
    for (uint32_t bit = 1u << (31 - __builtin_clz(q.limbs[0])); bit != 0; bit >>= 1) {
        if (!td_bigint_mul(a, result, result, &result))
            return false;
        if ((q.limbs[0] & bit) != 0 && !td_bigint_mul(a, result, x, &result))
            return false;
    }
    *ret = result;
    return true;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return (unsigned)((c | 0x20) - 'a') + 10;
}

bool td_bigint_parse(td_arena *a, td_str digits, unsigned base, td_value *ret)
{
    const char *p = digits.ptr, *end = digits.ptr + digits.len;
    bool negative = digits.len > 0 && *p == '-';
    if (digits.len > 0 && (*p == '-' || *p == '+'))
        p++;
    while (p < end && *p == '0')
        p++;
    unsigned base_bits = 32 - (unsigned)__builtin_clz(base - 1); /* a digit has at most so many */
    if ((size_t)(end - p) > TD_BIGINT_BITS_MAX / (base_bits > 1 ? base_bits - 1 : 1))
        return too_large(a);
    size_t room = ((size_t)(end - p) * base_bits + 31) / 32 + 1;
    td_bigint *b =
        td_arena_alloc(a, sizeof(td_bigint) + room * sizeof(uint32_t), _Alignof(td_bigint));
    if (b == NULL)
        return false;
    size_t n = 0;
    while (p < end) {
        uint32_t factor = 1, chunk = 0;
        for (; p < end && factor <= UINT32_MAX / base; p++) {
            factor *= base;
            chunk = chunk * base + digit_value(*p);
        }
        n = td_nat_mul_small(b->limbs, n, factor, chunk);
    }
    return finish(a, b, n, negative, ret);
}

bool td_bigint_from_double(td_arena *a, double d, td_value *ret)
{
    assert(isfinite(d));
    if (d >= -9223372036854775808.0 && d < 9223372036854775808.0) {
        *ret = td_int((int64_t)d);
        return true;
    }
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(d), &exponent), 64); /* all 53 bits are on top */
    size_t shift = (size_t)exponent - 64;
    td_bigint *b = make(a, 3 + shift / 32);
    if (b == NULL)
        return false;
    b->limbs[0] = (uint32_t)m;
    b->limbs[1] = (uint32_t)(m >> 32);
    return finish(a, b, td_nat_shl(b->limbs, 2, shift), d < 0, ret);
}

int td_bigint_cmp(const td_bigint *x, const td_bigint *y)
{
    if (x->negative != y->negative)
        return x->negative ? -1 : 1;
    int c = td_nat_cmp(x->limbs, x->count, y->limbs, y->count);
    return x->negative ? -c : c;
}

int td_bigint_cmp_double(const td_bigint *x, double d)
{
    if (isnan(d))
        return 2;
    int away = x->negative ? -1 : 1; /* what "x has the larger magnitude" means */
    if (isinf(d))
        return d > 0 ? -1 : 1;
    if ((d < 0) != x->negative || fabs(d) < 9223372036854775808.0)
        return away;
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(fabs(d), &exponent), 64);
    uint32_t limbs[34] = { (uint32_t)m, (uint32_t)(m >> 32) };
    size_t n = td_nat_shl(limbs, 2, (size_t)exponent - 64);
    return away * td_nat_cmp(x->limbs, x->count, limbs, n);
}

double td_bigint_to_double(const td_bigint *x)
{
    size_t bits = td_nat_bits(x->limbs, x->count), shift = bits - 64; /* bits >= 64 always */
    if (bits > 1024)
        return x->negative ? -INFINITY : INFINITY;
    uint64_t top = 0;
    for (size_t i = 0; i < 3 && shift / 32 + i < x->count; i++) {
        uint64_t limb = x->limbs[shift / 32 + i];
        unsigned down = (unsigned)(shift % 32);
        if (i == 0)
            top = limb >> down;
        else if (i == 1 || down != 0)
            top |= limb << (32 * i - down);
    }
    bool sticky = (x->limbs[shift / 32] & ((1u << shift % 32) - 1)) != 0;
    for (size_t i = 0; i < shift / 32 && !sticky; i++)
        sticky = x->limbs[i] != 0;
    /* The conversion rounds half to even; the sticky bit settles what lies behind the 64 bits. */
    double d = ldexp((double)(top | sticky), (int)shift);
    return x->negative ? -d : d;
}

td_code td_bigint_print(td_buf *out, const td_bigint *x)
{
    enum { LIMBS = TD_INT_DIGITS_MAX * 10 / 96 + 2 }; /* log2(10) / 32 < 10 / 96 */
    if (x->count > LIMBS)
        return TD_E_TEMPLATE;
    uint32_t limbs[LIMBS];
    char digits[LIMBS * 10 + 9];
    memcpy(limbs, x->limbs, x->count * sizeof *limbs);
    size_t n = td_nat_digits(limbs, x->count, digits);
    if (n > TD_INT_DIGITS_MAX)
        return TD_E_TEMPLATE;
    td_code code = td_buf_reserve(out, n + 1);
    if (code == TD_OK && x->negative)
        code = td_buf_byte(out, '-');
    return code == TD_OK ? td_buf_append(out, digits, n) : code;
}

/* number.c - floats to text and back.
 *
 * repr: the shortest decimal inside the rounding interval of the double, found with Giulietti's
 * method (Schubfach): both ends of the interval and the value itself are scaled by one 128-bit
 * power of ten and rounded to odd, after which plain integer comparisons are exact.
 * parse: the first 19 digits times a 128-bit power of ten give a lower and an upper bound; when
 * both round to the same double, that is it, else the exact text is compared with the midpoint.
 * %e, %f: m * 2^-k is m * 5^k / 10^k, so a product of big naturals has all the digits there are. */
#include "value/number.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "value/nat.h"
#include "value/pow10.h"

_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024 && FLT_EVAL_METHOD == 0,
               "IEEE doubles, computed as doubles");

#define MANTISSA_MASK ((UINT64_C(1) << 52) - 1)

__extension__ typedef unsigned __int128 u128;

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* A finite positive double as m * 2^e. */
static uint64_t split(double d, int *ret_e)
{
    uint64_t bits = bits_of(d);
    int exponent = (int)(bits >> 52 & 0x7FF);
    uint64_t m = bits & MANTISSA_MASK;
    if (exponent == 0) {
        *ret_e = -1074;
        return m;
    }
    *ret_e = exponent - 1075;
    return m | (MANTISSA_MASK + 1);
}

/* floor(log2(10^e)), good for every e of the table. */
static int log2_of_pow10(int e)
{
    return e * 1741647 >> 19;
}

/* ---- shortest digits ---- */

/* The top 64 bits of (g * x) >> 128 with every lost bit folded into the lowest one; g is a power of
 * ten that is up to one unit too large, which can only disturb the bits that are lost. */
static uint64_t scale_to_odd(u128 g, uint64_t x)
{
    u128 low = (u128)(uint64_t)g * x;
    u128 high = (u128)(uint64_t)(g >> 64) * x + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The shortest decimal sig * 10^exp that rounds to m * 2^e, the nearest one if there are several.
 * lower_closer: m is a power of two, whose lower neighbour is only half as far away. */
static uint64_t shortest(uint64_t m, int e, bool lower_closer, int *ret_exp)
{
    if (e <= 0 && e > -53 && (m & ((UINT64_C(1) << -e) - 1)) == 0) {
        *ret_exp = 0;
        return m >> -e; /* an integer */
    }
    bool even = (m & 1) == 0;
    /* k = floor(log10(2^e)), or of 3/4 of that */
    int k = (e * 1262611 - (lower_closer ? 524031 : 0)) >> 22;
    int shift = e + log2_of_pow10(-k) + 1;
    const uint64_t *bits = pow10_bits[-k - POW10_FIRST];
    u128 g = (u128)bits[0] << 64 | bits[1];
    g += -k < 0 || -k > POW10_EXACT_LAST;
    /* four times the value and its interval, in units of 10^k */
    uint64_t low = scale_to_odd(g, (4 * m - 2 + lower_closer) << shift) + !even;
    uint64_t mid = scale_to_odd(g, (4 * m) << shift);
    uint64_t high = scale_to_odd(g, (4 * m + 2) << shift) - !even;
    uint64_t s = mid / 4;
    if (s >= 10) { /* one digit less, if exactly one such number is inside */
        uint64_t tens = s / 10;
        bool down = low <= 40 * tens, up = 40 * tens + 40 <= high;
        if (down != up) {
            *ret_exp = k + 1;
            return tens + up;
        }
    }
    *ret_exp = k;
    bool down = low <= 4 * s, up = 4 * s + 4 <= high;
    if (down != up)
        return s + up;
    uint64_t half = 4 * s + 2;
    return s + (mid > half || (mid == half && (s & 1) != 0));
}

/* Writes the digits of sig without trailing zeros; *exp grows by the zeros cut. */
static int write_digits(uint64_t sig, char digits[20], int *exp)
{
    while (sig % 10 == 0) {
        sig /= 10;
        ++*exp;
    }
    char back[20];
    int n = 0;
    for (; sig != 0; sig /= 10)
        back[n++] = (char)('0' + sig % 10);
    for (int i = 0; i < n; i++)
        digits[i] = back[n - 1 - i];
    return n;
}

/* Python's layout: point is where the decimal point stands relative to the first digit. */
static char *lay_out(char *out, const char *digits, int n, int point)
{
    if (point > 16 || point < -3) {
        *out++ = digits[0];
        if (n > 1) {
            *out++ = '.';
            memcpy(out, digits + 1, (size_t)n - 1);
            out += n - 1;
        }
        int e = point - 1;
        *out++ = 'e';
        *out++ = e < 0 ? '-' : '+';
        e = e < 0 ? -e : e;
        if (e >= 100)
            *out++ = (char)('0' + e / 100);
        *out++ = (char)('0' + e / 10 % 10);
        *out++ = (char)('0' + e % 10);
        return out;
    }
    for (int i = point < 0 ? point : 0; i < n || i < point + 1; i++) {
        if (i == point) {
            if (i <= 0)
                *out++ = '0';
            *out++ = '.';
        }
        *out++ = i >= 0 && i < n ? digits[i] : '0';
    }
    return out;
}

size_t td_float_repr(double d, char out[TD_FLOAT_TEXT_MAX])
{
    char *p = out;
    if (isnan(d)) {
        memcpy(out, "nan", 3);
        return 3;
    }
    if (signbit(d))
        *p++ = '-';
    d = fabs(d);
    if (isinf(d) || d == 0) {
        memcpy(p, isinf(d) ? "inf" : "0.0", 3);
        return (size_t)(p - out) + 3;
    }
    int e, exp;
    uint64_t m = split(d, &e);
    uint64_t sig = shortest(m, e, m == MANTISSA_MASK + 1 && e > -1074, &exp);
    char digits[20] = { 0 };
    int n = write_digits(sig, digits, &exp);
    return (size_t)(lay_out(p, digits, n, n + exp) - out);
}

/* ---- parsing ---- */

/* The digits of a number text: value = 0.DDDD... * 10^point, where D starts at first. */
typedef struct decimal {
    const char *first, *end; /* first non-zero digit; end of the digits; a dot may be inside */
    uint64_t top;            /* the first 19 digits */
    size_t digits;           /* from first on, all of them */
    int64_t point;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int64_t scan_exponent(const char **p, const char *end)
{
    const char *q = *p + 1;
    bool negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+'))
        q++;
    if (q == end || !is_digit(*q))
        return 0; /* the caller finds that the text goes on */
    int64_t e = 0;
    for (; q < end && is_digit(*q); q++)
        e = e < INT64_C(100000000000000) ? e * 10 + (*q - '0') : e;
    *p = q;
    return negative ? -e : e;
}

/* false: not a number. The sign has been read. */
static bool scan_decimal(const char *p, const char *end, decimal *d)
{
    bool seen_dot = false, seen_digit = false;
    *d = (decimal){ .first = NULL };
    for (; p < end; p++) {
        if (*p == '.' && !seen_dot) {
            seen_dot = true;
            continue;
        }
        if (!is_digit(*p))
            break;
        seen_digit = true;
        if (d->first == NULL && *p == '0') {
            d->point -= seen_dot;
            continue;
        }
        if (d->first == NULL)
            d->first = p;
        if (d->digits++ < 19)
            d->top = d->top * 10 + (uint64_t)(*p - '0');
        d->point += !seen_dot;
    }
    d->end = p;
    if (!seen_digit)
        return false;
    if (p < end && (*p == 'e' || *p == 'E'))
        d->point += scan_exponent(&p, end);
    return p == end;
}

/* The double nearest to hi:lo * 2^e, ties to even. hi:lo is not zero. */
static uint64_t round_to_bits(u128 x, int e)
{
    uint64_t hi = (uint64_t)(x >> 64);
    int lead = hi != 0 ? __builtin_clzll(hi) : 64 + __builtin_clzll((uint64_t)x);
    x <<= lead;
    int top = e + 127 - lead; /* exponent of the leading bit */
    if (top > 1023)
        return UINT64_C(0x7FF) << 52;
    int keep = top >= -1022 ? 53 : 53 - (-1022 - top);
    if (keep < 0)
        return 0;
    hi = (uint64_t)(x >> 64);
    uint64_t m = keep > 0 ? hi >> (64 - keep) : 0;
    u128 rest = x << keep, half = (u128)1 << 127;
    m += rest > half || (rest == half && (m & 1) != 0);
    return top >= -1022 ? ((uint64_t)(top + 1022) << 52) + m : m;
}

enum { SLOW_DIGITS = 800, SLOW_LIMBS = 128 };

/* Which of the neighbours low and low + 1 (as bits) is nearest to d? Exact comparison of the text
 * with their midpoint; more digits than any midpoint has are replaced by a final 1. Both numbers
 * are within 10^310, or scaled by 5^1145 at most: below 2730 bits. */
static uint64_t round_exactly(const decimal *d, uint64_t low)
{
    uint32_t text[SLOW_LIMBS], middle[SLOW_LIMBS];
    size_t nt = 0, used = 0;
    for (const char *p = d->first; p < d->end && used < SLOW_DIGITS; p++)
        if (*p != '.') {
            nt = td_nat_mul_small(text, nt, 10, (uint32_t)(*p - '0'));
            used++;
        }
    if (used < d->digits) {
        nt = td_nat_mul_small(text, nt, 10, 1);
        used++;
    }
    int e10 = (int)(d->point - (int64_t)used), e2;
    uint64_t m = 2 * split(double_of(low), &e2) + 1;
    e2--;
    middle[0] = (uint32_t)m;
    middle[1] = (uint32_t)(m >> 32);
    size_t nm = td_nat_trim(middle, 2);
    if (e10 >= 0)
        nt = td_nat_mul_pow5(text, nt, (unsigned)e10);
    else
        nm = td_nat_mul_pow5(middle, nm, (unsigned)-e10);
    if (e10 >= e2)
        nt = td_nat_shl(text, nt, (size_t)(e10 - e2));
    else
        nm = td_nat_shl(middle, nm, (size_t)(e2 - e10));
    int c = td_nat_cmp(text, nt, middle, nm);
    return low + (c > 0 || (c == 0 && (low & 1) != 0));
}

static uint64_t nearest(const decimal *d)
{
    if (d->first == NULL || d->point < -330)
        return 0;
    if (d->point > 310)
        return UINT64_C(0x7FF) << 52;
    size_t used = d->digits < 19 ? d->digits : 19;
    int e10 = (int)(d->point - (int64_t)used);
    if (e10 < POW10_FIRST)
        return 0; /* at most 10^19 * 10^-344: below half of the least double */
    if (used == d->digits && d->top <= MANTISSA_MASK * 2 && e10 >= -22 && e10 <= 22) {
        static const double exact[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
        double x = (double)d->top; /* two exact numbers: one rounding */
        return bits_of(e10 < 0 ? x / exact[-e10] : x * exact[e10]);
    }
    /* The text lies in [x, x + spread] * 2^e. */
    const uint64_t *bits = pow10_bits[e10 - POW10_FIRST];
    int lead = __builtin_clzll(d->top);
    uint64_t top = d->top << lead;
    u128 low = (u128)bits[1] * top;
    u128 x = (u128)bits[0] * top + (uint64_t)(low >> 64);
    u128 spread = 2;
    if (used < d->digits)
        spread += (((u128)bits[0] + 2) << lead) + 2;
    int e = log2_of_pow10(e10) - 127 + 64 - lead;
    if (x > ~spread)
        x = ~spread; /* cannot happen for spread of this size; keeps the sum defined */
    uint64_t from = round_to_bits(x, e), to = round_to_bits(x + spread, e);
    return from == to ? from : round_exactly(d, from);
}

bool td_float_parse(td_str text, double *ret)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    bool negative = text.len > 0 && *p == '-';
    if (text.len > 0 && (*p == '-' || *p == '+'))
        p++;
    decimal d;
    if (!scan_decimal(p, end, &d))
        return false;
    double x = double_of(nearest(&d));
    *ret = negative ? -x : x;
    return true;
}

/* ---- all digits ---- */

enum { DIGITS_MAX = 800 }; /* the longest double has 767 */

typedef struct expansion {
    char digits[DIGITS_MAX];
    size_t n;  /* 0: zero */
    int point; /* value = 0.DDDD... * 10^point */
} expansion;

static void expand(double d, expansion *x)
{
    uint32_t limbs[96];
    int e;
    uint64_t m = split(d, &e);
    for (; m != 0 && (m & 1) == 0; e++)
        m >>= 1;
    limbs[0] = (uint32_t)m;
    limbs[1] = (uint32_t)(m >> 32);
    size_t n = td_nat_trim(limbs, 2);
    int places = e < 0 ? -e : 0;
    if (e >= 0)
        n = td_nat_shl(limbs, n, (size_t)e);
    else
        n = td_nat_mul_pow5(limbs, n, (unsigned)places);
    char digits[96 * 10 + 9];
    x->n = td_nat_digits(limbs, n, digits);
    assert(x->n < DIGITS_MAX);
    memcpy(x->digits, digits, x->n);
    x->point = (int)x->n - places;
}

/* Keeps the first keep digits, half to even. */
static void round_expansion(expansion *x, int64_t keep)
{
    if (keep >= (int64_t)x->n)
        return;
    if (keep < 0) {
        x->n = 0;
        return;
    }
    size_t k = (size_t)keep;
    bool up = x->digits[k] > '5';
    if (x->digits[k] == '5') {
        up = k > 0 && (x->digits[k - 1] & 1) != 0;
        for (size_t i = k + 1; i < x->n && !up; i++)
            up = x->digits[i] != '0';
    }
    x->n = k;
    if (!up)
        return;
    while (k > 0 && x->digits[k - 1] == '9')
        x->digits[--k] = '0';
    if (k > 0) {
        x->digits[k - 1]++;
        return;
    }
    memmove(x->digits + 1, x->digits, x->n); /* 999 -> 1000 */
    x->digits[0] = '1';
    x->n++;
    x->point++;
}

static size_t signbit_of(double d)
{
    return signbit(d) != 0;
}

static td_code put_special(td_buf *out, double d)
{
    return isnan(d) ? td_buf_append(out, "nan", 3)
                    : td_buf_put(out, d < 0 ? TD_STR("-inf") : TD_STR("inf"));
}

/* Appends digits [from, from + count) of x, zeros where it has none. The room is reserved. */
static void put_digits(td_buf *out, const expansion *x, int64_t from, size_t count)
{
    char *p = out->ptr + out->len;
    memset(p, '0', count);
    int64_t first = from < 0 ? 0 : from, last = from + (int64_t)count;
    if (last > (int64_t)x->n)
        last = (int64_t)x->n;
    if (first < last)
        memcpy(p + (first - from), x->digits + first, (size_t)(last - first));
    out->len += count;
}

td_code td_float_print_exp(td_buf *out, double d, unsigned precision)
{
    if (!isfinite(d))
        return put_special(out, d);
    td_code code = td_buf_reserve(out, (size_t)precision + 1 + (precision > 0) + signbit_of(d));
    if (code != TD_OK)
        return code;
    expansion x;
    expand(fabs(d), &x);
    round_expansion(&x, (int64_t)precision + 1);
    size_t start = out->len;
    if (signbit(d))
        out->ptr[out->len++] = '-';
    put_digits(out, &x, 0, 1);
    if (precision > 0) {
        out->ptr[out->len++] = '.';
        put_digits(out, &x, 1, precision);
    }
    int e = x.n == 0 ? 0 : x.point - 1, magnitude = e < 0 ? -e : e;
    char text[5] = { 'e', e < 0 ? '-' : '+' };
    int n = 2;
    if (magnitude >= 100)
        text[n++] = (char)('0' + magnitude / 100);
    text[n++] = (char)('0' + magnitude / 10 % 10);
    text[n++] = (char)('0' + magnitude % 10);
    code = td_buf_append(out, text, (size_t)n);
    if (code != TD_OK)
        out->len = start;
    return code;
}

td_code td_float_print_fixed(td_buf *out, double d, unsigned precision)
{
    if (!isfinite(d))
        return put_special(out, d);
    expansion x;
    expand(fabs(d), &x);
    round_expansion(&x, (int64_t)x.point + precision);
    if (x.n == 0)
        x.point = 0;
    size_t whole = x.point > 0 ? (size_t)x.point : 1;
    td_code code = td_buf_reserve(out, whole + precision + (precision > 0) + signbit_of(d));
    if (code != TD_OK)
        return code;
    if (signbit(d))
        out->ptr[out->len++] = '-';
    if (x.point > 0)
        put_digits(out, &x, 0, (size_t)x.point);
    else
        out->ptr[out->len++] = '0';
    if (precision > 0) {
        out->ptr[out->len++] = '.';
        put_digits(out, &x, x.point, precision);
    }
    return TD_OK;
}

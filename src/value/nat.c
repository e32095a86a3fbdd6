/* nat.c - schoolbook arithmetic on natural numbers.
 *
 * Everything here is at most quadratic in the limbs; callers bound those (bigint.h says how far).
 * Division is the classical long division in base 2^32: divisor and dividend are shifted so that
 * the divisor's top bit is set, which makes each estimated quotient digit at most two too big. */
#include "value/nat.h"

#include <string.h>

size_t td_nat_trim(const uint32_t *a, size_t n)
{
    while (n > 0 && a[n - 1] == 0)
        n--;
    return n;
}

static unsigned bit_length(uint32_t x)
{
    return x == 0 ? 0 : 32 - (unsigned)__builtin_clz(x);
}

size_t td_nat_bits(const uint32_t *a, size_t n)
{
    return n == 0 ? 0 : (n - 1) * 32 + bit_length(a[n - 1]);
}

int td_nat_cmp(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    if (na != nb)
        return na < nb ? -1 : 1;
    for (size_t i = na; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

size_t td_nat_add(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    if (na < nb)
        return td_nat_add(r, b, nb, a, na);
    uint64_t carry = 0;
    for (size_t i = 0; i < na; i++) {
        carry += (uint64_t)a[i] + (i < nb ? b[i] : 0);
        r[i] = (uint32_t)carry;
        carry >>= 32;
    }
    r[na] = (uint32_t)carry;
    return na + (carry != 0);
}

size_t td_nat_sub(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < na; i++) {
        uint64_t d = (uint64_t)a[i] - (i < nb ? b[i] : 0) - borrow;
        r[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    return td_nat_trim(r, na);
}

size_t td_nat_mul(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    memset(r, 0, (na + nb) * sizeof *r);
    for (size_t i = 0; i < na; i++) {
        uint64_t carry = 0;
        for (size_t j = 0; j < nb; j++) {
            carry += (uint64_t)a[i] * b[j] + r[i + j];
            r[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        r[i + nb] = (uint32_t)carry;
    }
    return td_nat_trim(r, na + nb);
}

size_t td_nat_mul_small(uint32_t *a, size_t n, uint32_t factor, uint32_t plus)
{
    uint64_t carry = plus;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)a[i] * factor;
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        a[n++] = (uint32_t)carry;
    return n;
}

size_t td_nat_div_small(uint32_t *a, size_t n, uint32_t by, uint32_t *ret_rem)
{
    uint64_t rem = 0;
    for (size_t i = n; i-- > 0;) {
        rem = rem << 32 | a[i];
        a[i] = (uint32_t)(rem / by);
        rem %= by;
    }
    *ret_rem = (uint32_t)rem;
    return td_nat_trim(a, n);
}

size_t td_nat_mul_pow5(uint32_t *a, size_t n, unsigned e)
{
    for (; e >= 13; e -= 13)
        n = td_nat_mul_small(a, n, 1220703125u, 0); /* 5^13 */
    uint32_t rest = 1;
    for (; e > 0; e--)
        rest *= 5;
    return td_nat_mul_small(a, n, rest, 0);
}

size_t td_nat_shl(uint32_t *a, size_t n, size_t bits)
{
    if (n == 0)
        return 0;
    size_t limbs = bits / 32;
    unsigned rest = (unsigned)(bits % 32);
    memmove(a + limbs, a, n * sizeof *a);
    memset(a, 0, limbs * sizeof *a);
    if (rest == 0)
        return n + limbs;
    uint32_t carry = 0;
    for (size_t i = limbs; i < n + limbs; i++) {
        uint32_t x = a[i];
        a[i] = x << rest | carry;
        carry = x >> (32 - rest);
    }
    if (carry != 0)
        a[n + limbs++] = carry;
    return n + limbs;
}

/* a[0..n] -= digit * b[0..n); true when that went below zero (then one b must be added back). */
static bool subtract_multiple(uint32_t *a, const uint32_t *b, size_t n, uint64_t digit)
{
    uint64_t carry = 0, borrow = 0;
    for (size_t i = 0; i < n; i++) {
        carry += digit * b[i];
        uint64_t d = (uint64_t)a[i] - (uint32_t)carry - borrow;
        a[i] = (uint32_t)d;
        borrow = d >> 63;
        carry >>= 32;
    }
    uint64_t d = (uint64_t)a[n] - carry - borrow;
    a[n] = (uint32_t)d;
    return d >> 63 != 0;
}

static void add_back(uint32_t *a, const uint32_t *b, size_t n)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)a[i] + b[i];
        a[i] = (uint32_t)carry;
        carry >>= 32;
    }
    a[n] += (uint32_t)carry;
}

static void shift_right(uint32_t *a, size_t n, unsigned bits)
{
    if (bits == 0)
        return;
    for (size_t i = 0; i < n; i++)
        a[i] = a[i] >> bits | (i + 1 < n ? a[i + 1] << (32 - bits) : 0);
}

size_t td_nat_divmod(uint32_t *q, uint32_t *a, size_t *na, const uint32_t *b, size_t nb,
                     uint32_t *scratch)
{
    size_t n = *na, steps = n - nb + 1;
    unsigned shift = 32 - bit_length(b[nb - 1]);
    memcpy(scratch, b, nb * sizeof *b);
    td_nat_shl(scratch, nb, shift);
    a[n] = 0;
    td_nat_shl(a, n, shift);
    uint64_t top = scratch[nb - 1], next = scratch[nb - 2];
    for (size_t i = steps; i-- > 0;) {
        uint64_t head = (uint64_t)a[i + nb] << 32 | a[i + nb - 1];
        uint64_t digit = head / top, rem = head % top;
        while (digit >> 32 != 0 || digit * next > (rem << 32 | a[i + nb - 2])) {
            digit--;
            rem += top;
            if (rem >> 32 != 0)
                break;
        }
        if (subtract_multiple(a + i, scratch, nb, digit)) {
            digit--;
            add_back(a + i, scratch, nb);
        }
        q[i] = (uint32_t)digit;
    }
    shift_right(a, nb, shift);
    *na = td_nat_trim(a, nb);
    return td_nat_trim(q, steps);
}

size_t td_nat_digits(uint32_t *a, size_t n, char *out)
{
    size_t room = td_nat_digits_max(n), at = room;
    while (n > 0) {
        uint64_t rem = 0;
        for (size_t i = n; i-- > 0;) { /* by a constant, which compiles to multiplications */
            rem = rem << 32 | a[i];
            a[i] = (uint32_t)(rem / 1000000000u);
            rem %= 1000000000u;
        }
        n = td_nat_trim(a, n);
        for (int i = 0; i < 9; i++, rem /= 10)
            out[--at] = (char)('0' + rem % 10);
    }
    while (at < room && out[at] == '0')
        at++;
    memmove(out, out + at, room - at);
    return room - at;
}

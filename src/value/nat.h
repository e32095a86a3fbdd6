/* nat.h - natural numbers as arrays of 32-bit limbs, least significant first.
 *
 * Private to value: what bigint.c and number.c share. A number is an array and a count without
 * leading zero limbs (zero has count 0). The caller owns every array and guarantees its room. */
#ifndef TD_SRC_VALUE_NAT_H
#define TD_SRC_VALUE_NAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a without its leading zero limbs: the new count. */
size_t td_nat_trim(const uint32_t *a, size_t n);
size_t td_nat_bits(const uint32_t *a, size_t n);
int td_nat_cmp(const uint32_t *a, size_t na, const uint32_t *b, size_t nb);

/* r has room for max(na, nb) + 1 limbs and may be a or b. Returns the count of r. */
size_t td_nat_add(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb);
/* a >= b; r has room for na limbs and may be a or b. */
size_t td_nat_sub(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb);
/* r has room for na + nb limbs and is neither a nor b. */
size_t td_nat_mul(uint32_t *r, const uint32_t *a, size_t na, const uint32_t *b, size_t nb);

/* a = a * factor + plus, in place; a has room for one more limb. */
size_t td_nat_mul_small(uint32_t *a, size_t n, uint32_t factor, uint32_t plus);
/* a = a / by, in place; by is not zero. */
size_t td_nat_div_small(uint32_t *a, size_t n, uint32_t by, uint32_t *ret_rem);
/* a = a * 5^e, in place; a has room for the result and one more limb. */
size_t td_nat_mul_pow5(uint32_t *a, size_t n, unsigned e);
/* a = a << bits, in place; a has room for the result. */
size_t td_nat_shl(uint32_t *a, size_t n, size_t bits);

/* q = a / b and a = a % b; b is not zero, nb >= 2, na >= nb. a has room for one more limb; scratch
 * has room for nb limbs, q for na - nb + 1. Returns the count of q; *na becomes that of a. */
size_t td_nat_divmod(uint32_t *q, uint32_t *a, size_t *na, const uint32_t *b, size_t nb,
                     uint32_t *scratch);

/* The decimal digits of a, which is destroyed, most significant first, no leading zeros. Returns
 * their number; out has room for td_nat_digits_max(n). Zero has no digits. Quadratic. */
size_t td_nat_digits(uint32_t *a, size_t n, char *out);
static inline size_t td_nat_digits_max(size_t n)
{
    return n * 10 + 9; /* 32 bits are 9.64 digits; chunks of nine are written whole */
}

#endif

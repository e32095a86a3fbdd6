/* wide.h - integers wide enough for sums of 64-bit values, and what narrows them again.
 *
 * Timestamps on the wire are anything from -2^63 to 2^64 - 1, so their differences need 66 bits
 * and their squares more than a double has. */
#ifndef TD_SRC_METRICS_WIDE_H
#define TD_SRC_METRICS_WIDE_H

#include "tokdrain/base.h"

__extension__ typedef __int128 td_wide;
__extension__ typedef unsigned __int128 td_uwide;

enum { TD_WIDE_TEXT_MAX = 40 };

/* The nearest value that fits. */
static inline int64_t td_wide_to_i64(td_wide w)
{
    return w > INT64_MAX ? INT64_MAX : w < INT64_MIN ? INT64_MIN : (int64_t)w;
}

/* Decimal digits of w, no NUL; returns the length. */
size_t td_wide_print(td_wide w, char out[TD_WIDE_TEXT_MAX]);

/* An exact sum of squares of int64 values: 192 bits hold 2^66 of the largest. */
typedef struct td_square_sum {
    td_uwide low;
    uint64_t high;
} td_square_sum;

void td_square_sum_add(td_square_sum *s, int64_t value);
/* Rounded once, half to even, as Python's float(int). */
double td_square_sum_double(const td_square_sum *s);

#endif

/* bigint.h - integers of any size with Python's semantics, for what does not fit int64.
 *
 * Our own because the packaged libraries abort when memory runs out, and templates come from
 * strangers: here an operation that is too large fails like any other allocation of the arena.
 * A td_bigint is immutable and normalised: no leading zero limb, and never a value that fits
 * int64 (td_bigint_value turns such a result into TD_V_INT). */
#ifndef TD_SRC_VALUE_BIGINT_H
#define TD_SRC_VALUE_BIGINT_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

enum {
    /* CPython converts no longer integer from or to decimal text (ValueError). Who parses decimal
     * text checks the number of digits; td_bigint_print refuses by itself. */
    TD_INT_DIGITS_MAX = 4300,
    /* No result may be longer: keeps the quadratic algorithms below a fraction of a second. */
    TD_BIGINT_BITS_MAX = 1 << 18,
};

struct td_bigint {
    bool negative;
    uint32_t count;   /* limbs in use */
    uint32_t limbs[]; /* base 2^32, least significant first */
};

/* Operands may be TD_V_BOOL, TD_V_INT or TD_V_BIGINT. false: the arena is full, or the result would
 * be beyond TD_BIGINT_BITS_MAX (td_arena_fail then says that a limit was exceeded).
 * Division and modulo floor as in Python; the divisor must not be zero, the exponent not be
 * negative. */
bool td_bigint_add(td_arena *a, td_value x, td_value y, td_value *ret);
bool td_bigint_sub(td_arena *a, td_value x, td_value y, td_value *ret);
bool td_bigint_mul(td_arena *a, td_value x, td_value y, td_value *ret);
bool td_bigint_divmod(td_arena *a, td_value x, td_value y, td_value *ret_div, td_value *ret_mod);
bool td_bigint_pow(td_arena *a, td_value x, td_value y, td_value *ret);
/* x / y rounded half to even; infinite when out of range (Python: OverflowError). */
bool td_bigint_true_div(td_arena *a, td_value x, td_value y, double *ret);
bool td_bigint_neg(td_arena *a, td_value x, td_value *ret);

/* Digits in base 2..36, an optional sign in front, nothing else; false: the arena is full. */
bool td_bigint_parse(td_arena *a, td_str digits, unsigned base, td_value *ret);
/* The integral part of a finite double. */
bool td_bigint_from_double(td_arena *a, double d, td_value *ret);

int td_bigint_cmp(const td_bigint *x, const td_bigint *y);
/* <0, 0, >0 exactly; 2 when d is NaN. */
int td_bigint_cmp_double(const td_bigint *x, double d);
/* Rounded half to even as Python's float(); infinite when out of range (Python: OverflowError). */
double td_bigint_to_double(const td_bigint *x);
/* Appends the decimal text. TD_E_TEMPLATE: it has more than TD_INT_DIGITS_MAX digits. */
td_code td_bigint_print(td_buf *out, const td_bigint *x);

#endif

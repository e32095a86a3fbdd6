/* number.h - text of floats and back, exact and independent of the locale. */
#ifndef TD_SRC_VALUE_NUMBER_H
#define TD_SRC_VALUE_NUMBER_H

#include "base/buf.h"
#include "tokdrain/base.h"

enum { TD_FLOAT_TEXT_MAX = 32 };

/* Python's repr(d): shortest digits that round-trip ("1.0", "1e+22", "-0.0", "nan", "inf").
 * Writes at most TD_FLOAT_TEXT_MAX bytes, no NUL; returns the length. */
size_t td_float_repr(double d, char out[TD_FLOAT_TEXT_MAX]);

/* Correctly rounded value of text of the form [+-]digits[.digits][(e|E)[+-]digits], or with the
 * digits on one side of the dot missing. false: text is not of that form. Too large is infinity. */
bool td_float_parse(td_str text, double *ret);

/* As C's "%.*e" and "%.*f" in the C locale (exact decimal expansion, half to even). */
td_code td_float_print_exp(td_buf *out, double d, unsigned precision);
td_code td_float_print_fixed(td_buf *out, double d, unsigned precision);

#endif

/* early_stopping.h - how large a percentile could still be, given how few values there are.
 *
 * For a percentile q and confidence c the estimate is the t-th largest value, t being the largest
 * number of values above the true percentile that n draws can show with probability below 1 - c.
 * With too few values there is no estimate. Pure functions. */
#ifndef TD_SRC_METRICS_EARLY_STOPPING_H
#define TD_SRC_METRICS_EARLY_STOPPING_H

#include "tokdrain/base.h"

#define TD_EARLY_CONFIDENCE 0.99

/* Regularized incomplete beta function; a, b > 0, 0 <= x <= 1. */
double td_beta_regularized(double a, double b, double x);

/* The least number of values below the percentile that allows t above it. q in (0, 1). */
uint64_t td_early_need(uint64_t t, double q);

/* The least n for which td_early_discarded is not 0. */
uint64_t td_early_min_count(double q);

/* How many of n values to discard from the top; the estimate is sorted[n - result]. 0: none. */
uint64_t td_early_discarded(uint64_t n, double q);

#endif

/* sort.h - ascending order for the raw values of a series. */
#ifndef TD_SRC_METRICS_SORT_H
#define TD_SRC_METRICS_SORT_H

#include "tokdrain/base.h"

/* Sorts in linear time with as much memory again, in place when there is none. */
void td_sort_i64(int64_t *values, size_t count);
/* The same; no value may be NaN. -0.0 stands before 0.0. */
void td_sort_double(double *values, size_t count);

#endif

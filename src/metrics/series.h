/* series.h - one measured quantity: running sums, a histogram for live views, all raw values.
 *
 * Live views read the histogram in constant time; the final statistics are exact and come from the
 * raw values, eight bytes each. One thread at a time. */
#ifndef TD_SRC_METRICS_SERIES_H
#define TD_SRC_METRICS_SERIES_H

#include "metrics/hdr.h"
#include "metrics/wide.h"
#include "tokdrain/base.h"

/* Called with a finished sentence the first time that a series meets a value outside of its
 * histogram's bounds, and when its raw values no longer fit into memory. */
typedef void (*td_warn_fn)(void *user, const char *text);

typedef struct td_series {
    const char *name;
    bool is_real;  /* values are doubles; else int64 */
    bool warned;   /* about a value outside of the bounds */
    bool has_lost; /* raw values are missing: no exact statistics any more */
    size_t count, cap;
    union {
        int64_t *integers; /* count of them, in recording order */
        double *reals;
    } values;
    td_wide total; /* of integers, exact */
    td_square_sum squares;
    double total_real, squares_real;
    int64_t min, max; /* of integers */
    double min_real, max_real;
    td_hdr hdr;
    td_warn_fn warn;
    void *warn_user;
} td_series;

/* name is borrowed. high bounds the histogram, digits are its significant ones (1..5). */
TD_NODISCARD td_code td_series_init(td_series *s, const char *name, bool is_real, int64_t high,
                                    int digits, td_error *err);
void td_series_done(td_series *s);

/* Values outside of the histogram's bounds are clamped there, and only there. */
void td_series_add(td_series *s, int64_t value);     /* is_real must be false */
void td_series_add_real(td_series *s, double value); /* is_real must be true; not NaN */

#endif

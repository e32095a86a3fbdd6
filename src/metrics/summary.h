/* summary.h - what a snapshot tells about one series. */
#ifndef TD_SRC_METRICS_SUMMARY_H
#define TD_SRC_METRICS_SUMMARY_H

#include "base/arena.h"
#include "metrics/series.h"

enum { TD_PERCENTILES = 12, TD_EARLY_PERCENTILES = 8 };

/* Percentiles in the order of the wire, largest first; the first TD_EARLY_PERCENTILES of them are
 * those with an early-stopping estimate. Static storage. */
extern const double td_percentiles[TD_PERCENTILES];
extern const char *const td_percentile_names[TD_PERCENTILES];

typedef struct td_bucket {
    double low, high;
    uint64_t count;
} td_bucket;

typedef struct td_early_estimate {
    bool known;
    double value;
    uint64_t discarded;
} td_early_estimate;

typedef struct td_summary {
    const char *name;
    bool is_real; /* says which of the members below hold the numbers */
    uint64_t count;
    td_wide total;
    int64_t min, max;
    double total_real, min_real, max_real;
    double square_sum;
    double percentiles[TD_PERCENTILES];
    bool has_early;
    td_early_estimate early[TD_EARLY_PERCENTILES];
    td_bucket *buckets; /* bucket_count of them; none for an empty series */
    uint32_t bucket_count;
} td_summary;

/* From the histogram: cheap at any moment. Buckets live in a; false: a is full. */
bool td_summary_live(td_summary *sum, const td_series *s, uint32_t buckets, td_arena *a);

/* From all values: exact. Sorts the values of s, which must not get any more. early: also the
 * early-stopping estimates. Falls back to td_summary_live when values were lost. */
bool td_summary_exact(td_summary *sum, td_series *s, uint32_t buckets, bool early, td_arena *a);

/* The value that the exact statistics call the percentile p. sorted series with a value only. */
double td_series_percentile(const td_series *s, double p);

#endif

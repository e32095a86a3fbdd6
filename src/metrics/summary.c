#include "metrics/summary.h"

#include <math.h>
#include <string.h>

#include "metrics/early_stopping.h"
#include "metrics/sort.h"

const double td_percentiles[] = { 99.9, 99.0, 97.0, 95.0, 90.0, 80.0,
                                  75.0, 50.0, 25.0, 10.0, 5.0,  1.0 };
const char *const td_percentile_names[] = { "99.9", "99.0", "97.0", "95.0", "90.0", "80.0",
                                            "75.0", "50.0", "25.0", "10.0", "5.0",  "1.0" };

static void fill_sums(td_summary *sum, const td_series *s)
{
    *sum = (td_summary){
        .name = s->name,
        .is_real = s->is_real,
        .count = s->count,
        .total = s->total,
        .min = s->min,
        .max = s->max,
        .total_real = s->total_real,
        .min_real = s->min_real,
        .max_real = s->max_real,
        .square_sum = s->is_real ? s->squares_real : td_square_sum_double(&s->squares),
    };
}

/* Buckets that are equally wide on a logarithmic scale, over at least one decade from 1 up. */
static bool make_buckets(td_summary *sum, uint32_t buckets, td_arena *a)
{
    if (sum->count == 0 || buckets == 0)
        return true;
    sum->buckets = td_arena_array(a, td_bucket, buckets);
    if (sum->buckets == NULL)
        return false;
    sum->bucket_count = buckets;
    double low = sum->is_real ? sum->min_real : (double)sum->min;
    double high = sum->is_real ? sum->max_real : (double)sum->max;
    low = low > 1 ? low : 1;
    high = high > low * 10 ? high : low * 10;
    double log_low = log(low), log_range = log(high) - log_low, edge = exp(log_low);
    for (uint32_t i = 0; i < buckets; i++) {
        double next = exp(log_low + (double)(i + 1) * log_range / (double)buckets);
        sum->buckets[i] = (td_bucket){ .low = edge, .high = next };
        edge = next;
    }
    return true;
}

/* Puts each cell into the bucket of its highest value; blocks that lie in one bucket as a whole. */
static void fill_buckets(td_summary *sum, const td_hdr *h)
{
    uint32_t at = 0;
    for (uint32_t cell = h->first; cell <= h->last && sum->bucket_count != 0; cell++) {
        double value = (double)td_hdr_cell_high(h, cell);
        while (at + 1 < sum->bucket_count && sum->buckets[at + 1].low <= value)
            at++;
        uint32_t end = cell | (TD_HDR_BLOCK - 1);
        double highest = (double)td_hdr_cell_high(h, end);
        bool is_whole = cell % TD_HDR_BLOCK == 0 &&
                        (at + 1 == sum->bucket_count || highest < sum->buckets[at + 1].low);
        sum->buckets[at].count += is_whole ? h->blocks[cell >> TD_HDR_BLOCK_BITS]
                                           : h->counts[cell];
        cell = is_whole ? end : cell;
    }
}

bool td_summary_live(td_summary *sum, const td_series *s, uint32_t buckets, td_arena *a)
{
    fill_sums(sum, s);
    if (!make_buckets(sum, buckets, a))
        return false;
    if (s->count == 0)
        return true;
    int64_t percentiles[TD_PERCENTILES];
    td_hdr_percentiles(&s->hdr, td_percentiles, TD_PERCENTILES, percentiles);
    for (size_t i = 0; i < TD_PERCENTILES; i++)
        sum->percentiles[i] = (double)percentiles[i];
    fill_buckets(sum, &s->hdr);
    return true;
}

static double value_at(const td_series *s, size_t i)
{
    return s->is_real ? s->values.reals[i] : (double)s->values.integers[i];
}

double td_series_percentile(const td_series *s, double p)
{
    return value_at(s, (size_t)floor(p / 100 * (double)(s->count - 1)));
}

/* Index of the first sorted value that is not below edge. */
static size_t lower_bound(const td_series *s, double edge)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (value_at(s, middle) < edge)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void fill_early(td_summary *sum, const td_series *s)
{
    sum->has_early = true;
    for (size_t i = 0; i < TD_EARLY_PERCENTILES; i++) {
        uint64_t discarded = td_early_discarded(s->count, td_percentiles[i] / 100);
        if (discarded == 0)
            continue;
        sum->early[i] = (td_early_estimate){ .known = true,
                                             .value = value_at(s, s->count - discarded),
                                             .discarded = discarded };
    }
}

bool td_summary_exact(td_summary *sum, td_series *s, uint32_t buckets, bool early, td_arena *a)
{
    if (s->has_lost)
        return td_summary_live(sum, s, buckets, a);
    if (s->is_real)
        td_sort_double(s->values.reals, s->count);
    else
        td_sort_i64(s->values.integers, s->count);
    fill_sums(sum, s);
    if (!make_buckets(sum, buckets, a))
        return false;
    if (early)
        fill_early(sum, s);
    if (s->count == 0)
        return true;
    for (size_t i = 0; i < TD_PERCENTILES; i++)
        sum->percentiles[i] = td_series_percentile(s, td_percentiles[i]);
    /* Values below the first and above the last edge count in the outer buckets. */
    size_t below = 0;
    for (uint32_t i = 0; i < sum->bucket_count; i++) {
        size_t upto =
            i + 1 < sum->bucket_count ? lower_bound(s, sum->buckets[i].high) : s->count;
        sum->buckets[i].count = upto - below;
        below = upto;
    }
    return true;
}

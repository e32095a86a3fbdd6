#include "base/error.h"
#include "base/str.h"
#include "metrics/snapshot.h"
#include "value/msgpack.h"

/* The nearest that msgpack has. */
static td_code pack_int(td_buf *out, td_wide value)
{
    if (value <= INT64_MAX)
        return td_mp_put_int(out, td_wide_to_i64(value));
    return td_mp_put_uint(out, value > UINT64_MAX ? UINT64_MAX : (uint64_t)value);
}

static td_code pack_number(td_buf *out, const td_summary *sum, td_wide integer, double real)
{
    return sum->is_real ? td_mp_put_float(out, real) : pack_int(out, integer);
}

/* Counts and sums of one series; an empty one shows plain zeros. */
static td_code pack_sums(td_buf *out, const td_summary *sum)
{
    TD_TRY(pack_int(out, (td_wide)sum->count));
    TD_TRY(pack_number(out, sum, sum->total, sum->total_real));
    if (sum->count == 0) {
        TD_TRY(pack_int(out, 0));
        TD_TRY(pack_int(out, 0));
        return pack_number(out, sum, 0, 0);
    }
    TD_TRY(pack_number(out, sum, sum->min, sum->min_real));
    TD_TRY(pack_number(out, sum, sum->max, sum->max_real));
    return td_mp_put_float(out, sum->square_sum);
}

static td_code pack_early(td_buf *out, const td_summary *sum)
{
    if (!sum->has_early)
        return td_mp_put_nil(out);
    TD_TRY(td_mp_put_map(out, TD_EARLY_PERCENTILES));
    for (size_t i = 0; i < TD_EARLY_PERCENTILES; i++) {
        TD_TRY(td_mp_put_str(out, td_str_from(td_percentile_names[i])));
        TD_TRY(sum->early[i].known ? td_mp_put_float(out, sum->early[i].value)
                                   : td_mp_put_nil(out));
    }
    return TD_OK;
}

static td_code pack_series(td_buf *out, const td_summary *sum)
{
    TD_TRY(td_mp_put_array(out, 10));
    TD_TRY(td_mp_put_str(out, TD_STR("series")));
    TD_TRY(td_mp_put_str(out, td_str_from(sum->name)));
    TD_TRY(pack_sums(out, sum));
    TD_TRY(td_mp_put_map(out, TD_PERCENTILES));
    for (size_t i = 0; i < TD_PERCENTILES; i++) {
        TD_TRY(td_mp_put_str(out, td_str_from(td_percentile_names[i])));
        TD_TRY(td_mp_put_float(out, sum->percentiles[i]));
    }
    TD_TRY(td_mp_put_array(out, sum->bucket_count));
    for (uint32_t i = 0; i < sum->bucket_count; i++) {
        TD_TRY(td_mp_put_array(out, 2));
        TD_TRY(td_mp_put_array(out, 2));
        TD_TRY(td_mp_put_float(out, sum->buckets[i].low));
        TD_TRY(td_mp_put_float(out, sum->buckets[i].high));
        TD_TRY(pack_int(out, (td_wide)sum->buckets[i].count));
    }
    return pack_early(out, sum);
}

td_code td_snapshot_msgpack(const td_snapshot *snap, td_buf *out)
{
    TD_TRY(td_mp_put_array(out, 5));
    TD_TRY(pack_int(out, (td_wide)snap->counter));
    TD_TRY(pack_int(out, snap->timestamp_ns));
    TD_TRY(td_mp_put_str(out, td_str_from(td_run_state_name(snap->state))));
    TD_TRY(pack_int(out, (td_wide)snap->pending));
    TD_TRY(td_mp_put_array(out, (uint32_t)(TD_COUNTERS + snap->series_count)));
    for (size_t i = 0; i < TD_COUNTERS; i++) {
        TD_TRY(td_mp_put_array(out, 3));
        TD_TRY(td_mp_put_str(out, TD_STR("counter")));
        TD_TRY(td_mp_put_str(out, td_str_from(td_counter_name((td_counter_id)i))));
        TD_TRY(pack_int(out, snap->counters[i]));
    }
    for (size_t i = 0; i < snap->series_count; i++)
        TD_TRY(pack_series(out, &snap->series[i]));
    return TD_OK;
}

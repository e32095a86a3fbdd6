#include "metrics/registry.h"

#include <assert.h>

#define HOUR_NS INT64_C(3600000000000)
#define TOKENS_MAX INT64_C(10000000)

static const struct {
    const char *name;
    bool is_real;
    int64_t high;
} kinds[] = {
    [TD_SERIES_LATENCY] = { "sample_latency_ns", false, HOUR_NS },
    [TD_SERIES_ISL] = { "isl", false, TOKENS_MAX },
    [TD_SERIES_OSL] = { "osl", false, TOKENS_MAX },
    [TD_SERIES_TTFT] = { "ttft_ns", false, HOUR_NS },
    [TD_SERIES_CHUNK_DELTA] = { "chunk_delta_ns", false, HOUR_NS },
    [TD_SERIES_TPOT] = { "tpot_ns", true, HOUR_NS },
};
_Static_assert(sizeof kinds / sizeof *kinds == TD_SERIES_COUNT_, "describe every series");

td_code td_registry_init(td_registry *r, bool streaming, int hdr_digits, uint32_t buckets,
                         td_warn_fn warn, void *warn_user, td_error *err)
{
    *r = (td_registry){ .series_count = streaming ? TD_SERIES_COUNT_ : TD_SERIES_TTFT,
                        .buckets = buckets };
    for (size_t i = 0; i < r->series_count; i++) {
        td_code code = td_series_init(&r->series[i], kinds[i].name, kinds[i].is_real,
                                      kinds[i].high, hdr_digits, err);
        if (code != TD_OK) {
            td_registry_done(r);
            return code;
        }
        r->series[i].warn = warn;
        r->series[i].warn_user = warn_user;
    }
    return TD_OK;
}

void td_registry_done(td_registry *r)
{
    for (size_t i = 0; i < r->series_count; i++)
        td_series_done(&r->series[i]);
    r->series_count = 0;
}

void td_registry_add(td_registry *r, td_series_id id, td_wide value)
{
    assert(!kinds[id].is_real);
    if (id < r->series_count)
        td_series_add(&r->series[id], td_wide_to_i64(value));
}

static void fill_head(td_registry *r, td_snapshot *snap, td_run_state state, uint64_t pending,
                      int64_t now_ns)
{
    *snap = (td_snapshot){ .counter = ++r->snapshots,
                           .timestamp_ns = now_ns,
                           .state = state,
                           .pending = pending,
                           .series_count = r->series_count };
    for (size_t i = 0; i < TD_COUNTERS; i++)
        snap->counters[i] = r->counters[i];
}

bool td_registry_snapshot(td_registry *r, td_snapshot *snap, td_run_state state, uint64_t pending,
                          int64_t now_ns, td_arena *a)
{
    fill_head(r, snap, state, pending, now_ns);
    for (size_t i = 0; i < r->series_count; i++)
        if (!td_summary_live(&snap->series[i], &r->series[i], r->buckets, a))
            return false;
    return true;
}

bool td_registry_finish(td_registry *r, td_snapshot *snap, uint64_t pending, int64_t now_ns,
                        bool early, td_arena *a)
{
    fill_head(r, snap, TD_RUN_COMPLETE, pending, now_ns);
    for (size_t i = 0; i < r->series_count; i++) {
        bool has_early =
            early && (i == TD_SERIES_LATENCY || i == TD_SERIES_TTFT || i == TD_SERIES_TPOT);
        if (!td_summary_exact(&snap->series[i], &r->series[i], r->buckets, has_early, a))
            return false;
    }
    return true;
}

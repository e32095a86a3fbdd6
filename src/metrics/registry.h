/* registry.h - all counters and series of one run, and the snapshots taken of them.
 *
 * One thread at a time; a snapshot, once taken, is independent of the registry. */
#ifndef TD_SRC_METRICS_REGISTRY_H
#define TD_SRC_METRICS_REGISTRY_H

#include "metrics/counters.h"
#include "metrics/series.h"
#include "metrics/snapshot.h"

/* In the order of a snapshot; those from TD_SERIES_TTFT on exist in streaming runs only. */
typedef enum td_series_id {
    TD_SERIES_LATENCY,
    TD_SERIES_ISL,
    TD_SERIES_OSL,
    TD_SERIES_TTFT,
    TD_SERIES_CHUNK_DELTA,
    TD_SERIES_TPOT,
    TD_SERIES_COUNT_
} td_series_id;
_Static_assert((int)TD_SERIES_COUNT_ == (int)TD_SNAPSHOT_SERIES, "a snapshot has room for all");

typedef struct td_registry {
    td_wide counters[TD_COUNTERS];
    td_series series[TD_SERIES_COUNT_];
    size_t series_count;
    uint32_t buckets;   /* of each series' display histogram */
    uint64_t snapshots; /* taken so far */
} td_registry;

/* hdr_digits: 1..5 significant digits of live percentiles. warn may be NULL. */
TD_NODISCARD td_code td_registry_init(td_registry *r, bool streaming, int hdr_digits,
                                      uint32_t buckets, td_warn_fn warn, void *warn_user,
                                      td_error *err);
void td_registry_done(td_registry *r);

/* Records into an integer series that exists; streaming series of other runs ignore it. */
void td_registry_add(td_registry *r, td_series_id id, td_wide value);

/* Fills snap from the histograms. Its memory is a's; false: a is full. */
bool td_registry_snapshot(td_registry *r, td_snapshot *snap, td_run_state state, uint64_t pending,
                          int64_t now_ns, td_arena *a);
/* The last snapshot, exact; nothing may be recorded any more. early adds the estimates. */
bool td_registry_finish(td_registry *r, td_snapshot *snap, uint64_t pending, int64_t now_ns,
                        bool early, td_arena *a);

#endif

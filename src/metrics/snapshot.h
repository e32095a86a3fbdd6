/* snapshot.h - the state of a run at one moment, as a value, and its two written forms. */
#ifndef TD_SRC_METRICS_SNAPSHOT_H
#define TD_SRC_METRICS_SNAPSHOT_H

#include "base/buf.h"
#include "metrics/counters.h"
#include "metrics/summary.h"

typedef enum td_run_state {
    TD_RUN_LIVE,
    TD_RUN_DRAINING,
    TD_RUN_COMPLETE,
    TD_RUN_INTERRUPTED,
} td_run_state;

/* "live", "draining", "complete", "interrupted". Static storage. */
const char *td_run_state_name(td_run_state state);

enum { TD_SNAPSHOT_SERIES = 6 };

typedef struct td_snapshot {
    uint64_t counter; /* 1 for the first one of a run */
    int64_t timestamp_ns;
    td_run_state state;
    uint64_t pending; /* tokenizations queued and not yet recorded */
    td_wide counters[TD_COUNTERS];
    td_summary series[TD_SNAPSHOT_SERIES];
    size_t series_count;
} td_snapshot;

/* Appends the msgpack form: nested arrays. Codes of td_buf appends, as below. */
TD_NODISCARD td_code td_snapshot_msgpack(const td_snapshot *snap, td_buf *out);
/* Appends the JSON form: objects, two spaces of indent, numbers that are not finite as null, no
 * newline at the end. */
TD_NODISCARD td_code td_snapshot_json(const td_snapshot *snap, td_buf *out);

#endif

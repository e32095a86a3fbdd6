/* counters.h - the named integers of a snapshot, in the order in which it lists them. */
#ifndef TD_SRC_METRICS_COUNTERS_H
#define TD_SRC_METRICS_COUNTERS_H

#include "tokdrain/base.h"

typedef enum td_counter_id {
    TD_COUNT_ISSUED,
    TD_COUNT_COMPLETED,
    TD_COUNT_FAILED,
    TD_COUNT_TRACKED_ISSUED,
    TD_COUNT_TRACKED_COMPLETED,
    TD_COUNT_TRACKED_FAILED,
    TD_COUNT_FINISH_STOP, /* the finish reasons keep the order of td_finish_counter */
    TD_COUNT_FINISH_LENGTH,
    TD_COUNT_FINISH_TOOL_CALLS,
    TD_COUNT_FINISH_CONTENT_FILTER,
    TD_COUNT_FINISH_FUNCTION_CALL,
    TD_COUNT_FINISH_OTHER,
    TD_COUNT_TRACKED_DURATION,
    TD_COUNT_LEGACY_WINDOW,
    TD_COUNT_TOTAL_DURATION,
    TD_COUNTERS
} td_counter_id;

/* The name on the wire. Static storage. */
const char *td_counter_name(td_counter_id id);

/* The counter of a finish reason; reasons that have none share TD_COUNT_FINISH_OTHER. */
td_counter_id td_finish_counter(td_str reason);

#endif

#include "metrics/counters.h"

#include "base/str.h"

static const char *const names[] = {
    [TD_COUNT_ISSUED] = "total_samples_issued",
    [TD_COUNT_COMPLETED] = "total_samples_completed",
    [TD_COUNT_FAILED] = "total_samples_failed",
    [TD_COUNT_TRACKED_ISSUED] = "tracked_samples_issued",
    [TD_COUNT_TRACKED_COMPLETED] = "tracked_samples_completed",
    [TD_COUNT_TRACKED_FAILED] = "tracked_samples_failed",
    [TD_COUNT_FINISH_STOP] = "tracked_finish_reason_stop",
    [TD_COUNT_FINISH_LENGTH] = "tracked_finish_reason_length",
    [TD_COUNT_FINISH_TOOL_CALLS] = "tracked_finish_reason_tool_calls",
    [TD_COUNT_FINISH_CONTENT_FILTER] = "tracked_finish_reason_content_filter",
    [TD_COUNT_FINISH_FUNCTION_CALL] = "tracked_finish_reason_function_call",
    [TD_COUNT_FINISH_OTHER] = "tracked_finish_reason_other",
    [TD_COUNT_TRACKED_DURATION] = "tracked_duration_ns",
    [TD_COUNT_LEGACY_WINDOW] = "legacy_loadgen_window_duration_ns",
    [TD_COUNT_TOTAL_DURATION] = "total_duration_ns",
};
_Static_assert(sizeof names / sizeof *names == TD_COUNTERS, "name every counter");

const char *td_counter_name(td_counter_id id)
{
    return names[id];
}

td_counter_id td_finish_counter(td_str reason)
{
    td_str prefix = TD_STR("tracked_finish_reason_");
    for (td_counter_id id = TD_COUNT_FINISH_STOP; id < TD_COUNT_FINISH_OTHER; id++)
        if (td_str_eq(reason, td_str_from(names[id] + prefix.len)))
            return id;
    return TD_COUNT_FINISH_OTHER;
}

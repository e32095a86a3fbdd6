/* tool_calls.h - whole tool calls from what a stream brought. */
#ifndef TD_SRC_AGGREGATOR_TOOL_CALLS_H
#define TD_SRC_AGGREGATOR_TOOL_CALLS_H

#include "base/arena.h"
#include "value/value.h"

/* Whether calls (a list) holds chunks, each a list of partial calls, rather than whole calls. */
bool td_calls_are_chunked(td_value calls);

/* Puts partial calls together by their index; whole calls stay as they are. The result shares
 * values with calls; what is new lives in a. TD_E_INPUT when a chunk is not made of objects. */
TD_NODISCARD td_code td_calls_merge(td_arena *a, td_value calls, td_value *ret, td_error *err);

#endif

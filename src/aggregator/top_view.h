/* top_view.h - a published snapshot, read back, and how it looks.
 *
 * Snapshots are read as values, by the names in them, so that those of other versions show what
 * they have. */
#ifndef TD_SRC_AGGREGATOR_TOP_VIEW_H
#define TD_SRC_AGGREGATOR_TOP_VIEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

/* Reads a frame (topic and payload) into an object as in final_snapshot.json. It borrows from frame
 * and a. TD_E_INPUT when it is no snapshot. */
TD_NODISCARD td_code td_top_read(td_arena *a, td_str frame, td_value *ret, td_error *err);

/* What rates are computed from: the numbers of an earlier snapshot. Zeroed: there was none. */
typedef struct td_top_past {
    int64_t timestamp_ns, completed;
    double tokens_out, chunks;
} td_top_past;

/* Appends the snapshot as lines of text, and moves *past to it. */
td_code td_top_print(td_buf *out, td_value snapshot, const char *endpoint, td_top_past *past);

/* The state in it. */
td_str td_top_state(td_value snapshot);

#endif

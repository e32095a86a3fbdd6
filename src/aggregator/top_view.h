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

/* The numbers of an earlier snapshot, and the rates before it. Zeroed: there was none. */
typedef struct td_top_past {
    int64_t timestamp_ns;
    double completed, tokens_out, chunks;
    bool has_rates;
    double samples_per_s, tokens_per_s, chunks_per_s;
} td_top_past;

/* Room for a snapshot; 0: as much as it takes. */
typedef struct td_top_screen {
    uint32_t columns, rows;
} td_top_screen;

/* Appends the snapshot as lines of text that suit the screen, and moves *past on. */
td_code td_top_print(td_buf *out, td_value snapshot, const char *endpoint,
                     const td_top_screen *screen, td_top_past *past);

/* Appends what makes a terminal of that size show text in the place of what it showed, without
 * flicker: lines are cut, and the last row stays empty. */
td_code td_top_draw(td_buf *out, td_str text, const td_top_screen *screen);

/* The state in it. */
td_str td_top_state(td_value snapshot);

#endif

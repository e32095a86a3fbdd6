/* session.h - what the events of a run mean: counters, windows, samples in flight, triggers. */
#ifndef TD_SRC_AGGREGATOR_SESSION_H
#define TD_SRC_AGGREGATOR_SESSION_H

#include "aggregator/message.h"
#include "aggregator/table.h"
#include "aggregator/tokens.h"
#include "metrics/registry.h"
#include "metrics/windows.h"

typedef struct td_session {
    td_registry *registry;
    td_tokens *tokens; /* NULL: nothing is tokenized */
    bool streaming;

    bool has_started, has_ended;
    td_wide start_ns;
    uint64_t records; /* received, those after the end included */

    td_table table;
    td_windows windows;
    bool has_loadgen_start, has_loadgen_end;
    td_wide loadgen_start, loadgen_end, last_issued;
} td_session;

/* registry and tokens are borrowed. */
void td_session_init(td_session *s, td_registry *registry, td_tokens *tokens, bool streaming);
void td_session_done(td_session *s);

/* Reads and handles one record; now_ns is our own clock. Records behind the end only count. */
void td_session_record(td_session *s, td_record record, int64_t now_ns);

/* Brings the durations of the tracked windows up to date. */
void td_session_set_durations(td_session *s);

#endif

#include "aggregator/session.h"

#include "aggregator/event.h"
#include "aggregator/log.h"

void td_session_init(td_session *s, td_registry *registry, td_tokens *tokens, bool streaming)
{
    *s = (td_session){ .registry = registry,
                       .tokens = tokens,
                       .streaming = streaming,
                       .table.seed = (uint64_t)(uintptr_t)s,
                       .last_issued = -1 };
}

void td_session_done(td_session *s)
{
    td_table_done(&s->table);
    td_windows_done(&s->windows);
}

void td_session_set_durations(td_session *s)
{
    td_wide window = s->has_loadgen_end ? s->loadgen_end - s->loadgen_start : 0;
    s->registry->counters[TD_COUNT_TRACKED_DURATION] = td_windows_duration(&s->windows);
    s->registry->counters[TD_COUNT_LEGACY_WINDOW] = window > 0 ? window : 0;
}

static void bump(td_session *s, td_counter_id id)
{
    s->registry->counters[id]++;
}

/* ---- the session ---- */

static void on_started(td_session *s, const td_event *e)
{
    if (s->has_started) {
        char first[TD_WIDE_TEXT_MAX], second[TD_WIDE_TEXT_MAX];
        int first_len = (int)td_wide_print(s->start_ns, first);
        int second_len = (int)td_wide_print(e->timestamp_ns, second);
        td_log(TD_FROM_SERVICE, TD_LOG_ERROR,
               "Duplicate STARTED event received (original at ts=%.*s, duplicate at ts=%.*s); "
               "ignoring: a session starts exactly once.",
               first_len, first, second_len, second);
        return;
    }
    s->has_started = true;
    s->start_ns = e->timestamp_ns;
}

static void on_start_tracking(td_session *s, const td_event *e)
{
    if (!td_windows_open(&s->windows, e->timestamp_ns))
        td_log(TD_FROM_TABLE, TD_LOG_ERROR, "out of memory: a tracking window is lost");
}

static void on_error(td_session *s, const td_event *e)
{
    bump(s, TD_COUNT_FAILED);
    if (e->sample.len != 0 && td_table_find(&s->table, e->sample) != NULL)
        bump(s, TD_COUNT_TRACKED_FAILED);
}

/* ---- samples ---- */

static void trigger_input(td_session *s, const td_event *e, td_record record)
{
    if (e->data != TD_DATA_PROMPT)
        return;
    if (e->prompt.has_ids)
        td_registry_add(s->registry, TD_SERIES_ISL, e->prompt.id_count);
    else if (s->tokens != NULL)
        td_tokens_prompt(s->tokens, &e->prompt, record);
}

static void on_issued(td_session *s, const td_event *e, td_record record)
{
    td_row *row = td_table_find(&s->table, e->sample);
    if (s->windows.open) {
        if (row != NULL) {
            td_log(TD_FROM_TABLE, TD_LOG_WARNING,
                   "Duplicate ISSUED for sample %.*s, possibly due to retry - skipping",
                   (int)e->sample.len, e->sample.ptr);
        } else {
            row = td_table_add(&s->table, e->sample);
            if (row == NULL)
                td_log(TD_FROM_TABLE, TD_LOG_ERROR, "out of memory: a sample is not tracked");
        }
        if (!s->has_loadgen_start) {
            s->has_loadgen_start = true;
            s->loadgen_start = e->timestamp_ns;
        }
        if (row != NULL) {
            row->window = s->windows.count - 1; /* a retry counts in the window of the retry */
            trigger_input(s, e, record);
            row->issued_ns = e->timestamp_ns;
        }
    }
    bump(s, TD_COUNT_ISSUED);
    if (row != NULL)
        bump(s, TD_COUNT_TRACKED_ISSUED);
}

static void on_chunk(td_session *s, td_row *row, const td_event *e)
{
    if (row->has_last_recv)
        td_registry_add(s->registry, TD_SERIES_CHUNK_DELTA, e->timestamp_ns - row->last_recv_ns);
    row->has_last_recv = true;
    row->last_recv_ns = e->timestamp_ns;
}

static void on_received(td_session *s, const td_event *e)
{
    td_row *row = td_table_find(&s->table, e->sample);
    if (row == NULL)
        return;
    if (e->kind == TD_EV_RECV_FIRST) {
        td_registry_add(s->registry, TD_SERIES_TTFT, e->timestamp_ns - row->issued_ns);
        row->has_recv_first = true;
        row->recv_first_ns = e->timestamp_ns;
    }
    on_chunk(s, row, e);
}

static void complete_row(td_session *s, td_row *row, const td_event *e, td_record record)
{
    td_registry_add(s->registry, TD_SERIES_LATENCY, e->timestamp_ns - row->issued_ns);
    if (s->tokens != NULL && e->data == TD_DATA_OUTPUT) {
        td_tokens_output(s->tokens, &e->output, record);
        if (s->streaming && row->has_recv_first)
            td_tokens_rest(s->tokens, &e->output, e->timestamp_ns - row->recv_first_ns, record);
    }
    td_windows_complete(&s->windows, row->window, e->timestamp_ns);
    if (row->issued_ns > s->last_issued) {
        s->last_issued = row->issued_ns;
        s->has_loadgen_end = true;
        s->loadgen_end = e->timestamp_ns;
    }
    td_table_remove(&s->table, row);
    bump(s, TD_COUNT_TRACKED_COMPLETED);
    if (e->finish_reason.ptr != NULL)
        bump(s, td_finish_counter(e->finish_reason));
}

static void on_complete(td_session *s, const td_event *e, td_record record)
{
    bump(s, TD_COUNT_COMPLETED);
    td_row *row = td_table_find(&s->table, e->sample);
    if (row != NULL)
        complete_row(s, row, e, record);
}

/* ---- dispatch ---- */

static void on_event(td_session *s, const td_event *e, td_record record)
{
    if (s->has_started) {
        td_wide *total = &s->registry->counters[TD_COUNT_TOTAL_DURATION];
        td_wide now = e->timestamp_ns - s->start_ns;
        *total = now > *total ? now : *total;
    }
    bool is_sample = e->sample.len != 0;
    switch (e->kind) {
    case TD_EV_STARTED: on_started(s, e); break;
    case TD_EV_ENDED: s->has_ended = true; break;
    case TD_EV_STOP_LOADGEN: break;
    case TD_EV_START_TRACKING: on_start_tracking(s, e); break;
    case TD_EV_STOP_TRACKING:
        td_windows_close(&s->windows);
        td_session_set_durations(s);
        break;
    case TD_EV_ERROR: on_error(s, e); break;
    case TD_EV_ISSUED:
        if (is_sample)
            on_issued(s, e, record);
        break;
    case TD_EV_COMPLETE:
        if (is_sample)
            on_complete(s, e, record);
        break;
    case TD_EV_RECV_FIRST:
    case TD_EV_RECV_NON_FIRST:
        if (is_sample)
            on_received(s, e);
        break;
    }
}

void td_session_record(td_session *s, td_record record, int64_t now_ns)
{
    s->records++;
    if (s->has_ended)
        return;
    td_event event;
    td_error err = TD_ERROR_INIT;
    if (td_event_read(record.bytes, now_ns, &event, &err) != TD_OK) {
        event = td_event_unreadable(now_ns);
        td_error_clear(&err);
    }
    on_event(s, &event, record);
}

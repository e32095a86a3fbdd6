/* event.h - one record of the event stream: a msgpack map, read strictly and without copies.
 *
 * Every view of an event borrows from the record's bytes. Parts that only counting needs (tool
 * calls, messages, tools) stay msgpack; they were checked to be well-formed. */
#ifndef TD_SRC_AGGREGATOR_EVENT_H
#define TD_SRC_AGGREGATOR_EVENT_H

#include "metrics/wide.h"
#include "tokdrain/base.h"

typedef enum td_event_kind {
    TD_EV_STARTED,
    TD_EV_ENDED,
    TD_EV_STOP_LOADGEN,
    TD_EV_START_TRACKING,
    TD_EV_STOP_TRACKING,
    TD_EV_ISSUED,
    TD_EV_COMPLETE,
    TD_EV_RECV_FIRST,
    TD_EV_RECV_NON_FIRST,
    TD_EV_ERROR, /* of any category */
} td_event_kind;

/* A text that came whole or as an array of pieces. */
typedef struct td_pieces {
    enum { TD_PIECES_NIL, TD_PIECES_ONE, TD_PIECES_MANY } kind;
    td_str one;
    uint32_t count; /* of MANY */
    td_str items;   /* the pieces, msgpack strings one after the other */
} td_pieces;

/* What a model answered. */
typedef struct td_output {
    td_pieces text, reasoning;
    uint32_t call_count; /* elements of calls; 0 without calls */
    td_str calls;        /* msgpack array; ptr NULL: nil */
} td_output;

/* What a model was asked. Views with ptr NULL stand for nil; those without comment are msgpack. */
typedef struct td_prompt {
    td_str text, chat_template; /* the text itself */
    bool has_ids;
    uint32_t id_count;
    td_str messages, tools, kwargs, tool_choice;
} td_prompt;

typedef struct td_event {
    td_event_kind kind;
    td_wide timestamp_ns;
    td_str sample;
    td_str finish_reason; /* ptr NULL: not set */
    enum { TD_DATA_NONE, TD_DATA_OUTPUT, TD_DATA_PROMPT, TD_DATA_ERROR } data;
    td_output output; /* valid for TD_DATA_OUTPUT */
    td_prompt prompt; /* valid for TD_DATA_PROMPT */
} td_event;

/* Reads a record. now_ns stands in for a missing timestamp. TD_E_INPUT (or TD_E_LIMIT for deep
 * nesting) when anything about the record is wrong. */
TD_NODISCARD td_code td_event_read(td_str record, int64_t now_ns, td_event *ret, td_error *err);

/* What takes the place of a record that cannot be read. */
td_event td_event_unreadable(int64_t now_ns);

/* true for an answer without text and for empty arrays. */
static inline bool td_pieces_empty(const td_pieces *p)
{
    return p->kind == TD_PIECES_ONE ? p->one.len == 0
                                    : p->kind == TD_PIECES_NIL || p->count == 0;
}

#endif

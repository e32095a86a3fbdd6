/* tokens.h - what waits to be tokenized, and where its count goes.
 *
 * Items are counted by the pool and recorded in the order in which they were queued. One thread
 * queues and collects. queued == recorded + pending at any moment. */
#ifndef TD_SRC_AGGREGATOR_TOKENS_H
#define TD_SRC_AGGREGATOR_TOKENS_H

#include "aggregator/event.h"
#include "aggregator/message.h"
#include "metrics/registry.h"

typedef struct td_tokens td_tokens;

typedef struct td_tokens_options {
    const char *tokenizer; /* name or directory; NULL only with a worker_command */
    unsigned workers;      /* 0: nothing is counted before td_tokens_drain */
    size_t memo_bytes;     /* 0: the default */
    unsigned series;       /* 1 << td_series_id of those that are wanted; others queue nothing */
    const char *worker_command; /* external processes that count (docs/workers.md); NULL: none */
    unsigned processes;         /* of them; 0: as many as workers */
    size_t worker_memory;       /* of all of them; 0: no bound */
} td_tokens_options;

/* Loads the tokenizer (or has the processes do it) and starts the pool; tells about a template that
 * cannot count messages. */
TD_NODISCARD td_code td_tokens_new(const td_tokens_options *options, td_registry *registry,
                                   td_tokens **ret, td_error *err);
void td_tokens_free(td_tokens *t);

/* Queue what one event asks for. Items that cannot be made stay pending for ever: they show that
 * the counts are not complete. */
void td_tokens_prompt(td_tokens *t, const td_prompt *p, td_record record);
void td_tokens_output(td_tokens *t, const td_output *o, td_record record);
/* The part of an answer after its first chunk, which took elapsed_ns. */
void td_tokens_rest(td_tokens *t, const td_output *o, td_wide elapsed_ns, td_record record);

/* Records what has been counted since the last call; does not wait. */
void td_tokens_collect(td_tokens *t);
/* From now on everything may be counted. */
void td_tokens_drain(td_tokens *t);
/* Interrupts counting and records what was finished. */
void td_tokens_stop(td_tokens *t);

uint64_t td_tokens_pending(const td_tokens *t); /* queued and not recorded, failed ones included */
uint64_t td_tokens_failed(const td_tokens *t);  /* of the pending ones: those that never will be */

#endif

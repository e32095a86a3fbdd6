/* process.h - one item through one worker: decode, render, count or encode. */
#ifndef TD_SRC_COUNT_PROCESS_H
#define TD_SRC_COUNT_PROCESS_H

#include <stdatomic.h>

#include "chat/prompt.h"
#include "count/memo.h"
#include "count/owned_count.h"
#include "count/worker_pool.h"
#include "tokdrain/counter.h"
#include "tokenizer/segments.h"

/* What the workers of a counter share; read only after it was made, but for the memo, what is kept
 * and the cache of templates, which lock for themselves. */
typedef struct td_shared {
    td_model *model;
    td_chat_env env;
    td_memo *memo;        /* NULL: no reuse */
    td_keep *keep;        /* tools that come again and again; NULL: no reuse */
    td_worker_pool *pool; /* NULL: counted here; else model is NULL */
    td_counter_options options;
    const atomic_bool *interrupt; /* true: stop what runs, it stays pending */
    bool owners; /* counting and encoding tell which message each token came from */
    /* Test hook: called when a worker begins (true) and ends (false) to render an item. */
    void (*probe)(void *user, uint64_t index, bool begins);
    void *probe_user;
} td_shared;

/* The memory of one worker. */
typedef struct td_worker_scratch {
    td_chat_work chat;
    td_encoder *encoder;
    td_cutter *cutter;
    jj_marks marks;           /* of the last render that was to tell owners */
    td_owned_list owned;      /* found with them */
    td_buf json;              /* fallback texts */
    td_pool_worker *external; /* NULL: counted here */
} td_worker_scratch;

/* model may be NULL where an external worker counts. */
bool td_scratch_init(td_worker_scratch *s, td_model *model, const td_limits *limits);
void td_scratch_done(td_worker_scratch *s);
size_t td_scratch_bytes(const td_worker_scratch *s);

/* Fills r->box. false: interrupted, the box is as new and the request can be processed again. */
bool td_process(const td_shared *shared, td_worker_scratch *s, td_request *r);

#endif

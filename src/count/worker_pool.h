/* worker_pool.h - external tokenizer processes behind the counting interface.
 *
 * Each counting thread owns at most one process and hands it one item after the other, so work is
 * dealt as it is done and order is the counter's. What a process does to itself is survived: it is
 * replaced, its item is tried once more, and then becomes a TD_E_WORKER of that item alone. */
#ifndef TD_SRC_COUNT_WORKER_POOL_H
#define TD_SRC_COUNT_WORKER_POOL_H

#include <stdatomic.h>

#include "count/worker_protocol.h"
#include "tokdrain/counter.h"

typedef struct td_worker_pool td_worker_pool;
typedef struct td_pool_worker td_pool_worker;

/* o->jobs is the number of processes wanted. Starts none. NULL on failure with err set. */
td_worker_pool *td_pool_new(const td_counter_options *o, const atomic_bool *interrupt,
                            td_error *err);
/* Ends what is left of its processes. */
void td_pool_free(td_worker_pool *pool);

/* The ith worker, i below o->jobs; one thread uses a worker at a time. */
td_pool_worker *td_pool_worker_at(td_worker_pool *pool, unsigned i);

/* Starts the worker's process, unless it runs, from the thread that will use it. */
td_code td_pool_start(td_pool_worker *w, td_error *err);
/* How many processes the memory budget allows, 1 to o->jobs, going by the first one that started;
 * and bounds each of them by its share. Call it when exactly one was started. */
unsigned td_pool_fit(td_worker_pool *pool);
/* Ends the worker's process, from the thread that used it. */
void td_pool_stop(td_pool_worker *w);

/* Has one item done. TD_E_WORKER: the process failed twice. TD_E_TIMEOUT: interrupted. Other codes
 * are what the worker says of the item. The answer's views are good until td_pool_rest. */
td_code td_pool_ask(td_pool_worker *w, const td_worker_item *item, td_worker_answer *ret,
                    td_error *err);
/* Behind each td_pool_ask: ends a process that keeps more memory than it may. */
void td_pool_rest(td_pool_worker *w);

typedef struct td_pool_stats {
    uint64_t started; /* processes, over the whole time */
    uint64_t running;
    uint64_t memory_bytes; /* the largest resident size seen */
    uint64_t load_ns;      /* the longest start */
} td_pool_stats;

td_pool_stats td_pool_get_stats(td_worker_pool *pool);

#endif

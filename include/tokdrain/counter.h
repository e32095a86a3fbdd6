/* tokdrain/counter.h - many requests, in parallel, results in the order of submission.
 *
 *     td_counter_options options = { .jobs = 4 };
 *     td_counter *counter = NULL;
 *     if (td_counter_new(model, &options, &counter, &err) != TD_OK) ...
 *     for each request: td_counter_submit(counter, request, index, &err);
 *     td_result *result;
 *     while ((result = td_counter_next(counter, -1)) != NULL) { ...; td_result_free(result); }
 *     td_counter_free(counter);
 *
 * All functions may be called from any thread. An error of one item is that item's result and
 * touches no other. */
#ifndef TOKDRAIN_COUNTER_H
#define TOKDRAIN_COUNTER_H

#include "tokdrain/model.h"
#include "tokdrain/request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_counter td_counter;

typedef enum td_operation {
    TD_DO_COUNT,
    TD_DO_RENDER,
    TD_DO_ENCODE,
    TD_DO_DECODE,
} td_operation;

/* Bounds of one item; 0 takes the default. What exceeds one is a TD_E_LIMIT (TD_E_TIMEOUT). */
typedef struct td_limits {
    size_t output_bytes_max; /* rendered text: 256 MiB */
    uint64_t steps_max;      /* template steps: 100,000,000 */
    size_t memory_bytes_max; /* of its template: 1 GiB, and of encoding: 4 GiB */
    uint64_t timeout_ns;     /* none */
} td_limits;

/* What strftime_now() sees. */
typedef struct td_now {
    bool fixed; /* else the clock */
    int64_t unix_seconds;
    uint32_t microseconds;
    int32_t utc_offset_seconds;
} td_now;

/* Zeroed fields are the defaults; texts are copied. */
typedef struct td_counter_options {
    td_operation operation;
    unsigned jobs;      /* 0: the cores that this process may use */
    size_t queue_items; /* submitted and not collected: 0: 1,024 */
    size_t queue_bytes; /* their bytes: 0: 256 MiB; a single larger item is taken alone */
    bool paused;        /* start nothing until td_counter_resume */
    bool lines;         /* workers write the result lines that td_result_json gives */
    td_limits limits;
    td_now now;

    /* reuse across items: counted segments, and tools with the texts that tojson makes of them */
    size_t memo_bytes; /* of both: 0: 256 MiB */
    bool no_reuse;
    bool verify; /* count again without reuse; a difference is TD_E_VERIFY */

    /* defaults of requests, which win over them */
    td_str chat_template;        /* ptr NULL: the model's */
    const char *template_file;   /* its name in errors */
    td_str chat_template_kwargs; /* JSON object; ptr NULL: none */
    bool parse_arguments;
    bool fallback; /* count a prompt that fails to render as text, beside its error */

    /* of encode and decode */
    bool offsets;
    bool pieces; /* result lines hold the tokens' texts, too */
    bool skip_special_tokens;

    /* External tokenizers (docs/workers.md): processes that render, count, encode and decode. With
     * a command nothing is reused, no model is needed, there are no offsets, pieces and masks, and
     * jobs is the number of processes. A failure to start them is the counter's; later ones are
     * TD_E_WORKER of items. */
    const char *worker_command;  /* for the shell; NULL: none */
    const char *worker_model;    /* what they shall load; NULL: they know */
    const char *worker_revision; /* NULL: none */
    size_t worker_memory;        /* resident bytes of all of them; 0: no bound */
    uint64_t worker_start_ns;    /* of a start; 0: 300 s. An item has limits.timeout_ns (300 s) */
} td_counter_options;

/* Takes a reference to model and starts the workers. options may be NULL; model only with a
 * worker_command. */
TD_API TD_NODISCARD td_code td_counter_new(td_model *model, const td_counter_options *options,
                                           td_counter **ret_counter, td_error *err);
/* Stops the workers (running items are interrupted) and drops what is queued. */
TD_API void td_counter_free(td_counter *counter);

/* Queues a request, which is taken even on failure; waits while the queue is full, until another
 * thread collects. Fails only when out of memory. */
TD_API TD_NODISCARD td_code td_counter_submit(td_counter *counter, td_request *request,
                                              uint64_t index, td_error *err);
/* The same without waiting: false, and the request is still the caller's, when the queue is full.
 * For a thread that submits and collects. */
TD_API TD_NODISCARD bool td_counter_try_submit(td_counter *counter, td_request *request,
                                               uint64_t index);

/* The next result in order of submission, waiting up to timeout_ns (negative: as long as it
 * takes). NULL: the time was up, or nothing is outstanding, or the counter is paused and the next
 * one is not done. */
TD_API td_result *td_counter_next(td_counter *counter, int64_t timeout_ns);

/* Interrupts what runs; interrupted and queued items stay pending. Returns when all workers rest.
 * td_counter_resume goes on with them. */
TD_API void td_counter_pause(td_counter *counter);
TD_API void td_counter_resume(td_counter *counter);
/* The next finished result while the counter is paused, pending ones before it left out; NULL when
 * there is none. */
TD_API td_result *td_counter_next_done(td_counter *counter);
/* Drops all items that are still pending; returns how many. Paused counters only. */
TD_API size_t td_counter_drop_pending(td_counter *counter);
/* Drops the items whose index is_unwanted names: they give no result any more. Queued and finished
 * ones go at once; one that runs is told to stop, and not waited for (an external process finishes
 * its item). Returns how many. is_unwanted must not use the counter. */
TD_API size_t td_counter_drop(td_counter *counter, bool (*is_unwanted)(void *user, uint64_t index),
                              void *user);

typedef struct td_drained {
    uint64_t counted, pending; /* their sum is what was queued */
    uint64_t elapsed_ns;       /* from the call to the last result */
} td_drained;

/* Resumes, and hands every queued item's result to each (which owns it) in order, until all are
 * done or timeout_ns passed (0: no limit). Then the counter is paused; what is pending stays so. */
TD_API td_drained td_counter_drain(td_counter *counter, uint64_t timeout_ns,
                                   void (*each)(void *user, td_result *result), void *user);

typedef struct td_counter_stats {
    uint64_t queued, running, done, failed; /* done: finished, failed ones included */
    uint64_t tokens, reused_tokens;
    uint64_t memo_bytes, memo_entries, memo_hits, memo_misses, memo_evictions;
    uint64_t scratch_bytes;      /* of all workers, as of their last item */
    uint64_t templates_compiled; /* that requests brought along */
    unsigned jobs;
    /* external processes */
    uint64_t workers_started, workers_running; /* over the whole time; now */
    uint64_t worker_memory_bytes;              /* the largest resident size seen */
    uint64_t worker_load_ns;                   /* the longest start */
} td_counter_stats;

TD_API td_counter_stats td_counter_get_stats(td_counter *counter);

#ifdef __cplusplus
}
#endif
#endif

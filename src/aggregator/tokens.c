/* tokens.c - a queue in front of the pool.
 *
 * Every item has a place in a ring from queueing to recording. Its request waits in the ring until
 * the pool has room (or, without workers, until the drain); the pool gives results back in that
 * order, except after an interruption, so an entry remembers that it is done. */
#include "aggregator/tokens.h"

#include <assert.h>

#include "aggregator/item.h"
#include "aggregator/log.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "tokdrain/counter.h"

enum { POOL_ITEMS = 4096, FIRST_CAP = 1024 };

typedef struct entry {
    td_wide elapsed_ns;  /* of tpot */
    td_request *request; /* until the pool took it */
    td_series_id series;
    bool done;
} entry;

struct td_tokens {
    td_model *model;
    td_counter *counter;
    td_registry *registry;
    const char *name;
    unsigned series;
    entry *ring; /* cap is a power of two */
    uint64_t head, next, tail; /* oldest not done, next for the pool, next free */
    size_t cap;
    uint64_t queued, recorded, failed;
    bool hold;           /* until the drain */
    bool has_failed;     /* told about it */
    unsigned fallbacks;  /* kinds of failures told about: 1 << td_code */
};

static entry *entry_at(td_tokens *t, uint64_t n)
{
    return &t->ring[n & (t->cap - 1)];
}

/* ---- life ---- */

/* Renders the smallest message once, so that a template which cannot is known from the start. */
static td_code check_template(td_tokens *t, td_error *err)
{
    td_request *r = NULL;
    TD_TRY(td_item_empty_message(&r, err));
    TD_TRY(td_counter_submit(t->counter, r, 0, err));
    td_result *result = td_counter_next(t->counter, -1);
    if (result == NULL)
        return td_fail(err, TD_E_INTERNAL, "the counting pool does not answer");
    if (result->error.code != TD_OK)
        td_log(TD_FROM_TOKENS, TD_LOG_ERROR,
               "Failed to compute chat-template baseline for %s; tool-call token counts may be "
               "over-estimated (%s)",
               t->name, result->error.message);
    td_result_free(result);
    return TD_OK;
}

static td_code start(td_tokens *t, const td_tokens_options *options, td_error *err)
{
    if (options->worker_command == NULL)
        TD_TRY(td_model_new(options->tokenizer, NULL, &t->model, err));
    td_counter_options pool = {
        .jobs = options->processes != 0 ? options->processes : options->workers,
        .queue_items = POOL_ITEMS,
        .queue_bytes = SIZE_MAX / 2,
        .memo_bytes = options->memo_bytes,
        .parse_arguments = true,
        .fallback = true,
        .worker_command = options->worker_command,
        .worker_model = options->tokenizer,
        .worker_memory = options->worker_memory,
    };
    TD_TRY(td_counter_new(t->model, &pool, &t->counter, err));
    return check_template(t, err);
}

td_code td_tokens_new(const td_tokens_options *options, td_registry *registry, td_tokens **ret,
                      td_error *err)
{
    uint64_t begin = td_now_ns();
    td_tokens *t = td_calloc(1, sizeof *t);
    if (t == NULL)
        return td_fail_nomem(err);
    t->registry = registry;
    t->name = options->tokenizer != NULL ? options->tokenizer : "the external tokenizer";
    t->series = options->series;
    t->hold = options->workers == 0;
    td_code code = start(t, options, err);
    if (code != TD_OK) {
        td_tokens_free(t);
        return code;
    }
    td_log(TD_FROM_TOKENS, TD_LOG_INFO, "BatchTokenizer: %u shards x 1 cores (setup %.1fs)",
           td_counter_get_stats(t->counter).jobs, (double)(td_now_ns() - begin) / 1e9);
    *ret = t;
    return TD_OK;
}

void td_tokens_free(td_tokens *t)
{
    if (t == NULL)
        return;
    td_counter_free(t->counter);
    for (uint64_t n = t->next; n < t->tail; n++)
        td_request_free(entry_at(t, n)->request);
    td_free(t->ring);
    td_model_free(t->model);
    td_free(t);
}

/* ---- in ---- */

static bool grow(td_tokens *t)
{
    size_t cap = t->cap != 0 ? t->cap * 2 : FIRST_CAP;
    entry *ring = td_calloc(cap, sizeof *ring);
    if (ring == NULL)
        return false;
    for (uint64_t n = t->head; n < t->tail; n++)
        ring[n & (cap - 1)] = *entry_at(t, n);
    td_free(t->ring);
    t->ring = ring;
    t->cap = cap;
    return true;
}

/* Gives the pool what it has room for. */
static void feed(td_tokens *t)
{
    while (!t->hold && t->next < t->tail) {
        entry *e = entry_at(t, t->next);
        if (!td_counter_try_submit(t->counter, e->request, t->next))
            return;
        e->request = NULL;
        t->next++;
    }
}

static void tell_failed(td_tokens *t, const char *why)
{
    t->failed++;
    if (t->has_failed)
        return;
    t->has_failed = true;
    td_log(TD_FROM_TOKENS, TD_LOG_ERROR,
           "live token flush failed; the item stays pending, further failures are not logged (%s)",
           why);
}

static bool wanted(const td_tokens *t, td_series_id series)
{
    return (t->series & 1u << series) != 0;
}

/* Takes what item.h made. */
static void queue(td_tokens *t, td_code code, td_request *request, td_series_id series,
                  td_wide elapsed_ns, td_error *err)
{
    if (code == TD_OK && request == NULL)
        return;
    t->queued++;
    if (code == TD_OK && t->tail - t->head == t->cap && !grow(t))
        code = td_fail_nomem(err);
    if (code != TD_OK) {
        td_request_free(request);
        tell_failed(t, err->message);
        td_error_clear(err);
        return;
    }
    *entry_at(t, t->tail++) =
        (entry){ .elapsed_ns = elapsed_ns, .request = request, .series = series };
    feed(t);
}

void td_tokens_prompt(td_tokens *t, const td_prompt *p, td_record record)
{
    if (!wanted(t, TD_SERIES_ISL))
        return;
    td_error err = TD_ERROR_INIT;
    td_request *request = NULL;
    td_code code = td_item_prompt(p, record, &request, &err);
    queue(t, code, request, TD_SERIES_ISL, 0, &err);
}

void td_tokens_output(td_tokens *t, const td_output *o, td_record record)
{
    if (!wanted(t, TD_SERIES_OSL))
        return;
    td_error err = TD_ERROR_INIT;
    td_request *request = NULL;
    td_code code = td_item_output(o, record, &request, &err);
    queue(t, code, request, TD_SERIES_OSL, 0, &err);
}

void td_tokens_rest(td_tokens *t, const td_output *o, td_wide elapsed_ns, td_record record)
{
    if (!wanted(t, TD_SERIES_TPOT))
        return;
    td_error err = TD_ERROR_INIT;
    td_request *request = NULL;
    td_code code = td_item_rest(o, record, &request, &err);
    queue(t, code, request, TD_SERIES_TPOT, elapsed_ns, &err);
}

/* ---- out ---- */

static const char *class_name(td_code code)
{
    switch (code) {
    case TD_E_INPUT: return "InputError";
    case TD_E_TEMPLATE: return "TemplateError";
    case TD_E_LIMIT: return "LimitError";
    case TD_E_TOKENIZER: return "TokenizerError";
    default: return "Error";
    }
}

static void tell_fallback(td_tokens *t, const td_error *why)
{
    if (t->fallbacks & 1u << why->code)
        return;
    t->fallbacks |= 1u << why->code;
    td_log(TD_FROM_TOKENS, TD_LOG_WARNING,
           "apply_chat_template failed for %s (%s); falling back to whitespace tokenization. %s",
           t->name, class_name(why->code), why->message);
}

static void record(td_tokens *t, td_result *result)
{
    entry *e = entry_at(t, result->index);
    assert(result->index >= t->head && result->index < t->next && !e->done);
    e->done = true;
    if (!result->counted) {
        tell_failed(t, result->error.message != NULL ? result->error.message : "not counted");
    } else {
        t->recorded++;
        if (result->error.code != TD_OK)
            tell_fallback(t, &result->error);
        if (e->series != TD_SERIES_TPOT)
            td_registry_add(t->registry, e->series, (td_wide)result->tokens);
        else if (result->tokens != 0)
            td_series_add_real(&t->registry->series[TD_SERIES_TPOT],
                               (double)e->elapsed_ns / (double)result->tokens);
    }
    td_result_free(result);
    while (t->head < t->next && entry_at(t, t->head)->done)
        t->head++;
}

void td_tokens_collect(td_tokens *t)
{
    td_result *result;
    while (t->head < t->next && (result = td_counter_next(t->counter, 0)) != NULL)
        record(t, result);
    feed(t);
}

void td_tokens_drain(td_tokens *t)
{
    t->hold = false;
    feed(t);
}

void td_tokens_stop(td_tokens *t)
{
    t->hold = true;
    td_counter_pause(t->counter);
    td_result *result;
    while ((result = td_counter_next_done(t->counter)) != NULL)
        record(t, result);
}

uint64_t td_tokens_pending(const td_tokens *t)
{
    return t->queued - t->recorded;
}

uint64_t td_tokens_failed(const td_tokens *t)
{
    return t->failed;
}

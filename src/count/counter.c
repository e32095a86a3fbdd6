/* counter.c - a pool of workers behind a bounded queue, results in the order of submission.
 *
 * Idea:  one ring of slots. Submitting fills the slot at the tail; workers run the oldest pending
 *        one; collecting empties the slot at the head when it is done. A slot's place is the item's
 *        place, so order costs nothing.
 * Holds: head <= run <= tail; slots before run are not pending (interrupting moves run back); the
 *        ring has a slot for each item that is submitted and not collected, and for one that was
 *        dropped as long as it still runs.
 * Locks: one mutex guards the ring and the numbers; an item is processed without it. */
#include "count/counter.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "count/shared.h"

enum { JOBS_MAX = 1024, QUEUE_ITEMS = 1024, WAKE_NS = 1000000 };
static const size_t QUEUE_BYTES = (size_t)256 << 20;

/* DROPPED: still runs, and nobody wants the result. */
typedef enum slot_state { EMPTY, PENDING, RUNNING, DROPPED, DONE } slot_state;

typedef struct worker {
    td_counter *counter;
    td_thread thread;
    td_worker_scratch scratch;
    size_t scratch_bytes;  /* under the lock */
    atomic_bool interrupt; /* stop what runs */
} worker;

typedef struct slot {
    td_request *request; /* of PENDING; the runner's while it runs */
    td_result_box *result;
    worker *runner; /* of RUNNING */
    uint64_t index;
    size_t bytes;
    slot_state state;
} slot;

struct td_counter {
    td_shared shared;
    td_arena texts;        /* copies of the options' texts, and the default keywords */
    atomic_bool interrupt; /* of all external workers */

    td_mutex lock;
    td_cond work;  /* something is pending, or the workers shall end */
    td_cond done;  /* the head is done, or the counter was paused */
    td_cond space; /* a slot or bytes became free */
    td_cond idle;  /* a worker rests */

    slot *slots;
    size_t slot_count; /* a power of two */
    uint64_t head, run, tail, seek;
    size_t items_max, bytes_max, bytes;
    unsigned running;
    bool paused, stopping;
    bool draining;          /* the collector takes results in batches */
    uint64_t woken_ns;      /* when it was told of some, while draining */
    unsigned came_up;       /* external workers that started, or could not */
    td_error start_error;   /* of the first that could not */
    td_counter_stats stats; /* done, failed, tokens, reused_tokens */

    worker *workers;
    unsigned workers_ready, workers_started;
};

static slot *slot_at(td_counter *c, uint64_t n)
{
    return &c->slots[n & (c->slot_count - 1)];
}

/* ---- workers ---- */

/* Lock held. The oldest pending item, or NULL. */
static slot *take_pending(td_counter *c)
{
    while (c->run < c->tail && slot_at(c, c->run)->state != PENDING)
        c->run++;
    return c->run < c->tail ? slot_at(c, c->run) : NULL;
}

/* Lock held. The item whose result is next; NULL: none is outstanding. */
static slot *next_wanted(td_counter *c)
{
    for (uint64_t n = c->head; n < c->tail; n++) {
        slot *s = slot_at(c, n);
        if (s->state != EMPTY && s->state != DROPPED)
            return s;
    }
    return NULL;
}

/* Lock held. Empties a slot, whose request and result are somebody else's by now. */
static void empty(td_counter *c, slot *s)
{
    c->bytes -= s->bytes;
    *s = (slot){ .state = EMPTY };
    while (c->head < c->tail && slot_at(c, c->head)->state == EMPTY)
        c->head++;
    if (c->run < c->head)
        c->run = c->head;
    td_cond_broadcast(&c->space);
}

/* Lock held. Whether to wake the collector, when the next is done: a drain looks at results once in
 * a while, so that it does not take the processor from a worker for each of thousands, and behind
 * the last item that can be taken. */
static bool is_wake_due(td_counter *c)
{
    const slot *next = next_wanted(c);
    if (next == NULL || next->state != DONE)
        return false;
    if (!c->draining || c->run == c->tail)
        return true;
    uint64_t now = td_now_ns();
    bool due = now - c->woken_ns >= WAKE_NS;
    if (due)
        c->woken_ns = now;
    return due;
}

/* Lock held. box NULL: it was interrupted. */
static void finish(td_counter *c, slot *s, uint64_t place, td_result_box *box)
{
    c->running--;
    if (s->state == DROPPED) {
        atomic_store(&s->runner->interrupt, false);
        td_request_free(box == NULL ? s->request : NULL);
        td_result_free(box != NULL ? &box->pub : NULL);
        empty(c, s);
    } else if (box == NULL) {
        s->state = PENDING;
        if (place < c->run)
            c->run = place;
    } else {
        const td_result *r = &box->pub;
        s->request = NULL;
        s->result = box;
        s->state = DONE;
        c->stats.done++;
        c->stats.failed += r->error.code != TD_OK && r->via != TD_VIA_FALLBACK;
        c->stats.tokens += r->counted ? r->tokens : 0;
        c->stats.reused_tokens += r->counted ? r->reused : 0;
        if (is_wake_due(c))
            td_cond_broadcast(&c->done);
    }
    if (c->paused)
        td_cond_broadcast(&c->idle);
}

/* Starts the thread's external process and tells how that went. */
static void start_external(worker *w)
{
    td_counter *c = w->counter;
    td_error err = TD_ERROR_INIT;
    td_code code = td_pool_start(w->scratch.external, &err);
    td_mutex_lock(&c->lock);
    c->came_up++;
    if (code != TD_OK && c->start_error.code == TD_OK)
        td_error_move(&c->start_error, &err);
    td_cond_broadcast(&c->idle);
    td_mutex_unlock(&c->lock);
    td_error_clear(&err);
}

/* The request's result; NULL: interrupted, the request is as new. Without the lock. */
static td_result_box *process(worker *w, td_request *request)
{
    td_shared shared = w->counter->shared;
    shared.interrupt = &w->interrupt;
    if (!td_process(&shared, &w->scratch, request))
        return NULL;
    td_result_box *box = request->box;
    request->box = NULL;
    td_request_free(request);
    return box;
}

static void *work(void *user)
{
    worker *w = user;
    td_counter *c = w->counter;
    if (w->scratch.external != NULL)
        start_external(w);
    td_mutex_lock(&c->lock);
    for (;;) {
        slot *s = c->paused ? NULL : take_pending(c);
        if (c->stopping)
            break;
        if (s == NULL) {
            td_cond_wait(&c->work, &c->lock);
            continue;
        }
        uint64_t place = c->run++;
        td_request *request = s->request;
        s->state = RUNNING;
        s->runner = w;
        c->running++;
        td_mutex_unlock(&c->lock);
        td_result_box *box = process(w, request);
        td_mutex_lock(&c->lock);
        w->scratch_bytes = td_scratch_bytes(&w->scratch);
        finish(c, s, place, box);
    }
    td_mutex_unlock(&c->lock);
    if (w->scratch.external != NULL)
        td_pool_stop(w->scratch.external);
    return NULL;
}

/* Lock held. The workers' own first: who finds the other one set looks at these. */
static void set_interrupt(td_counter *c, bool interrupt)
{
    for (unsigned i = 0; c->workers != NULL && i < c->shared.options.jobs; i++)
        atomic_store(&c->workers[i].interrupt, interrupt);
    atomic_store(&c->interrupt, interrupt);
}

/* ---- life ---- */

static td_code make_parts(td_counter *c, td_model *model, const td_counter_options *options,
                          td_error *err)
{
    td_counter_options own = *options;
    bool outside = own.worker_command != NULL;
    own.no_reuse |= outside;
    TD_TRY(td_shared_init(&c->shared, outside ? NULL : model, &own, &c->texts, err));
    td_counter_options *o = &c->shared.options;
    if (o->jobs == 0)
        o->jobs = td_cores_available();
    if (o->jobs > JOBS_MAX)
        o->jobs = JOBS_MAX;
    c->items_max = o->queue_items != 0 ? o->queue_items : QUEUE_ITEMS;
    c->bytes_max = o->queue_bytes != 0 ? o->queue_bytes : QUEUE_BYTES;
    c->slot_count = 16;
    while (c->slot_count < c->items_max && c->slot_count < SIZE_MAX / 2)
        c->slot_count *= 2;
    c->paused = o->paused;
    c->slots = td_calloc(c->slot_count, sizeof *c->slots);
    c->workers = td_calloc(o->jobs, sizeof *c->workers);
    if (c->slots == NULL || c->workers == NULL)
        return td_fail_nomem(err);
    if (outside && (o->offsets || o->pieces))
        return td_fail(err, TD_E_INPUT, "external workers give neither offsets nor tokens' texts");
    if (!outside && c->shared.model == NULL)
        return td_fail(err, TD_E_INPUT, "a counter needs a model");
    if (outside)
        c->shared.pool = td_pool_new(o, &c->interrupt, err);
    return err->code;
}

/* Waits for the external processes that were told to start. */
static td_code await_external(td_counter *c, td_error *err)
{
    td_mutex_lock(&c->lock);
    while (c->came_up < c->workers_started)
        td_cond_wait(&c->idle, &c->lock);
    if (c->start_error.code != TD_OK)
        td_error_move(err, &c->start_error);
    td_mutex_unlock(&c->lock);
    return err->code;
}

static td_code start_workers(td_counter *c, td_error *err)
{
    td_worker_pool *pool = c->shared.pool;
    for (unsigned i = 0; i < c->shared.options.jobs; i++) {
        c->workers[i].counter = c;
        atomic_init(&c->workers[i].interrupt, false);
        if (!td_scratch_init(&c->workers[i].scratch, c->shared.model, &c->shared.options.limits))
            return td_fail_nomem(err);
        if (pool != NULL)
            c->workers[i].scratch.external = td_pool_worker_at(pool, i);
        c->workers_ready++;
    }
    unsigned wanted = c->workers_ready;
    for (unsigned i = 0; i < wanted; i++) {
        if (!td_thread_start(&c->workers[i].thread, work, &c->workers[i]))
            return td_fail(err, TD_E_INTERNAL, "a worker thread could not be started");
        td_mutex_lock(&c->lock);
        c->workers_started++;
        td_mutex_unlock(&c->lock);
        if (pool != NULL && i == 0 && c->shared.options.worker_memory != 0) {
            TD_TRY(await_external(c, err));
            wanted = td_pool_fit(pool);
        }
    }
    return pool != NULL ? await_external(c, err) : TD_OK;
}

static bool init_locks(td_counter *c)
{
    if (!td_mutex_init(&c->lock))
        return false;
    td_cond *conds[] = { &c->work, &c->done, &c->space, &c->idle };
    for (size_t i = 0; i < sizeof conds / sizeof *conds; i++) {
        if (td_cond_init(conds[i]))
            continue;
        while (i-- > 0)
            td_cond_done(conds[i]);
        td_mutex_done(&c->lock);
        return false;
    }
    return true;
}

td_code td_counter_new(td_model *model, const td_counter_options *options, td_counter **ret_counter,
                       td_error *err)
{
    static const td_counter_options no_options;
    td_error local = TD_ERROR_INIT;
    td_counter *c = td_calloc(1, sizeof *c);
    if (c != NULL && !init_locks(c)) {
        td_free(c);
        c = NULL;
    }
    td_code code;
    if (c == NULL) {
        code = td_fail_nomem(&local);
    } else {
        c->start_error = (td_error)TD_ERROR_INIT;
        c->shared.interrupt = &c->interrupt;
        atomic_init(&c->interrupt, false);
        code = make_parts(c, model, options != NULL ? options : &no_options, &local);
        if (code == TD_OK)
            code = start_workers(c, &local);
    }
    if (code == TD_OK) {
        *ret_counter = c;
        return TD_OK;
    }
    td_counter_free(c);
    if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

void td_counter_free(td_counter *c)
{
    if (c == NULL)
        return;
    td_mutex_lock(&c->lock);
    c->stopping = true;
    set_interrupt(c, true);
    td_cond_broadcast(&c->work);
    td_mutex_unlock(&c->lock);
    for (unsigned i = 0; i < c->workers_started; i++)
        td_thread_join(&c->workers[i].thread);
    for (unsigned i = 0; i < c->workers_ready; i++)
        td_scratch_done(&c->workers[i].scratch);
    for (size_t i = 0; c->slots != NULL && i < c->slot_count; i++) {
        td_request_free(c->slots[i].request);
        td_result_free(c->slots[i].result != NULL ? &c->slots[i].result->pub : NULL);
    }
    td_pool_free(c->shared.pool);
    td_error_clear(&c->start_error);
    td_shared_done(&c->shared, &c->texts);
    td_free(c->slots);
    td_free(c->workers);
    td_cond_done(&c->work);
    td_cond_done(&c->done);
    td_cond_done(&c->space);
    td_cond_done(&c->idle);
    td_mutex_done(&c->lock);
    td_free(c);
}

void td_counter_set_probe(td_counter *c, void (*probe)(void *user, uint64_t index, bool begins),
                          void *user)
{
    c->shared.probe = probe;
    c->shared.probe_user = user;
}

/* ---- in ---- */

/* Lock held. */
static bool has_room(const td_counter *c, size_t bytes)
{
    uint64_t outstanding = c->tail - c->head;
    if (outstanding >= c->items_max)
        return false;
    return outstanding == 0 || (bytes <= c->bytes_max && c->bytes <= c->bytes_max - bytes);
}

/* Lock held; there is room. */
static void put(td_counter *c, td_request *request, uint64_t index, size_t bytes)
{
    slot *s = slot_at(c, c->tail++);
    assert(s->state == EMPTY);
    request->index = index;
    *s = (slot){ .request = request, .index = index, .bytes = bytes, .state = PENDING };
    c->bytes += bytes;
    if (!c->paused)
        td_cond_signal(&c->work);
}

td_code td_counter_submit(td_counter *c, td_request *request, uint64_t index, td_error *err)
{
    (void)err;
    size_t bytes = td_request_bytes(request);
    td_mutex_lock(&c->lock);
    while (!has_room(c, bytes))
        td_cond_wait(&c->space, &c->lock);
    put(c, request, index, bytes);
    td_mutex_unlock(&c->lock);
    return TD_OK;
}

bool td_counter_try_submit(td_counter *c, td_request *request, uint64_t index)
{
    size_t bytes = td_request_bytes(request);
    td_mutex_lock(&c->lock);
    bool room = has_room(c, bytes);
    if (room)
        put(c, request, index, bytes);
    td_mutex_unlock(&c->lock);
    return room;
}

/* ---- out ---- */

/* Lock held. */
static td_result *take_done(td_counter *c, slot *s)
{
    td_result_box *box = s->result;
    empty(c, s);
    return &box->pub;
}

/* Waits until deadline_ns (0: as long as it takes; 1: not at all). */
static td_result *next_until(td_counter *c, uint64_t deadline_ns)
{
    td_result *result = NULL;
    td_mutex_lock(&c->lock);
    bool time_left = true;
    slot *s;
    while ((s = next_wanted(c)) != NULL) {
        if (s->state == DONE) {
            result = take_done(c, s);
            break;
        }
        if (c->paused || !time_left || deadline_ns == 1)
            break;
        if (deadline_ns == 0)
            td_cond_wait(&c->done, &c->lock);
        else
            time_left = td_cond_wait_until(&c->done, &c->lock, deadline_ns);
    }
    td_mutex_unlock(&c->lock);
    return result;
}

td_result *td_counter_next(td_counter *c, int64_t timeout_ns)
{
    if (timeout_ns < 0)
        return next_until(c, 0);
    return next_until(c, timeout_ns == 0 ? 1 : td_now_ns() + (uint64_t)timeout_ns);
}

void td_counter_pause(td_counter *c)
{
    td_mutex_lock(&c->lock);
    c->paused = true;
    set_interrupt(c, true);
    while (c->running != 0)
        td_cond_wait(&c->idle, &c->lock);
    set_interrupt(c, false);
    c->seek = c->head;
    td_cond_broadcast(&c->done);
    td_mutex_unlock(&c->lock);
}

void td_counter_resume(td_counter *c)
{
    td_mutex_lock(&c->lock);
    c->paused = false;
    td_cond_broadcast(&c->work);
    td_mutex_unlock(&c->lock);
}

td_result *td_counter_next_done(td_counter *c)
{
    td_result *result = NULL;
    td_mutex_lock(&c->lock);
    if (c->seek < c->head)
        c->seek = c->head;
    for (; c->paused && result == NULL && c->seek < c->tail; c->seek++) {
        slot *s = slot_at(c, c->seek);
        if (s->state == DONE)
            result = take_done(c, s);
    }
    td_mutex_unlock(&c->lock);
    return result;
}

size_t td_counter_drop_pending(td_counter *c)
{
    size_t dropped = 0;
    td_mutex_lock(&c->lock);
    for (uint64_t n = c->head; c->paused && n < c->tail; n++) {
        slot *s = slot_at(c, n);
        if (s->state != PENDING)
            continue;
        td_request_free(s->request);
        empty(c, s);
        dropped++;
    }
    td_mutex_unlock(&c->lock);
    return dropped;
}

size_t td_counter_drop(td_counter *c, bool (*is_unwanted)(void *user, uint64_t index), void *user)
{
    size_t dropped = 0;
    td_mutex_lock(&c->lock);
    for (uint64_t n = c->head; n < c->tail; n++) {
        slot *s = slot_at(c, n);
        if (s->state == EMPTY || s->state == DROPPED || !is_unwanted(user, s->index))
            continue;
        dropped++;
        if (s->state == RUNNING) {
            s->state = DROPPED;
            atomic_store(&s->runner->interrupt, true);
            continue;
        }
        td_request_free(s->request);
        td_result_free(s->result != NULL ? &s->result->pub : NULL);
        empty(c, s);
    }
    td_cond_broadcast(&c->done);
    td_mutex_unlock(&c->lock);
    return dropped;
}

static uint64_t count_pending(td_counter *c)
{
    uint64_t pending = 0;
    td_mutex_lock(&c->lock);
    for (uint64_t n = c->head; n < c->tail; n++)
        pending += slot_at(c, n)->state == PENDING;
    td_mutex_unlock(&c->lock);
    return pending;
}

static void set_draining(td_counter *c, bool draining)
{
    td_mutex_lock(&c->lock);
    c->draining = draining;
    td_mutex_unlock(&c->lock);
}

td_drained td_counter_drain(td_counter *c, uint64_t timeout_ns,
                            void (*each)(void *user, td_result *result), void *user)
{
    td_drained d = { 0 };
    uint64_t start = td_now_ns(), last = start;
    uint64_t deadline = timeout_ns != 0 ? start + timeout_ns : 0;
    set_draining(c, true);
    td_counter_resume(c);
    td_result *r;
    while ((r = next_until(c, deadline)) != NULL) {
        last = td_now_ns();
        d.counted++;
        each(user, r);
    }
    td_counter_pause(c);
    set_draining(c, false);
    while ((r = td_counter_next_done(c)) != NULL) {
        last = td_now_ns();
        d.counted++;
        each(user, r);
    }
    d.pending = count_pending(c);
    d.elapsed_ns = last - start;
    return d;
}

td_counter_stats td_counter_get_stats(td_counter *c)
{
    td_mutex_lock(&c->lock);
    td_counter_stats s = c->stats;
    for (uint64_t n = c->head; n < c->tail; n++)
        s.queued += slot_at(c, n)->state == PENDING;
    s.running = c->running;
    s.jobs = c->workers_started;
    for (unsigned i = 0; i < c->workers_ready; i++)
        s.scratch_bytes += c->workers[i].scratch_bytes;
    td_mutex_unlock(&c->lock);
    if (c->shared.memo != NULL) {
        td_memo_stats m = td_memo_get_stats(c->shared.memo);
        s.memo_bytes = td_shared_reuse_bytes(&c->shared);
        s.memo_entries = m.entries;
        s.memo_hits = m.hits;
        s.memo_misses = m.misses;
        s.memo_evictions = m.evictions;
    }
    if (c->shared.pool != NULL) {
        td_pool_stats p = td_pool_get_stats(c->shared.pool);
        s.workers_started = p.started;
        s.workers_running = p.running;
        s.worker_memory_bytes = p.memory_bytes;
        s.worker_load_ns = p.load_ns;
    }
    s.templates_compiled = td_template_cache_compiled(c->shared.env.templates);
    return s;
}

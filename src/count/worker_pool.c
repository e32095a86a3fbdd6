/* worker_pool.c - external tokenizer processes: start, handshake, retry, memory budget.
 *
 * Holds: a worker's process is ended and reaped before another one takes its place, so there are
 *        never more processes than workers. All processes of a pool name the same model: one that
 *        comes up with another is refused, since counts of two models must not mix.
 * Locks: one mutex guards what the workers share (identity, share, numbers); a worker itself is its
 *        thread's. */
#include "count/worker_pool.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "count/worker_process.h"

enum { TRIES = 2, START_TRIES = 3 };
static const uint64_t SECOND = 1000000000U;
static const uint64_t START_SECONDS = 300, ANSWER_SECONDS = 300;
static const uint64_t LAST_WORDS_NS = 200000000; /* until a closed socket is an ended process */

struct td_pool_worker {
    td_worker_pool *pool;
    td_worker_process process;
    td_buf out;
    uint64_t seq;
};

struct td_worker_pool {
    td_arena texts;
    const char *command;
    td_buf hello;
    uint64_t start_ns, answer_ns;
    size_t budget; /* bytes of all processes; 0: none */
    const atomic_bool *interrupt;
    td_pool_worker *workers;
    unsigned count;

    td_mutex lock;  /* guards the rest */
    char *identity; /* NULL: no process came up yet */
    size_t share;   /* bytes of one process */
    size_t first_bytes;
    td_pool_stats stats;
};

/* ---- life ---- */

static td_code set_up(td_worker_pool *p, const td_counter_options *o, td_error *err)
{
    td_worker_hello hello = {
        .model = o->worker_model != NULL ? td_str_from(o->worker_model) : (td_str){ NULL, 0 },
        .revision =
            o->worker_revision != NULL ? td_str_from(o->worker_revision) : (td_str){ NULL, 0 },
        .chat_template = o->chat_template,
        .chat_template_kwargs = o->chat_template_kwargs,
        .parse_arguments = o->parse_arguments,
    };
    td_code code = td_worker_put_hello(&p->hello, &hello);
    if (code != TD_OK)
        return td_buf_fail(&p->hello, err, code, "the worker's options");
    size_t len = strlen(o->worker_command) + 1;
    char *command = td_arena_array(&p->texts, char, len);
    p->workers = td_calloc(o->jobs, sizeof *p->workers);
    if (command == NULL || p->workers == NULL)
        return td_fail_nomem(err);
    memcpy(command, o->worker_command, len);
    p->command = command;
    p->count = o->jobs;
    for (unsigned i = 0; i < p->count; i++)
        p->workers[i].pool = p;
    p->budget = o->worker_memory;
    p->share = p->budget;
    p->start_ns = o->worker_start_ns != 0 ? o->worker_start_ns : START_SECONDS * SECOND;
    p->answer_ns = o->limits.timeout_ns != 0 ? o->limits.timeout_ns : ANSWER_SECONDS * SECOND;
    return TD_OK;
}

td_worker_pool *td_pool_new(const td_counter_options *o, const atomic_bool *interrupt,
                            td_error *err)
{
    td_worker_pool *p = td_calloc(1, sizeof *p);
    if (p == NULL || !td_mutex_init(&p->lock)) {
        td_free(p);
        td_fail_nomem(err);
        return NULL;
    }
    p->interrupt = interrupt;
    if (set_up(p, o, err) == TD_OK)
        return p;
    td_pool_free(p);
    return NULL;
}

void td_pool_free(td_worker_pool *p)
{
    if (p == NULL)
        return;
    for (unsigned i = 0; i < p->count; i++) {
        td_pool_stop(&p->workers[i]);
        td_buf_done(&p->workers[i].out);
    }
    td_free(p->workers);
    td_free(p->identity);
    td_buf_done(&p->hello);
    td_arena_done(&p->texts);
    td_mutex_done(&p->lock);
    td_free(p);
}

td_pool_worker *td_pool_worker_at(td_worker_pool *p, unsigned i)
{
    return &p->workers[i];
}

/* ---- what goes wrong ---- */

/* Ends the process and says why; the code tells an interrupt and memory from the rest. */
static td_code give_up(td_pool_worker *w, td_worker_io io, uint64_t bound_ns, td_error *err)
{
    td_worker_pool *p = w->pool;
    int status = td_worker_end(&w->process, io == TD_WORKER_ENDED ? LAST_WORDS_NS : 0);
    td_mutex_lock(&p->lock);
    p->stats.running--;
    size_t share = p->share;
    td_mutex_unlock(&p->lock);
    switch (io) {
    case TD_WORKER_INTERRUPTED:
        return td_fail(err, TD_E_TIMEOUT, "interrupted");
    case TD_WORKER_NO_MEMORY:
        return td_fail_nomem(err);
    case TD_WORKER_LATE:
        return td_fail(err, TD_E_WORKER, "the worker gave no answer within %.3g s",
                       (double)bound_ns / (double)SECOND);
    case TD_WORKER_HUNGRY:
        return td_fail(err, TD_E_WORKER, "the worker took more than its %zu MB of memory",
                       share / 1000000);
    case TD_WORKER_TOO_LONG:
        return td_fail(err, TD_E_WORKER, "the worker's answer is garbage: its length is too large");
    case TD_WORKER_ENDED:
    case TD_WORKER_DONE:
        break;
    }
    if (status != -1 && WIFEXITED(status))
        return td_fail(err, TD_E_WORKER, "the worker ended with exit status %d",
                       WEXITSTATUS(status));
    if (status != -1 && WIFSIGNALED(status))
        return td_fail(err, TD_E_WORKER, "the worker was ended by signal %d", WTERMSIG(status));
    return td_fail(err, TD_E_WORKER, "the worker closed its socket");
}

/* An answer that cannot be: the process is not to be trusted with another item. */
static td_code give_up_garbage(td_pool_worker *w, td_error *garbage, td_error *err)
{
    td_error ignored = TD_ERROR_INIT;
    give_up(w, TD_WORKER_DONE, 0, &ignored);
    td_error_clear(&ignored);
    td_fail(err, TD_E_WORKER, "the worker's answer is garbage: %s", garbage->message);
    td_error_clear(garbage);
    return TD_E_WORKER;
}

/* ---- start ---- */

static td_worker_bounds bounds_of(td_pool_worker *w, uint64_t ns)
{
    td_worker_pool *p = w->pool;
    td_mutex_lock(&p->lock);
    size_t share = p->share;
    td_mutex_unlock(&p->lock);
    uint64_t now = td_now_ns();
    return (td_worker_bounds){
        .deadline_ns = ns < UINT64_MAX - now ? now + ns : UINT64_MAX,
        .memory_bytes = share,
        .interrupt = p->interrupt,
    };
}

/* Remembers the size of a process; true: it is within its share. */
static bool weigh(td_pool_worker *w)
{
    td_worker_pool *p = w->pool;
    size_t bytes = td_worker_resident_bytes(&w->process);
    td_mutex_lock(&p->lock);
    if (p->first_bytes == 0)
        p->first_bytes = bytes;
    if (bytes > p->stats.memory_bytes)
        p->stats.memory_bytes = bytes;
    bool fits = p->share == 0 || bytes <= p->share;
    td_mutex_unlock(&p->lock);
    return fits;
}

/* true: the process serves the model that the others serve. */
static td_code check_identity(td_worker_pool *p, td_str model, td_error *err)
{
    td_code code = TD_OK;
    td_mutex_lock(&p->lock);
    if (p->identity == NULL) {
        p->identity = td_strndup(model.ptr, model.len);
        if (p->identity == NULL)
            code = td_fail_nomem(err);
    } else if (!td_str_eq(model, td_str_from(p->identity))) {
        code = td_fail(err, TD_E_INPUT, "it serves another model than the process before it");
    }
    td_mutex_unlock(&p->lock);
    return code;
}

static td_code check_hello(td_pool_worker *w, td_str payload, td_error *err)
{
    td_worker_answer a;
    td_error garbage = TD_ERROR_INIT;
    td_code code = td_worker_read_hello(payload, &a, &garbage);
    if (code == TD_OK && a.protocol != TD_WORKER_PROTOCOL)
        code = td_fail(&garbage, TD_E_INPUT, "it speaks version %llu of the protocol, not %d",
                       (unsigned long long)a.protocol, TD_WORKER_PROTOCOL);
    if (code == TD_OK && a.failed) {
        td_fail_text(err, TD_E_WORKER, TD_NO_OFFSET, a.message);
        give_up(w, TD_WORKER_DONE, 0, &garbage);
        td_error_clear(&garbage);
        return td_while(err, "the worker cannot serve the model");
    }
    if (code == TD_OK)
        code = check_identity(w->pool, a.model, &garbage);
    if (code == TD_E_INTERNAL) {
        td_error_clear(&garbage);
        return give_up(w, TD_WORKER_NO_MEMORY, 0, err);
    }
    return code == TD_OK ? TD_OK : give_up_garbage(w, &garbage, err);
}

static td_code start_once(td_pool_worker *w, td_error *err)
{
    td_worker_pool *p = w->pool;
    uint64_t start = td_now_ns();
    td_worker_bounds bounds = bounds_of(w, p->start_ns);
    TD_TRY(td_worker_spawn(&w->process, p->command, err));
    td_mutex_lock(&p->lock);
    p->stats.started++;
    p->stats.running++;
    td_mutex_unlock(&p->lock);
    td_str payload;
    td_worker_io io = td_worker_send(&w->process, td_buf_view(&p->hello), &bounds);
    if (io == TD_WORKER_DONE || io == TD_WORKER_ENDED) /* it may have said why it goes */
        io = td_worker_receive(&w->process, &payload, &bounds);
    if (io != TD_WORKER_DONE)
        return give_up(w, io, p->start_ns, err);
    TD_TRY(check_hello(w, payload, err));
    uint64_t took = td_now_ns() - start;
    td_mutex_lock(&p->lock);
    if (took > p->stats.load_ns)
        p->stats.load_ns = took;
    td_mutex_unlock(&p->lock);
    return weigh(w) ? TD_OK : give_up(w, TD_WORKER_HUNGRY, 0, err);
}

td_code td_pool_start(td_pool_worker *w, td_error *err)
{
    td_code code = TD_OK;
    for (int i = 0; w->process.pid == 0 && i < START_TRIES; i++) {
        td_error_clear(err);
        code = start_once(w, err);
        if (code != TD_E_WORKER)
            break;
    }
    return code;
}

unsigned td_pool_fit(td_worker_pool *p)
{
    unsigned fit = p->count;
    td_mutex_lock(&p->lock);
    if (p->budget != 0) {
        /* a process grows while it works: a quarter more than what it starts with */
        size_t each = p->first_bytes + p->first_bytes / 4 + 1;
        if (p->budget / each < fit)
            fit = (unsigned)(p->budget / each);
        if (fit == 0)
            fit = 1;
        p->share = p->budget / fit;
    }
    td_mutex_unlock(&p->lock);
    return fit;
}

void td_pool_stop(td_pool_worker *w)
{
    if (w->process.pid == 0)
        return;
    td_worker_end(&w->process, 0);
    td_mutex_lock(&w->pool->lock);
    w->pool->stats.running--;
    td_mutex_unlock(&w->pool->lock);
}

/* ---- items ---- */

/* One attempt. *ret_again: the process failed, not the item. */
static td_code ask_once(td_pool_worker *w, const td_worker_item *item, td_worker_answer *ret,
                        bool *ret_again, td_error *err)
{
    td_worker_pool *p = w->pool;
    *ret_again = false;
    td_code code = td_worker_put_item(&w->out, item, ++w->seq);
    if (code != TD_OK)
        return td_buf_fail(&w->out, err, code, "the worker's request");
    if (w->process.pid == 0)
        code = start_once(w, err);
    *ret_again = code == TD_E_WORKER;
    TD_TRY(code);
    td_worker_bounds bounds = bounds_of(w, p->answer_ns);
    td_str payload;
    td_worker_io io = td_worker_send(&w->process, td_buf_view(&w->out), &bounds);
    if (io == TD_WORKER_DONE)
        io = td_worker_receive(&w->process, &payload, &bounds);
    if (io != TD_WORKER_DONE) {
        code = give_up(w, io, p->answer_ns, err);
        *ret_again = code == TD_E_WORKER;
        return code;
    }
    td_error garbage = TD_ERROR_INIT;
    code = td_worker_read_answer(payload, item->operation, ret, &garbage);
    if (code == TD_OK && ret->seq != w->seq)
        code = td_fail(&garbage, TD_E_INPUT, "it answers another request");
    if (code != TD_OK) {
        *ret_again = true;
        return give_up_garbage(w, &garbage, err);
    }
    return ret->failed ? td_fail_text(err, ret->code, TD_NO_OFFSET, ret->message) : TD_OK;
}

void td_pool_rest(td_pool_worker *w)
{
    if (w->process.pid != 0 &&
        !weigh(w)) /* its answer was good, but it may not keep what it took */
        td_pool_stop(w);
}

td_code td_pool_ask(td_pool_worker *w, const td_worker_item *item, td_worker_answer *ret,
                    td_error *err)
{
    td_code code = TD_OK;
    bool again = true;
    for (int i = 0; again && i < TRIES; i++) {
        td_error_clear(err);
        code = ask_once(w, item, ret, &again, err);
    }
    return again ? td_while(err, "tried twice") : code;
}

td_pool_stats td_pool_get_stats(td_worker_pool *p)
{
    td_mutex_lock(&p->lock);
    td_pool_stats s = p->stats;
    td_mutex_unlock(&p->lock);
    return s;
}

/* queue.c - Queue: a td_counter that many threads of Python may feed and empty at once.
 *
 * The library hands results out in the order of submission, to whoever asks. Here each submitted
 * request has a ticket, its number; whoever waits for one collects for all (one thread at a time)
 * and puts what is another's into the ring of tickets. The interpreter's lock guards the ring; it
 * is given up only inside the library and while waiting for the collecting thread.
 *
 * Holds: base <= every ticket outstanding < next; a ring slot is EMPTY outside of that.
 * Waits are short (SLICE_NS), so that signals are seen and close() is not held up. */
#include <pthread.h>
#include <time.h>

#include "python/core.h"

#include "structmember.h" /* needs Python.h first */

enum { RING_FIRST = 64 };
static const int64_t SLICE_NS = 50 * 1000 * 1000;

typedef enum ticket_state { EMPTY, WAITING, READY } ticket_state;

typedef struct ticket {
    PyObject *result; /* of READY */
    uint64_t index;   /* what the result shall say */
    char state;
    bool pumped;   /* handed out by pump(), not by take() */
    bool unwanted; /* nobody will ask: on its way to EMPTY */
} ticket;

typedef struct queue_object {
    PyObject_HEAD
    PyObject *weakrefs;
    PyObject *model;
    td_counter_options options; /* its texts belong to hold */
    PyObject *hold;
    td_counter *counter; /* NULL: closed, or not yet made in this process */
    td_build *builder;
    unsigned forks, users; /* users: threads inside the library */
    bool left;             /* the interpreter ends: who waits in a daemon thread never comes back */
    bool closed, collecting, packed; /* packed: ids are bytes, not lists */
    pthread_t collector;             /* while collecting */

    ticket *ring;
    size_t ring_size; /* a power of two */
    uint64_t base, next;
    size_t pumped_ready; /* READY tickets for pump() */

    pthread_mutex_t lock; /* only for the two below */
    pthread_cond_t delivered;
    uint64_t deliveries;
} queue_object;

static ticket *at(queue_object *q, uint64_t n)
{
    return &q->ring[n & (q->ring_size - 1)];
}

/* ---- life ---- */

static bool init_locks(queue_object *q)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0)
        return false;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bool ok = pthread_cond_init(&q->delivered, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok && pthread_mutex_init(&q->lock, NULL) == 0;
}

/* To free a result, or to make one, may run anything (finalizers), which may use the queue: the
 * ring is in order before, and what is known of it is looked up again afterwards. */
static void empty_ring(queue_object *q)
{
    ticket *ring = q->ring;
    size_t size = q->ring_size;
    q->ring = NULL;
    q->ring_size = 0;
    q->base = q->next;
    q->pumped_ready = 0;
    for (size_t i = 0; ring != NULL && i < size; i++)
        Py_XDECREF(ring[i].result);
    PyMem_Free(ring);
}

/* Threads and outstanding requests of the parent do not exist in a forked child. */
static void leave_parent(queue_object *q)
{
    q->forks = tdpy_forks();
    q->counter = NULL; /* its locks may be held for ever */
    q->users = 0;
    q->collecting = false;
    init_locks(q);
    empty_ring(q);
}

/* The counter, made when it is needed; NULL: an exception is raised. */
static td_counter *counter_of(queue_object *q)
{
    if (q->forks != tdpy_forks())
        leave_parent(q);
    if (q->closed || q->left) {
        PyErr_SetString(PyExc_ValueError, "the counter is closed");
        return NULL;
    }
    td_error err = TD_ERROR_INIT;
    if (q->counter == NULL && td_counter_new(q->model != NULL ? tdpy_model_of(q->model) : NULL,
                                             &q->options, &q->counter, &err) != TD_OK)
        tdpy_raise(tdpy_state_of((PyObject *)q), &err);
    return q->counter;
}

static bool grow_ring(queue_object *q)
{
    size_t size = q->ring_size != 0 ? q->ring_size * 2 : RING_FIRST;
    ticket *ring = PyMem_Calloc(size, sizeof *ring);
    if (ring == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (uint64_t n = q->base; n < q->next; n++)
        ring[n & (size - 1)] = *at(q, n);
    PyMem_Free(q->ring);
    q->ring = ring;
    q->ring_size = size;
    return true;
}

/* ---- collecting ---- */

static void drop_front(queue_object *q)
{
    while (q->base < q->next && at(q, q->base)->state == EMPTY)
        q->base++;
}

static void forget(queue_object *q, ticket *t)
{
    PyObject *result = t->result;
    q->pumped_ready -= t->state == READY && t->pumped;
    *t = (ticket){ .state = EMPTY };
    drop_front(q);
    Py_XDECREF(result);
}

/* The ticket that waits for the result n; NULL: nobody does. */
static ticket *expecting(queue_object *q, uint64_t n)
{
    ticket *t = n >= q->base && n < q->next ? at(q, n) : NULL;
    return t != NULL && t->state == WAITING ? t : NULL;
}

/* false: an exception is raised; the ticket is then forgotten. */
static bool deliver(queue_object *q, td_result *r)
{
    uint64_t n = r->index;
    ticket *t = expecting(q, n);
    if (t == NULL) {
        td_result_free(r);
        return true;
    }
    PyObject *result = tdpy_result(tdpy_state_of((PyObject *)q), r, t->index, q->packed);
    t = expecting(q, n); /* making an exception may have run others, who abandon and close */
    if (t == NULL || result == NULL) {
        if (t != NULL)
            forget(q, t);
        Py_XDECREF(result);
        return result != NULL;
    }
    t->result = result;
    t->state = READY;
    q->pumped_ready += t->pumped;
    return true;
}

/* Delivers all, also behind one that fails: they may be other threads'. */
static bool deliver_all(queue_object *q, td_result *const *results, int count)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    for (int i = 0; i < count; i++) {
        if (deliver(q, results[i]))
            continue;
        if (type != NULL)
            PyErr_Clear(); /* the first one is told */
        else
            PyErr_Fetch(&type, &value, &trace);
    }
    if (type != NULL)
        PyErr_Restore(type, value, trace);
    return type == NULL;
}

static struct timespec slice_end(void)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += SLICE_NS;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_nsec -= 1000000000L;
        end.tv_sec++;
    }
    return end;
}

static void tell_delivery(queue_object *q)
{
    pthread_mutex_lock(&q->lock);
    q->deliveries++;
    pthread_cond_broadcast(&q->delivered);
    pthread_mutex_unlock(&q->lock);
}

/* Another thread collects: waits until it delivers, or a slice of time. */
static void wait_delivery(queue_object *q)
{
    uint64_t seen = q->deliveries;
    q->users++;
    Py_BEGIN_ALLOW_THREADS
    struct timespec end = slice_end();
    pthread_mutex_lock(&q->lock);
    while (q->deliveries == seen && pthread_cond_timedwait(&q->delivered, &q->lock, &end) == 0) {
    }
    pthread_mutex_unlock(&q->lock);
    Py_END_ALLOW_THREADS
    q->users--;
}

/* Waits up to timeout_ns for one result, takes all that are done then. false: an exception. */
static bool collect(queue_object *q, int64_t timeout_ns)
{
    enum { AT_ONCE = 64 };
    td_result *results[AT_ONCE];
    int count = 0;
    td_counter *counter = q->counter;
    q->collecting = true;
    q->collector = pthread_self();
    q->users++;
    Py_BEGIN_ALLOW_THREADS
    results[0] = td_counter_next(counter, timeout_ns);
    if (results[0] != NULL)
        count = 1;
    while (count > 0 && count < AT_ONCE && (results[count] = td_counter_next(counter, 0)) != NULL)
        count++;
    Py_END_ALLOW_THREADS
    q->users--; /* the results are on their own: what runs while they are made may close */
    bool ok = deliver_all(q, results, count);
    q->collecting = false;
    tell_delivery(q);
    return ok;
}

static void sleep_ns(long ns)
{
    struct timespec moment = { .tv_nsec = ns };
    Py_BEGIN_ALLOW_THREADS
    nanosleep(&moment, NULL);
    Py_END_ALLOW_THREADS
}

/* One step of waiting: collects, or waits for who does. false: an exception is raised, of a
 * signal handler for example, or the queue was closed. */
static bool step(queue_object *q)
{
    if (q->collecting && !pthread_equal(q->collector, pthread_self()))
        wait_delivery(q); /* else this is a finalizer or signal handler, amid a delivery */
    else if (!collect(q, SLICE_NS))
        return false;
    while (q->left)
        sleep_ns((long)SLICE_NS);
    if (PyErr_CheckSignals() < 0)
        return false;
    if (q->closed) {
        PyErr_SetString(PyExc_ValueError, "the counter was closed");
        return false;
    }
    return true;
}

/* ---- submitting ---- */

/* Takes request when there is room; *ret_ticket tells its number. 1: taken, 0: full, -1: an
 * exception (request is still the caller's). */
static int try_submit(queue_object *q, td_request *request, uint64_t index, bool pumped,
                      uint64_t *ret_ticket)
{
    td_counter *counter = counter_of(q);
    if (counter == NULL)
        return -1;
    if (q->next - q->base == q->ring_size && !grow_ring(q))
        return -1;
    uint64_t n = q->next;
    ticket *t = at(q, n);
    *t = (ticket){ .state = WAITING, .index = index, .pumped = pumped };
    q->next++;
    if (!td_counter_try_submit(counter, request, n)) {
        q->next--;
        t->state = EMPTY;
        return 0;
    }
    *ret_ticket = n;
    return 1;
}

static bool is_unwanted(void *user, uint64_t n)
{
    queue_object *q = user;
    return n >= q->base && n < q->next && at(q, n)->unwanted;
}

/* Nobody will ask for these tickets: what is queued of them is dropped, what runs is stopped, and
 * nobody waits for that. Results may be freed, so anything may have happened afterwards. */
static void abandon(queue_object *q, const uint64_t *tickets, size_t count)
{
    if (q->forks != tdpy_forks())
        return;
    for (size_t i = 0; i < count; i++) {
        if (tickets[i] >= q->base && tickets[i] < q->next)
            at(q, tickets[i])->unwanted = at(q, tickets[i])->state != EMPTY;
    }
    if (q->counter != NULL)
        (void)td_counter_drop(q->counter, is_unwanted, q);
    for (size_t i = 0; i < count; i++) {
        if (is_unwanted(q, tickets[i]))
            forget(q, at(q, tickets[i]));
    }
}

/* Drops these tickets; the exception that is raised stays. */
static void give_up(queue_object *q, const uint64_t *tickets, size_t count)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    abandon(q, tickets, count);
    PyErr_Restore(type, value, trace);
}

/* The number n as an object, which is also appended to holder (may be NULL). Both happen here, so
 * that no exception of a signal handler comes between them, with a ticket that nobody knows. */
static PyObject *hand_out(queue_object *q, uint64_t n, PyObject *holder)
{
    PyObject *number = PyLong_FromUnsignedLongLong(n);
    if (number != NULL && holder != NULL) {
        PyObject *done = PyObject_CallMethod(holder, "append", "O", number);
        if (done == NULL)
            Py_CLEAR(number);
        Py_XDECREF(done);
    }
    if (number == NULL)
        give_up(q, &n, 1);
    return number;
}

/* submit(request, index, pumped[, holder]) -> ticket, or None when the queue is full. A Request
 * object that was not taken can be given again. holder, a list or deque, gets the ticket, too. */
static PyObject *queue_submit(PyObject *obj, PyObject *args)
{
    queue_object *q = (queue_object *)obj;
    tdpy_state *state = tdpy_state_of(obj);
    PyObject *request_object, *holder = NULL;
    unsigned long long index;
    int pumped;
    if (!PyArg_ParseTuple(args, "O!Kp|O:submit", state->request_type, &request_object, &index,
                          &pumped, &holder))
        return NULL;
    td_request *request = tdpy_request_take(request_object);
    if (request == NULL)
        return NULL;
    uint64_t n;
    int taken = try_submit(q, request, index, pumped != 0, &n);
    if (taken == 1)
        return hand_out(q, n, holder);
    tdpy_request_give(request_object, request);
    if (taken < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* read(request) -> Request; what is wrong with it becomes its own failure */
static PyObject *queue_read(PyObject *obj, PyObject *request)
{
    queue_object *q = (queue_object *)obj;
    tdpy_state *state = tdpy_state_of(obj);
    return tdpy_request_object(state, tdpy_request_or_failed(state, &q->builder, request));
}

/* ---- results ---- */

/* The result of ticket n; without wait NULL and no exception when it is not there yet. */
static PyObject *take(queue_object *q, uint64_t n, bool wait)
{
    for (bool looked = false;; looked = true) {
        ticket *t = n >= q->base && n < q->next ? at(q, n) : NULL;
        if (t == NULL || t->state == EMPTY || t->pumped) {
            PyErr_SetString(PyExc_ValueError, "no such ticket");
            return NULL;
        }
        if (t->state == READY) {
            PyObject *result = t->result;
            t->result = NULL; /* the caller owns it */
            forget(q, t);
            return result;
        }
        if (!wait && (looked || q->collecting))
            return NULL;
        if (!(wait ? step(q) : collect(q, 0)))
            return NULL;
    }
}

/* take(ticket, wait) -> Result; None when it is not there and wait is false */
static PyObject *queue_take(PyObject *obj, PyObject *args)
{
    unsigned long long n;
    int wait;
    if (!PyArg_ParseTuple(args, "Kp:take", &n, &wait) || counter_of((queue_object *)obj) == NULL)
        return NULL;
    PyObject *result = take((queue_object *)obj, n, wait != 0);
    if (result == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return result;
}

/* wait(): one step of waiting for anybody's result */
static PyObject *queue_wait(PyObject *obj, PyObject *unused)
{
    (void)unused;
    if (counter_of((queue_object *)obj) == NULL || !step((queue_object *)obj))
        return NULL;
    Py_RETURN_NONE;
}

/* pump() -> [(ticket, Result), ...]: pumped results that are there after one step of waiting */
static PyObject *queue_pump(PyObject *obj, PyObject *unused)
{
    (void)unused;
    queue_object *q = (queue_object *)obj;
    if (counter_of(q) == NULL || (q->pumped_ready == 0 && !step(q)))
        return NULL;
    PyObject *list = PyList_New(0);
    for (uint64_t n = q->base; list != NULL && q->pumped_ready != 0 && n < q->next; n++) {
        ticket *t = n >= q->base ? at(q, n) : NULL;
        if (t == NULL || t->state != READY || !t->pumped)
            continue;
        PyObject *result = t->result;
        t->result = NULL;
        forget(q, t);
        PyObject *pair = Py_BuildValue("(KN)", (unsigned long long)n, result);
        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* abandon(tickets): nobody will take them */
static PyObject *queue_abandon(PyObject *obj, PyObject *tickets)
{
    queue_object *q = (queue_object *)obj;
    PyObject *list = PySequence_List(tickets);
    if (list == NULL)
        return NULL;
    size_t count = (size_t)PyList_Size(list);
    uint64_t *numbers = PyMem_Calloc(count + 1, sizeof *numbers);
    bool ok = numbers != NULL || PyErr_NoMemory() != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        numbers[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, (Py_ssize_t)i));
        ok = PyErr_Occurred() == NULL;
    }
    if (ok)
        abandon(q, numbers, count);
    PyMem_Free(numbers);
    Py_DECREF(list);
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- whole batches ---- */

/* Submits a request of the feed, waiting while the queue is full. */
static bool submit_waiting(queue_object *q, const tdpy_feed *feed, size_t at, uint64_t *ret_ticket)
{
    td_request *request = feed->request(feed->ctx, at);
    int taken = 0;
    while (request != NULL && (taken = try_submit(q, request, at, false, ret_ticket)) == 0) {
        if (!step(q)) {
            taken = -1;
            break;
        }
    }
    if (request != NULL && taken < 0)
        td_request_free(request);
    return taken == 1;
}

bool tdpy_queue_run(PyObject *obj, size_t count, const tdpy_feed *feed)
{
    queue_object *q = (queue_object *)obj;
    if (counter_of(q) == NULL)
        return false;
    uint64_t *tickets = PyMem_Calloc(count + 1, sizeof *tickets);
    size_t submitted = 0, taken = 0;
    bool ok = tickets != NULL || PyErr_NoMemory() != NULL;
    while (ok && submitted < count) {
        ok = submit_waiting(q, feed, submitted, &tickets[submitted]);
        submitted += ok;
    }
    while (ok && taken < count) {
        PyObject *result = take(q, tickets[taken], true);
        taken += result != NULL;
        ok = result != NULL && feed->result(feed->ctx, taken - 1, result);
    }
    if (!ok && tickets != NULL)
        give_up(q, tickets + taken, submitted - taken);
    PyMem_Free(tickets);
    return ok;
}

typedef struct list_feed {
    queue_object *q;
    PyObject *list; /* of requests, which their results replace */
} list_feed;

static td_request *request_of_list(void *ctx, size_t at)
{
    const list_feed *l = ctx;
    return tdpy_request_or_failed(tdpy_state_of((PyObject *)l->q), &l->q->builder,
                                  PyList_GetItem(l->list, (Py_ssize_t)at));
}

static bool result_to_list(void *ctx, size_t at, PyObject *result)
{
    return PyList_SetItem(((const list_feed *)ctx)->list, (Py_ssize_t)at, result) == 0;
}

/* batch(sequence) -> [Result, ...] in its order. Other threads may use the queue meanwhile. */
static PyObject *queue_batch(PyObject *obj, PyObject *requests)
{
    list_feed l = { (queue_object *)obj, PySequence_List(requests) };
    if (l.list == NULL)
        return NULL;
    tdpy_feed feed = { request_of_list, result_to_list, &l };
    if (!tdpy_queue_run(obj, (size_t)PyList_Size(l.list), &feed))
        Py_CLEAR(l.list);
    return l.list;
}

/* ---- the rest ---- */

static PyObject *queue_stats(PyObject *obj, PyObject *unused)
{
    (void)unused;
    queue_object *q = (queue_object *)obj;
    if (counter_of(q) == NULL)
        return NULL;
    td_counter_stats s = td_counter_get_stats(q->counter);
    return Py_BuildValue("{sKsKsKsKsKsKsKsKsKsKsKsKsKsKsI}", "outstanding", q->next - q->base,
                         "queued", s.queued, "running", s.running, "done", s.done, "failed",
                         s.failed, "tokens", s.tokens, "reused_tokens", s.reused_tokens,
                         "memo_bytes", s.memo_bytes, "memo_entries", s.memo_entries, "memo_hits",
                         s.memo_hits, "memo_misses", s.memo_misses, "memo_evictions",
                         s.memo_evictions, "scratch_bytes", s.scratch_bytes, "templates_compiled",
                         s.templates_compiled, "jobs", s.jobs);
}

static void close_counter(queue_object *q)
{
    if (q->forks != tdpy_forks())
        leave_parent(q);
    q->closed = true;
    td_counter *counter = q->counter;
    if (counter == NULL || (q->left && q->users != 0))
        return;          /* what a waiting thread of an ending process looks at stays */
    if (q->users != 0) { /* other threads leave at the end of their slice */
        tell_delivery(q);
        while (q->users != 0)
            sleep_ns(1000000);
    }
    if (q->counter != counter)
        return; /* another thread closed it meanwhile */
    q->counter = NULL;
    Py_BEGIN_ALLOW_THREADS
    td_counter_free(counter);
    Py_END_ALLOW_THREADS
    empty_ring(q);
}

static PyObject *queue_close(PyObject *obj, PyObject *unused)
{
    (void)unused;
    close_counter((queue_object *)obj);
    Py_RETURN_NONE;
}

/* leave(): as close, when the interpreter ends: stops what runs, and lets who waits wait on */
static PyObject *queue_leave(PyObject *obj, PyObject *unused)
{
    (void)unused;
    queue_object *q = (queue_object *)obj;
    if (q->forks != tdpy_forks())
        leave_parent(q);
    q->left = true;
    if (q->counter != NULL) {
        td_counter *counter = q->counter;
        Py_BEGIN_ALLOW_THREADS
        td_counter_pause(counter);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

/* ---- the type ---- */

static bool read_options(queue_object *q, PyObject *args)
{
    td_counter_options *o = &q->options;
    const char *template, *kwargs;
    Py_ssize_t template_size, kwargs_size;
    int operation, packed, reuse, verify, parse, fallback, fixed;
    unsigned long long queue_items, queue_bytes, memo, output, steps, memory, timeout;
    long long seconds;
    if (!PyArg_ParseTuple(args, "OipIKKKppz#z#ppKKKKpLIi:Queue", &q->model, &operation, &packed,
                          &o->jobs, &queue_items, &queue_bytes, &memo, &reuse, &verify, &template,
                          &template_size, &kwargs, &kwargs_size, &parse, &fallback, &output, &steps,
                          &memory, &timeout, &fixed, &seconds, &o->now.microseconds,
                          &o->now.utc_offset_seconds))
        return false;
    q->packed = packed != 0;
    o->operation = (td_operation)operation;
    o->queue_items = queue_items;
    o->queue_bytes = queue_bytes;
    o->memo_bytes = memo;
    o->no_reuse = reuse == 0;
    o->verify = verify != 0;
    o->chat_template = (td_str){ template, template != NULL ? (size_t)template_size : 0 };
    o->chat_template_kwargs = (td_str){ kwargs, kwargs != NULL ? (size_t)kwargs_size : 0 };
    o->parse_arguments = parse != 0;
    o->fallback = fallback != 0;
    o->limits = (td_limits){ output, steps, memory, timeout };
    o->now.fixed = fixed != 0;
    o->now.unix_seconds = seconds;
    return true;
}

static PyObject *queue_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)kwargs;
    tdpy_state *state = PyType_GetModuleState(type);
    queue_object *q = PyObject_New(queue_object, type);
    if (q == NULL)
        return NULL;
    q->model = q->hold = q->weakrefs = NULL;
    q->options = (td_counter_options){ 0 };
    q->counter = NULL;
    q->builder = NULL;
    q->forks = tdpy_forks();
    q->users = 0;
    q->closed = q->collecting = q->packed = q->left = false;
    q->collector = pthread_self();
    q->ring = NULL;
    q->ring_size = q->pumped_ready = 0;
    q->base = q->next = q->deliveries = 0;
    bool ok = init_locks(q) || PyErr_NoMemory() != NULL;
    ok = ok && read_options(q, args);
    if (ok && Py_TYPE(q->model) != state->model_type) {
        PyErr_SetString(PyExc_TypeError, "a Model is needed");
        ok = false;
    }
    if (!ok) {
        q->model = NULL;
        Py_DECREF(q);
        return NULL;
    }
    Py_INCREF(q->model);
    Py_INCREF(args); /* owns the texts */
    q->hold = args;
    if (counter_of(q) == NULL) {
        Py_DECREF(q);
        return NULL;
    }
    return (PyObject *)q;
}

static void queue_dealloc(PyObject *obj)
{
    queue_object *q = (queue_object *)obj;
    PyTypeObject *type = Py_TYPE(obj);
    if (q->weakrefs != NULL)
        PyObject_ClearWeakRefs(obj);
    close_counter(q);
    empty_ring(q);
    td_build_free(q->builder);
    pthread_cond_destroy(&q->delivered);
    pthread_mutex_destroy(&q->lock);
    Py_XDECREF(q->hold);
    Py_XDECREF(q->model);
    PyObject_Free(obj);
    Py_DECREF(type);
}

static PyMethodDef queue_methods[] = {
    { "read", queue_read, METH_O, "Read a request." },
    { "submit", queue_submit, METH_VARARGS, "Submit a Request; None when the queue is full." },
    { "take", queue_take, METH_VARARGS, "The result of a ticket." },
    { "wait", queue_wait, METH_NOARGS, "Wait a moment for any result." },
    { "pump", queue_pump, METH_NOARGS, "Results that were submitted as pumped." },
    { "abandon", queue_abandon, METH_O, "Tickets that nobody will take." },
    { "batch", queue_batch, METH_O, "Results of a sequence of requests." },
    { "columns", tdpy_queue_columns, METH_VARARGS, "Counts of the rows of Arrow arrays." },
    { "stats", queue_stats, METH_NOARGS, "Numbers of the counter." },
    { "leave", queue_leave, METH_NOARGS, "Stop the workers, at the end of the interpreter." },
    { "close", queue_close, METH_NOARGS, "Stop the workers, drop what is queued." },
    { NULL, NULL, 0, NULL },
};

static PyMemberDef queue_members[] = {
    { "__weaklistoffset__", T_PYSSIZET, offsetof(queue_object, weakrefs), READONLY, NULL },
    { NULL, 0, 0, 0, NULL },
};

static PyType_Slot queue_slots[] = {
    { Py_tp_new, queue_new },
    { Py_tp_dealloc, queue_dealloc },
    { Py_tp_methods, queue_methods },
    { Py_tp_members, queue_members },
    { Py_tp_doc, (void *)"A pool of workers behind a bounded queue." },
    { 0, NULL },
};

PyType_Spec tdpy_queue_spec = {
    .name = "tokdrain._core.Queue",
    .basicsize = sizeof(queue_object),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = queue_slots,
};

#include "aggregator/transport.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "value/msgpack.h"

enum { METRICS_HWM = 4, METRICS_LINGER_MS = 10000, READY_LINGER_MS = 5000 };

struct td_message {
    zmq_msg_t zmq;
    atomic_uint owners;
};

struct td_transport {
    void *context, *events, *metrics;
    td_message *next; /* an empty message to receive into */
    char *dir;
    char *metrics_path; /* the socket file that we made; NULL: none */
};

#ifdef __SANITIZE_THREAD__
/* The thread sanitizer sees libzmq's copies but not the atomics that order them, as the library is
 * not built with it; so memory that libzmq touches is left to libzmq. */
TD_API const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libzmq.so\n";
}
#endif

/* ---- messages ---- */

td_str td_message_bytes(const td_message *m)
{
    zmq_msg_t *zmq = (zmq_msg_t *)&m->zmq; /* the accessor only reads */
    return (td_str){ zmq_msg_data(zmq), zmq_msg_size(zmq) };
}

td_message *td_message_ref(td_message *m)
{
    atomic_fetch_add_explicit(&m->owners, 1, memory_order_relaxed);
    return m;
}

void td_message_unref(td_message *m)
{
    if (m == NULL || atomic_fetch_sub_explicit(&m->owners, 1, memory_order_acq_rel) != 1)
        return;
    zmq_msg_close(&m->zmq);
    td_free(m);
}

static td_message *new_message(void)
{
    td_message *m = td_malloc(sizeof *m);
    if (m == NULL)
        return NULL;
    zmq_msg_init(&m->zmq);
    atomic_init(&m->owners, 1);
    return m;
}

/* ---- life ---- */

static td_code fail_zmq(td_error *err, const char *what)
{
    return td_fail(err, TD_E_INPUT, "%s: %s", what, zmq_strerror(zmq_errno()));
}

td_code td_transport_new(const char *dir, td_transport **ret, td_error *err)
{
    size_t len = strlen(dir);
    while (len > 1 && dir[len - 1] == '/')
        len--;
    td_transport *t = td_calloc(1, sizeof *t);
    if (t == NULL)
        return td_fail_nomem(err);
    t->dir = td_strndup(dir, len);
    t->context = zmq_ctx_new();
    if (t->dir == NULL || t->context == NULL) {
        td_transport_free(t);
        return td_fail_nomem(err);
    }
    *ret = t;
    return TD_OK;
}

void td_transport_free(td_transport *t)
{
    if (t == NULL)
        return;
    td_message_unref(t->next);
    if (t->events != NULL)
        zmq_close(t->events);
    /* The library leaves the file; subscribers that are connected do not need it any more. */
    if (t->metrics_path != NULL)
        (void)unlink(t->metrics_path);
    if (t->metrics != NULL)
        zmq_close(t->metrics);
    while (t->context != NULL && zmq_ctx_term(t->context) != 0 && zmq_errno() == EINTR)
        ;
    td_free(t->metrics_path);
    td_free(t->dir);
    td_free(t);
}

/* mkdir -p; a failure shows when the socket is bound. */
static void make_dirs(const char *dir)
{
    char *path = td_strndup(dir, strlen(dir));
    if (path == NULL)
        return;
    for (char *p = path; *p != '\0'; p++) {
        if (*p != '/' || p == path)
            continue;
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
    (void)mkdir(path, 0777);
    td_free(path);
}

static td_code set_int(void *socket, int option, int value, td_error *err)
{
    return zmq_setsockopt(socket, option, &value, sizeof value) == 0
               ? TD_OK
               : fail_zmq(err, "socket option");
}

/* Binds or connects to prefix + path. */
static td_code attach_to(void *socket, const char *prefix, const char *path,
                         int (*how)(void *socket, const char *address), td_error *err)
{
    td_buf address = { 0 };
    td_code code = td_buf_printf(&address, "%s%s", prefix, path);
    if (code != TD_OK)
        return td_buf_fail(&address, err, code, "address");
    address.ptr[address.len] = '\0'; /* lies in the slack */
    if (how(socket, address.ptr) != 0)
        code = fail_zmq(err, address.ptr);
    td_buf_done(&address);
    return code;
}

/* The same for ipc://dir/name. */
static td_code attach(td_transport *t, void *socket, const char *name,
                      int (*how)(void *socket, const char *address), td_error *err)
{
    td_buf path = { 0 };
    td_code code = td_buf_printf(&path, "%s/%s", t->dir, name);
    if (code != TD_OK)
        return td_buf_fail(&path, err, code, "address");
    path.ptr[path.len] = '\0';
    code = attach_to(socket, "ipc://", path.ptr, how, err);
    td_buf_done(&path);
    return code;
}

td_code td_transport_bind_metrics(td_transport *t, const char *name, td_error *err)
{
    make_dirs(t->dir);
    t->metrics = zmq_socket(t->context, ZMQ_PUB);
    if (t->metrics == NULL)
        return fail_zmq(err, "metrics socket");
    TD_TRY(set_int(t->metrics, ZMQ_SNDHWM, METRICS_HWM, err));
    TD_TRY(set_int(t->metrics, ZMQ_LINGER, METRICS_LINGER_MS, err));
    TD_TRY(set_int(t->metrics, ZMQ_IMMEDIATE, 1, err));
    TD_TRY(attach(t, t->metrics, name, zmq_bind, err));
    td_buf path = { 0 };
    td_code code = td_buf_printf(&path, "%s/%s", t->dir, name);
    t->metrics_path = code == TD_OK ? td_buf_detach(&path) : NULL;
    td_buf_done(&path);
    return t->metrics_path != NULL ? TD_OK : td_fail_nomem(err);
}

static td_code open_events(td_transport *t, td_error *err)
{
    t->events = zmq_socket(t->context, ZMQ_SUB);
    if (t->events == NULL)
        return fail_zmq(err, "event socket");
    TD_TRY(set_int(t->events, ZMQ_RCVHWM, 0, err));
    TD_TRY(set_int(t->events, ZMQ_LINGER, 0, err));
    return zmq_setsockopt(t->events, ZMQ_SUBSCRIBE, "", 0) == 0 ? TD_OK
                                                                : fail_zmq(err, "subscribe");
}

td_code td_transport_connect_events(td_transport *t, const char *name, td_error *err)
{
    TD_TRY(open_events(t, err));
    return attach(t, t->events, name, zmq_connect, err);
}

td_code td_transport_connect_to(td_transport *t, const char *endpoint, td_error *err)
{
    TD_TRY(open_events(t, err));
    const char *prefix = strstr(endpoint, "://") != NULL ? "" : "ipc://";
    return attach_to(t->events, prefix, endpoint, zmq_connect, err);
}

static td_code send_id(td_transport *t, void *socket, const char *name, int64_t id, td_error *err)
{
    TD_TRY(set_int(socket, ZMQ_LINGER, READY_LINGER_MS, err));
    TD_TRY(attach(t, socket, name, zmq_connect, err));
    td_buf payload = { 0 };
    td_code code = td_mp_put_int(&payload, id);
    if (code != TD_OK)
        code = td_buf_fail(&payload, err, code, "message");
    else if (zmq_send(socket, payload.ptr, payload.len, 0) < 0)
        code = fail_zmq(err, "readiness message");
    td_buf_done(&payload);
    return code;
}

td_code td_transport_announce(td_transport *t, const char *name, int64_t id, td_error *err)
{
    void *socket = zmq_socket(t->context, ZMQ_PUSH);
    if (socket == NULL)
        return fail_zmq(err, "readiness socket");
    td_code code = send_id(t, socket, name, id, err);
    zmq_close(socket);
    return code;
}

/* ---- traffic ---- */

void td_transport_wait(td_transport *t, int wake_fd, int timeout_ms)
{
    zmq_pollitem_t items[] = { { .socket = t->events, .events = ZMQ_POLLIN },
                               { .fd = wake_fd, .events = ZMQ_POLLIN } };
    /* An interrupted wait is a short one. */
    (void)zmq_poll(items, wake_fd >= 0 ? 2 : 1, timeout_ms);
}

td_message *td_transport_receive(td_transport *t)
{
    if (t->next == NULL && (t->next = new_message()) == NULL)
        return NULL;
    if (zmq_msg_recv(&t->next->zmq, t->events, ZMQ_DONTWAIT) < 0)
        return NULL;
    td_message *m = t->next;
    t->next = NULL;
    return m;
}

bool td_transport_publish(td_transport *t, td_str frame)
{
    return zmq_send(t->metrics, frame.ptr, frame.len, ZMQ_DONTWAIT) >= 0;
}

void td_transport_set_linger(td_transport *t, int milliseconds)
{
    (void)zmq_setsockopt(t->metrics, ZMQ_LINGER, &milliseconds, sizeof milliseconds);
}

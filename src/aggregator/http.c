/* http.c - as little of HTTP as a scraper needs.
 *
 * One connection at a time, each with a deadline, one request each. The thread sleeps in poll on
 * the listening socket and on a pipe whose closing ends it. */
#include "aggregator/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"

enum { REQUEST_MAX = 8192, DEADLINE_MS = 2000, BACKLOG = 16 };

struct td_http {
    int listener, stop[2]; /* closing stop[1] ends the thread */
    unsigned port;
    td_thread thread;
    bool has_thread, has_lock;
    td_mutex lock;
    td_buf text; /* under the lock */
};

/* Reads up to the end of the request's head; false when it does not come in time. */
static bool read_request(int fd, char *request, size_t *ret_len)
{
    uint64_t deadline = td_now_ns() + (uint64_t)DEADLINE_MS * 1000000;
    size_t len = 0;
    while (len < REQUEST_MAX) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (td_now_ns() >= deadline || poll(&p, 1, DEADLINE_MS) <= 0)
            return false;
        ssize_t n = recv(fd, request + len, REQUEST_MAX - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
        if (td_str_find((td_str){ request, len }, TD_STR("\r\n\r\n"), 0) != TD_NOT_FOUND) {
            *ret_len = len;
            return true;
        }
    }
    return false;
}

static void send_all(int fd, td_str bytes)
{
    while (bytes.len != 0) {
        ssize_t n = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes.ptr += n;
        bytes.len -= (size_t)n;
    }
}

static void answer(td_http *h, int fd)
{
    char request[REQUEST_MAX];
    size_t len = 0;
    td_buf response = { 0 };
    struct timeval deadline = { .tv_sec = DEADLINE_MS / 1000 };
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline) != 0 ||
        !read_request(fd, request, &len))
        return;
    td_str head = { request, len };
    bool known = td_str_starts(head, TD_STR("GET /metrics ")) ||
                 td_str_starts(head, TD_STR("GET /metrics?"));
    td_mutex_lock(&h->lock);
    td_str body = known ? td_buf_view(&h->text) : TD_STR("not found\n");
    td_code code = td_buf_printf(&response,
                                 "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; "
                                 "charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
                                 "\r\n",
                                 known ? "200 OK" : "404 Not Found", body.len);
    if (code == TD_OK)
        code = td_buf_put(&response, body);
    td_mutex_unlock(&h->lock);
    if (code == TD_OK)
        send_all(fd, td_buf_view(&response));
    td_buf_done(&response);
}

static void *serve(void *user)
{
    td_http *h = user;
    for (;;) {
        struct pollfd p[] = { { .fd = h->listener, .events = POLLIN },
                              { .fd = h->stop[0], .events = POLLIN } };
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (p[1].revents != 0)
            return NULL;
        int fd = p[0].revents != 0 ? accept(h->listener, NULL, NULL) : -1;
        if (fd < 0)
            continue;
        answer(h, fd);
        close(fd);
    }
}

static bool listen_on(td_http *h, unsigned port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    int on = 1;
    h->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (h->listener < 0 || fcntl(h->listener, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(h->listener, F_SETFL, O_NONBLOCK) != 0 ||
        setsockopt(h->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(h->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(h->listener, BACKLOG) != 0 ||
        getsockname(h->listener, (struct sockaddr *)&address, &len) != 0)
        return false;
    h->port = ntohs(address.sin_port);
    return true;
}

td_code td_http_new(unsigned port, td_http **ret, td_error *err)
{
    td_http *h = td_calloc(1, sizeof *h);
    if (h == NULL)
        return td_fail_nomem(err);
    h->listener = h->stop[0] = h->stop[1] = -1;
    h->has_lock = td_mutex_init(&h->lock);
    td_code code = TD_OK;
    if (!listen_on(h, port))
        code = td_fail(err, TD_E_INPUT, "cannot listen on port %u of 127.0.0.1 (errno %d)", port,
                       errno);
    else if (!h->has_lock || pipe(h->stop) != 0)
        code = td_fail_nomem(err);
    else if (!(h->has_thread = td_thread_start(&h->thread, serve, h)))
        code = td_fail(err, TD_E_INTERNAL, "a thread could not be started");
    if (code != TD_OK) {
        td_http_free(h);
        return code;
    }
    *ret = h;
    return TD_OK;
}

unsigned td_http_port(const td_http *h)
{
    return h->port;
}

void td_http_set(td_http *h, td_str text)
{
    td_mutex_lock(&h->lock);
    h->text.len = 0;
    (void)td_buf_put(&h->text, text); /* out of memory: an empty text */
    td_mutex_unlock(&h->lock);
}

void td_http_free(td_http *h)
{
    if (h == NULL)
        return;
    if (h->stop[1] >= 0)
        close(h->stop[1]);
    if (h->has_thread)
        td_thread_join(&h->thread);
    if (h->stop[0] >= 0)
        close(h->stop[0]);
    if (h->listener >= 0)
        close(h->listener);
    if (h->has_lock)
        td_mutex_done(&h->lock);
    td_buf_done(&h->text);
    td_free(h);
}

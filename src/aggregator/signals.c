#include "aggregator/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"

/* A handler can reach nothing but process-wide state: the write end of a pipe. Each signal is one
 * byte in it, so nothing is shared between handler and loop but the pipe. */
static int pipe_fds[2] = { -1, -1 };

static void on_signal(int number)
{
    int saved = errno;
    char byte = (char)number;
    ssize_t ignored = write(pipe_fds[1], &byte, 1); /* full: enough signals are waiting */
    (void)ignored;
    errno = saved;
}

static bool set_handler(int number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0;
}

td_code td_signals_install(int *ret_fd, td_error *err)
{
    bool ok = pipe_fds[0] >= 0 || pipe(pipe_fds) == 0;
    for (int i = 0; ok && i < 2; i++)
        ok = fcntl(pipe_fds[i], F_SETFL, O_NONBLOCK) == 0 &&
             fcntl(pipe_fds[i], F_SETFD, FD_CLOEXEC) == 0;
    /* A reader of the log that went away and a full quota are errors of a write, not the end. */
    if (!ok || !set_handler(SIGTERM, on_signal) || !set_handler(SIGINT, on_signal) ||
        !set_handler(SIGPIPE, SIG_IGN) || !set_handler(SIGXFSZ, SIG_IGN))
        return td_fail(err, TD_E_INTERNAL, "signal handlers cannot be installed");
    *ret_fd = pipe_fds[0];
    return TD_OK;
}

td_signals td_signals_take(void)
{
    td_signals got = { 0 };
    char bytes[64];
    ssize_t n;
    while ((n = read(pipe_fds[0], bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            got.terminate = got.terminate || bytes[i] == SIGTERM;
            got.interrupt = got.interrupt || bytes[i] == SIGINT;
        }
    }
    return got;
}

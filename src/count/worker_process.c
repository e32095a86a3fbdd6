/* worker_process.c - starting, feeding and ending an external process.
 *
 * Idea:  the socket never blocks: each wait is a poll of at most TICK_MS, after which deadline,
 *        interrupt and the process's memory are looked at.
 * Holds: a process is reaped before its pid is forgotten, and its group is killed before it is
 *        reaped, while the number cannot belong to anybody else. Between fork and exec only
 *        async-signal-safe functions run. Every descriptor here closes on exec. */
#define _GNU_SOURCE /* close_range's number, MSG_NOSIGNAL, pread */
#include "count/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "count/worker_protocol.h"

enum { TICK_MS = 10, FIRST_FD = 10, FD_CLOSE_MAX = 65536, SIGNALS = 32 };
enum { RECEIVE_BYTES = 64 << 10 };

/* ---- start ---- */

typedef struct start {
    const char *command;
    char *argv[4];
    int socket, null;
    pid_t parent;
    int open_max;
} start;

static void close_from(int first, int open_max)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
        return;
#endif
    for (int fd = first; fd < open_max; fd++)
        close(fd);
}

/* In the child: async-signal-safe functions only. */
static void become(const start *s)
{
    extern char **environ;
    setpgid(0, 0);
    struct sigaction standard = { .sa_handler = SIG_DFL };
    sigemptyset(&standard.sa_mask);
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, &standard, NULL);
    sigprocmask(SIG_SETMASK, &standard.sa_mask, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent) /* it died before the line above */
        _exit(127);
    if (dup2(s->null, STDIN_FILENO) < 0 || dup2(s->socket, TD_WORKER_FD) < 0)
        _exit(127);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && dup2(s->null, STDOUT_FILENO) < 0)
        _exit(127);
    close_from(TD_WORKER_FD + 1, s->open_max);
    execve("/bin/sh", s->argv, environ);
    _exit(127);
}

/* The same descriptor above those that the child rearranges. */
static int lift(int fd)
{
    if (fd < 0 || fd >= FIRST_FD)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
    close(fd);
    return high;
}

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

/* "exec COMMAND", so that the process is the shell's own and no shell stays between. */
static td_code shell_text(td_buf *b, const char *command, td_error *err)
{
    td_code code = td_buf_put(b, TD_STR("exec "));
    if (code == TD_OK)
        code = td_buf_append(b, command, strlen(command) + 1);
    return code == TD_OK ? TD_OK : td_buf_fail(b, err, code, "the worker's command");
}

static pid_t fork_worker(int socket, int null, char *text)
{
    long open_max = sysconf(_SC_OPEN_MAX);
    start s = {
        .argv = { (char[]){ "sh" }, (char[]){ "-c" }, text, NULL },
        .socket = socket,
        .null = null,
        .parent = getpid(),
        .open_max = open_max < 0 || open_max > FD_CLOSE_MAX ? FD_CLOSE_MAX : (int)open_max,
    };
    pid_t pid = fork();
    if (pid == 0)
        become(&s);
    return pid;
}

td_code td_worker_spawn(td_worker_process *p, const char *command, td_error *err)
{
    int fds[3] = { -1, -1, -1 }; /* ours, its, /dev/null */
    td_buf text = { 0 };
    TD_TRY(shell_text(&text, command, err));
    pid_t pid = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0) {
        fds[2] = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; i < 3; i++)
            fds[i] = lift(fds[i]);
        if (fds[0] >= 0 && fds[1] >= 0 && fds[2] >= 0)
            pid = fork_worker(fds[1], fds[2], text.ptr);
    }
    int why = errno;
    td_buf_done(&text);
    if (pid < 0) {
        close_all(fds, 3);
        return td_fail(err, TD_E_WORKER, "a worker process cannot be started (errno %d)", why);
    }
    close_all(fds + 1, 2);
    setpgid(pid, pid); /* whoever comes first */
    p->pid = pid;
    p->fd = fds[0];
    return TD_OK;
}

/* ---- frames ---- */

size_t td_worker_resident_bytes(const td_worker_process *p)
{
    char name[64], text[128];
    snprintf(name, sizeof name, "/proc/%ld/statm", (long)p->pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    size_t pages = 0;
    ssize_t i = 0;
    while (i < len && text[i] != ' ') /* the first number is the virtual size */
        i++;
    for (i++; i < len && text[i] >= '0' && text[i] <= '9'; i++)
        pages = pages * 10 + (size_t)(text[i] - '0');
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Waits for events; DONE: try again. */
static td_worker_io wait_for(td_worker_process *p, short events, const td_worker_bounds *bounds)
{
    if (atomic_load_explicit(bounds->interrupt, memory_order_relaxed))
        return TD_WORKER_INTERRUPTED;
    if (td_now_ns() >= bounds->deadline_ns)
        return TD_WORKER_LATE;
    struct pollfd one = { .fd = p->fd, .events = events };
    int ready = poll(&one, 1, TICK_MS);
    if (ready < 0 && errno != EINTR)
        return TD_WORKER_NO_MEMORY;
    if (ready == 0 && bounds->memory_bytes != 0 &&
        td_worker_resident_bytes(p) > bounds->memory_bytes)
        return TD_WORKER_HUNGRY;
    return TD_WORKER_DONE;
}

static bool would_block(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

td_worker_io td_worker_send(td_worker_process *p, td_str frame, const td_worker_bounds *bounds)
{
    while (frame.len != 0) {
        ssize_t sent = send(p->fd, frame.ptr, frame.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            frame.ptr += sent;
            frame.len -= (size_t)sent;
            continue;
        }
        if (!would_block())
            return TD_WORKER_ENDED;
        td_worker_io io = wait_for(p, POLLOUT, bounds);
        if (io != TD_WORKER_DONE)
            return io;
    }
    return TD_WORKER_DONE;
}

/* Reads until the buffer holds want bytes; never more, so that the next frame starts clean. */
static td_worker_io fill(td_worker_process *p, size_t want, const td_worker_bounds *bounds)
{
    while (p->in.len < want) {
        size_t step = want - p->in.len < RECEIVE_BYTES ? want - p->in.len : RECEIVE_BYTES;
        if (td_buf_reserve(&p->in, step) != TD_OK)
            return TD_WORKER_NO_MEMORY;
        ssize_t got = recv(p->fd, p->in.ptr + p->in.len, step, MSG_DONTWAIT);
        if (got > 0) {
            p->in.len += (size_t)got;
            continue;
        }
        if (got == 0 || !would_block())
            return TD_WORKER_ENDED;
        td_worker_io io = wait_for(p, POLLIN, bounds);
        if (io != TD_WORKER_DONE)
            return io;
    }
    return TD_WORKER_DONE;
}

td_worker_io td_worker_receive(td_worker_process *p, td_str *ret_payload,
                               const td_worker_bounds *bounds)
{
    p->in.len = 0;
    td_worker_io io = fill(p, TD_WORKER_HEAD_BYTES, bounds);
    if (io != TD_WORKER_DONE)
        return io;
    size_t len = td_worker_frame_length(p->in.ptr);
    if (len > TD_WORKER_ANSWER_MAX)
        return TD_WORKER_TOO_LONG;
    io = fill(p, TD_WORKER_HEAD_BYTES + len, bounds);
    if (io == TD_WORKER_DONE)
        *ret_payload = (td_str){ p->in.ptr + TD_WORKER_HEAD_BYTES, len };
    return io;
}

/* ---- end ---- */

/* true: it is over, though not reaped; also when somebody else reaped it. */
static bool is_over(pid_t pid)
{
    siginfo_t info = { .si_pid = 0 };
    int rc = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return rc == 0 ? info.si_pid == pid : errno == ECHILD;
}

int td_worker_end(td_worker_process *p, uint64_t patience_ns)
{
    int status = -1;
    if (p->pid != 0) {
        close(p->fd);
        uint64_t until = td_now_ns() + patience_ns;
        bool own_end = is_over(p->pid);
        while (!own_end && td_now_ns() < until) {
            nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
            own_end = is_over(p->pid);
        }
        if (kill(-p->pid, SIGKILL) != 0 && !own_end)
            kill(p->pid, SIGKILL);
        int got;
        while (waitpid(p->pid, &got, 0) < 0) {
            if (errno != EINTR) {
                own_end = false; /* no status to be had */
                break;
            }
        }
        status = own_end ? got : -1;
    }
    td_buf_done(&p->in);
    *p = (td_worker_process){ 0 };
    return status;
}

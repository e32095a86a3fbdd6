/* worker_process.h - one external process and its socket: start, frames with bounds, end.
 *
 * A process belongs to the thread that started it: it is told to die with that thread, so a program
 * that is killed leaves none behind. */
#ifndef TD_SRC_COUNT_WORKER_PROCESS_H
#define TD_SRC_COUNT_WORKER_PROCESS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/buf.h"

/* A zeroed one is none. */
typedef struct td_worker_process {
    pid_t pid; /* 0: none */
    int fd;
    td_buf in; /* the frame being received */
} td_worker_process;

typedef enum td_worker_io {
    TD_WORKER_DONE,
    TD_WORKER_ENDED,       /* the other side is closed */
    TD_WORKER_LATE,        /* deadline_ns passed */
    TD_WORKER_TOO_LONG,    /* the frame is longer than any answer */
    TD_WORKER_HUNGRY,      /* the process took more than memory_bytes */
    TD_WORKER_INTERRUPTED, /* *interrupt is true */
    TD_WORKER_NO_MEMORY,   /* here, not there */
} td_worker_io;

typedef struct td_worker_bounds {
    uint64_t deadline_ns;
    size_t memory_bytes; /* resident; 0: none */
    const atomic_bool *interrupt;
} td_worker_bounds;

/* Runs command with the shell: socket at TD_WORKER_FD, standard input empty, standard output going
 * to standard error, nothing else open, a process group of its own. p holds no process. */
td_code td_worker_spawn(td_worker_process *p, const char *command, td_error *err);

/* A whole frame, head included. */
td_worker_io td_worker_send(td_worker_process *p, td_str frame, const td_worker_bounds *bounds);
/* What stands behind the head of the next frame; valid until the next call. */
td_worker_io td_worker_receive(td_worker_process *p, td_str *ret_payload,
                               const td_worker_bounds *bounds);

size_t td_worker_resident_bytes(const td_worker_process *p); /* 0: not known */

/* Kills its process group and reaps it; fine when there is none. First waits up to patience_ns for
 * an end of its own, and then gives its wait status, else -1. */
int td_worker_end(td_worker_process *p, uint64_t patience_ns);

#endif

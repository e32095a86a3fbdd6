/* thread.h - threads, locks and the clock: thin names over POSIX, so that the rest of the library
 * neither spells pthread nor repeats its error handling. */
#ifndef TD_SRC_BASE_THREAD_H
#define TD_SRC_BASE_THREAD_H

#include <pthread.h>

#include "tokdrain/base.h"

typedef struct td_mutex {
    pthread_mutex_t os;
} td_mutex;

/* Waits with a deadline go by CLOCK_MONOTONIC. */
typedef struct td_cond {
    pthread_cond_t os;
} td_cond;

typedef struct td_thread {
    pthread_t os;
} td_thread;

bool td_mutex_init(td_mutex *m); /* false: the system has no more */
void td_mutex_done(td_mutex *m);
void td_mutex_lock(td_mutex *m);
void td_mutex_unlock(td_mutex *m);

bool td_cond_init(td_cond *c);
void td_cond_done(td_cond *c);
void td_cond_wait(td_cond *c, td_mutex *m);
/* false when deadline_ns (td_now_ns) passed; spurious wake-ups return true. */
bool td_cond_wait_until(td_cond *c, td_mutex *m, uint64_t deadline_ns);
void td_cond_signal(td_cond *c);
void td_cond_broadcast(td_cond *c);

/* false: the thread could not be started. Signals stay with the caller's threads. */
bool td_thread_start(td_thread *t, void *(*run)(void *user), void *user);
void td_thread_join(td_thread *t);

uint64_t td_now_ns(void);          /* CLOCK_MONOTONIC */
unsigned td_cores_available(void); /* cores that this process may run on, at least 1 */

#endif

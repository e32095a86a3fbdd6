/* sched_getaffinity is a GNU extension */
#define _GNU_SOURCE
#include "base/thread.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

bool td_mutex_init(td_mutex *m)
{
    return pthread_mutex_init(&m->os, NULL) == 0;
}

void td_mutex_done(td_mutex *m)
{
    int rc = pthread_mutex_destroy(&m->os);
    assert(rc == 0);
    (void)rc;
}

void td_mutex_lock(td_mutex *m)
{
    int rc = pthread_mutex_lock(&m->os);
    assert(rc == 0);
    (void)rc;
}

void td_mutex_unlock(td_mutex *m)
{
    int rc = pthread_mutex_unlock(&m->os);
    assert(rc == 0);
    (void)rc;
}

bool td_cond_init(td_cond *c)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&c->os, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

void td_cond_done(td_cond *c)
{
    int rc = pthread_cond_destroy(&c->os);
    assert(rc == 0);
    (void)rc;
}

void td_cond_wait(td_cond *c, td_mutex *m)
{
    int rc = pthread_cond_wait(&c->os, &m->os);
    assert(rc == 0);
    (void)rc;
}

bool td_cond_wait_until(td_cond *c, td_mutex *m, uint64_t deadline_ns)
{
    struct timespec at = { .tv_sec = (time_t)(deadline_ns / 1000000000U),
                           .tv_nsec = (long)(deadline_ns % 1000000000U) };
    return pthread_cond_timedwait(&c->os, &m->os, &at) != ETIMEDOUT;
}

void td_cond_signal(td_cond *c)
{
    pthread_cond_signal(&c->os);
}

void td_cond_broadcast(td_cond *c)
{
    pthread_cond_broadcast(&c->os);
}

bool td_thread_start(td_thread *t, void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    bool ok = pthread_create(&t->os, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

void td_thread_join(td_thread *t)
{
    int rc = pthread_join(t->os, NULL);
    assert(rc == 0);
    (void)rc;
}

uint64_t td_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

unsigned td_cores_available(void)
{
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

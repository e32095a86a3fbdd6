/* bench_snapshot.c - what one live snapshot costs the thread that reads the events: six series with
 * values all over their ranges, from the histograms to the bytes of the frame.
 *
 *     bench_snapshot [VALUES_PER_SERIES [DIGITS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/error.h"
#include "metrics/registry.h"

enum { ROUNDS = 200, BUCKETS = 30 };

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Any sequence that fills the range on a logarithmic scale. */
static int64_t value_at(uint64_t *state, int64_t high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int64_t value = (int64_t)(*state >> 1);
    value >>= *state >> 58;
    return value % high + 1;
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, state = 1;
    int digits = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    td_error err = TD_ERROR_INIT;
    td_registry r;
    if (td_registry_init(&r, true, digits, BUCKETS, NULL, NULL, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (size_t s = 0; s < r.series_count; s++)
        for (uint64_t i = 0; i < count; i++) {
            int64_t value = value_at(&state, r.series[s].hdr.high);
            if (r.series[s].is_real)
                td_series_add_real(&r.series[s], (double)value);
            else
                td_series_add(&r.series[s], value);
        }
    static uint64_t times[ROUNDS];
    td_arena a = { 0 };
    td_buf out = { 0 };
    td_snapshot snap;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = cpu_ns();
        td_arena_reset(&a);
        out.len = 0;
        if (!td_registry_snapshot(&r, &snap, TD_RUN_LIVE, 3, 123, &a) ||
            td_snapshot_msgpack(&snap, &out) != TD_OK)
            return 3;
        times[i] = cpu_ns() - begin;
    }
    qsort(times, ROUNDS, sizeof *times, by_number);
    printf("%" PRIu64 " values a series, %d digits: a snapshot takes %.1f us (median), "
           "%.1f us (99%%), %zu bytes\n",
           count, digits, (double)times[ROUNDS / 2] / 1e3, (double)times[ROUNDS * 99 / 100] / 1e3,
           out.len);
    td_buf_done(&out);
    td_arena_done(&a);
    td_registry_done(&r);
    return 0;
}

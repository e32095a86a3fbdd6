/* metrics_probe.c - records values read from stdin and prints the snapshots, for test_metrics.py.
 *
 *     metrics_probe DIGITS BUCKETS <values
 *
 * Each input line is "SERIES VALUE" (SERIES by its number; a double for the last one). Printed are
 * the live snapshot as JSON, the final one as JSON and as msgpack in hexadecimal, a line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "metrics/registry.h"

static void print_json(const td_snapshot *snap)
{
    td_buf out = { 0 };
    if (td_snapshot_json(snap, &out) != TD_OK)
        exit(3);
    for (size_t i = 0; i < out.len; i++) /* on one line: JSON without its layout */
        putchar(out.ptr[i] == '\n' ? ' ' : out.ptr[i]);
    putchar('\n');
    td_buf_done(&out);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    td_error err = TD_ERROR_INIT;
    td_registry r;
    if (td_registry_init(&r, true, (int)strtol(argv[1], NULL, 10),
                         (uint32_t)strtoul(argv[2], NULL, 10), NULL, NULL, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int id;
    while (scanf("%d", &id) == 1) {
        double real;
        int64_t integer;
        if (id == TD_SERIES_TPOT ? scanf("%lf", &real) != 1 : scanf("%" SCNd64, &integer) != 1)
            return 2;
        if (id == TD_SERIES_TPOT)
            td_series_add_real(&r.series[id], real);
        else
            td_registry_add(&r, (td_series_id)id, integer);
    }
    td_arena a = { 0 };
    td_snapshot snap;
    td_buf out = { 0 };
    if (!td_registry_snapshot(&r, &snap, TD_RUN_LIVE, 3, 123, &a))
        return 3;
    print_json(&snap);
    if (!td_registry_finish(&r, &snap, 0, 456, true, &a))
        return 3;
    print_json(&snap);
    if (td_snapshot_msgpack(&snap, &out) != TD_OK)
        return 3;
    for (size_t i = 0; i < out.len; i++)
        printf("%02x", (unsigned char)out.ptr[i]);
    putchar('\n');
    td_buf_done(&out);
    td_arena_done(&a);
    td_registry_done(&r);
    return 0;
}

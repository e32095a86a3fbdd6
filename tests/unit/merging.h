/* merging.h - merging by the rule, read plainly. */
#ifndef TD_TESTS_UNIT_MERGING_H
#define TD_TESTS_UNIT_MERGING_H

#include <stdlib.h>
#include <string.h>

#include "tokenizer/model/bpe_lanes.h"

static inline const tk_merge *find_merge(const tk_merge *table, uint32_t merges, td_id left,
                                         td_id right)
{
    for (uint32_t i = 0; i < merges; i++)
        if (table[i].left == left && table[i].right == right)
            return &table[i];
    return NULL;
}

/* The same merges of ids that are higher by first. */
static inline void move_merges(const tk_merge *table, uint32_t merges, td_id first, tk_merge *to)
{
    for (uint32_t i = 0; i < merges; i++)
        to[i] = (tk_merge){ table[i].left + first, table[i].right + first, table[i].rank,
                            table[i].product + first };
}

/* Again and again the lowest rank, of equal ones the leftmost. lens may be NULL; returns how many
 * ids are left. */
static inline uint32_t merge_plainly(const tk_merge *table, uint32_t merges, td_id *ids,
                                     uint32_t *lens, uint32_t count)
{
    for (;;) {
        const tk_merge *best = NULL;
        uint32_t at = 0;
        for (uint32_t i = 0; i + 1 < count; i++) {
            const tk_merge *m = find_merge(table, merges, ids[i], ids[i + 1]);
            if (m != NULL && (best == NULL || m->rank < best->rank)) {
                best = m;
                at = i;
            }
        }
        if (best == NULL)
            return count;
        ids[at] = best->product;
        memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof *ids);
        if (lens != NULL) {
            lens[at] += lens[at + 1];
            memmove(lens + at + 1, lens + at + 2, (count - at - 2) * sizeof *lens);
        }
        count--;
    }
}

enum { CPUS = TD_CPU_AVX512 + 1 };

/* Merges the words of n lanes, those of lanes[0], as every CPU up to this one would. */
static inline void merge_all_ways(const tk_merges *m, tk_lane lanes[CPUS][TK_LANES], uint32_t n)
{
    tk_row *row = aligned_alloc(64, tk_row_bytes()); /* NULL will do */
    for (td_cpu cpu = td_cpu_best(); cpu > TD_CPU_SCALAR; cpu--) {
        memcpy(lanes[cpu], lanes[0], n * sizeof *lanes[0]);
        tk_merge_lanes_on(cpu, m, lanes[cpu], n, row);
    }
    tk_merge_lanes_on(TD_CPU_SCALAR, m, lanes[0], n, row);
    free(row);
}

#endif

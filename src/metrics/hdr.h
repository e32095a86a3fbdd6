/* hdr.h - a high dynamic range histogram of positive integers.
 *
 * Cells have a bounded relative width: a value below 2^sub_bits has its own cell, above, cells of
 * the k-th power of two are 2^k wide. So percentiles of any number of values cost constant memory
 * and are off by less than 10^-digits of the value. Same cells as the HdrHistogram family for a
 * lowest value of 1. One thread at a time. */
#ifndef TD_SRC_METRICS_HDR_H
#define TD_SRC_METRICS_HDR_H

#include "tokdrain/base.h"

enum { TD_HDR_BLOCK_BITS = 8, TD_HDR_BLOCK = 1 << TD_HDR_BLOCK_BITS };

typedef struct td_hdr {
    uint64_t *counts;     /* cell_count of them */
    uint64_t *blocks;     /* sums of TD_HDR_BLOCK cells each, so that walks can step over them */
    uint32_t cell_count;
    uint32_t first, last; /* cells in use lie in [first, last]; first > last: none */
    unsigned sub_bits;    /* 2^sub_bits values have a cell of their own */
    int64_t high;         /* largest value that may be recorded; the smallest is 1 */
    uint64_t total;       /* values recorded */
} td_hdr;

/* digits: 1..5 significant ones; high >= 2. TD_E_INPUT or TD_E_INTERNAL on failure. */
TD_NODISCARD td_code td_hdr_init(td_hdr *h, int64_t high, int digits, td_error *err);
void td_hdr_done(td_hdr *h);

static inline uint32_t td_hdr_cell(const td_hdr *h, int64_t value)
{
    unsigned top = 63 - (unsigned)__builtin_clzll((uint64_t)value | 1);
    if (top < h->sub_bits)
        return (uint32_t)value;
    unsigned k = top - h->sub_bits + 1;
    return (uint32_t)((k << (h->sub_bits - 1)) + (uint32_t)(value >> k));
}

/* The largest value of a cell. */
int64_t td_hdr_cell_high(const td_hdr *h, uint32_t cell);

/* value must be within 1..high. */
static inline void td_hdr_add(td_hdr *h, int64_t value)
{
    uint32_t cell = td_hdr_cell(h, value);
    h->counts[cell]++;
    h->blocks[cell >> TD_HDR_BLOCK_BITS]++;
    h->total++;
    if (cell < h->first)
        h->first = cell;
    if (cell > h->last || h->total == 1)
        h->last = cell;
}

/* ret[i] = the largest value of the first cell with which at least percentiles[i] percent of all
 * values are covered; percentiles may be in any order. All 0 when nothing was recorded. */
void td_hdr_percentiles(const td_hdr *h, const double *percentiles, size_t count, int64_t *ret);

#endif

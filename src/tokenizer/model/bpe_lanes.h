/* bpe_lanes.h - merging several short words at the same time.
 *
 * Much of the time of merging a short word goes into waiting for a table that is larger than the
 * near caches. So words are merged side by side, a step each in turn: a step asks for the memory
 * that the next step of the same word needs. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_LANES_H
#define TD_SRC_TOKENIZER_MODEL_BPE_LANES_H

#include "base/cpu.h"
#include "tokenizer/model/bpe.h"

enum { TK_LANE = 32 /* symbols of a word at most */, TK_LANE_SHORT = 16, TK_LANES = 128 };

/* A word. Its symbols have places 1 and up and keep them while others are merged into them; in
 * front of them and behind them is a place for nothing, which no pair has. */
typedef struct tk_lane {
    uint64_t alive;          /* a bit for each place that is there */
    uint32_t end;            /* the place behind the symbols */
    uint32_t before, at, after; /* the symbol that the last step made, and its neighbours */
    uint64_t pairs[2], hashes[2]; /* of that symbol's pairs, if there are such */
    uint64_t there[2];
    const uint64_t *groups[2]; /* where to look for them */
    uint32_t keys[TK_LANE + 2]; /* rank << 5 | place of the pair that starts there */
    td_id ids[TK_LANE + 2], products[TK_LANE + 2];
} tk_lane;

/* Where a word's ids are to be written. */
static inline td_id *tk_lane_ids(tk_lane *l)
{
    return l->ids + 1;
}

/* Says how many ids have been written, at least one. */
static inline void tk_lane_start(tk_lane *l, uint32_t count)
{
    l->alive = UINT64_MAX >> (62 - count);
    l->end = count + 1;
    l->ids[0] = l->ids[count + 1] = TK_NO_ID;
}

/* What sweeps work in (sweep_steps.inc): tk_row_bytes on a cache line, whatever is in there. */
typedef struct tk_row tk_row;
size_t tk_row_bytes(void);

/* Merges the words of n lanes, n <= TK_LANES, as far as it goes. row: NULL: without sweeps. */
void tk_merge_lanes(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *row);
/* As on another CPU, of which this one has all that it has. */
void tk_merge_lanes_on(td_cpu cpu, const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *row);

/* The symbols that are left; TK_LANE can be read. ids: room for those of the word, used where
 * they do not lie side by side. */
static inline const td_id *tk_lane_get(const tk_lane *l, td_id *ids, uint32_t *ret_count)
{
    uint32_t n = 0;
    uint64_t rest = l->alive & (l->alive - 1); /* not the place in front */
    if ((l->alive & (l->alive + 1)) == 0) {
        *ret_count = 62 - (uint32_t)__builtin_clzll(l->alive);
        return l->ids + 1;
    }
    for (; (rest & (rest - 1)) != 0; rest &= rest - 1)
        ids[n++] = l->ids[__builtin_ctzll(rest)];
    *ret_count = n;
    return ids;
}

#endif

/* bpe_lanes.h - merging several short words at the same time.
 *
 * Most of the time of merging a short word goes into waiting for tables that are far larger than
 * the near caches. So words are merged side by side, a step each in turn: a step asks for the
 * memory that the next step of the same word needs. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_LANES_H
#define TD_SRC_TOKENIZER_MODEL_BPE_LANES_H

#include "tokenizer/model/bpe.h"

enum { TK_LANE = 32 /* symbols of a word at most */, TK_LANE_SHORT = 16, TK_LANES = 4 };

/* A word. Symbols keep their places while others are merged into them. */
typedef struct tk_lane {
    td_id ids[TK_LANE];
    uint32_t keys[TK_LANE]; /* rank << 5 | place of the pair that starts there; UINT32_MAX: none */
    td_id products[TK_LANE];
    uint32_t alive;   /* a bit for each symbol that is there */
    uint32_t changed; /* the symbol that the last step made */
    uint32_t size;    /* places that are used: TK_LANE_SHORT or TK_LANE */
} tk_lane;

/* Says how many ids have been set, at least one. */
static inline void tk_lane_start(tk_lane *l, uint32_t count)
{
    l->alive = UINT32_MAX >> (32 - count);
    l->size = count <= TK_LANE_SHORT ? TK_LANE_SHORT : TK_LANE;
}

/* Merges the words of n lanes, n <= TK_LANES, as far as it goes. */
void tk_merge_lanes(const tk_merges *m, tk_lane *lanes, uint32_t n);

/* The symbols that are left. */
static inline uint32_t tk_lane_get(const tk_lane *l, td_id *ids)
{
    uint32_t n = 0;
    for (uint32_t rest = l->alive; rest != 0; rest &= rest - 1)
        ids[n++] = l->ids[__builtin_ctz(rest)];
    return n;
}

#endif

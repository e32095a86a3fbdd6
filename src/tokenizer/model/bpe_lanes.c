/* bpe_lanes.c - the steps of bpe_lanes.h. */
#include "tokenizer/model/bpe_lanes.h"

#define NO_PAIR UINT32_MAX

static inline void prefetch_pair(const tk_merges *m, td_id left, td_id right)
{
    if ((left | right) < TK_GRID) {
        __builtin_prefetch(&m->grid[left * TK_GRID + right]);
        return;
    }
    __builtin_prefetch(&m->filter[tk_filter_place(m, left, right) >> 6]);
    __builtin_prefetch(&m->slots[tk_merge_hash(left, right) & m->mask]);
}

static inline void look_up(const tk_merges *m, tk_lane *l, uint32_t at, uint32_t next)
{
    uint32_t rank = tk_merge_rank(m, l->ids[at], l->ids[next], &l->products[at]);
    l->keys[at] = rank == UINT32_MAX ? NO_PAIR : rank << 5 | at;
}

static inline uint32_t after(const tk_lane *l, uint32_t at)
{
    return (uint32_t)__builtin_ctz(l->alive >> (at + 1)) + at + 1;
}

static inline uint32_t before(const tk_lane *l, uint32_t at)
{
    return 31 - (uint32_t)__builtin_clz(l->alive & ((1u << at) - 1));
}

static inline bool is_last(const tk_lane *l, uint32_t at)
{
    return l->alive >> at == 1;
}

static inline bool is_first(const tk_lane *l, uint32_t at)
{
    return (l->alive & ((1u << at) - 1)) == 0;
}

static void ask_first(const tk_merges *m, const tk_lane *l)
{
    for (uint32_t i = 0; !is_last(l, i); i++)
        prefetch_pair(m, l->ids[i], l->ids[i + 1]);
}

static void look_first(const tk_merges *m, tk_lane *l)
{
    for (uint32_t i = 0; i < l->size; i++)
        l->keys[i] = NO_PAIR;
    for (uint32_t i = 0; !is_last(l, i); i++)
        look_up(m, l, i, i + 1);
}

/* Merges the pair of the lowest rank; false: there is none. */
static bool merge_one(const tk_merges *m, tk_lane *l)
{
    uint32_t best = NO_PAIR;
    for (uint32_t i = 0; i < TK_LANE_SHORT; i++)
        best = l->keys[i] < best ? l->keys[i] : best;
    for (uint32_t i = TK_LANE_SHORT; i < l->size; i++)
        best = l->keys[i] < best ? l->keys[i] : best;
    if (best == NO_PAIR)
        return false;
    uint32_t at = best % TK_LANE, next = after(l, at);
    l->ids[at] = l->products[at];
    l->alive &= ~(1u << next);
    l->keys[next] = l->keys[at] = NO_PAIR;
    l->changed = at;
    if (!is_first(l, at))
        prefetch_pair(m, l->ids[before(l, at)], l->ids[at]);
    if (!is_last(l, at))
        prefetch_pair(m, l->ids[at], l->ids[after(l, at)]);
    return true;
}

static void look_around(const tk_merges *m, tk_lane *l)
{
    uint32_t at = l->changed;
    if (!is_first(l, at))
        look_up(m, l, before(l, at), at);
    if (!is_last(l, at))
        look_up(m, l, at, after(l, at));
}

void tk_merge_lanes(const tk_merges *m, tk_lane *lanes, uint32_t n)
{
    tk_lane *active[TK_LANES];
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        ask_first(m, &lanes[i]);
    for (uint32_t i = 0; i < n; i++) {
        look_first(m, &lanes[i]);
        if (merge_one(m, &lanes[i]))
            active[left++] = &lanes[i];
    }
    while (left != 0) {
        uint32_t still = 0;
        for (uint32_t i = 0; i < left; i++) {
            tk_lane *l = active[i];
            look_around(m, l);
            active[still] = l;
            still += merge_one(m, l);
        }
        left = still;
    }
}

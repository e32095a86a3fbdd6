/* merges.h - pairs of symbols -> rank and product: the table that merging lives in.
 *
 * Most questions are about pairs that are not there, and most miss the near caches. So the table is
 * small, and a question touches half a cache line whatever the answer is: a group of four slots of
 * eight bytes.
 *
 * A pair of ids below 2^n is a number of 2n bits, which is multiplied by an odd constant modulo
 * 2^2n: none is lost. The highest bits say which group it is, a slot has the lowest ones, and pairs
 * that agree in both are the same. What finds its group full, or has numbers that do not fit a
 * slot, is in a sorted list, and the group says that it has to be asked.
 *
 * Pairs of ids that are small, as those of bytes mostly are, are in a square as well. */
#ifndef TD_SRC_TOKENIZER_MODEL_MERGES_H
#define TD_SRC_TOKENIZER_MODEL_MERGES_H

#include <string.h>

#include "base/alloc.h"
#include "tokdrain/tokenizer.h"

/* Pairs may share a rank. */
typedef struct tk_merge {
    td_id left, right;
    uint32_t rank;
    td_id product;
} tk_merge;

enum {
    TK_RANK_END = 1 << 26,
    TK_GROUP = 4,
    TK_FIELD = 20, /* bits of a product and of a rank + 1 in a slot */
    TK_TAG = 23,   /* bits of a pair in a slot, above them */
    TK_SQUARE = 264, /* a row is an odd number of cache lines, so that rows do not fight for room */
};

typedef struct tk_merges {
    td_slab table;       /* groups and square lie in it */
    uint64_t *slots;     /* 0: empty. The highest bit of a group's last slot: ask the list, too */
    uint32_t groups;     /* one more, which is empty, lies behind them */
    uint32_t id_bits;    /* of the ids of a pair, at most TK_FIELD */
    uint64_t *filter;    /* of pairs: two bits of a word each */
    uint32_t filter_shift; /* 64 - the binary logarithm of its words */
    uint64_t *square;    /* rank + 1 and product, as in a slot, and bounds; TK_SQUARE rows */
    td_id square_end;    /* below it, all pairs are in there */
    uint32_t count;      /* pairs, with those that were left out (bpe_proof.c) */
    tk_merge *more;      /* the list, by left and right */
    uint32_t more_count;
    uint64_t *products, *parts; /* a bit for each id: a merge makes it; a merge takes it */
    uint64_t *hasty; /* where swept: ids that some merge takes before another one makes them */
    bool hurries;    /* there are such */
    bool swept;      /* there are bounds, they are of use (merges_bounds.c), and to this CPU */
    uint64_t *proven; /* merging its text certainly gives this id, if no other text has the id */
} tk_merges;

/* Fills the table and the bits of products and parts. Ranks are below TK_RANK_END. Of equal pairs
 * the last one counts. id_end: one more than any id of the model. false: out of memory. */
bool tk_merges_fill(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end);
void tk_merges_done(tk_merges *m);

/* The same pair by pair, so that those that are there can be asked for in between. count: how many
 * there will be, about. false: out of memory. */
bool tk_merges_start(tk_merges *m, uint32_t count, td_id id_end);
/* Whether the ids and a rank fit into a slot. */
bool tk_merges_fit(uint32_t rank, td_id id_end);
/* e fits. ret_crowded: so many have no room in their groups that this cannot go on. false: out of
 * memory. */
bool tk_merges_put(tk_merges *m, const tk_merge *e, bool *ret_crowded);
/* merges: all that were put, in that order. */
bool tk_merges_end(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end);

/* merges_bounds.c: sets hasty, hurries, swept and the bounds in the square. The tables are filled.
 * false: out of memory. */
bool tk_merges_bound(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end);

static inline bool tk_id_bit(const uint64_t *bits, td_id id)
{
    return (bits[id >> 6] >> (id & 63) & 1) != 0;
}

/* ---- ranks as codes of 16 bits ----
 *
 * Of two codes the smaller one is of the lower rank; ranks that are nearly the same may share one.
 * They are the upper bits of floats. The lowest bit is always set. */

#define TK_CODE_ONE 0x3F800000u
enum { TK_CODE_SHIFT = 12 };

static inline uint32_t tk_rank_code(uint32_t rank)
{
    float f = (float)(rank + 1);
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (bits - TK_CODE_ONE) >> TK_CODE_SHIFT | 1;
}

/* The bounds of a pair in the square: the upper bits of codes. */
enum { TK_LEFT_BITS = 12, TK_LEFT_AT = 40, TK_RIGHT_BITS = 11, TK_RIGHT_AT = 52, TK_HASTY_AT = 63 };

/* ---- asking in two steps, so that others can ask in between ---- */

typedef struct tk_merged {
    uint32_t rank; /* UINT32_MAX: the pair is not merged */
    td_id product;
} tk_merged;

/* Where a pair would be, and what its slot has above rank and product. */
typedef struct tk_place {
    const uint64_t *group;
    uint64_t tag;
} tk_place;

#define TK_TAG_MASK (((uint64_t)1 << TK_TAG) - 1)
#define TK_PAIR_ODD 0x9E3779B97F4A7C15u
#define TK_FILTER_ODD 0xD6E8FEB86659FD93u

/* The number of a pair, in the highest bits. */
static inline uint64_t tk_pair_of(uint32_t id_bits, td_id left, td_id right)
{
    uint64_t pair = (uint64_t)left << (64 - id_bits) | (uint64_t)right << (64 - 2 * id_bits);
    return pair * TK_PAIR_ODD;
}

static inline uint64_t tk_pair_tag(uint32_t id_bits, uint64_t pair)
{
    return (pair >> (64 - 2 * id_bits) & TK_TAG_MASK) << 2 * TK_FIELD;
}

/* The filter has a hash of its own: its word is in the highest bits, two bits of it in others. */
static inline uint64_t tk_filter_hash(td_id left, td_id right)
{
    return ((uint64_t)left << 32 | right) * TK_FILTER_ODD;
}

/* 1: the pair with this hash may be there; 0: certainly not. */
static inline uint64_t tk_filter_has(const uint64_t *filter, uint32_t shift, uint64_t hash)
{
    uint64_t word = filter[hash >> shift];
    return word >> (hash >> 32 & 63) & word >> (hash >> 38 & 63) & 1;
}

static inline tk_place tk_place_of(const tk_merges *m, uint64_t pair)
{
    uint64_t group = (pair >> 32) * m->groups >> 32;
    return (tk_place){ m->slots + group * TK_GROUP, tk_pair_tag(m->id_bits, pair) };
}

/* Of rank + 1 and product, as a slot has them. */
static inline tk_merged tk_merged_of(uint64_t slot)
{
    const uint32_t low = (1u << TK_FIELD) - 1;
    return (tk_merged){ ((uint32_t)(slot >> TK_FIELD) & low) - 1, (td_id)slot & low };
}

tk_merged tk_merges_find_more(const tk_merges *m, td_id left, td_id right);

/* What is at the place of left and right. */
static inline tk_merged tk_merge_at(const tk_merges *m, tk_place place, td_id left, td_id right)
{
    const uint64_t mask = TK_TAG_MASK << 2 * TK_FIELD;
    uint64_t slot = 0;
    /* From the last one, because empty slots come last and might have the same tag. */
    for (int i = TK_GROUP - 1; i >= 0; i--)
        slot = ((place.group[i] ^ place.tag) & mask) == 0 ? place.group[i] : slot;
    /* One comparison, as it is nearly always false: a bit is more than rank + 1. */
    uint64_t rank = slot >> TK_FIELD & ((1u << TK_FIELD) - 1);
    if (__builtin_expect(place.group[TK_GROUP - 1] >> 63 > rank, 0))
        return tk_merges_find_more(m, left, right);
    return tk_merged_of(slot);
}

/* The rank of a pair and what it becomes; UINT32_MAX: it is not merged. */
static inline uint32_t tk_merge_rank(const tk_merges *m, td_id left, td_id right,
                                     td_id *ret_product)
{
    if (tk_filter_has(m->filter, m->filter_shift, tk_filter_hash(left, right)) == 0)
        return UINT32_MAX;
    uint64_t pair = tk_pair_of(m->id_bits, left, right);
    tk_merged e = tk_merge_at(m, tk_place_of(m, pair), left, right);
    *ret_product = e.product;
    return e.rank;
}

/* For functions that do nothing but prefetch: inlined early, as gcc takes calls of such functions
 * for useless. */
#define TK_PREFETCHES __attribute__((always_inline)) static inline

TK_PREFETCHES void tk_merge_prefetch(const tk_merges *m, td_id left, td_id right)
{
    __builtin_prefetch(&m->filter[tk_filter_hash(left, right) >> m->filter_shift]);
    __builtin_prefetch(tk_place_of(m, tk_pair_of(m->id_bits, left, right)).group);
}

#endif

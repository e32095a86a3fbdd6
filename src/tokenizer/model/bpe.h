/* bpe.h - byte pair encoding: the model's tables and its merging.
 *
 * A word starts as one symbol a character (or byte token, or unknown token); then, again and
 * again, the adjacent pair with the lowest rank is merged, leftmost first, until none is left. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_H
#define TD_SRC_TOKENIZER_MODEL_BPE_H

#include "base/alloc.h"
#include "tokenizer/load/load.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/vocab/vocab.h"

/* (left id, right id) -> rank and product; open addressing. */
typedef struct tk_merge {
    uint32_t left; /* id + 1; 0: empty */
    uint32_t right, rank, product;
} tk_merge;

/* The same for pairs of small ids, which bytes mostly have, in their place. */
enum { TK_GRID = 512 };
typedef struct tk_grid {
    uint32_t rank, product; /* rank + 1; 0: none */
} tk_grid;

/* The table is far larger than the near caches, and most pairs that are looked for are not in it.
 * grid and filter answer most questions without it. */
typedef struct tk_merges {
    td_slab table; /* slots, grid and filter lie in it */
    tk_merge *slots;
    uint32_t mask;
    uint32_t count;
    tk_grid *grid;    /* TK_GRID * TK_GRID of them */
    uint64_t *filter; /* a bit for each pair by its hash; filter_mask + 1 bits */
    uint32_t filter_mask;
    uint64_t *products, *parts; /* a bit for each id: a merge makes it; a merge takes it */
    uint64_t *proven; /* merging its text certainly gives this id, if no other text has the id */
} tk_merges;

static inline bool tk_id_bit(const uint64_t *bits, td_id id)
{
    return (bits[id >> 6] >> (id & 63) & 1) != 0;
}

enum { TK_BPE_DIRECT = 0x400, TK_RANK_END = 1 << 27 };

typedef struct tk_bpe {
    tk_model base;
    tk_vocab *vocab;
    tk_merges merges;
    td_id direct[TK_BPE_DIRECT]; /* code point -> id of that one character, or TK_NO_ID */
    td_id bytes[256];            /* id of <0xXX>, or TK_NO_ID */
    bool has_unk, unk_known;
    td_str unk_token;
    td_id unk;
    td_str prefix, suffix; /* of subwords behind the first; of the last */
    bool fuse_unk, byte_fallback, ignore_merges;
} tk_bpe;

/* Symbols of one word: ids and the bytes of the word that each covers. */
typedef struct tk_symbols {
    td_id *ids;
    uint32_t *lens;
    uint32_t count;
} tk_symbols;

static inline uint32_t tk_merge_hash(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32) ^ (uint32_t)(h >> 20);
}

static inline const tk_merge *tk_merge_find(const tk_merges *m, uint32_t left, uint32_t right)
{
    for (uint32_t at = tk_merge_hash(left, right) & m->mask;; at = (at + 1) & m->mask) {
        const tk_merge *e = &m->slots[at];
        if (e->left == left + 1 && e->right == right)
            return e;
        if (e->left == 0)
            return NULL;
    }
}

/* The hash's low bits place pairs in the table; the filter takes others. */
static inline uint32_t tk_filter_place(const tk_merges *m, uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> 36) & m->filter_mask;
}

/* The rank of a pair and what it becomes; UINT32_MAX: it is not merged. */
static inline uint32_t tk_merge_rank(const tk_merges *m, uint32_t left, uint32_t right,
                                     td_id *ret_product)
{
    if ((left | right) < TK_GRID) {
        const tk_grid *g = &m->grid[left * TK_GRID + right];
        *ret_product = g->product;
        return g->rank - 1;
    }
    uint32_t at = tk_filter_place(m, left, right);
    if ((m->filter[at >> 6] >> (at & 63) & 1) == 0)
        return UINT32_MAX;
    const tk_merge *e = tk_merge_find(m, left, right);
    if (e == NULL)
        return UINT32_MAX;
    *ret_product = e->product;
    return e->rank;
}

/* The model as BPE; NULL when it is another kind. */
const tk_bpe *tk_as_bpe(const tk_model *model);

/* TD_E_TIMEOUT when the context's flag is set or its time is up. */
td_code tk_look_around(const tk_ctx *ctx, td_error *err);

/* Merges in place, as far as it goes. Scratch comes from the context's arena. TD_E_TIMEOUT when the
 * context's flag is set or its time is up. */
td_code tk_bpe_merge(const tk_bpe *bpe, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* bpe_runs.c: the same for long words, where tk_bpe_can_run. */
bool tk_bpe_can_run(const tk_bpe *bpe);
td_code tk_bpe_merge_runs(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* bpe_periods.c: the same, faster for words that mostly repeat themselves. */
td_code tk_bpe_merge_periods(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* A model without merges and options over vocab, which is the tokenizer's from now on, also after
 * a failure. */
td_code tk_bpe_new(tk_load *load, tk_vocab *vocab, tk_bpe **ret);

/* bpe_proof.c: sets merges.proven. merges: in the order of rank, without the 1 added to left; the
 * tables are filled. false: out of memory. */
bool tk_bpe_prove(tk_bpe *bpe, const tk_merge *merges, uint32_t count);

/* ---- bpe_load.c ---- */

/* Reads the merges of load->merges_json. */
td_code tk_bpe_load_merges(const tk_at *at, tk_bpe *bpe);

/* Takes merges from elsewhere, with left as it is; of equal pairs the last one counts. Pairs may
 * share a rank: of these the leftmost is merged first. TD_E_LIMIT when one is
 * not below TK_RANK_END. */
td_code tk_bpe_set_merges(tk_load *load, tk_bpe *bpe, const tk_merge *merges, uint32_t count);

#endif

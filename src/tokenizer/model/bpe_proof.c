/* bpe_proof.c - which entries of the vocabulary are what merging makes of their own text.
 *
 * Mostly all are, so that a word that is an entry needs no merging; but a file may hold entries
 * that merging never reaches. So an entry counts as proven only by a tree of merges whose leaves
 * are characters and whose ranks rise towards the root, with this at each boundary between the two
 * parts a and b of a node: where u from the right edge of a and v from the left edge of b meet, no
 * merge of (u, v) comes before the ones of the tree that use u or v up.
 *
 * Such a tree is what merging follows. Suppose it has so far, and u and v are neighbours but not
 * the parts of one node. If the merge that uses u up has at most the rank of (u, v), or the one of
 * v a smaller rank, then that merge, or one that leads to it and has a smaller rank still, is
 * possible now and comes first (of equal ranks the leftmost). So no other merge than one of the
 * tree is ever first. And as ranks rise, u and v can only meet if neither is used up before the
 * other is made.
 *
 * Merges come in the order of rank, so the parts' trees are known before the whole's. This takes
 * some 60 ns a merge, so it is done only where it is of use: not for models of characters, and
 * under ignore_merges (where whole words need no proof) for texts that may be parts of words. */
#include "base/alloc.h"
#include "tokenizer/model/bpe.h"

/* How a proven entry is made; LEAF: by no merge. */
typedef struct tree {
    td_id left, right;
    uint32_t rank;
} tree;

enum { AHEAD = 12 };

#define LEAF UINT32_MAX

static bool is_char(td_str text)
{
    unsigned char lead = text.len != 0 ? (unsigned char)text.ptr[0] : 0;
    return text.len == (lead < 0x80 ? 1u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : 4u);
}

/* Whether a merge of u and v comes before those of ranks u_used and v_used. */
static inline bool comes_first(const tk_merges *m, td_id u, td_id v, uint32_t u_used,
                               uint32_t v_used)
{
    td_id product;
    uint32_t rank = tk_merge_rank(m, u, v, &product);
    return rank < u_used && rank <= v_used;
}

/* Goes back in time from where the two parts stand side by side to where their leaves do. */
static bool boundary_holds(const tk_merges *m, const tree *trees, const tk_merge *made)
{
    td_id u = made->left, v = made->right;
    uint32_t u_used = made->rank, v_used = made->rank;
    for (;;) {
        const tree *a = &trees[u], *b = &trees[v];
        bool a_leaf = a->rank == LEAF, b_leaf = b->rank == LEAF;
        if (a_leaf && b_leaf)
            return true;
        bool a_last = !a_leaf && (b_leaf || a->rank >= b->rank);
        if (!a_leaf && !b_leaf && a->rank == b->rank && /* which was first makes no difference */
            comes_first(m, u, b->left, u_used, b->rank))
            return false;
        if (a_last) {
            u_used = a->rank;
            u = a->right;
        } else {
            v_used = b->rank;
            v = b->left;
        }
        if (comes_first(m, u, v, u_used, v_used))
            return false;
    }
}

/* Brings what the first look across the boundary of a merge needs. */
TK_PREFETCHES void prefetch_last(const tk_merges *m, const tree *trees, const tk_merge *made)
{
    const tree *a = &trees[made->left], *b = &trees[made->right];
    td_id u = made->left, v = made->right;
    if (a->rank != LEAF && (b->rank == LEAF || a->rank >= b->rank))
        u = a->right;
    else if (b->rank != LEAF)
        v = b->left;
    tk_merge_prefetch(m, u, v);
    __builtin_prefetch(&trees[u]);
    __builtin_prefetch(&trees[v]);
}

/* Whether a token of byte characters stands for bytes above 127, so that words are cut beside it:
 * those characters are U+00A1 to U+00FF and U+0122 to U+0143. */
static bool is_high(td_str token)
{
    for (size_t i = 0; i < token.len; i++)
        if ((unsigned char)token.ptr[i] >= 0xA2 && (unsigned char)token.ptr[i] != 0xC4)
            return true;
    return false;
}

static void set_proven(tk_bpe *bpe, tree *trees, td_id id, tree made)
{
    trees[id] = made;
    bpe->merges.proven[id >> 6] |= (uint64_t)1 << (id & 63);
}

/* Ids may be sparse: only those of entries are looked at. */
static void prove_chars(tk_bpe *bpe, tree *trees)
{
    const tk_vocab *v = bpe->vocab;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        td_id id = tk_vocab_head_at(v, at).id;
        if (v->by_id[id] == at + 1 && is_char(tk_vocab_text(v, at)))
            set_proven(bpe, trees, id, (tree){ .rank = LEAF });
    }
}

static void prove_all(tk_bpe *bpe, tree *trees, const tk_merge *merges, uint32_t count)
{
    const tk_merges *m = &bpe->merges;
    const uint64_t *proven = m->proven;
    td_id product;
    bool repeated = m->count != count; /* of equal pairs only the last one counts */
    for (uint32_t i = 0; i < count; i++) {
        const tk_merge *e = &merges[i];
        if (i + AHEAD < count) {
            __builtin_prefetch(&trees[e[AHEAD].left]);
            __builtin_prefetch(&trees[e[AHEAD].right]);
        }
        if (i + AHEAD / 2 < count)
            prefetch_last(m, trees, &e[AHEAD / 2]);
        if (tk_id_bit(proven, e->product) || !tk_id_bit(proven, e->left) ||
            !tk_id_bit(proven, e->right))
            continue;
        const tree *left = &trees[e->left], *right = &trees[e->right];
        if ((left->rank != LEAF && left->rank >= e->rank) ||
            (right->rank != LEAF && right->rank >= e->rank))
            continue;
        if (bpe->ignore_merges && !is_high(tk_vocab_spell(bpe->vocab, e->product)))
            continue;
        if (repeated && tk_merge_rank(m, e->left, e->right, &product) != e->rank)
            continue;
        if (boundary_holds(m, trees, e))
            set_proven(bpe, trees, e->product, (tree){ e->left, e->right, e->rank });
    }
}

bool tk_bpe_prove(tk_bpe *bpe, const tk_merge *merges, uint32_t count)
{
    size_t n = bpe->vocab->id_end;
    td_slab trees;
    bpe->merges.proven = td_calloc(n / 64 + 1, sizeof *bpe->merges.proven);
    if (bpe->merges.proven == NULL || !td_slab_new(&trees, (n + 1) * sizeof(tree)))
        return false;
    if (bpe->byte_fallback)
        count = 0;
    prove_chars(bpe, trees.ptr);
    prove_all(bpe, trees.ptr, merges, count);
    td_slab_free(&trees);
    return true;
}

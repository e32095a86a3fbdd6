/* bpe_proof.c - which entries of the vocabulary are what merging makes of their own text, and which
 * merges are never made.
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
 * Merges come in the order of rank, so the parts' trees are known before the whole's, and what a
 * proof asks for are pairs of lower ranks only: the table is filled on the way.
 *
 * Some files list each pair of entries that make a third one. Of all pairs that make a proven entry
 * only the last one of its tree is ever merged: within a longer text, what becomes one symbol has
 * been merged as if it stood alone, because no merge crossed its edges and the lowest of all ranks
 * is the lowest of those within. So the others are left out, and the table is half as large. That
 * needs symbols to come from their own characters alone.
 *
 * This takes some 60 ns a merge, so it is done only where it is of use: not for models of
 * characters, and under ignore_merges (where whole words need no proof) for texts that may be parts
 * of words, if there is nothing to leave out. */
#include <string.h>

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
static inline __attribute__((always_inline)) bool comes_first(const tk_merges *m, td_id u, td_id v,
                                                              uint32_t u_used, uint32_t v_used)
{
    td_id product;
    uint32_t rank = tk_merge_rank(m, u, v, &product);
    return rank < u_used && rank <= v_used;
}

/* Goes back in time from where the two parts stand side by side to where their leaves do. */
static inline __attribute__((always_inline)) bool boundary_holds(const tk_merges *m,
                                                                 const tree *trees,
                                                                 const tk_merge *made)
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

/* Whether the tree of e, whose last merge it is, proves what it makes. */
static inline bool proves(const tk_merges *m, const tree *trees, const tk_merge *e)
{
    if (!tk_id_bit(m->proven, e->left) || !tk_id_bit(m->proven, e->right))
        return false;
    const tree *left = &trees[e->left], *right = &trees[e->right];
    if ((left->rank != LEAF && left->rank >= e->rank) ||
        (right->rank != LEAF && right->rank >= e->rank))
        return false;
    return boundary_holds(m, trees, e);
}

/* Under ignore_merges, other entries need a proof only to leave merges out. */
static inline bool wants_proof(const tk_bpe *bpe, td_id id)
{
    return !bpe->ignore_merges || is_high(tk_vocab_spell(bpe->vocab, id));
}

TK_PREFETCHES void prefetch(const tk_merges *m, const tree *trees, const tk_merge *merges,
                            uint32_t i, uint32_t count)
{
    if (i + AHEAD < count) {
        __builtin_prefetch(&trees[merges[i + AHEAD].left]);
        __builtin_prefetch(&trees[merges[i + AHEAD].right]);
    }
    if (i + AHEAD / 2 < count)
        prefetch_last(m, trees, &merges[i + AHEAD / 2]);
}

/* The table has all merges. */
static void prove_all(tk_bpe *bpe, tree *trees, const tk_merge *merges, uint32_t count)
{
    const tk_merges *m = &bpe->merges;
    td_id product;
    bool repeated = m->count != count; /* of equal pairs only the last one counts */
    for (uint32_t i = 0; i < count; i++) {
        const tk_merge *e = &merges[i];
        prefetch(m, trees, merges, i, count);
        if (tk_id_bit(m->proven, e->product) || !wants_proof(bpe, e->product))
            continue;
        if (repeated && tk_merge_rank(m, e->left, e->right, &product) != e->rank)
            continue;
        if (proves(m, trees, e))
            set_proven(bpe, trees, e->product, (tree){ e->left, e->right, e->rank });
    }
}

/* ---- both at once ---- */

#define LEFT_OUT ((uint32_t)1 << 31) /* in a rank */

_Static_assert(TK_RANK_END <= LEFT_OUT, "ranks have room for a bit");

/* Whether symbols come from their own characters alone, and a product has one text. No bytes stand
 * for characters here. */
static bool are_chars_alone(const tk_bpe *bpe)
{
    return bpe->prefix.len == 0 && bpe->suffix.len == 0 && !bpe->vocab->shared_ids;
}

/* How many groups of merges that make the same there are; 0: proofs cannot follow the merges: they
 * are not in the order of rank, or take the unknown token, which stands for any text. */
static uint32_t count_products(const tk_bpe *bpe, const tk_merge *merges, uint32_t count)
{
    td_id unk = bpe->has_unk && bpe->unk_known ? bpe->unk : TK_NO_ID;
    uint32_t n = 0;
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const tk_merge *e = &merges[i], *before = &merges[i - (i != 0)];
        n += i == 0 || e->product != before->product;
        good &= (e->rank >= before->rank) & (e->left != unk) & (e->right != unk);
    }
    return good && count != 0 && tk_merges_fit(merges[count - 1].rank, bpe->vocab->id_end) ? n : 0;
}

typedef enum outcome {
    DONE,
    NOT_SO, /* these are none of the usual merges */
    NO_MEMORY,
} outcome;

static inline outcome put_one(tk_merges *m, const tk_merge *e)
{
    bool crowded;
    if (!tk_merges_put(m, e, &crowded))
        return NO_MEMORY;
    return crowded ? NOT_SO : DONE;
}

typedef struct filling {
    tk_bpe *bpe;
    tree *trees;
    tk_merge *merges;
    uint32_t count, left_out;
    uint32_t group, last; /* of the merges that make the same: the first, and the one that proves
                           * it, or NONE */
} filling;

#define NONE UINT32_MAX

/* Puts merges of a group that has no proof. */
static outcome put_group(filling *f, uint32_t end)
{
    outcome o = DONE;
    for (uint32_t k = f->group; k < end && f->last == NONE && o == DONE; k++)
        o = put_one(&f->bpe->merges, &f->merges[k]);
    return o;
}

/* Goes on to the group that begins at i. */
static outcome start_group(filling *f, uint32_t i)
{
    outcome o = put_group(f, i);
    f->group = i;
    f->last = NONE;
    /* Made by others before? */
    return tk_id_bit(f->bpe->merges.products, f->merges[i].product) ? NOT_SO : o;
}

/* Takes merge i as the one that is made. */
static outcome take_last(filling *f, uint32_t i)
{
    tk_merge *e = &f->merges[i];
    set_proven(f->bpe, f->trees, e->product, (tree){ e->left, e->right, e->rank });
    f->last = i;
    f->left_out += i - f->group;
    for (uint32_t k = f->group; k < i; k++)
        f->merges[k].rank |= LEFT_OUT;
    return put_one(&f->bpe->merges, e);
}

/* Leaves merge i out. */
static outcome leave_out(filling *f, uint32_t i)
{
    tk_merge *e = &f->merges[i];
    const tk_merge *last = &f->merges[f->last];
    e->rank |= LEFT_OUT;
    f->left_out++;
    /* The same once more? Then it is this one that counts. */
    return e->left == last->left && e->right == last->right ? NOT_SO : DONE;
}

static outcome put_groups(filling *f)
{
    const tk_merge *merges = f->merges;
    const tk_merges *m = &f->bpe->merges;
    outcome o = DONE;
    for (uint32_t i = 0; i < f->count && o == DONE; i++) {
        prefetch(m, f->trees, merges, i, f->count);
        if (i + AHEAD < f->count)
            tk_merge_prefetch(m, merges[i + AHEAD].left, merges[i + AHEAD].right);
        if (merges[i].product != merges[f->group].product || i == 0)
            o = start_group(f, i);
        if (o != DONE)
            break;
        if (f->last != NONE)
            o = leave_out(f, i);
        else if (proves(m, f->trees, &merges[i]))
            o = take_last(f, i);
    }
    return o == DONE ? put_group(f, f->count) : o;
}

/* Moves the merges that have been put to the front. */
static void close_gaps(tk_merge *merges, uint32_t count)
{
    for (uint32_t i = 0, n = 0; i < count; i++) {
        merges[n] = merges[i];
        n += (merges[i].rank & LEFT_OUT) == 0;
    }
}

/* Fills the table while it proves. */
static outcome fill_proving(tk_bpe *bpe, tree *trees, tk_merge *merges, uint32_t count)
{
    tk_merges *m = &bpe->merges;
    uint32_t products = are_chars_alone(bpe) ? count_products(bpe, merges, count) : 0;
    filling f = { bpe, trees, merges, count, 0, 0, NONE };
    if (products == 0 || products == count) /* there is nothing to leave out */
        return NOT_SO;
    if (!tk_merges_start(m, products, bpe->vocab->id_end))
        return NO_MEMORY;
    prove_chars(bpe, trees);
    outcome o = put_groups(&f);
    if (o != DONE) {
        for (uint32_t i = 0; i < count; i++)
            merges[i].rank &= ~LEFT_OUT;
        return o;
    }
    if (f.left_out != 0)
        close_gaps(merges, count);
    m->count += f.left_out;
    return tk_merges_end(m, merges, count - f.left_out, bpe->vocab->id_end) ? DONE : NO_MEMORY;
}

/* Starts anew with all merges. */
static td_code fill_all(tk_load *load, tk_bpe *bpe, const tk_merge *merges, uint32_t count)
{
    uint64_t *proven = bpe->merges.proven;
    for (uint32_t i = 0; i < count; i++)
        if (merges[i].rank >= TK_RANK_END)
            return td_fail(load->err, TD_E_LIMIT, "merges: a rank is not below 2^26");
    bpe->merges.proven = NULL;
    tk_merges_done(&bpe->merges);
    memset(proven, 0, (bpe->vocab->id_end / 64 + 1) * sizeof *proven);
    bpe->merges = (tk_merges){ .proven = proven };
    return tk_merges_fill(&bpe->merges, merges, count, bpe->vocab->id_end) ? TD_OK
                                                                           : tk_load_nomem(load);
}

static td_code fill(tk_load *load, tk_bpe *bpe, tree *trees, tk_merge *merges, uint32_t count)
{
    outcome o = fill_proving(bpe, trees, merges, count);
    if (o != NOT_SO)
        return o == DONE ? TD_OK : tk_load_nomem(load);
    TD_TRY(fill_all(load, bpe, merges, count));
    prove_chars(bpe, trees);
    prove_all(bpe, trees, merges, count);
    return TD_OK;
}

td_code tk_bpe_fill(tk_load *load, tk_bpe *bpe, tk_merge *merges, uint32_t count)
{
    size_t n = bpe->vocab->id_end;
    td_slab trees;
    bpe->merges.proven = td_calloc(n / 64 + 1, sizeof *bpe->merges.proven);
    if (bpe->merges.proven == NULL)
        return tk_load_nomem(load);
    if (bpe->byte_fallback) /* of no use there */
        return fill_all(load, bpe, merges, count);
    if (!td_slab_new(&trees, (n + 1) * sizeof(tree)))
        return tk_load_nomem(load);
    td_code code = fill(load, bpe, trees.ptr, merges, count);
    td_slab_free(&trees);
    return code;
}

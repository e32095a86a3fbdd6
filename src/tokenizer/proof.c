/* proof.c - finding the proofs of proof.h.
 *
 * Let T be the tree of an entry, with ranks that rise towards the root. While its text is merged,
 * suppose that all has followed T so far. Two neighbours u and v that are not the two parts of one
 * node of T meet at the boundary between two parts a and b of some node: u is on the right edge of
 * a, v on the left edge of b. If u's merge in T has a rank of at most that of (u, v), or v's a
 * smaller one, then such a merge, or one that leads to it and has a smaller rank still, is possible
 * now and comes first (of equal ranks the leftmost). So merging goes on along T. Along an edge
 * ranks rise, so only pairs have to be looked at that can be there at the same time. */
#include "tokenizer/proof.h"

#include "base/alloc.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 32, EDGE_MAX = 64 };

bool tk_proof_start(tk_proof *p, const tk_bpe *bpe, bool chars)
{
    const tk_merges *m = &bpe->merges;
    size_t n = (size_t)bpe->vocab->id_end + 1;
    p->bpe = bpe;
    p->chars = chars;
    p->parents = td_malloc(n * sizeof *p->parents);
    p->known = td_calloc(n, sizeof *p->known);
    if (p->parents == NULL || p->known == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        p->parents[i].rank = TK_NO_PARENT;
    for (size_t i = 0; i <= m->mask; i++) {
        const tk_merge *e = &m->slots[i];
        if (e->left == 0)
            continue;
        tk_parent *to = &p->parents[e->product];
        if (to->rank != TK_NO_PARENT)
            to->rank = TK_MANY_PARENTS;
        else
            *to = (tk_parent){ e->left - 1, e->right, e->rank };
    }
    return true;
}

void tk_proof_done(void *proof)
{
    tk_proof *p = proof;
    td_free(p->parents);
    td_free((void *)p->known);
}

void tk_proof_set_symbol(const tk_proof *p, td_id id)
{
    if (p->parents[id].rank == TK_NO_PARENT)
        atomic_store_explicit(&p->known[id], TK_PROOF_YES, memory_order_relaxed);
}

/* An edge of a tree: what stands at its end, from the symbol up to the root, and the rank that uses
 * each up. */
typedef struct edge {
    td_id ids[EDGE_MAX];
    uint32_t used[EDGE_MAX];
    uint32_t count;
} edge;

/* The edge of the tree of id; last: the right one. rank: of the merge that id is used in. */
static bool walk_edge(const tk_proof *p, td_id id, uint32_t rank, bool last, edge *ret)
{
    td_id ids[EDGE_MAX];
    uint32_t used[EDGE_MAX], n = 0;
    for (;;) {
        ids[n] = id;
        used[n++] = rank;
        const tk_parent *made = &p->parents[id];
        if (made->rank == TK_NO_PARENT)
            break;
        if (n == EDGE_MAX)
            return false;
        rank = made->rank;
        id = last ? made->right : made->left;
    }
    ret->count = n;
    for (uint32_t i = 0; i < n; i++) {
        ret->ids[i] = ids[n - 1 - i];
        ret->used[i] = used[n - 1 - i];
    }
    return true;
}

/* Whether no merge across the boundary between left and right comes before their own. */
static bool boundary_holds(const tk_proof *p, td_id left, td_id right, uint32_t rank)
{
    const tk_merges *m = &p->bpe->merges;
    edge a, b;
    if (!walk_edge(p, left, rank, true, &a) || !walk_edge(p, right, rank, false, &b))
        return false;
    for (uint32_t i = 0; i < a.count; i++) {
        uint32_t made = i == 0 ? 0 : a.used[i - 1];
        for (uint32_t j = 0; j < b.count; j++) {
            if (i + 1 == a.count && j + 1 == b.count)
                break; /* the two parts themselves */
            if (b.used[j] < made)
                continue; /* gone before a.ids[i] is there */
            if (j != 0 && a.used[i] < b.used[j - 1])
                break; /* not there before a.ids[i] is gone */
            td_id product;
            uint32_t across = tk_merge_rank(m, a.ids[i], b.ids[j], &product);
            if (across < a.used[i] && across <= b.used[j])
                return false;
        }
    }
    return true;
}

/* Whether an entry that no merge makes is a character. */
static bool is_char(const tk_bpe *bpe, td_id id)
{
    td_str s = tk_vocab_spell(bpe->vocab, id);
    const char *p = s.ptr;
    if (s.len == 0)
        return false;
    td_utf8_next(&p, s.ptr + s.len);
    return p == s.ptr + s.len;
}

static bool search(const tk_proof *p, td_id id, uint32_t depth)
{
    const tk_parent *made = &p->parents[id];
    if (made->rank == TK_NO_PARENT)
        return p->chars && is_char(p->bpe, id);
    if (made->rank >= TK_MANY_PARENTS || depth == DEPTH_MAX)
        return false;
    const tk_parent *left = &p->parents[made->left], *right = &p->parents[made->right];
    if ((left->rank != TK_NO_PARENT && left->rank >= made->rank) ||
        (right->rank != TK_NO_PARENT && right->rank >= made->rank))
        return false;
    return tk_proof_find(p, made->left, depth + 1) && tk_proof_find(p, made->right, depth + 1) &&
           boundary_holds(p, made->left, made->right, made->rank);
}

bool tk_proof_find(const tk_proof *p, td_id id, uint32_t depth)
{
    uint8_t known = atomic_load_explicit(&p->known[id], memory_order_relaxed);
    if (known != TK_PROOF_UNKNOWN)
        return known == TK_PROOF_YES;
    bool yes = search(p, id, depth);
    known = yes ? TK_PROOF_YES : TK_PROOF_NO;
    atomic_store_explicit(&p->known[id], known, memory_order_relaxed);
    return yes;
}

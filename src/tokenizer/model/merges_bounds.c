/* merges_bounds.c - what merges may do to a pair of bytes.
 *
 * A bound of the pair (p, a) is the least rank of all merges (X, a) where X is p or ends with p;
 * another one is that of all merges (p, Y) where Y is a or begins with a. As long as X and Y can
 * only be these (p and a are made by no merge), a stays what it is, seen from the left side, until
 * everything below the first bound has been merged, and p does, seen from the right side, until
 * everything below the second one has been.
 *
 * Ids that a merge takes at a rank that is not above the one at which another merge makes them are
 * hasty: to make them before their turn could be the wrong order. */
#include "tokenizer/model/merges.h"

enum {
    PASSES = 8, /* over what is late */
    AHEAD = 16,
    NEAR_PART = 256, /* a smaller part of all merges in the square is of no use */
};

/* All bits of both bounds. */
#define BOUNDS (~(uint64_t)0 >> (64 - TK_LEFT_BITS - TK_RIGHT_BITS) << TK_LEFT_AT)

/* The first and the last byte of an id, counted from 1: OTHER: any from there on; or both unknown,
 * which is 0. */
typedef struct edges {
    uint8_t first, last;
} edges;

enum { OTHER = UINT8_MAX };

typedef struct bounds {
    tk_merges *m;
    edges *edges;
    tk_merge *late; /* merges of ids whose edges were not known yet */
    uint32_t late_count, late_cap;
    uint32_t near; /* merges of two ids in the square */
    bool torn;     /* an id has several edges */
} bounds;

static inline bool is_known(edges e)
{
    return e.first != 0;
}

static inline void lower(uint64_t *pair, uint32_t at, uint32_t bits, uint32_t rank)
{
    uint64_t mask = (((uint64_t)1 << bits) - 1) << at, old = *pair & mask;
    uint64_t bound = (uint64_t)(tk_rank_code(rank) >> (16 - bits)) << at;
    *pair ^= old ^ (bound < old ? bound : old);
}

static inline void lower_both(bounds *b, const tk_merge *e, edges left, edges right)
{
    uint64_t *square = b->m->square;
    td_id end = b->m->square_end;
    b->near += (e->left < end) & (e->right < end);
    if (e->right < end && left.last != OTHER)
        lower(&square[(left.last - 1u) * TK_SQUARE + e->right], TK_LEFT_AT, TK_LEFT_BITS, e->rank);
    if (e->left < end && right.first != OTHER)
        lower(&square[e->left * TK_SQUARE + right.first - 1u], TK_RIGHT_AT, TK_RIGHT_BITS, e->rank);
}

static void set_hasty(tk_merges *m, td_id id)
{
    m->hasty[id >> 6] |= (uint64_t)1 << (id & 63);
    m->hurries = true;
}

/* An id of a merge, without edges: if no merge makes it, it is a symbol of its own. Otherwise it is
 * taken before it is made. */
static edges look(bounds *b, td_id id)
{
    edges *e = &b->edges[id];
    if (!is_known(*e) && !tk_id_bit(b->m->products, id))
        *e = (edges){ OTHER, OTHER };
    if (!is_known(*e))
        set_hasty(b->m, id);
    return *e;
}

/* false: out of memory. */
static bool put_late(bounds *b, const tk_merge *e)
{
    if (b->late_count == b->late_cap) {
        uint32_t cap = b->late_cap != 0 ? b->late_cap * 2 : 256;
        tk_merge *late = td_realloc(b->late, cap * sizeof *late);
        if (late == NULL)
            return false;
        b->late = late;
        b->late_cap = cap;
    }
    b->late[b->late_count++] = *e;
    return true;
}

/* The bounds that a merge sets, and the edges of what it makes. again: not for the first time, or
 * the merge before makes the same. false: out of memory. */
static inline bool add(bounds *b, const tk_merge *e, bool again)
{
    td_id end = b->m->square_end;
    edges left = b->edges[e->left], right = b->edges[e->right], *made = &b->edges[e->product];
    if (is_known(*made) && !again)
        set_hasty(b->m, e->product);
    if (__builtin_expect(!is_known(left) | !is_known(right), 0)) {
        left = look(b, e->left);
        right = look(b, e->right);
        if (!is_known(left) || !is_known(right))
            return put_late(b, e);
    }
    if ((e->left < end) | (e->right < end))
        lower_both(b, e, left, right);
    if (!is_known(*made))
        *made = (edges){ left.first, right.last };
    b->torn |= (made->first != left.first) | (made->last != right.last);
    return true;
}

/* Merges in the order of rank, those of one product together and alone with their rank: otherwise
 * there are no sweeps, or the product is hasty. */
static bool add_all(bounds *b, const tk_merge *merges, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        const tk_merge *e = &merges[i], *before = &merges[i - (i != 0)];
        if (i + AHEAD < count) {
            __builtin_prefetch(&b->edges[e[AHEAD].left]);
            __builtin_prefetch(&b->edges[e[AHEAD].right]);
        }
        bool same = e->product == before->product;
        good &= (e->rank > before->rank) | (same & (e->rank == before->rank));
        good &= (e->product != e->left) & (e->product != e->right);
        if (!add(b, e, same))
            return false;
    }
    b->m->swept &= good;
    return true;
}

/* What could not be added at its turn, until nothing is left of it. */
static bool add_late(bounds *b)
{
    for (int i = 0; i < PASSES && b->late_count != 0 && !b->torn; i++) {
        uint32_t n = b->late_count;
        b->late_count = 0;
        for (uint32_t k = 0; k < n; k++) {
            tk_merge e = b->late[k];
            if (!add(b, &e, true))
                return false;
        }
    }
    b->m->swept &= b->late_count == 0 && !b->torn;
    return true;
}

/* Ids that merges make may be made of anything: no bounds. end: of the ids in the square. */
static void finish(tk_merges *m, td_id end)
{
    for (td_id i = 0; i < end; i++) {
        for (td_id k = 0; k < end && (i + 1 >= OTHER || tk_id_bit(m->products, i)); k++) {
            m->square[i * TK_SQUARE + k] &= ~BOUNDS;
            m->square[k * TK_SQUARE + i] &= ~BOUNDS;
        }
        for (td_id k = 0; k < end && m->hurries; k++) {
            uint64_t *pair = &m->square[i * TK_SQUARE + k];
            tk_merged e = tk_merged_of(*pair);
            if (e.rank != UINT32_MAX && tk_id_bit(m->hasty, e.product))
                *pair |= (uint64_t)1 << TK_HASTY_AT;
        }
    }
}

bool tk_merges_bound(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end)
{
    size_t words = (size_t)id_end / 64 + 1;
    bounds b = { .m = m };
    b.edges = td_calloc((size_t)id_end + 1, sizeof *b.edges);
    m->hasty = td_calloc(words, sizeof *m->hasty);
    bool made = b.edges != NULL && m->hasty != NULL;
    if (made) {
        td_id end = m->square_end < id_end ? m->square_end : id_end;
        for (td_id id = 0; id < end; id++) {
            uint8_t edge = id + 1 < OTHER ? (uint8_t)(id + 1) : OTHER;
            if (!tk_id_bit(m->products, id))
                b.edges[id] = (edges){ edge, edge };
        }
        for (size_t i = 0; i < (size_t)TK_SQUARE * TK_SQUARE; i++)
            m->square[i] |= BOUNDS;
        m->swept = true;
        made = add_all(&b, merges, count) && add_late(&b);
        m->swept &= b.near >= count / NEAR_PART;
        finish(m, end);
    }
    td_free(b.edges);
    td_free(b.late);
    return made;
}

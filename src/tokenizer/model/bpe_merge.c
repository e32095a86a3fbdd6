/* bpe_merge.c - merging the symbols of one word by rank.
 *
 * Short words: the ranks of all adjacent pairs lie in an array, and all pairs of the lowest are
 * merged in one walk, as words with many symbols mostly repeat some. Long words: a heap of (rank,
 * position) over a linked list, which stays n log n whatever the word is; entries that have gone
 * stale are recognised when they come up, by the test that the reference uses. */
#include <string.h>

#include "base/thread.h"
#include "tokenizer/model/bpe.h"

enum { LOOK_EVERY = 1 << 16 }; /* steps between two looks at clock and flag */

enum { SCAN_MAX = 96, RUNS_MIN = 96 };

/* Symbols, and what their pairs with the next one become. */
typedef struct pairs {
    td_id *ids;
    uint32_t *lens;
    uint32_t ranks[SCAN_MAX];
    td_id products[SCAN_MAX];
} pairs;

static inline void look_up(const tk_merges *m, pairs *p, uint32_t at, uint32_t next)
{
    p->ranks[at] = tk_merge_rank(m, p->ids[at], p->ids[next], &p->products[at]);
}

/* Moves the symbols from from on to to, which is in front. Returns how many there are then. */
static uint32_t close_gap(pairs *p, uint32_t to, uint32_t from, uint32_t n)
{
    size_t rest = n - from;
    memmove(p->ids + to, p->ids + from, rest * sizeof *p->ids);
    memmove(p->lens + to, p->lens + from, rest * sizeof *p->lens);
    memmove(p->ranks + to, p->ranks + from, rest * sizeof *p->ranks);
    memmove(p->products + to, p->products + from, rest * sizeof *p->products);
    return n - (from - to);
}

/* Merges the pairs of the lowest rank from the left to the right, until a new pair comes before
 * those that are left. Returns how many symbols there are then. */
static uint32_t merge_rank(const tk_merges *m, pairs *p, uint32_t n, uint32_t best)
{
    uint32_t from = 0, to;
    while (p->ranks[from] != best)
        from++;
    for (to = from; from + 1 < n; to++) {
        if (p->ranks[from] != best) {
            p->ids[to] = p->ids[from];
            p->lens[to] = p->lens[from];
            p->ranks[to] = p->ranks[from];
            p->products[to] = p->products[from++];
            continue;
        }
        p->ids[to] = p->products[from];
        p->lens[to] = p->lens[from] + p->lens[from + 1];
        from += 2;
        p->ranks[to] = UINT32_MAX;
        if (from < n)
            look_up(m, p, to, from);
        if (to > 0)
            look_up(m, p, to - 1, to);
        if (p->ranks[to] <= best || (to > 0 && p->ranks[to - 1] <= best))
            return close_gap(p, to + 1, from, n);
    }
    return close_gap(p, to, from, n);
}

static void merge_short(const tk_merges *m, tk_symbols *s)
{
    pairs p;
    uint32_t n = s->count;
    p.ids = s->ids;
    p.lens = s->lens;
    for (uint32_t i = 0; i + 1 < n; i++)
        look_up(m, &p, i, i + 1);
    while (n > 1) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i + 1 < n; i++)
            best = p.ranks[i] < best ? p.ranks[i] : best;
        if (best == UINT32_MAX)
            break;
        n = merge_rank(m, &p, n, best);
    }
    s->count = n;
}

/* ---- long words ---- */

typedef struct entry {
    uint64_t key; /* rank << 32 | position */
    td_id product;
} entry;

typedef struct heap {
    entry *items;
    uint32_t count;
} heap;

static void sift_down(heap *h, uint32_t i, entry e)
{
    for (;;) {
        uint32_t child = 4 * i + 1;
        if (child >= h->count)
            break;
        uint32_t end = child + 4 < h->count ? child + 4 : h->count, best = child;
        for (uint32_t c = child + 1; c < end; c++)
            if (h->items[c].key < h->items[best].key)
                best = c;
        if (h->items[best].key >= e.key)
            break;
        h->items[i] = h->items[best];
        i = best;
    }
    h->items[i] = e;
}

static void push(heap *h, entry e)
{
    uint32_t i = h->count++;
    while (i > 0 && h->items[(i - 1) / 4].key > e.key) {
        h->items[i] = h->items[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->items[i] = e;
}

static entry pop(heap *h)
{
    entry top = h->items[0], last = h->items[--h->count];
    if (h->count != 0)
        sift_down(h, 0, last);
    return top;
}

#define NIL UINT32_MAX

typedef struct list {
    uint32_t *prev, *next;
} list;

static void push_pair(const tk_merges *m, heap *h, const tk_symbols *s, uint32_t left,
                      uint32_t right)
{
    td_id product;
    uint32_t rank = tk_merge_rank(m, s->ids[left], s->ids[right], &product);
    if (rank != UINT32_MAX)
        push(h, (entry){ (uint64_t)rank << 32 | left, product });
}

td_code tk_look_around(const tk_ctx *ctx, td_error *err)
{
    if (ctx->cancel != NULL && atomic_load_explicit(ctx->cancel, memory_order_relaxed))
        return td_fail(err, TD_E_TIMEOUT, "interrupted");
    if (ctx->deadline_ns != 0 && td_now_ns() > ctx->deadline_ns)
        return td_fail(err, TD_E_TIMEOUT, "the time of the item is up");
    return TD_OK;
}

static td_code run_heap(const tk_merges *m, const tk_ctx *ctx, heap *h, tk_symbols *s,
                        const list *l, td_error *err)
{
    for (uint32_t n = 1; h->count != 0; n++) {
        if (n % LOOK_EVERY == 0)
            TD_TRY(tk_look_around(ctx, err));
        entry top = pop(h);
        uint32_t at = (uint32_t)top.key, right = l->next[at];
        td_id product;
        if (s->lens[at] == 0 || right == NIL ||
            tk_merge_rank(m, s->ids[at], s->ids[right], &product) == UINT32_MAX ||
            product != top.product)
            continue;
        s->ids[at] = product;
        s->lens[at] += s->lens[right];
        s->lens[right] = 0;
        uint32_t next = l->next[right];
        l->next[at] = next;
        if (next != NIL)
            l->prev[next] = at;
        if (l->prev[at] != NIL)
            push_pair(m, h, s, l->prev[at], at);
        if (next != NIL)
            push_pair(m, h, s, at, next);
    }
    return TD_OK;
}

static td_code merge_long(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err)
{
    td_arena *a = &ctx->arena;
    uint32_t n = s->count;
    td_arena_mark mark = td_arena_save(a);
    /* Each merge takes one entry out and puts at most two in. */
    heap h = { td_arena_array(a, entry, (size_t)n * 2 + 2), 0 };
    list l = { td_arena_array(a, uint32_t, n), td_arena_array(a, uint32_t, n) };
    if (h.items == NULL || l.prev == NULL || l.next == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = 0; i < n; i++) {
        l.prev[i] = i == 0 ? NIL : i - 1;
        l.next[i] = i + 1 < n ? i + 1 : NIL;
        td_id product;
        uint32_t rank = UINT32_MAX;
        if (i + 1 < n)
            rank = tk_merge_rank(m, s->ids[i], s->ids[i + 1], &product);
        if (rank != UINT32_MAX)
            h.items[h.count++] = (entry){ (uint64_t)rank << 32 | i, product };
    }
    for (uint32_t i = h.count / 4 + 1; i-- > 0;)
        if (i < h.count)
            sift_down(&h, i, h.items[i]);
    TD_TRY(run_heap(m, ctx, &h, s, &l, err));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (s->lens[i] == 0)
            continue;
        s->ids[kept] = s->ids[i];
        s->lens[kept++] = s->lens[i];
    }
    s->count = kept;
    td_arena_rewind(a, mark);
    return TD_OK;
}

td_code tk_bpe_merge(const tk_bpe *bpe, tk_ctx *ctx, tk_symbols *s, td_error *err)
{
    /* With a subword prefix a product need not be longer than its parts, and where texts share an
     * id two pairs at one place may make the same: only the reference's own order of events is sure
     * then, in which an entry for the first pair may merge the second. */
    if (s->count <= SCAN_MAX && bpe->prefix.len == 0 && !bpe->vocab->shared_ids) {
        merge_short(&bpe->merges, s);
        return TD_OK;
    }
    if (s->count > RUNS_MIN && tk_bpe_can_run(bpe))
        return tk_bpe_merge_periods(&bpe->merges, ctx, s, err);
    return merge_long(&bpe->merges, ctx, s, err);
}

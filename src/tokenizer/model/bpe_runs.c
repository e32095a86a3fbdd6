/* bpe_runs.c - merging long words, whatever they are made of.
 *
 * Equal symbols in a row are one node with a count, so a million spaces are merged in a few steps.
 * Pairs wait in a bucket for each rank, from left to right; a heap of the buckets says which rank
 * is next. A bucket is filled nearly in order, so most of its pairs need no heap of their own: what
 * comes out of order goes into a second, small one. Pairs that are gone when their turn comes are
 * passed over.
 *
 * The order of events is that of the reference: lowest rank first, leftmost first. All pairs of a
 * row are merged at once only if nothing of lower rank can come up before the last of them. */
#include <string.h>

#include "base/alloc.h"
#include "tokenizer/model/bpe.h"

#define NIL UINT32_MAX

enum { LOOK_EVERY = 1 << 14, SLOTS_MIN = 64, AHEAD = 8 };

typedef struct node {
    td_id id;
    uint32_t count;      /* symbols; 0: the node is gone */
    uint32_t len;        /* bytes of each */
    uint32_t pos;        /* where the first begins, in bytes of the word */
    uint32_t prev, next;
} node;

/* Nodes by the place where they were when they came: pos << 32 | node. What a node loses at its
 * front since then changes nothing in the order. */
typedef struct places {
    uint64_t *items;
    uint32_t count, cap;
} places;

typedef struct bucket {
    uint32_t rank;
    places line; /* in order; taken from taken on */
    uint32_t taken;
    places heap; /* those that came late */
    bool queued;
} bucket;

typedef struct runs {
    const tk_merges *merges;
    tk_ctx *ctx;
    td_error *err;
    node *nodes;
    uint32_t node_count, node_cap;
    bucket *buckets;
    uint32_t bucket_count, bucket_cap;
    uint32_t last;   /* the bucket of the last pair */
    uint32_t *slots; /* rank -> bucket + 1; open addressing */
    uint32_t slot_mask;
    uint32_t *queue; /* heap of buckets by rank */
    uint32_t queued;
} runs;

/* ---- memory: all from the arena ---- */

/* Doubles an array of cap items; NULL after raising. */
static void *grow(runs *r, const void *items, uint32_t *cap, size_t size, uint32_t least)
{
    uint32_t more = *cap < least ? least : *cap * 2;
    void *to = *cap < UINT32_MAX / 2 ? td_arena_alloc_n(&r->ctx->arena, more, size, 8) : NULL;
    if (to == NULL) {
        td_arena_fail(&r->ctx->arena, r->err);
        return NULL;
    }
    td_expect_random(to, (size_t)more * size);
    if (items != NULL && *cap != 0)
        memcpy(to, items, (size_t)*cap * size);
    *cap = more;
    return to;
}

static td_code put_place(runs *r, places *p, uint64_t place)
{
    if (p->count == p->cap) {
        p->items = grow(r, p->items, &p->cap, sizeof *p->items, 4);
        if (p->items == NULL)
            return r->err->code;
    }
    p->items[p->count++] = place;
    return TD_OK;
}

static td_code add_node(runs *r, node n, uint32_t *ret)
{
    if (r->node_count == r->node_cap) {
        r->nodes = grow(r, r->nodes, &r->node_cap, sizeof n, 16);
        if (r->nodes == NULL)
            return r->err->code;
    }
    r->nodes[r->node_count] = n;
    *ret = r->node_count++;
    return TD_OK;
}

/* ---- buckets ---- */

static uint32_t slot_of(const runs *r, uint32_t rank)
{
    uint32_t at = rank * 0x9E3779B9u >> 7 & r->slot_mask;
    while (r->slots[at] != 0 && r->buckets[r->slots[at] - 1].rank != rank)
        at = (at + 1) & r->slot_mask;
    return at;
}

static td_code make_slots(runs *r, uint32_t count)
{
    r->slots = td_arena_array(&r->ctx->arena, uint32_t, count);
    if (r->slots == NULL)
        return td_arena_fail(&r->ctx->arena, r->err);
    memset(r->slots, 0, count * sizeof *r->slots);
    r->slot_mask = count - 1;
    for (uint32_t i = 0; i < r->bucket_count; i++)
        r->slots[slot_of(r, r->buckets[i].rank)] = i + 1;
    return TD_OK;
}

static td_code add_bucket(runs *r, bucket b, uint32_t *ret)
{
    if (r->bucket_count == r->bucket_cap) {
        uint32_t cap = r->bucket_cap;
        r->buckets = grow(r, r->buckets, &r->bucket_cap, sizeof b, SLOTS_MIN / 2);
        r->queue = r->buckets != NULL ? grow(r, r->queue, &cap, sizeof *r->queue, SLOTS_MIN / 2)
                                      : NULL;
        if (r->queue == NULL)
            return r->err->code;
        TD_TRY(make_slots(r, r->bucket_cap * 2));
    }
    r->buckets[r->bucket_count] = b;
    *ret = r->bucket_count++;
    r->slots[slot_of(r, b.rank)] = *ret + 1;
    return TD_OK;
}

static void queue_up(runs *r, uint32_t b)
{
    uint32_t i = r->queued++, rank = r->buckets[b].rank;
    for (; i > 0 && r->buckets[r->queue[(i - 1) / 2]].rank > rank; i = (i - 1) / 2)
        r->queue[i] = r->queue[(i - 1) / 2];
    r->queue[i] = b;
    r->buckets[b].queued = true;
}

/* Takes the first bucket out of the queue. */
static void drop_first(runs *r)
{
    r->buckets[r->queue[0]].queued = false;
    uint32_t last = r->queue[--r->queued], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < r->queued; i = child) {
        if (child + 1 < r->queued && r->buckets[r->queue[child + 1]].rank <
                                         r->buckets[r->queue[child]].rank)
            child++;
        if (r->buckets[r->queue[child]].rank >= r->buckets[last].rank)
            break;
        r->queue[i] = r->queue[child];
    }
    r->queue[i] = last;
}

static td_code put_late(runs *r, places *h, uint64_t place)
{
    TD_TRY(put_place(r, h, place));
    uint32_t i = h->count - 1;
    for (; i > 0 && h->items[(i - 1) / 2] > place; i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = place;
    return TD_OK;
}

static uint64_t take_late(places *h)
{
    uint64_t first = h->items[0], last = h->items[--h->count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && h->items[child + 1] < h->items[child])
            child++;
        if (h->items[child] >= last)
            break;
        h->items[i] = h->items[child];
    }
    h->items[i] = last;
    return first;
}

/* The leftmost place of a bucket; false: it is empty. */
static bool take_place(bucket *b, uint64_t *ret)
{
    bool line = b->taken < b->line.count;
    if (!line && b->heap.count == 0)
        return false;
    if (line && (b->heap.count == 0 || b->line.items[b->taken] <= b->heap.items[0]))
        *ret = b->line.items[b->taken++];
    else
        *ret = take_late(&b->heap);
    return true;
}

static uint32_t rank_of(const runs *r, td_id left, td_id right)
{
    td_id product;
    return tk_merge_rank(r->merges, left, right, &product);
}

/* Puts the pair of a node's symbol and right into its bucket, if it is merged at all. */
static td_code put_pair(runs *r, uint32_t at, td_id right)
{
    uint32_t rank = rank_of(r, r->nodes[at].id, right);
    if (rank == UINT32_MAX)
        return TD_OK;
    uint32_t which = r->last;
    if (which >= r->bucket_count || r->buckets[which].rank != rank) {
        which = r->slots[slot_of(r, rank)];
        if (which != 0)
            which--;
        else
            TD_TRY(add_bucket(r, (bucket){ .rank = rank }, &which));
        r->last = which;
    }
    bucket *b = &r->buckets[which];
    uint64_t place = (uint64_t)r->nodes[at].pos << 32 | at;
    if (b->line.count == 0 || b->line.items[b->line.count - 1] <= place)
        TD_TRY(put_place(r, &b->line, place));
    else
        TD_TRY(put_late(r, &b->heap, place));
    if (!b->queued)
        queue_up(r, which);
    return TD_OK;
}

static td_code put_inner(runs *r, uint32_t at)
{
    return r->nodes[at].count > 1 ? put_pair(r, at, r->nodes[at].id) : TD_OK;
}

static td_code put_outer(runs *r, uint32_t at)
{
    uint32_t next = at != NIL ? r->nodes[at].next : NIL;
    return next != NIL ? put_pair(r, at, r->nodes[next].id) : TD_OK;
}

/* ---- merging ---- */

static void unlink_node(runs *r, uint32_t at)
{
    node *n = &r->nodes[at];
    n->count = 0;
    if (n->prev != NIL)
        r->nodes[n->prev].next = n->next;
    if (n->next != NIL)
        r->nodes[n->next].prev = n->prev;
}

/* Puts a node of count symbols behind another. */
static td_code insert_behind(runs *r, uint32_t before, td_id id, uint32_t count, uint32_t len,
                             uint32_t *ret)
{
    const node *b = &r->nodes[before];
    node n = { .id = id, .count = count, .len = len, .prev = before, .next = b->next,
               .pos = b->pos + b->count * b->len };
    TD_TRY(add_node(r, n, ret));
    r->nodes[before].next = *ret;
    if (n.next != NIL)
        r->nodes[n.next].prev = *ret;
    return TD_OK;
}

static bool are_alike(const runs *r, uint32_t a, uint32_t b)
{
    return a != NIL && b != NIL && r->nodes[a].id == r->nodes[b].id &&
           r->nodes[a].len == r->nodes[b].len;
}

/* Joins a new node with equal neighbours, and puts the pairs that are new then. */
static td_code settle(runs *r, uint32_t at)
{
    uint32_t next = r->nodes[at].next, prev = r->nodes[at].prev;
    bool inner = r->nodes[at].count > 1;
    if (are_alike(r, at, next)) {
        inner = true;
        r->nodes[at].count += r->nodes[next].count;
        unlink_node(r, next);
    }
    if (are_alike(r, prev, at)) {
        inner = r->nodes[prev].count == 1; /* else it waits already */
        r->nodes[prev].count += r->nodes[at].count;
        unlink_node(r, at);
        at = prev;
    } else {
        TD_TRY(put_outer(r, prev));
    }
    if (inner)
        TD_TRY(put_inner(r, at));
    return put_outer(r, at);
}

/* Merges pairs inside a node: all of them, or the first when something may come in between. */
static td_code merge_inner(runs *r, uint32_t at, uint32_t rank, td_id product)
{
    node *n = &r->nodes[at];
    td_id id = n->id;
    uint32_t count = n->count, len = n->len, rest = count % 2, fresh = NIL;
    if (count > 3 &&
        (rank_of(r, product, id) <= rank || rank_of(r, product, product) <= rank ||
         (n->prev != NIL && rank_of(r, r->nodes[n->prev].id, product) <= rank)))
        rest = count - 2;
    n->id = product;
    n->count = (count - rest) / 2;
    n->len = len * 2;
    if (rest != 0) {
        TD_TRY(insert_behind(r, at, id, rest, len, &fresh));
        TD_TRY(put_inner(r, fresh));
        TD_TRY(put_outer(r, fresh));
    }
    return settle(r, at);
}

/* Merges the last symbol of a node with the first of the next one. */
static td_code merge_outer(runs *r, uint32_t at, td_id product)
{
    uint32_t right = r->nodes[at].next, made = at;
    node *x = &r->nodes[at], *y = &r->nodes[right];
    uint32_t len = x->len + y->len, pos = x->pos + (x->count - 1) * x->len;
    x->count--;
    y->count--;
    y->pos += y->len;
    bool left_stays = x->count != 0, right_stays = y->count != 0;
    if (left_stays && right_stays) {
        TD_TRY(insert_behind(r, at, product, 1, len, &made));
    } else {
        made = left_stays ? right : at;
        node *m = &r->nodes[made];
        m->id = product;
        m->count = 1;
        m->len = len;
        m->pos = pos;
        if (!left_stays && !right_stays)
            unlink_node(r, right);
    }
    return settle(r, made);
}

/* Merges the leftmost pair of this rank that a node has, if it still has one. */
static td_code merge_at(runs *r, uint32_t at, uint32_t rank)
{
    const node *n = &r->nodes[at];
    td_id product = TK_NO_ID;
    if (n->count > 1 && tk_merge_rank(r->merges, n->id, n->id, &product) == rank)
        return merge_inner(r, at, rank, product);
    if (n->count != 0 && n->next != NIL &&
        tk_merge_rank(r->merges, n->id, r->nodes[n->next].id, &product) == rank)
        return merge_outer(r, at, product);
    return TD_OK;
}

static td_code run(runs *r)
{
    for (uint32_t steps = 1; r->queued != 0; steps++) {
        bucket *b = &r->buckets[r->queue[0]];
        uint64_t place;
        if (steps % LOOK_EVERY == 0)
            TD_TRY(tk_look_around(r->ctx, r->err));
        if (!take_place(b, &place)) {
            drop_first(r);
            continue;
        }
        if (b->taken + AHEAD < b->line.count)
            __builtin_prefetch(&r->nodes[(uint32_t)b->line.items[b->taken + AHEAD]]);
        TD_TRY(merge_at(r, (uint32_t)place, b->rank));
    }
    return TD_OK;
}

/* Symbols to nodes, and their pairs. */
static td_code start(runs *r, const tk_symbols *s)
{
    uint32_t last = NIL, pos = 0, count = 1;
    for (uint32_t i = 1; i < s->count; i++)
        count += s->ids[i] != s->ids[i - 1] || s->lens[i] != s->lens[i - 1];
    r->nodes = grow(r, NULL, &r->node_cap, sizeof *r->nodes, count + count / 4 + 16);
    if (r->nodes == NULL)
        return r->err->code;
    for (uint32_t i = 0; i < s->count; pos += s->lens[i++]) {
        node n = { s->ids[i], 1, s->lens[i], pos, last, NIL };
        if (last != NIL && r->nodes[last].id == n.id && r->nodes[last].len == n.len) {
            r->nodes[last].count++;
            continue;
        }
        uint32_t at = NIL;
        TD_TRY(add_node(r, n, &at));
        if (last != NIL)
            r->nodes[last].next = at;
        last = at;
    }
    for (uint32_t i = 0, n = r->node_count; i < n; i++) {
        TD_TRY(put_inner(r, i));
        TD_TRY(put_outer(r, i));
    }
    return TD_OK;
}

/* Each id must be as long wherever it stands, and longer than its parts. */
bool tk_bpe_can_run(const tk_bpe *bpe)
{
    return bpe->prefix.len == 0 && !bpe->vocab->shared_ids &&
           !(bpe->has_unk && bpe->unk_known && tk_id_bit(bpe->merges.parts, bpe->unk));
}

td_code tk_bpe_merge_runs(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    runs r = { .merges = m, .ctx = ctx, .err = err };
    TD_TRY(make_slots(&r, SLOTS_MIN));
    TD_TRY(start(&r, s));
    TD_TRY(run(&r));
    s->count = 0;
    for (uint32_t at = r.node_count != 0 ? 0 : NIL; at != NIL; at = r.nodes[at].next) {
        const node *n = &r.nodes[at];
        for (uint32_t i = 0; i < n->count; i++) {
            s->ids[s->count] = n->id;
            s->lens[s->count++] = n->len;
        }
    }
    td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

/* prefix_trie.c - building the double array from sorted texts, depth first. */
#include "tokenizer/model/prefix_trie.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

enum {
    BLOCK = 256, /* places that one base reaches */
    LINE = 8,    /* nodes that lie in one line of the cache */
    TRIES = 12,  /* blocks where room is looked for, before there is a new one */
};

typedef struct sorted_text {
    uint64_t head; /* the first 8 bytes, so that comparing seldom needs the text */
    td_str text;
    uint32_t value;
} sorted_text;

/* A node that waits for its children: those of sorted texts, which are the same up to depth. */
typedef struct waiting {
    uint32_t node, low, high, depth;
} waiting;

/* Which places of a block are free and which bases in it have no children yet, a bit each. */
typedef struct room {
    uint64_t free[BLOCK / 64], bases[BLOCK / 64];
} room;

typedef struct builder {
    tk_prefix_trie *t;
    const sorted_text *texts;
    room *rooms;
    uint32_t blocks, cap; /* in use; that there is memory for */
    uint32_t hole;        /* blocks below it have no place */
    waiting *stack;
    uint32_t depth;
} builder;

/* The children of a node by their bytes, in order, and where the texts of each begin; of the one
 * behind them, where all end. */
typedef struct children {
    uint32_t count;
    uint8_t bytes[BLOCK];
    uint32_t from[BLOCK + 1];
} children;

static int by_text(const void *a, const void *b)
{
    const sorted_text *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    return td_str_cmp(x->text, y->text);
}

static uint64_t head_of(td_str s)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < s.len ? (unsigned char)s.ptr[i] : 0);
    return head;
}

void tk_prefix_trie_free(void *trie)
{
    tk_prefix_trie *t = trie;
    if (t == NULL)
        return;
    td_free(t->nodes);
    td_free(t->values);
    td_free(t);
}

/* ---- places ---- */

static bool make_room(builder *b, uint32_t blocks)
{
    size_t size = (size_t)blocks * BLOCK;
    if (size > TK_PREFIX_END)
        return false;
    tk_prefix_node *nodes = td_realloc(b->t->nodes, size * sizeof *nodes);
    if (nodes != NULL)
        b->t->nodes = nodes;
    room *rooms = td_realloc(b->rooms, blocks * sizeof *rooms);
    if (rooms != NULL)
        b->rooms = rooms;
    if (nodes == NULL || rooms == NULL)
        return false;
    b->cap = blocks;
    td_expect_random(nodes, size * sizeof *nodes);
    return true;
}

static bool add_block(builder *b)
{
    if (b->blocks == b->cap && !make_room(b, b->cap + b->cap / 2 + 1))
        return false;
    tk_prefix_node *nodes = b->t->nodes + (size_t)b->blocks * BLOCK;
    for (uint32_t i = 0; i < BLOCK; i++)
        nodes[i] = (tk_prefix_node){ 0, TK_PREFIX_FREE };
    memset(&b->rooms[b->blocks++], 0xFF, sizeof *b->rooms);
    return true;
}

static inline bool has_bit(const uint64_t *bits, uint32_t at)
{
    return (bits[at / 64] >> at % 64 & 1) != 0;
}

static inline void clear_bit(uint64_t *bits, uint32_t at)
{
    bits[at / 64] &= ~((uint64_t)1 << at % 64);
}

static bool is_full(const room *r)
{
    return (r->free[0] | r->free[1] | r->free[2] | r->free[3]) == 0;
}

static void occupy(builder *b, uint32_t node)
{
    clear_bit(b->rooms[node / BLOCK].free, node % BLOCK);
}

/* A base of a block at which all children find room; false: there is none. */
static bool find_base(const room *r, const children *c, uint32_t *ret)
{
    for (uint32_t k = 0; k < BLOCK / 64; k++) {
        for (uint64_t rest = r->free[k]; rest != 0; rest &= rest - 1) {
            uint32_t base = (64 * k + (uint32_t)__builtin_ctzll(rest)) ^ c->bytes[0], i = 1;
            if (!has_bit(r->bases, base))
                continue;
            while (i < c->count && has_bit(r->free, base ^ c->bytes[i]))
                i++;
            if (i >= c->count) {
                *ret = base;
                return true;
            }
        }
    }
    return false;
}

/* The same for one child beside its parent; false: all places there are taken. */
static bool find_near(const builder *b, uint32_t parent, const children *c, uint32_t *ret)
{
    uint32_t line = parent / LINE * LINE, at = line % BLOCK;
    const room *r = &b->rooms[line / BLOCK];
    uint64_t free = r->free[at / 64] >> at % 64 & ((1u << LINE) - 1);
    if (c->count != 1 || free == 0)
        return false;
    *ret = (line + (uint32_t)__builtin_ctzll(free)) ^ c->bytes[0];
    return has_bit(r->bases, *ret % BLOCK);
}

static bool find_in(const builder *b, uint32_t block, const children *c, uint32_t *ret)
{
    if (!find_base(&b->rooms[block], c, ret))
        return false;
    *ret += block * BLOCK;
    return true;
}

/* A base for the children of a node: near it, in the last blocks, or for few, which fit nearly
 * everywhere, in the first ones that have room; or in a new one. false: out of memory. */
static bool choose_base(builder *b, uint32_t node, const children *c, uint32_t *ret)
{
    if (find_near(b, node, c, ret) || find_in(b, node / BLOCK, c, ret))
        return true;
    while (b->hole < b->blocks && is_full(&b->rooms[b->hole]))
        b->hole++;
    for (uint32_t i = 0; i < TRIES && i < b->blocks; i++)
        if (find_in(b, b->blocks - 1 - i, c, ret))
            return true;
    for (uint32_t i = b->hole; c->count < 3 && i < b->hole + TRIES && i < b->blocks; i++)
        if (find_in(b, i, c, ret))
            return true;
    return add_block(b) && find_in(b, b->blocks - 1, c, ret);
}

/* ---- nodes ---- */

/* What lies below a node, which is marked if a text ends there. */
static void part(const builder *b, waiting w, children *ret)
{
    const sorted_text *s = b->texts;
    for (; w.low < w.high && s[w.low].text.len == w.depth; w.low++)
        if (w.node != 0) /* the empty text is nobody's prefix here */
            b->t->nodes[w.node].base |= TK_PREFIX_END;
    ret->count = 0;
    for (uint32_t i = w.low; i < w.high; i++) {
        uint8_t byte = (uint8_t)s[i].text.ptr[w.depth];
        if (ret->count != 0 && ret->bytes[ret->count - 1] == byte)
            continue;
        ret->bytes[ret->count] = byte;
        ret->from[ret->count++] = i;
    }
    ret->from[ret->count] = w.high;
}

static bool build(builder *b, uint32_t count)
{
    if (!add_block(b))
        return false;
    occupy(b, 0);
    b->stack[b->depth++] = (waiting){ 0, 0, count, 0 };
    while (b->depth != 0) {
        waiting w = b->stack[--b->depth];
        children c;
        uint32_t base;
        part(b, w, &c);
        if (c.count == 0)
            continue;
        if (!choose_base(b, w.node, &c, &base))
            return false;
        b->t->nodes[w.node].base |= base;
        clear_bit(b->rooms[base / BLOCK].bases, base % BLOCK);
        for (uint32_t i = c.count; i-- > 0;) { /* the first one is the next */
            uint32_t node = base ^ c.bytes[i];
            occupy(b, node);
            b->t->nodes[node].parent = w.node;
            b->stack[b->depth++] = (waiting){ node, c.from[i], c.from[i + 1], w.depth + 1 };
        }
    }
    return true;
}

/* By walking once more: while nodes are built it is not known how many there will be. */
static bool set_values(tk_prefix_trie *t, const sorted_text *s, uint32_t count)
{
    t->values = td_calloc(t->size, sizeof *t->values);
    if (t->values == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = 0;
        for (size_t k = 0; k < s[i].text.len; k++)
            node = tk_prefix_step(t, node, (uint8_t)s[i].text.ptr[k]);
        t->values[node] = s[i].value;
    }
    return true;
}

tk_prefix_trie *tk_prefix_trie_new(const td_str *texts, const uint32_t *values, uint32_t count)
{
    builder b = { .t = td_calloc(1, sizeof *b.t) };
    sorted_text *s = td_calloc(count != 0 ? count : 1, sizeof *s);
    bool ok = b.t != NULL && s != NULL;
    if (ok) {
        for (uint32_t i = 0; i < count; i++)
            s[i] = (sorted_text){ head_of(texts[i]), texts[i], values[i] };
        qsort(s, count, sizeof *s, by_text);
        b.texts = s;
        b.stack = td_calloc((size_t)count + 1, sizeof *b.stack); /* each has texts of its own */
        ok = b.stack != NULL && make_room(&b, count / BLOCK * 3 + 1) && build(&b, count);
    }
    if (ok) {
        b.t->size = b.blocks * BLOCK;
        ok = set_values(b.t, s, count);
    }
    td_free(s);
    td_free(b.rooms);
    td_free(b.stack);
    if (ok)
        return b.t;
    tk_prefix_trie_free(b.t);
    return NULL;
}

tk_prefix_trie *tk_prefix_trie_of(const tk_vocab *vocab)
{
    tk_prefix_trie *t = NULL;
    td_str *texts = td_calloc((size_t)vocab->count + 1, sizeof *texts);
    td_id *ids = td_calloc((size_t)vocab->count + 1, sizeof *ids);
    uint32_t n = 0;
    if (texts != NULL && ids != NULL) {
        for (uint32_t at = 0; at < vocab->size; at = tk_vocab_next(vocab, at)) {
            texts[n] = tk_vocab_text(vocab, at);
            ids[n++] = tk_vocab_head_at(vocab, at).id;
        }
        t = tk_prefix_trie_new(texts, ids, n);
    }
    td_free(texts);
    td_free(ids);
    return t;
}

/* cache.c - the word cache of an encoder: bounded, lossy, never in the way.
 *
 * Short words live in a table of pairs, one cache line each: a new word takes an empty place of
 * its pair, or of another one that its hash names, or the second one of its own, so words that
 * come often stay in the first. The table starts small (a process that counts one prompt must not
 * pay for megabytes) and grows once. The ids of short words that have many lie in a block of their
 * own, which is emptied when full. Long words live elsewhere (long_words.c). */
#include <string.h>

#include "tokenizer/long_words.h"
#include "tokenizer/model/bpe_lanes.h"

enum {
    PAIRS_SMALL = 1 << 11,
    PAIRS_FULL = 1 << 16, /* 4 MiB */
    MORE_IDS = 1 << 18,   /* 1 MiB */
};

static inline bool is_empty(const tk_pair *p, int i)
{
    return (p->keys[i][0] | p->keys[i][1]) == 0;
}

/* Puts a word where a new one goes. */
static void place(const tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids)
{
    tk_pair *to = tk_own_pair(c, hash), *other = tk_other_pair(c, hash);
    int i = !is_empty(to, 0);
    if (i == 1 && !is_empty(to, 1) && is_empty(other, 1)) {
        to = other;
        i = !is_empty(to, 0);
    }
    memcpy(to->keys[i], key, sizeof to->keys[i]);
    memcpy(to->ids[i], ids, sizeof to->ids[i]);
}

static bool set_pairs(tk_cache *c, uint32_t pairs)
{
    td_slab table;
    if (!td_slab_new(&table, (size_t)pairs * sizeof(tk_pair)))
        return false;
    tk_cache old = *c;
    c->table = table;
    c->pairs = table.ptr;
    c->own_mask = (pairs - 1) * (uint32_t)sizeof(tk_pair);
    c->inserted = 0;
    for (size_t k = 0; old.pairs != NULL && k <= old.own_mask / sizeof(tk_pair); k++) {
        const tk_pair *p = &old.pairs[k];
        for (int i = 0; i < 2; i++)
            if (!is_empty(p, i))
                place(c, p->keys[i], c->hash(p->keys[i]), p->ids[i]);
    }
    td_slab_free(&old.table);
    return true;
}

bool tk_cache_start(tk_cache *c, uint32_t (*hash)(const uint64_t key[2]))
{
    c->hash = hash;
    return c->pairs != NULL || set_pairs(c, PAIRS_SMALL);
}

void tk_cache_done(tk_cache *c)
{
    td_slab_free(&c->table);
    td_free(c->more);
    tk_long_done(c);
    *c = (tk_cache){ 0 };
}

size_t tk_cache_bytes(const tk_cache *c)
{
    size_t n = c->pairs != NULL ? c->own_mask + sizeof(tk_pair) : 0;
    n += c->more != NULL ? MORE_IDS * sizeof *c->more : 0;
    return n + tk_long_bytes(c);
}

const td_id *tk_cache_find(const tk_cache *c, const uint64_t key[2], uint32_t hash, td_id *ids,
                           uint32_t *ret_count)
{
    const tk_pair *pairs[2] = { tk_own_pair(c, hash), tk_other_pair(c, hash) };
    for (int k = 0; k < 4; k++) {
        const uint64_t *there = pairs[k / 2]->keys[k % 2];
        const td_id *e = pairs[k / 2]->ids[k % 2];
        td_id low = e[0] & (((td_id)1 << TK_COUNT_SHIFT) - 1);
        if (((there[0] ^ key[0]) | (there[1] ^ key[1])) != 0)
            continue;
        *ret_count = e[0] >> TK_COUNT_SHIFT;
        if (*ret_count > TK_CACHED_IDS)
            return c->more + low;
        memcpy(ids, e, TK_CACHED_IDS * sizeof *ids);
        ids[0] = low;
        return ids;
    }
    return NULL;
}

/* Empties the block of many, and forgets the words whose ids lie there. */
static void forget_more(tk_cache *c)
{
    for (size_t k = 0; k <= c->own_mask / sizeof(tk_pair); k++)
        for (int i = 0; i < 2; i++)
            if (c->pairs[k].ids[i][0] >> TK_COUNT_SHIFT > TK_CACHED_IDS)
                memset(c->pairs[k].keys[i], 0, sizeof c->pairs[k].keys[i]);
    c->more_len = 0;
}

/* Puts ids into the block of many; *ret: what tells where they are. */
static bool put_more(tk_cache *c, const td_id *ids, uint32_t count, td_id *ret)
{
    if (c->more == NULL)
        c->more = td_malloc((MORE_IDS + TK_LANE_SHORT) * sizeof *c->more);
    if (c->more == NULL)
        return false;
    if (count > MORE_IDS - c->more_len)
        forget_more(c);
    memcpy(c->more + c->more_len, ids, count * sizeof *ids);
    *ret = count << TK_COUNT_SHIFT | c->more_len;
    c->more_len += count;
    return true;
}

void tk_cache_put(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids,
                  uint32_t count)
{
    if (c->off)
        return;
    if (c->inserted >= c->own_mask / sizeof(tk_pair) / 2 &&
        c->own_mask / sizeof(tk_pair) + 1 < PAIRS_FULL)
        set_pairs(c, PAIRS_FULL); /* out of memory: the small one serves on */
    td_id e[TK_CACHED_IDS] = { 0 };
    if (count > TK_CACHED_IDS) {
        if (!put_more(c, ids, count, e))
            return;
    } else {
        memcpy(e, ids, count * sizeof *ids);
        e[0] |= count << TK_COUNT_SHIFT;
    }
    place(c, key, hash, e);
    c->inserted++;
}

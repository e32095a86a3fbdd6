/* cache.c - the word cache of an encoder: bounded, lossy, never in the way.
 *
 * Short words live in a table of pairs, one cache line each: a new word takes an empty place of
 * its pair, or of another one that its hash names, or the second one of its own, so words that
 * come often stay in the first. The table starts small (a process that counts one prompt must not
 * pay for megabytes) and grows once. The ids of short words that have many lie in a block of their
 * own, which is emptied when full. Long words live elsewhere (long_words.c). */
#include <string.h>

#include "tokenizer/fast_miss.h"
#include "tokenizer/long_words.h"

enum {
    PAIRS_SMALL = 1 << 11,
    PAIRS_FULL = 1 << 16, /* 4 MiB */
    MORE_IDS = 1 << 18,   /* 1 MiB */
};

static inline bool is_empty(const tk_pair *p, int i)
{
    return (p->keys[i][0] | p->keys[i][1]) == 0;
}

/* Where a new word goes. */
static uint32_t place_for(const tk_cache *c, uint32_t hash)
{
    static const uint64_t none[2] = { 0, 0 };
    uint32_t place = tk_place_in(c, tk_own_pair(c, hash), none);
    if (place == 0)
        place = tk_place_in(c, tk_other_pair(c, hash), none);
    return place != 0 ? place : (hash & c->own_mask) + (uint32_t)offsetof(tk_pair, ids[1]);
}

/* Puts a word where a new one goes. */
static uint32_t place(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids)
{
    uint32_t to = place_for(c, hash);
    uint64_t *there = tk_place_key(c, to);
    c->moved += (there[0] | there[1]) != 0;
    memcpy(there, key, sizeof(uint64_t[2]));
    memcpy(tk_place_ids(c, to), ids, TK_CACHED_IDS * sizeof *ids);
    return to;
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
    c->moved++;
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
    td_slab_free(&c->room);
    td_free(c->more);
    tk_long_done(c);
    *c = (tk_cache){ 0 };
}

size_t tk_cache_bytes(const tk_cache *c)
{
    size_t n = c->pairs != NULL ? c->own_mask + sizeof(tk_pair) : 0;
    n += c->more != NULL ? MORE_IDS * sizeof *c->more : 0;
    n += c->room.ptr != NULL ? tk_fresh_bytes() : 0;
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
    c->moved++;
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
    memcpy(c->more + c->more_len, ids, TK_LANE_SHORT * sizeof *ids);
    *ret = count << TK_COUNT_SHIFT | c->more_len;
    c->more_len += count;
    return true;
}

void tk_cache_grow(tk_cache *c)
{
    if (c->inserted >= c->own_mask / sizeof(tk_pair) / 2 &&
        c->own_mask / sizeof(tk_pair) + 1 < PAIRS_FULL)
        set_pairs(c, PAIRS_FULL); /* out of memory: the small one serves on */
}

/* Ids as the table has them, in e. false: there is no memory for so many. */
static inline bool write_ids(tk_cache *c, const td_id *ids, uint32_t count, td_id *e)
{
    memset(e, 0, TK_CACHED_IDS * sizeof *e);
    if (count > TK_CACHED_IDS)
        return put_more(c, ids, count, e);
    /* Copies of a size that is known, the first and the last two. */
    e[0] = ids[0];
    if (count > 1) {
        memcpy(e, ids, 2 * sizeof *ids);
        memcpy(e + count - 2, ids + count - 2, 2 * sizeof *ids);
    }
    e[0] |= count << TK_COUNT_SHIFT;
    return true;
}

void tk_cache_put(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids,
                  uint32_t count)
{
    td_id e[TK_CACHED_IDS];
    if (c->off)
        return;
    tk_cache_grow(c);
    if (!write_ids(c, ids, count, e))
        return;
    place(c, key, hash, e);
    c->inserted++;
}

uint32_t tk_cache_reserve(tk_cache *c, const uint64_t key[2], uint32_t hash)
{
    static const td_id none[TK_CACHED_IDS];
    c->inserted++;
    return place(c, key, hash, none);
}

void tk_cache_fill(tk_cache *c, uint32_t at, const uint64_t key[2], uint32_t hash,
                   const td_id *ids, uint32_t count)
{
    td_id e[TK_CACHED_IDS];
    bool written = write_ids(c, ids, count, e), there = tk_same_key(tk_place_key(c, at), key);
    if (written && there)
        memcpy(tk_place_ids(c, at), e, sizeof e);
    else if (written)
        place(c, key, hash, e);
    else if (there) { /* it has no place any more */
        memset(tk_place_key(c, at), 0, sizeof(uint64_t[2]));
        c->moved++;
    }
}

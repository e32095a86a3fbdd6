/* cache.c - the word cache of an encoder: bounded, lossy, never in the way.
 *
 * Short words live in a table of pairs, one cache line each: a new word takes an empty place of
 * its pair, or of another one that its hash names, or the second one of its own, so words that
 * come often stay in the first. The table starts small (a process that counts one prompt must not
 * pay for megabytes) and grows once. The ids of short words that have many lie in a block of their
 * own; long words live as records. Both are emptied when full. */
#include <string.h>

#include "tokenizer/key.h"
#include "tokenizer/model/bpe_lanes.h"

enum {
    PAIRS_SMALL = 1 << 11,
    PAIRS_FULL = 1 << 16, /* 4 MiB */
    MORE_IDS = 1 << 18,   /* 1 MiB */
    LONG_SLOTS = 1 << 16, /* 512 KiB */
    LONG_WORDS = 1 << 19, /* 2 MiB of records */
};

/* The pair that a word belongs to, and the other one that it may be in. Words that share the first
 * have different others: a few crowded places are not fought for while the table is half empty. */
static inline tk_cached *own_pair(const tk_cache *c, uint32_t hash)
{
    return &c->slots[(size_t)2 * (hash & c->pair_mask)];
}

static inline tk_cached *other_pair(const tk_cache *c, uint32_t hash)
{
    return &c->slots[(size_t)2 * ((hash ^ (hash >> 16 | 1)) & c->pair_mask)];
}

static inline bool is_empty(const tk_cached *e)
{
    return (e->key[0] | e->key[1]) == 0;
}

static inline bool has_key(const tk_cached *e, uint64_t low, uint64_t high)
{
    return ((e->key[0] ^ low) | (e->key[1] ^ high)) == 0;
}

/* Where a new word goes. */
static tk_cached *place_for(const tk_cache *c, uint32_t hash)
{
    tk_cached *own = own_pair(c, hash), *other = other_pair(c, hash);
    if (is_empty(&own[0]))
        return &own[0];
    if (is_empty(&own[1]) || !is_empty(&other[1]))
        return &own[1];
    return &other[is_empty(&other[0]) ? 0 : 1];
}

static bool set_pairs(tk_cache *c, uint32_t pairs)
{
    td_slab table;
    if (!td_slab_new(&table, (size_t)pairs * 2 * sizeof(tk_cached)))
        return false;
    tk_cache old = *c;
    c->table = table;
    c->slots = table.ptr;
    c->pair_mask = pairs - 1;
    c->inserted = 0;
    for (size_t i = 0; old.slots != NULL && i < ((size_t)old.pair_mask + 1) * 2; i++) {
        const tk_cached *e = &old.slots[i];
        uint64_t high = e->key[1] & ~((uint64_t)TK_KEY_MORE << 56);
        if (!is_empty(e))
            *place_for(c, tk_key_hash(e->key[0], high)) = *e;
    }
    td_slab_free(&old.table);
    return true;
}

bool tk_cache_start(tk_cache *c)
{
    return c->slots != NULL || set_pairs(c, PAIRS_SMALL);
}

void tk_cache_done(tk_cache *c)
{
    td_slab_free(&c->table);
    td_free(c->more);
    td_free(c->long_slots);
    td_free(c->records);
    *c = (tk_cache){ 0 };
}

size_t tk_cache_bytes(const tk_cache *c)
{
    size_t n = c->slots != NULL ? ((size_t)c->pair_mask + 1) * 2 * sizeof(tk_cached) : 0;
    n += c->more != NULL ? MORE_IDS * sizeof *c->more : 0;
    return c->records != NULL ? n + LONG_SLOTS * sizeof(tk_long_slot) + LONG_WORDS * 4 : n;
}

const td_id *tk_cache_find(const tk_cache *c, const uint64_t key[2], uint32_t hash, td_id *ids,
                           uint32_t *ret_count)
{
    const tk_cached *pairs[2] = { own_pair(c, hash), other_pair(c, hash) };
    uint64_t many = key[1] | (uint64_t)TK_KEY_MORE << 56;
    for (int i = 0; i < 4; i++) {
        const tk_cached *e = &pairs[i / 2][i % 2];
        if (has_key(e, key[0], key[1])) {
            memcpy(ids, e->ids, sizeof e->ids);
            ids[0] &= ((td_id)1 << TK_COUNT_SHIFT) - 1;
            *ret_count = e->ids[0] >> TK_COUNT_SHIFT;
            return ids;
        }
        if (has_key(e, key[0], many) && e->ids[2] == c->more_epoch) {
            *ret_count = e->ids[0];
            return c->more + e->ids[1];
        }
    }
    return NULL;
}

/* Puts ids into the block of many, and what tells where they are into to. */
static bool put_more(tk_cache *c, const td_id *ids, uint32_t count, td_id *to)
{
    if (c->more == NULL)
        c->more = td_malloc((MORE_IDS + TK_LANE_SHORT) * sizeof *c->more);
    if (c->more == NULL)
        return false;
    if (count > MORE_IDS - c->more_len) {
        c->more_len = 0;
        c->more_epoch++; /* what lay there is known to be gone */
    }
    memcpy(c->more + c->more_len, ids, count * sizeof *ids);
    to[0] = count;
    to[1] = c->more_len;
    to[2] = c->more_epoch;
    to[3] = 0;
    c->more_len += count;
    return true;
}

void tk_cache_put(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids,
                  uint32_t count)
{
    if (c->off)
        return;
    if (c->inserted >= c->pair_mask / 2 && c->pair_mask + 1 < PAIRS_FULL)
        set_pairs(c, PAIRS_FULL); /* out of memory: the small one serves on */
    tk_cached e = { { key[0], key[1] }, { 0 } };
    if (count > TK_CACHED_IDS) {
        e.key[1] |= (uint64_t)TK_KEY_MORE << 56;
        if (!put_more(c, ids, count, e.ids))
            return;
    } else {
        memcpy(e.ids, ids, count * sizeof *ids);
        e.ids[0] |= count << TK_COUNT_SHIFT;
    }
    *place_for(c, hash) = e;
    c->inserted++;
}

const td_id *tk_cache_find_long(const tk_cache *c, td_str word, uint64_t hash, uint32_t *ret_count)
{
    if (c->records == NULL)
        return NULL;
    for (uint32_t at = (uint32_t)hash % LONG_SLOTS;; at = (at + 1) % LONG_SLOTS) {
        const tk_long_slot *s = &c->long_slots[at];
        if (s->at == 0)
            return NULL;
        const uint32_t *r = c->records + s->at - 1;
        if (s->tag == (uint32_t)(hash >> 32) && r[0] == word.len &&
            memcmp(r + 2, word.ptr, word.len) == 0) {
            *ret_count = r[1];
            return r + 2 + (word.len + 3) / 4;
        }
    }
}

void tk_cache_put_long(tk_cache *c, td_str word, uint64_t hash, const td_id *ids, uint32_t count)
{
    if (c->off || word.len > TK_RECORD_BYTES)
        return;
    if (c->records == NULL) {
        c->long_slots = td_calloc(LONG_SLOTS, sizeof *c->long_slots);
        c->records = td_malloc(LONG_WORDS * sizeof *c->records);
        if (c->long_slots == NULL || c->records == NULL) {
            td_free(c->long_slots);
            td_free(c->records);
            c->long_slots = NULL;
            c->records = NULL;
            return;
        }
    }
    uint32_t words = (uint32_t)(word.len + 3) / 4, need = 2 + words + count;
    if (need > LONG_WORDS - c->records_len || c->long_count >= LONG_SLOTS / 2) {
        memset(c->long_slots, 0, LONG_SLOTS * sizeof *c->long_slots);
        c->records_len = c->long_count = 0;
    }
    uint32_t *r = c->records + c->records_len;
    r[0] = (uint32_t)word.len;
    r[1] = count;
    memcpy(r + 2, word.ptr, word.len);
    memcpy(r + 2 + words, ids, count * sizeof *ids);
    uint32_t at = (uint32_t)hash % LONG_SLOTS;
    while (c->long_slots[at].at != 0)
        at = (at + 1) % LONG_SLOTS;
    c->long_slots[at] = (tk_long_slot){ (uint32_t)(hash >> 32), c->records_len + 1 };
    c->records_len += need;
    c->long_count++;
}

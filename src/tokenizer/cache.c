/* cache.c - the word cache of an encoder: bounded, lossy, never in the way.
 *
 * Short words live in a table of pairs, one cache line each: a new word takes an empty place of
 * its pair, or of the pair beside it, or the second one of its own, so words that come often stay
 * in the first. The table starts small
 * (a process that counts one prompt must not pay for megabytes) and grows once. Words that are too
 * long for it, or have too many ids, live as records in a block that is emptied when full. */
#include <string.h>

#include "base/alloc.h"
#include "tokenizer/fast.h"

enum {
    PAIRS_SMALL = 1 << 11,
    PAIRS_FULL = 1 << 16, /* 4 MiB */
    LONG_SLOTS = 1 << 14,
    LONG_WORDS = 1 << 18, /* 1 MiB of records */
    LONG_BYTES_MAX = 256,
};

static bool set_pairs(tk_cache *c, uint32_t pairs)
{
    void *block = td_calloc((size_t)pairs * 2 + 2, sizeof(tk_cached));
    if (block == NULL)
        return false;
    td_expect_random(block, ((size_t)pairs * 2 + 2) * sizeof(tk_cached));
    td_free(c->block);
    c->block = block;
    c->slots = (tk_cached *)(((uintptr_t)block + 63) & ~(uintptr_t)63);
    c->pair_mask = pairs - 1;
    c->inserted = 0;
    return true;
}

bool tk_cache_start(tk_cache *c)
{
    return c->slots != NULL || set_pairs(c, PAIRS_SMALL);
}

void tk_cache_done(tk_cache *c)
{
    td_free(c->block);
    td_free(c->long_slots);
    td_free(c->records);
    *c = (tk_cache){ 0 };
}

size_t tk_cache_bytes(const tk_cache *c)
{
    size_t n = c->slots != NULL ? ((size_t)c->pair_mask + 1) * 2 * sizeof(tk_cached) : 0;
    return c->records != NULL ? n + LONG_SLOTS * sizeof(tk_long_slot) + LONG_WORDS * 4 : n;
}

/* The other pair that a word may be in: the neighbouring line, which comes along from memory. */
static tk_cached *aside(const tk_cache *c, uint32_t hash)
{
    return &c->slots[2 * ((hash & c->pair_mask) ^ 1)];
}

static inline bool is_empty(const tk_cached *e)
{
    return (e->key[0] | e->key[1]) == 0;
}

const tk_cached *tk_cache_find_aside(const tk_cache *c, const uint64_t key[2], uint32_t hash)
{
    const tk_cached *pair = aside(c, hash);
    for (int i = 0; i < 2; i++)
        if (pair[i].key[0] == key[0] && pair[i].key[1] == key[1])
            return &pair[i];
    return NULL;
}

void tk_cache_put(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids,
                  uint32_t count)
{
    if (c->off)
        return;
    if (c->inserted >= c->pair_mask / 2 && c->pair_mask + 1 < PAIRS_FULL)
        set_pairs(c, PAIRS_FULL); /* out of memory: the small one serves on */
    tk_cached *pair = &c->slots[2 * (hash & c->pair_mask)], *other = aside(c, hash);
    tk_cached *to = &pair[1];
    if (is_empty(&pair[0]))
        to = &pair[0];
    else if (!is_empty(&pair[1]) && is_empty(&other[1]))
        to = &other[is_empty(&other[0]) ? 0 : 1];
    to->key[0] = key[0];
    to->key[1] = key[1];
    memcpy(to->ids, ids, count * sizeof *ids);
    to->ids[0] |= count << TK_COUNT_SHIFT;
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
    if (c->off || word.len > LONG_BYTES_MAX)
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

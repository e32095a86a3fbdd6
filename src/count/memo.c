/* memo.c - a bounded hash table from text hashes to counts, in independently locked shards.
 *
 * Idea:  a shard is an array of buckets of WAYS entries. A key lives in its bucket or nowhere. When
 *        a bucket is full the shard doubles until it has its share of the bytes; from then on the
 *        bucket's entries are evicted by CLOCK: one that was found since the hand last passed is
 *        spared once.
 * Holds: the arrays of all shards together never take more than bytes_max; the array that a growing
 *        shard copies from lives for the copy only.
 * Keys:  XXH3-128 with a random secret; equal hashes are taken for equal texts. */
#define _GNU_SOURCE /* getrandom */
#include "count/memo.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#ifdef TD_XXH_DISPATCH
#include <xxh_x86dispatch.h> /* XXH3_128bits_withSecret is then the best version for this CPU */
#else
#include <xxhash.h>
#endif

#include "base/alloc.h"
#include "base/thread.h"

enum { SHARDS = 64, WAYS = 8, FIRST_BUCKETS = 4, SECRET_BYTES = 192 };

typedef struct entry {
    uint64_t low, high;
    uint32_t count;
    uint16_t taken; /* 0: the place is empty */
    uint16_t used;  /* found since the hand passed */
} entry;

typedef struct shard {
    td_mutex lock;  /* guards the rest */
    entry *entries; /* buckets * WAYS */
    uint8_t *hands; /* one a bucket */
    size_t buckets;
    /* the same two for td_memo_prepare, which takes no lock and may see old ones */
    atomic_uintptr_t entries_hint;
    atomic_size_t buckets_hint;
    uint64_t count, hits, misses, evictions;
    char apart[64]; /* the next shard's lock lies on another cache line */
} shard;

struct td_memo {
    shard shards[SHARDS];
    size_t buckets_max; /* of one shard */
    unsigned char secret[SECRET_BYTES];
};

enum { BUCKET_BYTES = WAYS * (int)sizeof(entry) + 1 };

static bool set_buckets(shard *s, size_t buckets)
{
    entry *entries = td_calloc(buckets * WAYS, sizeof *entries);
    uint8_t *hands = td_calloc(buckets, 1);
    if (entries == NULL || hands == NULL) {
        td_free(entries);
        td_free(hands);
        return false;
    }
    s->entries = entries;
    s->hands = hands;
    s->buckets = buckets;
    atomic_store_explicit(&s->entries_hint, (uintptr_t)entries, memory_order_relaxed);
    atomic_store_explicit(&s->buckets_hint, buckets, memory_order_relaxed);
    return true;
}

td_memo *td_memo_new(size_t bytes_max)
{
    td_memo *m = td_calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->buckets_max = bytes_max / SHARDS / BUCKET_BYTES;
    if (m->buckets_max == 0)
        m->buckets_max = 1;
    size_t first = m->buckets_max < FIRST_BUCKETS ? m->buckets_max : FIRST_BUCKETS;
    size_t ready = 0;
    bool ok = getrandom(m->secret, sizeof m->secret, 0) == (ssize_t)sizeof m->secret;
    td_memo_hash(m, (td_str){ NULL, 0 }, 0); /* chooses its version before there are threads */
    for (; ok && ready < SHARDS; ready += ok) {
        ok = set_buckets(&m->shards[ready], first);
        if (ok && !td_mutex_init(&m->shards[ready].lock)) {
            td_free(m->shards[ready].entries);
            td_free(m->shards[ready].hands);
            ok = false;
        }
    }
    if (ok)
        return m;
    while (ready-- > 0) {
        td_mutex_done(&m->shards[ready].lock);
        td_free(m->shards[ready].entries);
        td_free(m->shards[ready].hands);
    }
    td_free(m);
    return NULL;
}

void td_memo_free(td_memo *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < SHARDS; i++) {
        td_mutex_done(&m->shards[i].lock);
        td_free(m->shards[i].entries);
        td_free(m->shards[i].hands);
    }
    td_free(m);
}

td_memo_key td_memo_hash(const td_memo *m, td_str text, uint64_t salt)
{
    XXH128_hash_t h = XXH3_128bits_withSecret(text.ptr != NULL ? text.ptr : "", text.len, m->secret,
                                              sizeof m->secret);
    uint64_t mixed = (salt + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return (td_memo_key){ h.low64 ^ mixed, h.high64 + (mixed << 31 | mixed >> 33) };
}

static shard *shard_of(td_memo *m, td_memo_key key)
{
    return &m->shards[key.high % SHARDS];
}

/* The first entry of the key's bucket. */
static entry *bucket_of(const shard *s, td_memo_key key, size_t *ret_index)
{
    size_t index = (size_t)((key.low >> 32) * s->buckets >> 32); /* buckets are below 2^32 */
    *ret_index = index;
    return &s->entries[index * WAYS];
}

void td_memo_prepare(td_memo *m, td_memo_key key)
{
    const shard *s = shard_of(m, key);
    uintptr_t at = atomic_load_explicit(&s->entries_hint, memory_order_relaxed);
    size_t buckets = atomic_load_explicit(&s->buckets_hint, memory_order_relaxed);
    at += (size_t)((key.low >> 32) * buckets >> 32) * WAYS * sizeof(entry);
    for (size_t line = 0; line < WAYS * sizeof(entry); line += 64)
        __builtin_prefetch((const void *)(at + line)); /* never faults, whatever is there now */
    __builtin_prefetch(&s->lock);
}

bool td_memo_find(td_memo *m, td_memo_key key, uint32_t *ret_count)
{
    shard *s = shard_of(m, key);
    td_mutex_lock(&s->lock);
    size_t index;
    entry *e = bucket_of(s, key, &index);
    bool found = false;
    for (int i = 0; i < WAYS; i++) {
        if (e[i].low == key.low && e[i].high == key.high && e[i].taken != 0) {
            e[i].used = 1;
            *ret_count = e[i].count;
            found = true;
            break;
        }
    }
    s->hits += found;
    s->misses += !found;
    td_mutex_unlock(&s->lock);
    return found;
}

static entry *place_in(shard *s, td_memo_key key)
{
    size_t index;
    entry *e = bucket_of(s, key, &index);
    for (int i = 0; i < WAYS; i++) {
        if (e[i].taken == 0 || (e[i].low == key.low && e[i].high == key.high))
            return &e[i];
    }
    return NULL;
}

/* Lock held. Doubles the shard if it may; entries that find their new bucket full are lost. */
static bool grow(shard *s, size_t buckets_max)
{
    if (s->buckets >= buckets_max)
        return false;
    shard old = *s;
    size_t buckets = s->buckets * 2 < buckets_max ? s->buckets * 2 : buckets_max;
    if (!set_buckets(s, buckets))
        return false;
    s->count = 0;
    for (size_t i = 0; i < old.buckets * WAYS; i++) {
        const entry *e = &old.entries[i];
        entry *to = e->taken ? place_in(s, (td_memo_key){ e->low, e->high }) : NULL;
        if (to != NULL) {
            *to = *e;
            s->count++;
        }
    }
    td_free(old.entries);
    td_free(old.hands);
    return true;
}

static entry *evict(shard *s, td_memo_key key)
{
    size_t index;
    entry *e = bucket_of(s, key, &index);
    uint8_t hand = s->hands[index];
    while (e[hand].used != 0) { /* ends: each step clears one */
        e[hand].used = 0;
        hand = (uint8_t)((hand + 1) % WAYS);
    }
    s->hands[index] = (uint8_t)((hand + 1) % WAYS);
    s->evictions++;
    s->count--;
    return &e[hand];
}

void td_memo_put(td_memo *m, td_memo_key key, uint32_t count)
{
    shard *s = shard_of(m, key);
    td_mutex_lock(&s->lock);
    entry *e = place_in(s, key);
    while (e == NULL && grow(s, m->buckets_max))
        e = place_in(s, key);
    if (e == NULL)
        e = evict(s, key);
    s->count += e->taken == 0 || e->low != key.low || e->high != key.high;
    *e = (entry){ .low = key.low, .high = key.high, .count = count, .taken = 1 };
    td_mutex_unlock(&s->lock);
}

td_memo_stats td_memo_get_stats(td_memo *m)
{
    td_memo_stats t = { 0 };
    for (size_t i = 0; i < SHARDS; i++) {
        shard *s = &m->shards[i];
        td_mutex_lock(&s->lock);
        t.bytes += s->buckets * BUCKET_BYTES;
        t.entries += s->count;
        t.hits += s->hits;
        t.misses += s->misses;
        t.evictions += s->evictions;
        td_mutex_unlock(&s->lock);
    }
    return t;
}

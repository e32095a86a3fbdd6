/* fast_fresh.c - words that are seen for the first time, side by side.
 *
 * What a new word costs is waiting for memory: other places of the cache, its entry, the tables of
 * merges. So all new words of a batch take each step together, and each step asks for what the next
 * one needs. */
#include "tokenizer/fast_miss.h"

#include <string.h>

#include "tokenizer/key.h"
#include "tokenizer/long_words.h"

enum { SEEN = 2048 };

/* What the steps share. */
typedef struct group {
    const tk_fast *f;
    tk_cache *c;
    td_str text;
    const tk_batch *b;
    uint32_t count;
    uint16_t words[TK_BATCH];  /* new ones, or maybe so: numbers in the batch */
    uint64_t hashes[TK_BATCH]; /* of short ones, among the entries */
    uint16_t seen[SEEN];       /* by hash: 1 + the number of a word that is taken care of */
} group;

/* New words tend to come again soon: whether this one has come before in the batch. Words may push
 * each other out; then one is looked up and put into the cache twice. */
static inline bool was_seen(group *g, uint32_t word, uint32_t hash)
{
    uint16_t *place = &g->seen[hash / (UINT32_MAX / SEEN + 1)];
    uint32_t other = *place;
    *place = (uint16_t)(word + 1);
    if (other == 0)
        return false;
    const uint64_t *a = g->b->keys[other - 1], *b = g->b->keys[word];
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

/* Whether a long word can be taken here: there is nothing to do but to merge it. */
static bool is_lane(const tk_fast *f, const tk_batch *b, uint32_t word, size_t len)
{
    uint64_t kind = b->keys[word][1] >> 56;
    return len <= TK_LANE &&
           (kind == TK_KEY_LONG_UNCUT || (kind == TK_KEY_LONG_WORD && f->scanner == NULL));
}

static void put(group *g, uint32_t word, const td_id *ids, uint32_t count)
{
    tk_cache_put(g->c, g->b->keys[word], g->b->hashes[word], ids, count);
}

/* Takes words that come for the first time in the batch, and asks for all places where what they
 * become may be known. */
static void ask(group *g, const uint16_t *words, uint32_t n)
{
    const tk_batch *b = g->b;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = words[i], hash = b->hashes[k];
        td_str word = tk_batch_word(b, g->text, k);
        if (tk_key_is_added(b->keys[k])) {
            td_id id = (td_id)b->keys[k][0];
            if (!was_seen(g, k, hash))
                put(g, k, &id, 1);
            continue;
        }
        if (word.len <= TK_CACHED_BYTES) {
            if (g->f->scanner != NULL)
                g->hashes[g->count] = tk_entry_ask(g->f, b->keys[k]);
            if (tk_is_full(tk_own_pair(g->c, hash)))
                __builtin_prefetch(tk_other_pair(g->c, hash));
        } else if (is_lane(g->f, b, k, word.len)) {
            hash = (uint32_t)b->keys[k][0];
            tk_long_ask(g->c, word, hash);
        } else {
            continue;
        }
        g->words[g->count] = (uint16_t)k;
        g->count += !was_seen(g, k, hash);
    }
}

/* Whether the cache has a word where it is not looked for first. */
static bool is_known(const group *g, uint32_t k)
{
    td_id ids[TK_CACHED_IDS];
    uint32_t count, hash = g->b->hashes[k];
    return tk_is_full(tk_own_pair(g->c, hash)) &&
           tk_cache_find(g->c, g->b->keys[k], hash, ids, &count) != NULL;
}

static bool is_known_long(const group *g, td_str word)
{
    uint32_t count;
    return tk_long_find(g->c, word, &count) != NULL;
}

/* Words that are entries go into the cache, the numbers of those that have to be merged into rest.
 * Returns how many these are. */
static uint32_t take_entries(group *g, uint16_t *rest)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t k = g->words[i];
        td_str word = tk_batch_word(g->b, g->text, k);
        bool is_short = word.len <= TK_CACHED_BYTES;
        if (is_short ? is_known(g, k) : is_known_long(g, word))
            continue;
        td_id id = is_short ? tk_entry_answer(g->f, g->b->keys[k], g->hashes[i]) : TK_NO_ID;
        if (id != TK_NO_ID)
            put(g, k, &id, 1);
        else
            rest[left++] = (uint16_t)k;
        g->c->fresh++;
    }
    return left;
}

/* A short word of a byte-level model is all in its key: no loop that ends where it cannot be
 * guessed. */
static void spell(const group *g, uint32_t k, tk_lane *l)
{
    td_str word = tk_batch_word(g->b, g->text, k);
    if (g->f->scanner == NULL || word.len > TK_CACHED_BYTES) {
        tk_spell_lane(g->f, word, l);
        return;
    }
    unsigned char bytes[16];
    td_id *ids = tk_lane_ids(l);
    memcpy(bytes, g->b->keys[k], sizeof bytes);
    for (uint32_t i = 0; i < TK_CACHED_BYTES; i++)
        ids[i] = g->f->bytes[bytes[i]];
    tk_lane_start(l, (uint32_t)word.len);
}

/* Not a part of its caller, which mostly has nothing to merge: the lanes take much of the stack. */
__attribute__((noinline)) static void merge_words(group *g, const uint16_t *words, uint32_t count)
{
    tk_lane lanes[TK_LANES];
    for (uint32_t i = 0; i < count; i += TK_LANES) {
        uint32_t n = count - i < TK_LANES ? count - i : TK_LANES;
        for (uint32_t k = 0; k < n; k++)
            spell(g, words[i + k], &lanes[k]);
        tk_merge_lanes(&g->f->bpe->merges, lanes, n);
        for (uint32_t k = 0; k < n; k++) {
            td_id ids[TK_LANE];
            td_str word = tk_batch_word(g->b, g->text, words[i + k]);
            uint32_t made = tk_lane_get(&lanes[k], ids);
            if (word.len > TK_CACHED_BYTES)
                tk_long_put(g->c, word, ids, made);
            else
                put(g, words[i + k], ids, made);
        }
    }
}

void tk_fresh_words(const tk_fast *f, tk_cache *c, td_str text, const tk_batch *b,
                    const uint16_t *words, uint32_t n)
{
    group g;
    g.f = f;
    g.c = c;
    g.text = text;
    g.b = b;
    g.count = 0;
    memset(g.seen, 0, sizeof g.seen);
    uint16_t rest[TK_BATCH]; /* to be merged */
    ask(&g, words, n);
    uint32_t left = take_entries(&g, rest);
    if (left != 0)
        merge_words(&g, rest, left);
}

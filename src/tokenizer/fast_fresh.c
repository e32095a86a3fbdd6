/* fast_fresh.c - words that are seen for the first time, side by side.
 *
 * What a new word costs is waiting for memory: other places of the cache, its entry, the tables of
 * merges. So all new words of a batch take each step together, and each step asks for what the next
 * one needs. */
#include "tokenizer/fast_miss.h"

#include <string.h>

#include "tokenizer/key.h"
#include "tokenizer/long_words.h"

enum { SEEN = 512 };

/* What the steps share. */
typedef struct group {
    const tk_fast *f;
    tk_cache *c;
    td_str text;
    tk_batch *b;
    uint32_t count;
    uint16_t words[TK_BATCH];  /* new ones, or maybe so: numbers in the batch */
    uint64_t hashes[TK_BATCH]; /* of those with places, among the entries */
    bool any_long;
    uint16_t seen[SEEN]; /* if so, by hash: 1 + the number of a long word that is taken care of */
    tk_lane lanes[TK_LANES]; /* words that are merged */
    _Alignas(64) char row[]; /* of tk_row_bytes */
} group;

/* Whether a long word has come before in the batch. Words may push each other out; then one is
 * looked up and kept twice. */
static bool was_seen(group *g, uint32_t word)
{
    const uint64_t *key = g->b->keys[word];
    uint16_t *place = &g->seen[key[0] % SEEN];
    if (!g->any_long)
        memset(g->seen, 0, sizeof g->seen);
    g->any_long = true;
    uint32_t other = *place;
    *place = (uint16_t)(word + 1);
    return other != 0 && tk_same_key(g->b->keys[other - 1], key);
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
    tk_cache_fill(g->c, g->b->places[word], g->b->keys[word], g->b->hashes[word], ids, count);
}

/* Gives a word its place if there is an empty one where it belongs; otherwise it may be elsewhere,
 * which is asked for. New words tend to come again soon: false: it has come before in the batch. */
static inline bool is_first(group *g, uint32_t k)
{
    bool is_new;
    uint32_t hash = g->b->hashes[k], place = tk_cache_claim(g->c, g->b->keys[k], hash, &is_new);
    g->b->places[k] = place;
    if (place == 0)
        __builtin_prefetch(tk_other_pair(g->c, hash));
    return is_new;
}

/* Takes words that come for the first time in the batch, and asks for all places where what they
 * become may be known. */
static void ask(group *g, const uint16_t *words, uint32_t n)
{
    const tk_batch *b = g->b;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = words[i];
        const uint64_t *key = b->keys[k];
        bool is_new;
        if (tk_key_is_kept(key)) {
            if (g->f->scanner != NULL)
                g->hashes[g->count] = tk_entry_ask(g->f, key);
            is_new = is_first(g, k);
        } else {
            td_str word = tk_batch_word(b, g->text, k);
            is_new = is_lane(g->f, b, k, word.len) && !was_seen(g, k);
            if (is_new)
                tk_long_ask(g->c, word, (uint32_t)key[0]);
        }
        g->words[g->count] = (uint16_t)k;
        g->count += is_new;
    }
}

/* Whether the cache has a word, or will have it when the same one in front of it has its ids. If
 * not the word has its place from now on. */
static bool is_known(group *g, uint32_t k)
{
    const uint64_t *key = g->b->keys[k];
    uint32_t hash = g->b->hashes[k], *place = &g->b->places[k];
    if (*place != 0)
        return false;
    *place = tk_place_in(g->c, tk_own_pair(g->c, hash), key);
    if (*place == 0)
        *place = tk_place_in(g->c, tk_other_pair(g->c, hash), key);
    if (*place != 0)
        return true;
    *place = tk_cache_reserve(g->c, key, hash);
    return false;
}

static bool is_known_long(const group *g, uint32_t k)
{
    uint32_t count;
    return tk_long_find(g->c, tk_batch_word(g->b, g->text, k), &count) != NULL;
}

/* Added tokens and words that are entries get their ids; those that have to be merged are left. */
static void take_entries(group *g)
{
    tk_cache *c = g->c;
    uint32_t left = 0, moved = c->moved;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t k = g->words[i];
        const uint64_t *key = g->b->keys[k];
        bool kept = tk_key_is_kept(key);
        if (kept ? is_known(g, k) : is_known_long(g, k))
            continue;
        td_id id = tk_key_is_added(key) ? (td_id)key[0]
                   : kept               ? tk_entry_answer(g->f, key, g->hashes[i])
                                        : TK_NO_ID;
        bool found = id != TK_NO_ID;
        if (kept && c->moved == moved) /* the place is its own, and no branch depends on found */
            *tk_place_ids(c, g->b->places[k]) = found ? id | (td_id)1 << TK_COUNT_SHIFT : 0;
        else if (found)
            put(g, k, &id, 1);
        g->words[left] = (uint16_t)k;
        left += !found;
        c->fresh++;
    }
    g->count = left;
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

static void merge_words(group *g, const uint16_t *words, uint32_t count)
{
    tk_lane *lanes = g->lanes;
    for (uint32_t i = 0; i < count; i += TK_LANES) {
        uint32_t n = count - i < TK_LANES ? count - i : TK_LANES;
        for (uint32_t k = 0; k < n; k++)
            spell(g, words[i + k], &lanes[k]);
        tk_merge_lanes(&g->f->bpe->merges, lanes, n, (tk_row *)(void *)g->row);
        for (uint32_t k = 0; k < n; k++) {
            td_id room[TK_LANE];
            uint32_t made;
            td_str word = tk_batch_word(g->b, g->text, words[i + k]);
            const td_id *ids = tk_lane_get(&lanes[k], room, &made);
            if (word.len > TK_CACHED_BYTES)
                tk_long_put(g->c, word, ids, made);
            else
                put(g, words[i + k], ids, made);
        }
    }
}

void tk_fresh_words(const tk_fast *f, tk_cache *c, td_str text, tk_batch *b,
                    const uint16_t *words, uint32_t n)
{
    if (c->room.ptr == NULL && !td_slab_new(&c->room, tk_fresh_bytes())) {
        c->moved++; /* no word has a place */
        return;
    }
    group *g = c->room.ptr;
    g->f = f;
    g->c = c;
    g->text = text;
    g->b = b;
    g->count = 0;
    g->any_long = false;
    ask(g, words, n);
    take_entries(g);
    if (g->count != 0)
        merge_words(g, g->words, g->count);
    tk_cache_grow(c);
}

size_t tk_fresh_bytes(void)
{
    return sizeof(group) + tk_row_bytes();
}

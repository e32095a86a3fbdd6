/* fast_fresh.c - words that are seen for the first time, side by side.
 *
 * What a new word costs is waiting for memory: the slots of the vocabulary, the entry itself, the
 * tables of merges. So a group of words takes each step together, and each step asks for what the
 * next one needs. */
#include "tokenizer/fast_miss.h"

#include <string.h>

#include "tokenizer/key.h"
#include "tokenizer/long_words.h"

enum { GROUP = 32, SEEN = 2048 };

typedef struct fresh {
    uint32_t word; /* of the batch */
    tk_entry_look look;
} fresh;

/* What the steps of one group share. */
typedef struct group {
    const tk_fast *f;
    tk_cache *c;
    td_str text;
    const tk_batch *b;
    fresh items[GROUP];
    uint32_t count;
    uint16_t seen[SEEN]; /* by hash: 1 + the number of a word that is taken care of */
} group;

/* New words tend to come again soon: whether this one has come before in the batch. Words may push
 * each other out; then one is looked up and put into the cache twice. */
static bool was_seen(group *g, uint32_t word, uint32_t hash)
{
    const tk_batch *b = g->b;
    uint16_t *place = &g->seen[hash / (UINT32_MAX / SEEN + 1)];
    uint32_t other = *place;
    *place = (uint16_t)(word + 1);
    return other != 0 && memcmp(b->keys[other - 1], b->keys[word], sizeof b->keys[word]) == 0;
}

/* Whether a long word can be taken here: there is nothing to do but to merge it. */
static bool is_lane(const tk_fast *f, const tk_batch *b, uint32_t word, size_t len)
{
    uint64_t kind = b->keys[word][1] >> 56;
    return len <= TK_LANE &&
           (kind == TK_KEY_LONG_UNCUT || (kind == TK_KEY_LONG_WORD && f->scanner == NULL));
}

/* Words that can be taken here and come for the first time in the batch; asks for the other places
 * that the cache may have them in. Returns how many. */
static uint32_t ask_cache(group *g, const uint16_t *words, uint32_t n, uint16_t *todo)
{
    const tk_batch *b = g->b;
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        td_str word = tk_batch_word(b, g->text, words[i]);
        bool is_short = word.len <= TK_CACHED_BYTES;
        uint32_t hash = is_short ? b->hashes[words[i]] : (uint32_t)b->keys[words[i]][0];
        if (!is_short && !is_lane(g->f, b, words[i], word.len))
            continue;
        if (is_short && tk_is_full(tk_own_pair(g->c, hash)))
            __builtin_prefetch(tk_other_pair(g->c, hash));
        else if (!is_short)
            tk_long_ask(g->c, word, hash);
        todo[left] = words[i];
        left += !was_seen(g, words[i], hash);
    }
    return left;
}

static bool is_known(const group *g, uint32_t word)
{
    td_id ids[TK_CACHED_IDS];
    uint32_t count, hash = g->b->hashes[word];
    return tk_is_full(tk_own_pair(g->c, hash)) &&
           tk_cache_find(g->c, g->b->keys[word], hash, ids, &count) != NULL;
}

static bool is_known_long(const group *g, td_str word)
{
    uint32_t count;
    return tk_long_find(g->c, word, &count) != NULL;
}

static void put(group *g, uint32_t word, const td_id *ids, uint32_t count)
{
    tk_cache_put(g->c, g->b->keys[word], g->b->hashes[word], ids, count);
}

/* Words that are entries go into the cache, the numbers of the others into rest. Returns how many
 * those are. */
static uint32_t take_entries(group *g, uint16_t *rest)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const fresh *x = &g->items[i];
        td_id id = tk_entry_answer(g->f, &x->look);
        if (id != TK_NO_ID)
            put(g, x->word, &id, 1);
        else
            rest[left++] = (uint16_t)x->word;
    }
    return left;
}

static void merge_words(group *g, const uint16_t *words, uint32_t count)
{
    tk_lane lanes[TK_LANES];
    for (uint32_t i = 0; i < count; i += TK_LANES) {
        uint32_t n = count - i < TK_LANES ? count - i : TK_LANES;
        for (uint32_t k = 0; k < n; k++)
            tk_spell_lane(g->f, tk_batch_word(g->b, g->text, words[i + k]), &lanes[k]);
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
    memset(g.seen, 0, sizeof g.seen);
    uint32_t found = 0, left = 0;
    uint16_t todo[TK_BATCH], rest[TK_BATCH]; /* to be looked up; to be merged */
    n = ask_cache(&g, words, n, todo);
    for (uint32_t i = 0; i < n;) {
        g.count = 0;
        for (; i < n && g.count < GROUP; i++) {
            td_str word = tk_batch_word(b, text, todo[i]);
            if (word.len <= TK_CACHED_BYTES) {
                g.items[g.count] = (fresh){ todo[i], tk_entry_ask(f, b->keys[todo[i]]) };
                g.count += !is_known(&g, todo[i]);
            } else if (!is_known_long(&g, word)) {
                rest[left++] = todo[i];
                found++;
            }
        }
        found += g.count;
        left += take_entries(&g, rest + left);
    }
    merge_words(&g, rest, left);
    c->fresh = found;
}

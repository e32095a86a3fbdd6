/* fast_words.c - texts to ids through the cache of short words (see fast.h).
 *
 * Batches of words: a first loop makes keys and hashes and prefetches the cache lines, a second
 * one compares and copies ids out. A word's 16-byte load does not depend on its length, which is
 * masked off afterwards; only the last 16 bytes of a text are read with care. */
#include "base/cpu.h"
#include "base/str.h"
#include "tokenizer/key.h"
#include "tokenizer/fast_miss.h"

#if TD_X86
#include <emmintrin.h>
#endif

enum { WORDS = TK_BATCH + 64 /* what a scanner may need */, YOUNG = 3 };

/* One call. */
typedef struct run {
    const tk_fast *f;
    tk_cache *cache;
    tk_ctx *ctx;
    td_str text;
    tk_sink *sink;
    td_error *err;
    uint32_t looked; /* at clock and flag */
    tk_batch b;
} run;

/* Which of its pair a word is: 0, 1, or 2 for none. */
static inline size_t find_in_pair(const tk_cached *pair, const uint64_t *key)
{
#if TD_X86
    __m128i k = _mm_load_si128((const __m128i *)(const void *)key);
    __m128i a = _mm_load_si128((const __m128i *)(const void *)pair[0].key);
    __m128i b = _mm_load_si128((const __m128i *)(const void *)pair[1].key);
    bool first = _mm_movemask_epi8(_mm_cmpeq_epi32(k, a)) == 0xFFFF;
    bool second = _mm_movemask_epi8(_mm_cmpeq_epi32(k, b)) == 0xFFFF;
#else
    bool first = ((pair[0].key[0] ^ key[0]) | (pair[0].key[1] ^ key[1])) == 0;
    bool second = ((pair[1].key[0] ^ key[0]) | (pair[1].key[1] ^ key[1])) == 0;
#endif
    if (!(first | second))
        return 2;
    size_t which = !first;
#if defined(__GNUC__)
    __asm__("" : "+r"(which)); /* an index, not a branch: which place it is cannot be guessed */
#endif
    return which;
}

/* Words i and up, as far as the cache knows them; sink has room for all. Returns the first word
 * that it does not know, the number of words when there is none. */
static inline uint32_t run_hits(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink,
                                bool counting)
{
    const td_id low = ((td_id)1 << TK_COUNT_SHIFT) - 1;
    const tk_cached *slots = c->slots;
    uint32_t pair_mask = c->pair_mask, n = b->count;
    td_id *out = counting ? NULL : sink->ids + sink->count;
    size_t count = 0;
    for (; i < n; i++) {
        const tk_cached *pair = &slots[(size_t)2 * (b->hashes[i] & pair_mask)];
        size_t which = find_in_pair(pair, b->keys[i]);
        if (which == 2)
            break;
        const tk_cached *e = pair + which;
        td_id head = e->ids[0];
        if (!counting) {
            memcpy(out + count, e->ids, sizeof e->ids);
            out[count] = head & low;
        }
        count += head >> TK_COUNT_SHIFT;
    }
    sink->count += count;
    return i;
}

/* While many words are new: looks up and merges those of the batch before their ids are needed. */
static void run_fresh(run *r)
{
    const tk_batch *b = &r->b;
    const tk_cache *c = r->cache;
    uint16_t words[TK_BATCH];
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        const tk_cached *pair = &c->slots[(size_t)2 * (b->hashes[i] & c->pair_mask)];
        words[n] = (uint16_t)i;
        n += find_in_pair(pair, b->keys[i]) == 2;
    }
    if (n != 0)
        tk_fresh_words(r->f, r->cache, r->text, b, words, n);
}

/* Puts the ids of all words of the batch out, and empties it. */
static td_code flush(run *r)
{
    tk_batch *b = &r->b;
    tk_sink *sink = r->sink;
    if (b->count == 0)
        return TD_OK;
    uint32_t end = b->ends[b->count - 1];
    TD_TRY(tk_sink_reserve(sink, end - b->from + TK_CACHED_IDS, r->err));
    if (end - r->looked >= TK_LOOK_BYTES) {
        TD_TRY(tk_look_around(r->ctx, r->err));
        r->looked = end;
    }
    bool young = r->cache->fresh >= YOUNG && !r->cache->off;
    r->cache->fresh = 0;
    if (young)
        run_fresh(r);
    for (uint32_t i = 0;; i++) {
        i = sink->counting ? run_hits(r->cache, b, i, sink, true)
                           : run_hits(r->cache, b, i, sink, false);
        if (i == b->count)
            break;
        TD_TRY(tk_word_put(r->f, r->cache, r->ctx, tk_batch_word(b, r->text, i), b->keys[i],
                           b->hashes[i], r->text.ptr + r->text.len, sink, r->err));
        TD_TRY(tk_sink_reserve(sink, end - b->ends[i] + TK_CACHED_IDS, r->err));
    }
    b->from = end;
    b->count = 0;
    return TD_OK;
}

static inline void put_key(tk_batch *b, uint32_t i, const tk_cached *slots, uint32_t pair_mask,
                           uint64_t low, uint64_t high, uint32_t end)
{
    uint32_t hash = tk_key_hash(low, high);
    b->keys[i][0] = low;
    b->keys[i][1] = high;
    b->hashes[i] = hash;
    b->ends[i] = end;
    __builtin_prefetch(&slots[(size_t)2 * (hash & pair_mask)]);
}

/* Takes words, the first of which begins at start, into the batch until it is full or a word comes
 * that is too long for a key or too near to the end of the text. Returns how many. */
static uint32_t take_short(run *r, uint32_t start, const uint32_t *ends, uint32_t n)
{
    tk_batch *b = &r->b;
    const tk_cached *slots = r->cache->slots;
    uint32_t pair_mask = r->cache->pair_mask, at = b->count, i = 0;
    const char *text = r->text.ptr;
    uint32_t safe = r->text.len >= 16 ? (uint32_t)(r->text.len - 16) + 1 : 0;
    if (n > TK_BATCH - at)
        n = TK_BATCH - at;
    for (; i < n; i++) {
        uint32_t end = ends[i], len = end - start;
        uint64_t low, high;
        if (len > TK_CACHED_BYTES || start >= safe)
            break;
        tk_key_make(text + start, len, &low, &high);
        put_key(b, at + i, slots, pair_mask, low, high, end);
        start = end;
    }
    b->count += i;
    return i;
}

static td_code take(run *r, uint32_t start, uint32_t end, bool part)
{
    uint64_t key[2];
    td_str word = { r->text.ptr + start, end - start };
    if (r->b.count == TK_BATCH)
        TD_TRY(flush(r));
    tk_key_of(word, r->text.ptr + r->text.len, part, key);
    put_key(&r->b, r->b.count++, r->cache->slots, r->cache->pair_mask, key[0], key[1], end);
    return TD_OK;
}

/* Takes a long word in parts where it can be cut. Without ignore_merges a part is as good as a
 * word, because the ids of both depend on nothing but their bytes. */
static td_code take_long(run *r, uint32_t start, uint32_t end)
{
    const tk_fast *f = r->f;
    bool part = f->bpe->ignore_merges;
    const char *text = r->text.ptr, *y = text + start, *stop = text + end;
    if (f->scanner == NULL || (part && tk_may_be_entry(f, (td_str){ y, end - start })))
        return take(r, start, end, false);
    uint64_t left = tk_cut_next(&y);
    uint32_t from = start;
    while (y < stop) {
        const char *z = y;
        uint64_t right = tk_cut_next(&z);
        if (tk_can_cut_at(f->cuts, left, right, y)) {
            uint32_t at = (uint32_t)(y - text);
            TD_TRY(take(r, from, at, part));
            from = at;
        }
        left = right;
        y = z;
    }
    return take(r, from, end, part && from != start);
}

/* Takes the words that end at ends; the first begins at start. */
static td_code take_words(run *r, uint32_t start, const uint32_t *ends, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t taken = take_short(r, start, ends + i, n - i);
        i += taken;
        if (taken != 0)
            start = ends[i - 1];
        if (i == n)
            break;
        if (r->b.count == TK_BATCH)
            TD_TRY(flush(r));
        if (ends[i] - start > TK_CACHED_BYTES)
            TD_TRY(take_long(r, start, ends[i]));
        else
            TD_TRY(take(r, start, ends[i], false));
        start = ends[i];
    }
    return TD_OK;
}

td_code tk_fast_words(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, tk_sink *sink,
                      td_error *err)
{
    uint32_t words[WORDS];
    run r;
    r.f = f;
    r.cache = cache;
    r.ctx = ctx;
    r.text = text;
    r.sink = sink;
    r.err = err;
    r.looked = r.b.from = r.b.count = 0;
    if (!tk_cache_start(cache))
        return td_fail_nomem(err);
    for (uint32_t from = 0; from < text.len;) {
        uint32_t n = f->scanner != NULL ? f->run(text, from, words, WORDS)
                                        : tk_char_words_scan(f->chars, text, from, words, WORDS);
        TD_TRY(take_words(&r, from, words, n));
        from = words[n - 1];
    }
    return flush(&r);
}

td_code tk_fast_spaces(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, tk_sink *sink,
                       td_error *err)
{
    if (!tk_spaces_head(&f->marks, ctx, text))
        return tk_fast_words(f, cache, ctx, text, sink, err);
    uint32_t end; /* of the first word */
    tk_char_words_scan(f->chars, text, 0, &end, 1);
    char *first = td_arena_alloc(&ctx->arena, (size_t)end + 1, 1);
    if (first == NULL)
        return tk_nomem(ctx, err);
    first[0] = ' ';
    memcpy(first + 1, text.ptr, end);
    TD_TRY(tk_fast_words(f, cache, ctx, (td_str){ first, (size_t)end + 1 }, sink, err));
    text = td_str_from_offset(text, end);
    return text.len != 0 ? tk_fast_words(f, cache, ctx, text, sink, err) : TD_OK;
}

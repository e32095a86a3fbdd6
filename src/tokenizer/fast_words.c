/* fast_words.c - texts to ids through the cache of short words (see fast.h).
 *
 * Batches of words: a first loop makes keys and hashes and prefetches the cache lines, a second
 * one compares and copies ids out. A word's 16-byte load does not depend on its length, which is
 * masked off afterwards; only the last 16 bytes of a text are read with care. */
#include "base/str.h"
#include "tokenizer/fast_loops.h"
#include "tokenizer/key.h"
#include "tokenizer/long_words.h"
#include "tokenizer/selfcheck.h"

enum {
    WORDS = TK_BATCH + 64, /* what a scanner may need */
    PARTS = 64,
    /* A run of so many bytes of characters that stand alone makes it likely that others follow; so
     * many more that do not are still looked for. */
    LONE_LONG = 48,
    EAGER = 3,
    SETTLED = 200, /* the cache is while at most one of so many words is new */
};

/* One call. */
typedef struct run {
    const tk_fast *f;
    tk_cache *cache;
    tk_ctx *ctx;
    td_str text;
    tk_sink *sink;
    td_error *err;
    uint32_t looked; /* at clock and flag */
    uint32_t eager;  /* as tk_char_words_scan has it, so many more times */
    tk_batch b;
} run;

/* While many words are new: looks up and merges those of the batch before their ids are needed. */
static void run_fresh(run *r)
{
    uint16_t words[TK_BATCH];
    uint32_t n = r->f->loops->missing(r->cache, &r->b, words);
    if (n != 0)
        tk_fresh_words(r->f, r->cache, r->text, &r->b, words, n);
}

/* Puts the ids of a word out that has a line. */
static inline bool put_line(const tk_cache *c, td_str word, const uint64_t key[2], tk_sink *sink)
{
    uint32_t count;
    if (!tk_has_lines(word.len) || key[1] >> 56 == TK_KEY_LONG_PART)
        return false;
    const td_id *ids = tk_line_find(c, word, (uint32_t)key[0], &count);
    if (ids == NULL)
        return false;
    if (!sink->counting)
        memcpy(sink->ids + sink->count, ids, TK_LINE_IDS * sizeof *ids);
    sink->count += count;
    return true;
}

/* Looks at clock and flag when byte at is far enough behind the last look. */
static inline td_code look_around(run *r, uint32_t at)
{
    if (at - r->looked < TK_LOOK_BYTES)
        return TD_OK;
    r->looked = at;
    return tk_look_around(r->ctx, r->err);
}

/* Puts the ids of all words of the batch out, and empties it. */
static td_code flush(run *r)
{
    tk_batch *b = &r->b;
    tk_sink *sink = r->sink;
    const tk_loops *loops = r->f->loops;
    if (b->count == 0)
        return TD_OK;
    uint32_t end = b->ends[b->count - 1];
    TD_TRY(tk_sink_reserve(sink, end - b->from + TK_SINK_SLACK, r->err));
    TD_TRY(look_around(r, end));
    bool young = !r->cache->settled && !r->cache->off;
    r->cache->fresh = 0;
    if (young)
        run_fresh(r);
    for (uint32_t i = 0;; i++) {
        td_str word;
        i = sink->counting ? loops->count(r->cache, b, i, sink) : loops->put(r->cache, b, i, sink);
        if (i == b->count)
            break;
        word = tk_batch_word(b, r->text, i);
        if (put_line(r->cache, word, b->keys[i], sink))
            continue;
        TD_TRY(tk_word_put(r->f, r->cache, r->ctx, word, b->keys[i], b->hashes[i],
                           r->text.ptr + r->text.len, sink, r->err));
        TD_TRY(tk_sink_reserve(sink, end - b->ends[i] + TK_SINK_SLACK, r->err));
    }
    r->cache->settled = r->cache->fresh <= b->count / SETTLED;
    b->most = r->cache->settled ? TK_BATCH_WARM : TK_BATCH;
    b->from = end;
    b->count = 0;
    return TD_OK;
}

/* How many bytes can be read from the start of the text on: behind a piece the input goes on. */
static size_t readable(const run *r)
{
    uintptr_t at = (uintptr_t)r->text.ptr, input = (uintptr_t)r->ctx->input.ptr;
    size_t len = r->text.len, all = r->ctx->input.len;
    return at >= input && at - input <= all && all - (at - input) >= len ? all - (at - input) : len;
}

/* Takes words, the first of which begins at start, into the batch until it is full or a word comes
 * that is too long for a key or too near to the end of the text. Returns how many. */
static uint32_t take_short(run *r, uint32_t start, const uint32_t *ends, uint32_t n, bool part)
{
    tk_batch *b = &r->b;
    size_t there = readable(r), safe = there >= 16 ? there - 16 + 1 : 0;
    if (n > b->most - b->count)
        n = b->most - b->count;
    while (n != 0 && (n > 1 ? ends[n - 2] : start) >= safe)
        n--;
    n = r->f->loops->take(b, r->cache, r->text.ptr, start, ends, n, part);
    b->count += n;
    return n;
}

/* Takes one piece of any length. kind: what it is if it is long. */
static td_code take(run *r, uint32_t start, uint32_t end, unsigned kind)
{
    tk_batch *b = &r->b;
    td_str word = { r->text.ptr + start, end - start };
    if (b->count >= b->most)
        TD_TRY(flush(r));
    uint32_t i = b->count++, hash = 0;
    uint64_t *key = b->keys[i];
    if (word.len <= TK_CACHED_BYTES) {
        tk_key_of(word, r->text.ptr + r->text.len, kind == TK_KEY_LONG_PART, key);
        hash = r->cache->hash(key);
        __builtin_prefetch(tk_own_pair(r->cache, hash));
    } else {
        tk_key_long(kind, 0, key);
        if (tk_has_lines(word.len)) {
            tk_line_key k = tk_line_key_of(word);
            key[0] = tk_line_hash(&k, word.len);
            __builtin_prefetch(tk_own_line(r->cache, (uint32_t)key[0]));
        }
    }
    b->hashes[i] = hash;
    b->ends[i] = end;
    return TD_OK;
}

/* Takes pieces that need no further cut, the first of which begins at start. */
static td_code take_all(run *r, uint32_t start, const uint32_t *ends, uint32_t n, bool part)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t taken = take_short(r, start, ends + i, n - i, part);
        i += taken;
        if (taken != 0)
            start = ends[i - 1];
        if (i == n)
            break;
        TD_TRY(take(r, start, ends[i], part ? TK_KEY_LONG_PART : TK_KEY_LONG_UNCUT));
        start = ends[i];
    }
    return TD_OK;
}

/* Takes a long word in parts where it can be cut. Without ignore_merges a part is as good as a
 * word, because the ids of both depend on nothing but their bytes. */
static td_code take_long(run *r, uint32_t start, uint32_t end)
{
    const tk_fast *f = r->f;
    bool part = f->bpe->ignore_merges;
    const char *text = r->text.ptr;
    if (f->scanner == NULL || (part && tk_may_be_entry(f, (td_str){ text + start, end - start })))
        return take(r, start, end, TK_KEY_LONG_WORD);
    for (uint32_t from = start; from < end;) {
        uint32_t ends[PARTS], n = tk_cut_places(f->cuts, text, from, end, ends, PARTS);
        if (from == start && ends[0] == end)
            return take(r, start, end, TK_KEY_LONG_UNCUT);
        TD_TRY(take_all(r, from, ends, n, part));
        from = ends[n - 1];
    }
    return TD_OK;
}

/* Takes the words that end at ends; the first begins at start. */
static td_code take_words(run *r, uint32_t start, const uint32_t *ends, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t taken = take_short(r, start, ends + i, n - i, false);
        i += taken;
        if (taken != 0)
            start = ends[i - 1];
        if (i == n)
            break;
        if (r->b.count >= r->b.most)
            TD_TRY(flush(r));
        if (ends[i] - start > TK_CACHED_BYTES)
            TD_TRY(take_long(r, start, ends[i]));
        else
            TD_TRY(take(r, start, ends[i], TK_KEY_LONG_WORD));
        start = ends[i];
    }
    return TD_OK;
}

/* Puts out the ids of characters that stand alone from *from on. */
static td_code put_lone(run *r, uint32_t *from)
{
    const char *p = r->text.ptr + *from, *end = r->text.ptr + r->text.len;
    const tk_lone_chars *l = &r->f->chars->lone;
    tk_sink *sink = r->sink;
    TD_TRY(flush(r));
    for (const char *stop = p; stop < end && stop - p <= TK_LONE_UNSEEN;) {
        size_t count;
        stop = end - p > TK_LOOK_BYTES ? p + TK_LOOK_BYTES : end;
        TD_TRY(look_around(r, (uint32_t)(p - r->text.ptr)));
        TD_TRY(tk_sink_reserve(sink, (size_t)(stop - p) + TK_LONE_SLACK, r->err));
        p = l->put(l, p, stop, sink->counting ? NULL : sink->ids + sink->count, &count);
        sink->count += count;
    }
    r->b.from = (uint32_t)(p - r->text.ptr);
    r->eager = r->b.from - *from >= LONE_LONG ? EAGER : r->eager;
    *from = r->b.from;
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
    r.eager = 0;
    r.b.most = cache->settled ? TK_BATCH_WARM : TK_BATCH;
    if (!tk_cache_start(cache, f->loops->hash))
        return td_fail_nomem(err);
    for (uint32_t from = 0; from < text.len;) {
        uint32_t n = f->scanner != NULL
                         ? f->run(text, from, words, WORDS)
                         : tk_char_words_scan(f->chars, text, from, words, WORDS, r.eager != 0);
        tk_check_scan(f, text, from, words, n);
        TD_TRY(take_words(&r, from, words, n));
        from = words[n - 1];
        if (f->scanner != NULL)
            continue;
        r.eager -= r.eager != 0;
        if (n < WORDS && from < text.len)
            TD_TRY(put_lone(&r, &from));
    }
    return flush(&r);
}

td_code tk_fast_spaces(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, tk_sink *sink,
                       td_error *err)
{
    if (!tk_spaces_head(&f->marks, ctx, text))
        return tk_fast_words(f, cache, ctx, text, sink, err);
    uint32_t end; /* of the first word */
    tk_char_words_scan(f->chars, text, 0, &end, 1, false);
    char *first = td_arena_alloc(&ctx->arena, (size_t)end + 1, 1);
    if (first == NULL)
        return tk_nomem(ctx, err);
    first[0] = ' ';
    memcpy(first + 1, text.ptr, end);
    TD_TRY(tk_fast_words(f, cache, ctx, (td_str){ first, (size_t)end + 1 }, sink, err));
    text = td_str_from_offset(text, end);
    return text.len != 0 ? tk_fast_words(f, cache, ctx, text, sink, err) : TD_OK;
}

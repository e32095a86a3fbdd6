/* fast_words.c - texts to ids through the cache of short words (see fast_words.h).
 *
 * Batches of words: a first loop makes keys and hashes and prefetches the cache lines, a second
 * one compares and copies ids out. A word's 16-byte load does not depend on its length, which is
 * masked off afterwards; only the last 16 bytes of a text are read with care. */
#include "base/str.h"
#include "tokenizer/fast_loops.h"
#include "tokenizer/fast_words.h"
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

typedef tk_fast_run run;

/* While many words are new: looks up and merges those of the batch before their ids are needed. */
static void run_fresh(run *r)
{
    uint16_t words[TK_BATCH];
    uint32_t n = r->f->loops->locate(r->cache, &r->b, words);
    if (n != 0)
        tk_fresh_words(r->f, r->cache, r->text, &r->b, words, n);
}

/* The same for words that any model takes. */
static td_code run_fresh_pieces(run *r)
{
    uint16_t words[TK_BATCH];
    uint32_t n = r->f->loops->locate(r->cache, &r->b, words);
    return tk_fresh_pieces(r->f, r->cache, r->ctx, r->text, &r->b, words, n, r->err);
}

/* Puts the ids of a word out that has a line. */
static inline bool put_line(const tk_cache *c, td_str word, const uint64_t key[2], tk_sink *sink)
{
    uint32_t count;
    if (!tk_has_lines(word.len) || key[1] >> 56 == TK_KEY_LONG_PART || tk_key_is_added(key))
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

/* Whether most words are known by now, as seen over some hundreds of them. */
static void judge(tk_cache *c, uint32_t words)
{
    c->looked += words;
    if (c->looked < TK_BATCH_WARM)
        return;
    c->settled = c->fresh - c->fresh_before <= c->looked / SETTLED;
    c->fresh_before = c->fresh;
    c->looked = 0;
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
    bool young = !r->cache->settled && !r->cache->off, placed = young && r->f->bpe != NULL;
    uint32_t moved = r->cache->moved;
    if (placed)
        run_fresh(r);
    else if (young && tk_takes_some(r->f))
        TD_TRY(run_fresh_pieces(r));
    for (uint32_t i = 0;; i++) {
        td_str word;
        if (placed && moved == r->cache->moved)
            i = tk_put_places(r->cache, b, i, sink);
        else if (sink->counting)
            i = loops->count(r->cache, b, i, sink);
        else
            i = loops->put(r->cache, b, i, sink);
        if (i == b->count)
            break;
        word = tk_batch_word(b, r->text, i);
        if (put_line(r->cache, word, b->keys[i], sink))
            continue;
        TD_TRY(tk_word_put(r->f, r->cache, r->ctx, word, b->keys[i], b->hashes[i],
                           r->text.ptr + r->text.len, sink, r->err));
        TD_TRY(tk_sink_reserve(sink, end - b->ends[i] + TK_SINK_SLACK, r->err));
    }
    judge(r->cache, b->count);
    r->flushes++;
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

/* Takes words that begin so near to the end of what can be read, byte there of the text, that no
 * key is read from them: from a copy. Returns how many, which is all. */
static uint32_t take_last(run *r, size_t there, uint32_t start, const uint32_t *ends, uint32_t n,
                          bool part)
{
    char last[32] = { 0 };
    memcpy(last, r->text.ptr + start, there - start);
    const char *text = (const char *)((uintptr_t)last - start); /* as if the text were there */
    n = r->f->loops->take(&r->b, r->cache, text, start, ends, n, part);
    r->b.count += n;
    return n;
}

/* Takes words, the first of which begins at start, into the batch until it is full or a word comes
 * that is too long for a key. Returns how many. */
static uint32_t take_short(run *r, uint32_t start, const uint32_t *ends, uint32_t n, bool part)
{
    tk_batch *b = &r->b;
    size_t there = readable(r), safe = there >= 16 ? there - 16 + 1 : 0;
    if (n > b->most - b->count)
        n = b->most - b->count;
    uint32_t here = n;
    while (here != 0 && (here > 1 ? ends[here - 2] : start) >= safe)
        here--;
    uint32_t taken = r->f->loops->take(b, r->cache, r->text.ptr, start, ends, here, part);
    b->count += taken;
    if (taken == here && here < n)
        taken += take_last(r, there, here != 0 ? ends[here - 1] : start, ends + here, n - here,
                           part);
    return taken;
}

/* Takes one piece that is too long for a key. kind: what it is. */
static td_code take(run *r, uint32_t start, uint32_t end, unsigned kind)
{
    tk_batch *b = &r->b;
    td_str word = { r->text.ptr + start, end - start };
    if (b->count >= b->most)
        TD_TRY(flush(r));
    uint32_t i = b->count++, hash = 0;
    if (tk_has_lines(word.len)) {
        tk_line_key k = tk_line_key_of(word);
        hash = tk_line_hash(&k, word.len);
        __builtin_prefetch(tk_own_line(r->cache, hash));
    }
    tk_key_long(kind, hash, b->keys[i]);
    b->hashes[i] = 0;
    b->ends[i] = end;
    return TD_OK;
}

/* Takes pieces that need no further cut, the first of which begins at start. */
static td_code take_all(run *r, uint32_t start, const uint32_t *ends, uint32_t n, bool part)
{
    for (uint32_t i = 0; i < n;) {
        uint32_t taken = take_short(r, start, ends + i, n - i, part);
        i += taken;
        if (taken != 0)
            start = ends[i - 1];
        if (i == n)
            break;
        if (r->b.count >= r->b.most) {
            TD_TRY(flush(r));
            continue;
        }
        TD_TRY(take(r, start, ends[i], part ? TK_KEY_LONG_PART : TK_KEY_LONG_UNCUT));
        start = ends[i++];
    }
    return TD_OK;
}

/* Takes a long word in parts where it can be cut. Without ignore_merges a part is as good as a
 * word, because the ids of both depend on nothing but their bytes. */
static td_code take_long(run *r, uint32_t start, uint32_t end)
{
    const tk_fast *f = r->f;
    if (f->bpe == NULL)
        return take(r, start, end, TK_KEY_LONG_WORD);
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
    for (uint32_t i = 0; i < n;) {
        uint32_t taken = take_short(r, start, ends + i, n - i, false);
        i += taken;
        if (taken != 0)
            start = ends[i - 1];
        if (i == n)
            break;
        if (r->b.count >= r->b.most) {
            TD_TRY(flush(r));
            continue;
        }
        TD_TRY(take_long(r, start, ends[i]));
        start = ends[i++];
    }
    return TD_OK;
}

/* Puts out the ids of characters that stand alone from *from on; end: of the piece. */
static td_code put_lone(run *r, uint32_t *from, uint32_t end)
{
    const char *p = r->text.ptr + *from, *last = r->text.ptr + end;
    const tk_lone_chars *l = &r->f->chars->lone;
    tk_sink *sink = r->sink;
    TD_TRY(flush(r));
    r->flushes++;
    for (const char *stop = p; stop < last && stop - p <= TK_LONE_UNSEEN;) {
        size_t count;
        stop = last - p > TK_LOOK_BYTES ? p + TK_LOOK_BYTES : last;
        TD_TRY(look_around(r, (uint32_t)(p - r->text.ptr)));
        TD_TRY(tk_sink_reserve(sink, (size_t)(stop - p) + TK_LONE_SLACK, r->err));
        p = l->put(l, p, stop, sink->counting ? NULL : sink->ids + sink->count, &count);
        sink->count += count;
    }
    r->b.from = (uint32_t)(p - r->text.ptr);
    if (r->b.from - *from >= LONE_LONG)
        r->cache->watch.eager = EAGER;
    *from = r->b.from;
    return TD_OK;
}

/* Makes the batch ready for something that begins at from. */
static td_code go_on(run *r, uint32_t from)
{
    tk_batch *b = &r->b;
    if (b->count != 0 && (b->ends[b->count - 1] != from || b->count >= b->most))
        TD_TRY(flush(r));
    if (b->count == 0)
        b->from = from;
    return TD_OK;
}

/* Ends of up to WORDS words of the piece from start to end, from at on. */
static uint32_t scan(const run *r, uint32_t start, uint32_t at, uint32_t end, uint32_t *words)
{
    const tk_fast *f = r->f;
    if (f->scanner == NULL) /* what stands in front of a word makes no difference there */
        return tk_char_words_scan(f->chars, (td_str){ r->text.ptr, end }, at, words, WORDS,
                                  &r->cache->watch);
    td_str piece = { r->text.ptr + start, end - start };
    uint32_t n = f->run(piece, at - start, words, WORDS);
    tk_check_scan(f, piece, at - start, words, n);
    for (uint32_t i = 0; start != 0 && i < n; i++)
        words[i] += start;
    return n;
}

/* Takes the words of the text's bytes from from to end, which are a piece. */
static td_code take_piece(run *r, uint32_t from, uint32_t end)
{
    uint32_t words[WORDS];
    TD_TRY(go_on(r, from));
    for (uint32_t at = from; at < end;) {
        uint32_t n = scan(r, from, at, end, words);
        TD_TRY(take_words(r, at, words, n));
        at = words[n - 1];
        if (r->f->scanner != NULL)
            continue;
        r->cache->watch.eager -= r->cache->watch.eager != 0;
        if (n < WORDS && at < end)
            TD_TRY(put_lone(r, &at, end));
    }
    return TD_OK;
}

/* Where a piece begins in the text; false: it lies elsewhere. */
static bool place_of(const run *r, td_str piece, uint32_t *ret)
{
    uintptr_t at = (uintptr_t)piece.ptr - (uintptr_t)r->text.ptr;
    *ret = (uint32_t)at;
    return at <= r->text.len && piece.len <= r->text.len - at;
}

td_code tk_fast_start(tk_fast_run *w, const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text,
                      tk_sink *sink, td_error *err)
{
    w->f = f;
    w->cache = cache;
    w->ctx = ctx;
    w->text = text;
    w->sink = sink;
    w->err = err;
    w->looked = w->flushes = w->b.from = w->b.count = 0;
    w->last.piece.len = 0;
    for (uint32_t i = 0; i < TK_WORDS_ADDED; i++)
        w->added[i] = TK_NO_ID;
    w->b.most = cache->settled ? TK_BATCH_WARM : TK_BATCH;
    return tk_cache_start(cache, f->loops->hash) ? TD_OK : td_fail_nomem(err);
}

td_code tk_fast_end(tk_fast_run *w)
{
    return flush(w);
}

td_code tk_fast_piece(tk_fast_run *w, td_str piece)
{
    uint32_t from;
    if (place_of(w, piece, &from))
        return take_piece(w, from, from + (uint32_t)piece.len);
    TD_TRY(flush(w));
    td_str text = w->text;
    uint32_t looked = w->looked;
    w->text = piece;
    w->looked = w->b.from = 0;
    TD_TRY(take_piece(w, 0, (uint32_t)piece.len));
    TD_TRY(flush(w));
    w->text = text;
    w->looked = looked;
    return TD_OK;
}

td_code tk_fast_spaces(tk_fast_run *w, td_str piece)
{
    if (!tk_spaces_head(&w->f->marks, w->ctx, piece))
        return tk_fast_piece(w, piece);
    uint32_t end; /* of the first word */
    tk_lone_watch none = { UINT32_MAX, 0 };
    tk_char_words_scan(w->f->chars, piece, 0, &end, 1, &none);
    char *first = td_arena_alloc(&w->ctx->arena, (size_t)end + 1, 1);
    if (first == NULL)
        return tk_nomem(w->ctx, w->err);
    first[0] = ' ';
    memcpy(first + 1, piece.ptr, end);
    TD_TRY(tk_fast_piece(w, (td_str){ first, (size_t)end + 1 }));
    piece = td_str_from_offset(piece, end);
    return piece.len != 0 ? tk_fast_piece(w, piece) : TD_OK;
}

td_code tk_fast_added(tk_fast_run *w, td_str token, td_id id)
{
    uint32_t from;
    if (!place_of(w, token, &from)) {
        TD_TRY(flush(w));
        return tk_sink_put(w->sink, id, w->err);
    }
    TD_TRY(go_on(w, from));
    tk_batch *b = &w->b;
    uint32_t i = b->count++;
    tk_key_added(id, b->keys[i]);
    uint32_t late = id % TK_WORDS_ADDED;
    if (w->added[late] != id) {
        w->added[late] = id;
        w->added_hashes[late] = w->cache->hash(b->keys[i]);
    }
    b->hashes[i] = w->added_hashes[late];
    b->ends[i] = from + (uint32_t)token.len;
    __builtin_prefetch(tk_own_pair(w->cache, b->hashes[i]));
    return TD_OK;
}

void tk_fast_remember(tk_fast_run *w, td_str piece, uint32_t first, uint32_t flushes)
{
    uint32_t from;
    bool whole = flushes == w->flushes && place_of(w, piece, &from) &&
                 from == (first == 0 ? w->b.from : w->b.ends[first - 1]);
    w->last =
        (tk_piece_words){ whole ? piece : (td_str){ NULL, 0 }, first, w->b.count - first, flushes };
}

/* Both have n bytes, mostly few. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
    return a[0] == b[0] && (n == 1 || memcmp(a, b, n) == 0);
}

bool tk_fast_again(tk_fast_run *w, td_str piece)
{
    tk_batch *b = &w->b;
    tk_piece_words *last = &w->last;
    if (last->piece.len != piece.len || last->flushes != w->flushes ||
        !same_bytes(last->piece.ptr, piece.ptr, piece.len) || last->count > b->most - b->count)
        return false;
    uint32_t to = b->count, moved = (uint32_t)(piece.ptr - last->piece.ptr);
    uint32_t start = last->first == 0 ? b->from : b->ends[last->first - 1];
    if (to == 0 || b->ends[to - 1] != start + moved)
        return false;
    for (uint32_t i = last->first, end = i + last->count; i < end; i++, to++) {
        memcpy(b->keys[to], b->keys[i], sizeof b->keys[to]);
        b->hashes[to] = b->hashes[i];
        b->ends[to] = b->ends[i] + moved;
    }
    last->piece = piece;
    last->first = b->count;
    b->count = to;
    return true;
}

/* fast.c - words to ids through the cache (see fast.h).
 *
 * Batches of words: a first loop makes keys and hashes and prefetches the cache lines, a second
 * one compares and copies ids out. A word's 16-byte load does not depend on its length, which is
 * masked off afterwards; only the last 16 bytes of a text are read with care. */
#include "tokenizer/fast.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/pretok/pretok.h"
#include "tokenizer/vocab/vocab.h"

enum { BATCH = 256, STACK_SYMBOLS = 96, PART = 0x80, TOO_LONG = 0xFF,
       LOOK_BYTES = 1 << 16 /* of a long word, between two looks at clock and flag */ };

static td_code set_cuts(tk_load *load, tk_fast *f, bool chars)
{
    tk_cuts *cuts = tk_cuts_new(f->bpe, chars);
    if (cuts == NULL)
        return tk_load_nomem(load);
    f->cuts = cuts;
    return tk_on_free(load, td_free, cuts);
}

static bool has_all_bytes(tk_fast *f)
{
    for (uint32_t b = 0; b < 256; b++) {
        f->bytes[b] = f->bpe->direct[tk_byte_to_char((uint8_t)b)];
        if (f->bytes[b] == TK_NO_ID)
            return false;
    }
    return true;
}

/* Whether pretok leaves every text from norm whole. */
static bool splits_nothing(const tk_norm *norm, const tk_pretok *pretok)
{
    if (pretok == NULL)
        return true;
    if (!tk_is_split(pretok))
        return false;
    const tk_split_pretok *s = (const tk_split_pretok *)pretok;
    bool is_string;
    td_str source = tk_regex_source(s->pattern, &is_string);
    bool keeps = s->behavior != TK_REMOVED || !s->invert;
    return is_string && keeps && tk_norm_removes(norm, source);
}

/* Whether every character has symbols that do not depend on its neighbours. */
static bool falls_back_to_bytes(const tk_bpe *bpe)
{
    if (!bpe->byte_fallback || bpe->ignore_merges)
        return false;
    for (uint32_t b = 0; b < 256; b++)
        if (bpe->bytes[b] == TK_NO_ID || tk_id_bit(bpe->merges.parts, bpe->bytes[b]))
            return false;
    return true;
}

td_code tk_fast_new(tk_load *load, const tk_norm *norm, const tk_pretok *pretok,
                    const tk_model *model, const tk_fast **ret)
{
    *ret = NULL;
    const tk_bpe *bpe = tk_as_bpe(model);
    if (bpe == NULL || bpe->prefix.len != 0 || bpe->suffix.len != 0)
        return TD_OK;
    tk_fast *f = TK_NEW(load, tk_fast);
    if (f == NULL)
        return TD_E_INTERNAL;
    f->bpe = bpe;
    f->scanner = pretok != NULL ? tk_scanner_of(pretok) : NULL;
    if (f->scanner != NULL) {
        f->run = tk_scan_best(f->scanner->run, td_cpu_best());
        if (!has_all_bytes(f))
            return TD_OK;
    } else {
        f->spaces = norm == NULL && pretok != NULL ? tk_as_metaspace(pretok) : NULL;
        bool whole = f->spaces != NULL ? !f->spaces->split : splits_nothing(norm, pretok);
        if (!whole || !falls_back_to_bytes(bpe))
            return TD_OK;
    }
    *ret = f;
    return set_cuts(load, f, f->scanner == NULL);
}

td_code tk_sink_reserve(tk_sink *sink, size_t extra, td_error *err)
{
    if (sink->counting || extra <= sink->cap - sink->count)
        return TD_OK;
    size_t cap = sink->cap * 2 + extra + 1024;
    td_id *ids = td_realloc(sink->ids, cap * sizeof *ids);
    if (ids == NULL)
        return td_fail_nomem(err);
    sink->ids = ids;
    sink->cap = cap;
    return TD_OK;
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide m = (wide)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t hash_key(uint64_t a, uint64_t b)
{
    return fold(a ^ 0x9E3779B97F4A7C15u, b ^ 0xD6E8FEB86659FD93u);
}

static uint64_t hash_long(td_str word)
{
    return tk_vocab_hash(word.ptr, word.len);
}

#define ONES(n) ((n) >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * ((n)&7))) - 1)
#define ROW(n) { ONES(n), (n) > 8 ? ONES((n)-8) : 0 }

/* Masks of the first n bytes of 16. */
static const uint64_t masks[16][2] = {
    { 0, 0 }, ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8),   ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15),
};

/* The last byte of a key is the word's length; words that are too long have a key that no entry
 * has. p has 16 readable bytes. */
static inline void make_key(const char *p, uint32_t len, uint64_t *key)
{
    uint64_t a, b;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    bool fits = len <= TK_CACHED_BYTES;
    const uint64_t *mask = masks[fits ? len : 0];
    key[0] = a & mask[0];
    key[1] = (b & mask[1]) | (uint64_t)(fits ? len : TOO_LONG) << 56;
}

/* The same for the last bytes of a text. */
static void make_key_near_end(const char *p, size_t left, uint32_t len, uint64_t *key)
{
    char tail[16] = { 0 };
    memcpy(tail, p, left < 16 ? left : 16);
    make_key(tail, len, key);
}

/* ---- words that the cache does not know ---- */

/* A whole word that is in the vocabulary, for models with ignore_merges. */
static bool find_whole(const tk_bpe *bpe, td_str word, td_id *ret)
{
    char text[512];
    size_t n = 0;
    if (word.len > sizeof text / 2)
        return false; /* the caller takes the slow way */
    for (size_t i = 0; i < word.len; i++)
        n += td_utf8_put(text + n, tk_byte_to_char((uint8_t)word.ptr[i]));
    return tk_vocab_find(bpe->vocab, (td_str){ text, n }, ret);
}

/* As find_whole for long words, through the arena. */
static td_code find_whole_long(const tk_bpe *bpe, tk_ctx *ctx, td_str word, bool *ret_found,
                               td_id *ret, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    char *text = td_arena_alloc_n(&ctx->arena, word.len, 2, 1);
    if (text == NULL)
        return tk_nomem(ctx, err);
    size_t n = 0;
    for (size_t i = 0; i < word.len; i++)
        n += td_utf8_put(text + n, tk_byte_to_char((uint8_t)word.ptr[i]));
    *ret_found = tk_vocab_find(bpe->vocab, (td_str){ text, n }, ret);
    td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

/* Characters of the vocabulary, and the bytes of others. */
static void spell_chars(const tk_bpe *bpe, td_str word, tk_symbols *s)
{
    const char *p = word.ptr, *end = word.ptr + word.len;
    s->count = 0;
    while (p < end) {
        const char *from = p;
        uint32_t c = td_utf8_next(&p, end);
        td_id id = TK_NO_ID;
        if (c < TK_BPE_DIRECT)
            id = bpe->direct[c];
        else
            tk_vocab_find(bpe->vocab, (td_str){ from, (size_t)(p - from) }, &id);
        if (id != TK_NO_ID) {
            s->ids[s->count] = id;
            s->lens[s->count++] = (uint32_t)(p - from);
            continue;
        }
        for (; from < p; from++) {
            s->ids[s->count] = bpe->bytes[(uint8_t)*from];
            s->lens[s->count++] = 1;
        }
    }
}

static void spell(const tk_fast *f, td_str word, tk_symbols *s)
{
    if (f->scanner == NULL) {
        spell_chars(f->bpe, word, s);
        return;
    }
    for (size_t i = 0; i < word.len; i++) {
        s->ids[i] = f->bytes[(uint8_t)word.ptr[i]];
        s->lens[i] = 1;
    }
    s->count = (uint32_t)word.len;
}

static td_code put_ids(tk_sink *sink, const td_id *ids, uint32_t count, td_error *err)
{
    TD_TRY(tk_sink_reserve(sink, count, err));
    if (!sink->counting)
        memcpy(sink->ids + sink->count, ids, count * sizeof *ids);
    sink->count += count;
    return TD_OK;
}

/* Merges a word (or a part of one) of up to STACK_SYMBOLS bytes. */
static td_code merge_short(const tk_fast *f, tk_ctx *ctx, td_str word, td_id *ids,
                           uint32_t *ret_count, td_error *err)
{
    uint32_t lens[STACK_SYMBOLS];
    tk_symbols s = { ids, lens, 0 };
    spell(f, word, &s);
    TD_TRY(tk_bpe_merge(f->bpe, ctx, &s, err));
    *ret_count = s.count;
    return TD_OK;
}

static td_code merge_giant(const tk_fast *f, tk_ctx *ctx, td_str word, tk_sink *sink, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    tk_symbols s = { td_arena_array(&ctx->arena, td_id, word.len),
                     td_arena_array(&ctx->arena, uint32_t, word.len), 0 };
    if (s.ids == NULL || s.lens == NULL)
        return tk_nomem(ctx, err);
    spell(f, word, &s);
    TD_TRY(tk_bpe_merge(f->bpe, ctx, &s, err));
    TD_TRY(put_ids(sink, s.ids, s.count, err));
    td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

/* Merges a part that is longer than the short table takes. whole: it is a word, not a part of
 * one; under ignore_merges the long table is for those only. */
static td_code merge_long(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str part, bool whole,
                          tk_sink *sink, td_error *err)
{
    td_id ids[STACK_SYMBOLS];
    uint32_t count;
    bool cached = whole || !f->bpe->ignore_merges;
    if (part.len > STACK_SYMBOLS)
        return merge_giant(f, ctx, part, sink, err);
    uint64_t hash = hash_long(part);
    const td_id *known = cached ? tk_cache_find_long(c, part, hash, &count) : NULL;
    if (known != NULL)
        return put_ids(sink, known, count, err);
    TD_TRY(merge_short(f, ctx, part, ids, &count, err));
    if (cached)
        tk_cache_put_long(c, part, hash, ids, count);
    return put_ids(sink, ids, count, err);
}

/* A part of a word, which the cut filter made: through the cache under a key of its own kind,
 * because a whole word of the same bytes may be a token by ignore_merges. */
static td_code put_part(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str part,
                        const char *text_end, tk_sink *sink, td_error *err)
{
    if (part.len > TK_CACHED_BYTES)
        return merge_long(f, c, ctx, part, false, sink, err);
    uint64_t key[2];
    if (text_end - part.ptr >= 16)
        make_key(part.ptr, (uint32_t)part.len, key);
    else
        make_key_near_end(part.ptr, (size_t)(text_end - part.ptr), (uint32_t)part.len, key);
    key[1] |= (uint64_t)PART << 56;
    uint64_t hash = hash_key(key[0], key[1]);
    const tk_cached *pair = &c->slots[2 * (hash & c->pair_mask)];
    for (int i = 0; i < 2; i++) {
        const tk_cached *e = &pair[i];
        if (e->key[0] == key[0] && e->key[1] == key[1]) {
            td_id ids[TK_CACHED_IDS];
            memcpy(ids, e->ids, sizeof ids);
            ids[0] &= ((td_id)1 << TK_COUNT_SHIFT) - 1;
            return put_ids(sink, ids, e->ids[0] >> TK_COUNT_SHIFT, err);
        }
    }
    td_id ids[STACK_SYMBOLS];
    uint32_t count;
    TD_TRY(merge_short(f, ctx, part, ids, &count, err));
    if (count <= TK_CACHED_IDS)
        tk_cache_put(c, key, hash, ids, count);
    return put_ids(sink, ids, count, err);
}

static inline const char *next_char(const char *p, const char *end)
{
    td_utf8_next(&p, end);
    return p;
}

/* A long word: cut where it is safe, part by part. text_end: how far may be read. */
static td_code put_long_word(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word,
                             const char *text_end, tk_sink *sink, td_error *err)
{
    const char *end = word.ptr + word.len, *from = word.ptr, *x = from;
    const char *y = next_char(x, end);
    const char *looked = from;
    while (y < end) {
        const char *z = next_char(y, end);
        if (y - looked >= LOOK_BYTES) {
            TD_TRY(tk_look_around(ctx, err));
            looked = y;
        }
        if (tk_can_cut(f->cuts, x, y, z)) {
            td_str part = { from, (size_t)(y - from) };
            TD_TRY(put_part(f, c, ctx, part, text_end, sink, err));
            from = y;
        }
        x = y;
        y = z;
    }
    td_str last = { from, (size_t)(end - from) };
    if (from == word.ptr)
        return merge_long(f, c, ctx, last, true, sink, err);
    return put_part(f, c, ctx, last, text_end, sink, err);
}

/* A word that the table of short words does not have. */
static td_code miss(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2],
                    uint64_t hash, const char *text_end, tk_sink *sink, td_error *err)
{
    td_id ids[STACK_SYMBOLS];
    uint32_t count = 1;
    bool found = false;
    if (f->bpe->ignore_merges && word.len <= STACK_SYMBOLS)
        found = find_whole(f->bpe, word, &ids[0]);
    else if (f->bpe->ignore_merges)
        TD_TRY(find_whole_long(f->bpe, ctx, word, &found, &ids[0], err));
    if (!found && word.len > TK_CACHED_BYTES)
        return f->scanner != NULL ? put_long_word(f, c, ctx, word, text_end, sink, err)
                                  : merge_long(f, c, ctx, word, true, sink, err);
    if (!found) {
        uint64_t long_hash = hash_long(word);
        const td_id *known = tk_cache_find_long(c, word, long_hash, &count);
        if (known != NULL)
            return put_ids(sink, known, count, err);
        TD_TRY(merge_short(f, ctx, word, ids, &count, err));
        if (count > TK_CACHED_IDS)
            tk_cache_put_long(c, word, long_hash, ids, count);
    }
    if (word.len <= TK_CACHED_BYTES && count <= TK_CACHED_IDS)
        tk_cache_put(c, key, hash, ids, count);
    return put_ids(sink, ids, count, err);
}

/* ---- the batch ---- */

typedef struct batch {
    uint64_t keys[BATCH][2];
    uint64_t hashes[BATCH];
} batch;

static void make_keys(const tk_cache *c, td_str text, uint32_t from, const uint32_t *ends,
                      uint32_t n, batch *b)
{
    const char *text_end = text.ptr + text.len;
    const tk_cached *slots = c->slots;
    uint64_t pair_mask = c->pair_mask;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *key = b->keys[i];
        const char *p = text.ptr + from;
        if (text_end - p >= 16)
            make_key(p, ends[i] - from, key);
        else
            make_key_near_end(p, (size_t)(text_end - p), ends[i] - from, key);
        b->hashes[i] = hash_key(key[0], key[1]);
        __builtin_prefetch(&slots[2 * (b->hashes[i] & pair_mask)]);
        from = ends[i];
    }
}

/* Words i and up, as far as the cache knows them; sink has room for all. Returns the first word
 * that it does not know, n when there is none. */
static uint32_t run_hits(const tk_cache *c, const batch *b, uint32_t i, uint32_t n, tk_sink *sink)
{
    const tk_cached *slots = c->slots;
    uint64_t pair_mask = c->pair_mask;
    td_id drop[TK_CACHED_IDS];
    td_id *out = sink->counting ? drop : sink->ids + sink->count;
    size_t live = sink->counting ? 0 : SIZE_MAX, count = 0;
    for (; i < n; i++) {
        uint64_t low = b->keys[i][0], high = b->keys[i][1];
        const tk_cached *pair = &slots[2 * (b->hashes[i] & pair_mask)];
        uint64_t first = (pair[0].key[0] ^ low) | (pair[0].key[1] ^ high);
        uint64_t second = (pair[1].key[0] ^ low) | (pair[1].key[1] ^ high);
        size_t which = first != 0;
        if (first != 0 && second != 0)
            break;
#if defined(__GNUC__)
        __asm__("" : "+r"(which)); /* an index, not a branch: which place it is cannot be guessed */
#endif
        const tk_cached *e = pair + which;
        td_id head = e->ids[0];
        memcpy(out, e->ids, sizeof e->ids);
        out[0] = head & (((td_id)1 << TK_COUNT_SHIFT) - 1);
        count += head >> TK_COUNT_SHIFT;
        out += (head >> TK_COUNT_SHIFT) & live;
    }
    sink->count += count;
    return i;
}

static td_code run_batch(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str text, uint32_t from,
                         const uint32_t *ends, uint32_t n, const batch *b, tk_sink *sink,
                         td_error *err)
{
    for (uint32_t i = 0; (i = run_hits(c, b, i, n, sink)) < n; i++) {
        uint32_t start = i == 0 ? from : ends[i - 1];
        td_str word = { text.ptr + start, ends[i] - start };
        TD_TRY(miss(f, c, ctx, word, b->keys[i], b->hashes[i], text.ptr + text.len, sink, err));
        TD_TRY(tk_sink_reserve(sink, ends[n - 1] - ends[i] + TK_CACHED_IDS, err));
    }
    return TD_OK;
}

/* Words of a model of characters: up to the next cut. */
static uint32_t scan_cuts(const tk_cuts *cuts, td_str text, uint32_t from, uint32_t *ends,
                          uint32_t max)
{
    const char *end = text.ptr + text.len, *x = text.ptr + from;
    const char *y = next_char(x, end);
    uint32_t n = 0;
    while (y < end) {
        const char *z = next_char(y, end);
        if (tk_can_cut(cuts, x, y, z)) {
            ends[n++] = (uint32_t)(y - text.ptr);
            if (n == max)
                return n;
        }
        x = y;
        y = z;
    }
    ends[n++] = (uint32_t)text.len;
    return n;
}

/* Ends of words on their way through the cache. */
typedef struct queue {
    uint32_t from, count;
    uint32_t ends[BATCH];
    batch b;
} queue;

static td_code run_queue(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, queue *q,
                         tk_sink *sink, td_error *err)
{
    if (q->count == 0)
        return TD_OK;
    uint32_t end = q->ends[q->count - 1];
    TD_TRY(tk_sink_reserve(sink, end - q->from + TK_CACHED_IDS, err));
    make_keys(cache, text, q->from, q->ends, q->count, &q->b);
    TD_TRY(run_batch(f, cache, ctx, text, q->from, q->ends, q->count, &q->b, sink, err));
    q->from = end;
    q->count = 0;
    return TD_OK;
}

/* Adds the word from start to end, in parts where it is long and can be cut. A part is as good as
 * a word, because without ignore_merges the ids of both depend on nothing but their bytes. */
static td_code add_word(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, uint32_t start,
                        uint32_t end, queue *q, tk_sink *sink, td_error *err)
{
    const char *x = text.ptr + start, *stop = text.ptr + end;
    const char *y = end - start > TK_CACHED_BYTES ? next_char(x, stop) : stop;
    while (y < stop) {
        const char *z = next_char(y, stop);
        if (tk_can_cut(f->cuts, x, y, z)) {
            q->ends[q->count++] = (uint32_t)(y - text.ptr);
            if (q->count == BATCH)
                TD_TRY(run_queue(f, cache, ctx, text, q, sink, err));
        }
        x = y;
        y = z;
    }
    q->ends[q->count++] = end;
    return q->count == BATCH ? run_queue(f, cache, ctx, text, q, sink, err) : TD_OK;
}

td_code tk_fast_words(const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text, tk_sink *sink,
                      td_error *err)
{
    uint32_t words[BATCH];
    queue q;
    q.from = q.count = 0;
    bool cut = f->scanner != NULL && !f->bpe->ignore_merges;
    if (!tk_cache_start(cache))
        return td_fail_nomem(err);
    for (uint32_t from = 0; from < text.len;) {
        if (!cut) {
            q.count = f->scanner != NULL ? f->run(text, from, q.ends, BATCH)
                                         : scan_cuts(f->cuts, text, from, q.ends, BATCH);
            from = q.ends[q.count - 1];
        } else {
            uint32_t n = f->run(text, from, words, BATCH);
            for (uint32_t i = 0; i < n; from = words[i++])
                TD_TRY(add_word(f, cache, ctx, text, from, words[i], &q, sink, err));
        }
        TD_TRY(run_queue(f, cache, ctx, text, &q, sink, err));
    }
    return TD_OK;
}

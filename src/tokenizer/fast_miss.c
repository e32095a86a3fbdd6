/* fast_miss.c - words that the cache of short words does not have: entries of the vocabulary, long
 * words, and words that have to be merged.
 *
 * Under ignore_merges a word that is an entry is that entry, whatever merging would make of it, but
 * a part of a word is merged; so both have keys of their own. */
#include "tokenizer/fast_miss.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/key.h"
#include "tokenizer/long_words.h"

enum { STACK_SYMBOLS = 96 };

/* A word as the vocabulary of a byte-level model writes it. out has room for twice the word. */
static td_str entry_text(const tk_fast *f, td_str word, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < word.len; i++) {
        uint16_t c = f->byte_chars[(uint8_t)word.ptr[i]];
        memcpy(out + n, &c, sizeof c);
        n += (size_t)1 + (c >> 8 != 0);
    }
    return (td_str){ out, n };
}

static bool find_entry(const tk_fast *f, td_str word, td_id *ret)
{
    char out[2 * STACK_SYMBOLS + 1];
    return tk_vocab_find(f->bpe->vocab, entry_text(f, word, out), ret);
}

/* As find_entry for long words, through the arena. */
static td_code find_long_entry(const tk_fast *f, tk_ctx *ctx, td_str word, bool *ret_found,
                               td_id *ret, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    char *out = td_arena_alloc_n(&ctx->arena, word.len + 1, 2, 1);
    if (out == NULL)
        return tk_nomem(ctx, err);
    *ret_found = tk_vocab_find(f->bpe->vocab, entry_text(f, word, out), ret);
    td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

/* Characters of the vocabulary, and the bytes of others. */
static void spell_chars(const tk_fast *f, td_str word, tk_symbols *s)
{
    const tk_bpe *bpe = f->bpe;
    const char *p = word.ptr, *end = word.ptr + word.len;
    s->count = 0;
    while (p < end) {
        const char *from = p;
        uint32_t c = td_utf8_next(&p, end);
        td_id id = TK_NO_ID;
        if (c == ' ' && f->marks.mark.len != 0)
            id = f->mark;
        else if (c < TK_BPE_DIRECT)
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
        spell_chars(f, word, s);
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

/* The same for at most TK_LANE_SHORT ids, of which as many can be read. */
static td_code put_few(tk_sink *sink, const td_id *ids, uint32_t count, td_error *err)
{
    TD_TRY(tk_sink_reserve(sink, TK_LANE_SHORT, err));
    if (!sink->counting)
        memcpy(sink->ids + sink->count, ids, TK_LANE_SHORT * sizeof *ids);
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

/* The same for any length; cached: its ids are kept, if it is not too long for that. */
static td_code merge_giant(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, bool cached,
                           tk_sink *sink, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    tk_symbols s = { td_arena_array(&ctx->arena, td_id, word.len),
                     td_arena_array(&ctx->arena, uint32_t, word.len), 0 };
    if (s.ids == NULL || s.lens == NULL)
        return tk_nomem(ctx, err);
    spell(f, word, &s);
    TD_TRY(tk_bpe_merge(f->bpe, ctx, &s, err));
    TD_TRY(put_ids(sink, s.ids, s.count, err));
    if (cached)
        tk_long_put(c, word, s.ids, s.count);
    td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

/* A word or part that is too long for the table of short ones. Under ignore_merges the records are
 * for whole words only. */
static td_code merge_long(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, bool part,
                          tk_sink *sink, td_error *err)
{
    td_id ids[STACK_SYMBOLS];
    uint32_t count;
    bool cached = (!part || !f->bpe->ignore_merges) && word.len <= TK_RECORD_BYTES;
    const td_id *known = cached ? tk_long_find(c, word, &count) : NULL;
    if (known != NULL)
        return put_ids(sink, known, count, err);
    if (word.len > STACK_SYMBOLS)
        return merge_giant(f, c, ctx, word, cached, sink, err);
    TD_TRY(merge_short(f, ctx, word, ids, &count, err));
    if (cached)
        tk_long_put(c, word, ids, count);
    return put_ids(sink, ids, count, err);
}

void tk_spell_lane(const tk_fast *f, td_str word, tk_lane *l)
{
    uint32_t lens[TK_LANE];
    tk_symbols s = { tk_lane_ids(l), lens, 0 };
    spell(f, word, &s);
    tk_lane_start(l, s.count);
}

/* A word that fits a key. */
static td_code put_short(const tk_fast *f, tk_cache *c, td_str word, const uint64_t key[2],
                         uint32_t hash, tk_sink *sink, td_error *err)
{
    td_id ids[TK_LANE_SHORT] = { 0 };
    uint32_t count = 1;
    const td_id *known = tk_cache_find(c, key, hash, ids, &count);
    if (known != NULL)
        return put_few(sink, known, count, err);
    c->fresh++;
    tk_lane l;
    ids[0] = tk_entry_answer(f, key, tk_entry_ask(f, key));
    known = ids;
    if (ids[0] == TK_NO_ID) {
        tk_spell_lane(f, word, &l);
        tk_merge_lanes(&f->bpe->merges, &l, 1, NULL);
        known = tk_lane_get(&l, ids, &count);
    }
    tk_cache_put(c, key, hash, known, count);
    return put_few(sink, known, count, err);
}

static td_code put_part(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str part,
                        const char *text_end, tk_sink *sink, td_error *err)
{
    uint64_t key[2];
    tk_key_of(part, text_end, true, key);
    return tk_word_put(f, c, ctx, part, key, c->hash(key), text_end, sink, err);
}

/* A long word: cut where it is safe, part by part. */
static td_code put_parts(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word,
                         const char *text_end, tk_sink *sink, td_error *err)
{
    const char *end = word.ptr + word.len, *from = word.ptr, *looked = from, *y = from;
    uint64_t left = tk_cut_next(&y);
    while (y < end) {
        const char *z = y;
        uint64_t right = tk_cut_next(&z);
        if (y - looked >= TK_LOOK_BYTES) {
            TD_TRY(tk_look_around(ctx, err));
            looked = y;
        }
        if (tk_can_cut_at(f->cuts, left, right, y)) {
            td_str part = { from, (size_t)(y - from) };
            TD_TRY(put_part(f, c, ctx, part, text_end, sink, err));
            from = y;
        }
        left = right;
        y = z;
    }
    td_str last = { from, (size_t)(end - from) };
    if (from == word.ptr)
        return merge_long(f, c, ctx, last, false, sink, err);
    return put_part(f, c, ctx, last, text_end, sink, err);
}

td_code tk_word_put(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2],
                    uint32_t hash, const char *text_end, tk_sink *sink, td_error *err)
{
    if (tk_key_is_added(key)) {
        td_id added = (td_id)key[0];
        tk_cache_put(c, key, hash, &added, 1);
        return tk_sink_put(sink, added, err);
    }
    if (f->bpe == NULL)
        return tk_piece_put(f, c, ctx, word, key, hash, sink, err);
    if (word.len <= TK_CACHED_BYTES)
        return put_short(f, c, word, key, hash, sink, err);
    if (key[1] >> 56 == TK_KEY_LONG_UNCUT)
        return merge_long(f, c, ctx, word, false, sink, err);
    bool part = tk_key_is_part(key), found = false;
    td_id id;
    if (f->bpe->ignore_merges && !part && tk_may_be_entry(f, word)) {
        if (word.len <= STACK_SYMBOLS)
            found = find_entry(f, word, &id);
        else
            TD_TRY(find_long_entry(f, ctx, word, &found, &id, err));
    }
    if (found && tk_has_lines(word.len))
        tk_long_put(c, word, &id, 1);
    if (found)
        return tk_sink_put(sink, id, err);
    if (!part && f->scanner != NULL)
        return put_parts(f, c, ctx, word, text_end, sink, err);
    return merge_long(f, c, ctx, word, part, sink, err);
}

/* fast_pieces.c - words that the cache does not have where words are what a pre-tokenizer makes of
 * the text, and any model takes them (see fast.h).
 *
 * A word has its ids kept if they fit the cache, and if there are not more of them than it has
 * bytes, which is the room that there is for known words. */
#include "tokenizer/fast_miss.h"

#include "base/utf8.h"
#include "tokenizer/long_words.h"
#include "tokenizer/selfcheck.h"
#include "unicode/unicode_ref.h"

/* The word without the white space in front. */
static td_str without_space(td_str word)
{
    const char *p = word.ptr, *end = word.ptr + word.len, *from = p;
    while (p < end && td_tk_is_whitespace(td_utf8_next(&p, end)))
        from = p;
    return (td_str){ from, (size_t)(end - from) };
}

td_code tk_word_pieces(const tk_fast *f, tk_ctx *ctx, td_str word, tk_pieces *ret, td_error *err)
{
    ret->count = 0;
    if (f->drops_space)
        word = without_space(word);
    if (word.len == 0)
        return TD_OK;
    tk_piece piece = { { .ptr = word.ptr, .len = (uint32_t)word.len }, TK_NO_ID };
    piece.text.from = 1; /* not the start of the input: no pre-tokenizer looks at that here */
    piece.text.to = 1 + piece.text.len;
    TD_TRY(tk_pieces_add(ctx, ret, &piece, err));
    return f->pretok != NULL ? f->pretok->apply(f->pretok, ctx, ret, err) : TD_OK;
}

static td_code tokenize(const tk_model *model, tk_ctx *ctx, td_str piece, td_error *err)
{
    tk_tokens *all = &ctx->model;
    uint32_t before = all->count;
    TD_TRY(model->tokenize(model, ctx, piece, all, err));
    uint32_t count = all->count - before;
    tk_tokens own = { count != 0 ? all->items + before : NULL, count, count };
    tk_check_model(model, piece, &own);
    return TD_OK;
}

/* What becomes of a word, as ctx->model. */
static td_code make(const tk_fast *f, tk_ctx *ctx, td_str word, td_error *err)
{
    tk_piece one;
    tk_pieces pieces = { 0 };
    if (f->pretok == NULL) /* which could keep the storage */
        pieces = (tk_pieces){ &one, 0, 1 };
    ctx->model.count = 0;
    TD_TRY(tk_word_pieces(f, ctx, word, &pieces, err));
    for (uint32_t i = 0; i < pieces.count; i++) {
        const tk_text *t = &pieces.items[i].text;
        TD_TRY(tokenize(f->model, ctx, (td_str){ t->ptr, t->len }, err));
    }
    return TD_OK;
}

static td_code put(tk_sink *sink, const td_id *ids, uint32_t count, td_error *err)
{
    TD_TRY(tk_sink_reserve(sink, count, err));
    if (!sink->counting && count != 0)
        memcpy(sink->ids + sink->count, ids, count * sizeof *ids);
    sink->count += count;
    return TD_OK;
}

/* The ids of tokens, behind which others can be read; *ret_small: they fit what the table of short
 * words has for each. */
static td_code ids_of(tk_ctx *ctx, const tk_token *tokens, uint32_t count, td_id **ret,
                      bool *ret_small, td_error *err)
{
    td_id *ids = td_arena_array(&ctx->arena, td_id, (size_t)count + TK_LANE_SHORT), any = 0;
    if (ids == NULL)
        return tk_nomem(ctx, err);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = tokens[i].id;
        any |= ids[i];
    }
    for (uint32_t i = 0; i < TK_LANE_SHORT; i++)
        ids[count + i] = 0;
    *ret = ids;
    *ret_small = count < TK_LANE_SHORT && any >> TK_COUNT_SHIFT == 0;
    return TD_OK;
}

td_code tk_piece_keep(tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2], uint32_t hash,
                      const tk_token *tokens, uint32_t count, td_id **ret, td_error *err)
{
    bool small = false;
    TD_TRY(ids_of(ctx, tokens, count, ret, &small, err));
    if (count <= word.len && word.len > TK_CACHED_BYTES)
        tk_long_put(c, word, *ret, count);
    else if (count <= word.len && small)
        tk_cache_put(c, key, hash, *ret, count);
    return TD_OK;
}

const td_id *tk_piece_find(const tk_cache *c, td_str word, const uint64_t key[2], uint32_t hash,
                           td_id room[TK_LANE_SHORT], uint32_t *ret_count)
{
    if (word.len <= TK_CACHED_BYTES)
        return tk_cache_find(c, key, hash, room, ret_count);
    return word.len <= TK_RECORD_BYTES ? tk_long_find(c, word, ret_count) : NULL;
}

void tk_pieces_forget(tk_ctx *ctx, td_arena_mark mark)
{
    td_arena_rewind(&ctx->arena, mark);
    ctx->model = (tk_tokens){ 0 };
    ctx->pieces = (tk_pieces){ 0 };
    ctx->matches = (tk_matches){ 0 };
}

td_code tk_piece_put(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word,
                     const uint64_t key[2], uint32_t hash, tk_sink *sink, td_error *err)
{
    td_id room[TK_LANE_SHORT] = { 0 };
    uint32_t count = 0;
    const td_id *known = tk_piece_find(c, word, key, hash, room, &count);
    if (known != NULL)
        return put(sink, known, count, err);
    c->fresh++;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    TD_TRY(make(f, ctx, word, err));
    td_id *ids = NULL;
    count = ctx->model.count;
    TD_TRY(tk_piece_keep(c, ctx, word, key, hash, ctx->model.items, count, &ids, err));
    TD_TRY(put(sink, ids, count, err));
    tk_pieces_forget(ctx, mark);
    return TD_OK;
}

/* fast_encode.c - steps 1 to 5 of encoding the fast way: pieces between added tokens, made ready
 * for the words of fast.h. */
#include <string.h>

#include "base/str.h"
#include "tokenizer/fast_words.h"
#include "tokenizer/internal.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/pretok/pretok.h"

enum { AGAIN_MAX = 64 /* bytes of a piece that is looked at for coming again */ };

/* A space goes in front of words that have none. */
static td_code prefix_space(tk_ctx *ctx, td_str *text, td_error *err)
{
    if (text->ptr[0] == ' ')
        return TD_OK;
    if (text->len >= UINT32_MAX - 1)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc(&ctx->arena, text->len + 1, 1);
    if (to == NULL)
        return tk_nomem(ctx, err);
    to[0] = ' ';
    memcpy(to + 1, text->ptr, text->len);
    *text = (td_str){ to, text->len + 1 };
    return TD_OK;
}

/* Steps 4 and 5 the fast way. */
static td_code fast_words(td_encoder *enc, td_str text, tk_fast_run *w, td_error *err)
{
    const tk_fast *fast = enc->tok->fast;
    const tk_metaspace *spaces = fast->spaces;
    tk_ctx *ctx = &enc->ctx;
    if (fast->prefix_space)
        TD_TRY(prefix_space(ctx, &text, err));
    if (spaces == NULL)
        return tk_fast_piece(w, text);
    bool head = text.ptr == ctx->input.ptr ? tk_metaspace_heads(spaces, ctx)
                                           : spaces->scheme == TK_PREPEND_ALWAYS;
    if (text.len >= UINT32_MAX / 4)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc_n(&ctx->arena, text.len + 1, spaces->text.len, 1);
    if (to == NULL)
        return tk_nomem(ctx, err);
    return tk_fast_piece(w, (td_str){ to, tk_metaspace_put(spaces, text, head, to) });
}

/* Steps 2 to 5 the fast way, for text between added tokens with normalized=false. */
static td_code fast_piece(td_encoder *enc, td_str piece, bool plain, tk_fast_run *w, td_error *err)
{
    const td_tokenizer *tok = enc->tok;
    tk_ctx *ctx = &enc->ctx;
    if (tok->fast->marks.mark.len != 0 && tok->added.normalized == NULL)
        return tk_fast_spaces(w, piece);
    tk_text text = { .ptr = piece.ptr, .len = (uint32_t)piece.len };
    if (tok->norm != NULL && !(ctx->ascii && tok->norm->keeps_ascii))
        TD_TRY(tk_norm_apply(tok->norm, ctx, &text, err));
    enc->changed |= text.ptr != piece.ptr;
    td_str s = { text.ptr, text.len };
    size_t from = 0, cursor = 0;
    tk_hit hit;
    while (tok->added.normalized != NULL &&
           tk_added_next(&tok->added, tok->added.normalized, s, from, &cursor, plain, &hit)) {
        if (hit.start > hit.end)
            return tk_added_void(&hit, err);
        if (from < hit.start)
            TD_TRY(fast_words(enc, (td_str){ s.ptr + from, hit.start - from }, w, err));
        if (hit.start < hit.end)
            TD_TRY(tk_fast_added(w, (td_str){ s.ptr + hit.start, hit.end - hit.start },
                                 hit.token->id));
        from = hit.end;
    }
    if (from == s.len)
        return TD_OK;
    return fast_words(enc, (td_str){ s.ptr + from, s.len - from }, w, err);
}

/* fast_piece, or the words once more when the piece before was the same: lines that are empty or
 * alike stand between added tokens in some models. The start of the input may have rules of its
 * own. */
static td_code fast_again(td_encoder *enc, td_str piece, bool plain, tk_fast_run *w, td_error *err)
{
    uint32_t first = w->b.count, flushes = w->flushes;
    if (tk_fast_again(w, piece))
        return TD_OK;
    TD_TRY(fast_piece(enc, piece, plain, w, err));
    if (piece.len <= AGAIN_MAX && piece.ptr != enc->ctx.input.ptr)
        tk_fast_remember(w, piece, first, flushes);
    else
        w->last.piece.len = 0;
    return TD_OK;
}

td_code tk_fast_encode(td_encoder *enc, td_str text, unsigned flags, tk_sink *sink, td_error *err)
{
    const tk_added *added = &enc->tok->added;
    bool plain = (flags & TD_ENCODE_PLAIN_TEXT) != 0;
    size_t from = 0, cursor = 0;
    tk_hit hit;
    if (enc->run == NULL && (enc->run = td_malloc(sizeof *enc->run)) == NULL)
        return td_fail_nomem(err);
    tk_fast_run *w = enc->run;
    TD_TRY(tk_fast_start(w, enc->tok->fast, &enc->cache, &enc->ctx, text, sink, err));
    while (added->raw != NULL && (flags & TK_ENCODE_NO_RAW) == 0 &&
           tk_added_next(added, added->raw, text, from, &cursor, plain, &hit)) {
        if (hit.start > hit.end)
            return tk_added_void(&hit, err);
        if (from < hit.start)
            TD_TRY(fast_again(enc, (td_str){ text.ptr + from, hit.start - from }, plain, w, err));
        if (hit.start < hit.end)
            TD_TRY(tk_fast_added(w, (td_str){ text.ptr + hit.start, hit.end - hit.start },
                                 hit.token->id));
        from = hit.end;
    }
    if (from < text.len)
        TD_TRY(fast_again(enc, td_str_from_offset(text, from), plain, w, err));
    return tk_fast_end(w);
}

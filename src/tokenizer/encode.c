/* encode.c - the six steps of encoding, in order (see pipeline.h). No step's logic is here. */
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/internal.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/selfcheck.h"
#include "tokenizer/tiles.h"

/* Steps 1 to 3: pieces of text between added tokens, normalized. */
static td_code find_pieces(td_encoder *enc, const tk_text *text, unsigned flags, tk_pieces *out,
                           td_error *err)
{
    const td_tokenizer *tok = enc->tok;
    bool none = (flags & TD_ENCODE_NO_ADDED) != 0;
    const tk_trie *trie = none || (flags & TK_ENCODE_NO_RAW) != 0 ? NULL : tok->added.raw;
    const tk_trie *normalized = none ? NULL : tok->added.normalized;
    bool plain = (flags & TD_ENCODE_PLAIN_TEXT) != 0;
    tk_ctx *ctx = &enc->ctx;
    tk_pieces raw = { 0 };
    TD_TRY(tk_added_split(&tok->added, trie, ctx, text, plain, &raw, err));
    for (uint32_t i = 0; i < raw.count; i++) {
        tk_piece *p = &raw.items[i];
        if (p->id != TK_NO_ID) {
            TD_TRY(tk_pieces_add(ctx, out, p, err));
            continue;
        }
        if (tok->norm != NULL)
            TD_TRY(tk_norm_apply(tok->norm, ctx, &p->text, err));
        TD_TRY(tk_added_split(&tok->added, normalized, ctx, &p->text, plain, out, err));
    }
    return TD_OK;
}

static void put_id(tk_encoding *e, td_id id, uint32_t start, uint32_t end, td_str value)
{
    e->ids[e->count] = id;
    if (e->starts != NULL) {
        e->starts[e->count] = start;
        e->ends[e->count] = end;
        e->values[e->count] = value;
    }
    e->count++;
}

/* The original span of bytes [start, end) of a piece. */
static void original_span(const tk_text *t, uint32_t start, uint32_t end, bool empty_at_start,
                          uint32_t *ret_start, uint32_t *ret_end)
{
    if (end > t->len) { /* beyond the piece: as the reference leaves it */
        *ret_start = start;
        *ret_end = end;
        return;
    }
    if (start == end && empty_at_start) {
        *ret_start = *ret_end = t->align[start].start;
        return;
    }
    if (start == end) {
        *ret_start = t->from + start;
        *ret_end = t->from + end;
        return;
    }
    *ret_start = t->align[start].start;
    *ret_end = t->align[end - 1].end;
}

static td_str value_of(const tk_model *model, const tk_token *t, const tk_text *piece)
{
    if (t->value == TK_VALUE_SPAN)
        return (td_str){ piece->ptr + t->start, t->end - t->start };
    return t->value == TK_VALUE_UNK ? model->unk_token : model->id_to_token(model, t->id);
}

/* Puts the tokens that the model made of a piece. */
static td_code put_tokens(td_encoder *enc, const tk_text *piece, tk_encoding *e, td_error *err)
{
    const tk_model *model = enc->tok->model;
    const tk_tokens *tokens = &enc->ctx.model;
    TD_TRY(tk_encoding_reserve(&enc->ctx, e, tokens->count, err));
    if (e->starts == NULL) {
        for (uint32_t i = 0; i < tokens->count; i++)
            e->ids[e->count + i] = tokens->items[i].id;
        e->count += tokens->count;
        return TD_OK;
    }
    for (uint32_t i = 0; i < tokens->count; i++) {
        const tk_token *t = &tokens->items[i];
        uint32_t start = 0, end = 0;
        original_span(piece, t->start, t->end, model->empty_at_start, &start, &end);
        put_id(e, t->id, start, end, value_of(model, t, piece));
    }
    return TD_OK;
}

/* Step 5 for one piece; last: the one that the tokens of the context are of, or NULL. */
static td_code run_model(td_encoder *enc, const tk_text *p, const tk_text *last, tk_encoding *e,
                         td_error *err)
{
    const tk_model *model = enc->tok->model;
    td_str piece = { p->ptr, p->len };
    if (last == NULL || last->len != p->len || memcmp(last->ptr, p->ptr, p->len) != 0) {
        enc->ctx.model.count = 0;
        TD_TRY(model->tokenize(model, &enc->ctx, piece, &enc->ctx.model, err));
        tk_check_model(model, piece, &enc->ctx.model);
    }
    return put_tokens(enc, p, e, err);
}

static td_code run_models(td_encoder *enc, const tk_pieces *pieces, tk_encoding *e, td_error *err)
{
    const tk_text *last = NULL;
    for (uint32_t i = 0; i < pieces->count; i++) {
        const tk_piece *p = &pieces->items[i];
        if (p->id == TK_NO_ID) {
            TD_TRY(run_model(enc, &p->text, last, e, err));
            last = &p->text;
            continue;
        }
        uint32_t start = 0, end = 0;
        TD_TRY(tk_encoding_reserve(&enc->ctx, e, 1, err));
        if (e->starts != NULL)
            original_span(&p->text, 0, p->text.len, false, &start, &end);
        put_id(e, p->id, start, end, (td_str){ p->text.ptr, p->text.len });
    }
    return TD_OK;
}

/* Step 6, with what tokenizer.json says about length around it. */
static td_code post_process(td_encoder *enc, unsigned flags, tk_encoding *e, td_error *err)
{
    const td_tokenizer *tok = enc->tok;
    const tk_post *post = tok->post;
    bool special = (flags & TD_ENCODE_ADD_SPECIAL) != 0;
    if ((flags & (TK_ENCODE_NO_POST | TD_ENCODE_NO_ADDED)) != 0)
        return TD_OK;
    if (tok->truncation != NULL)
        TD_TRY(tk_truncate(tok->truncation, special && post != NULL ? post->added : 0, e, err));
    if (post != NULL)
        TD_TRY(post->apply(post, &enc->ctx, e, special, err));
    return tok->padding != NULL ? tk_pad(tok->padding, &enc->ctx, e, err) : TD_OK;
}

static bool is_fast(const td_encoder *enc, unsigned flags)
{
    return enc->tok->fast != NULL && !enc->general && !enc->tok->always_track &&
           (flags & TD_ENCODE_NO_ADDED) == 0 &&
           ((flags & TD_ENCODE_OFFSETS) == 0 || enc->tok->tiles);
}

/* Checks the text and makes the context ready for it. *given: where it lies from now on. */
static td_code begin(td_encoder *enc, td_str *given, unsigned flags, td_error *err)
{
    tk_ctx *ctx = &enc->ctx;
    td_str text = *given;
    if (enc->tok->no_texts != NULL)
        return td_fail(err, TD_E_TOKENIZER, "%s", enc->tok->no_texts);
    if (text.len > TK_TEXT_MAX)
        return td_fail(err, TD_E_LIMIT, "text is longer than %d bytes", TK_TEXT_MAX);
    size_t ascii = td_utf8_ascii_run(text), good = ascii;
    if (ascii != text.len)
        good += td_utf8_check_strict(td_str_from_offset(text, ascii));
    if (good != text.len)
        return td_fail_at(err, TD_E_TOKENIZER, good, "text is not valid UTF-8 at byte %zu", good);
    const void *ptr = text.ptr;
    TD_TRY(tk_encoder_reset(enc, &ptr, text.len, err));
    text.ptr = ptr;
    ctx->model = (tk_tokens){ 0 };
    ctx->matches = (tk_matches){ 0 };
    ctx->pieces = (tk_pieces){ 0 };
    ctx->input = *given = text;
    ctx->ascii = ascii == text.len;
    ctx->plainly = enc->general;
    ctx->inside = (flags & TK_ENCODE_INSIDE) != 0;
    ctx->joined = (flags & TK_ENCODE_JOINED) != 0;
    ctx->track = (flags & TD_ENCODE_OFFSETS) != 0 || enc->tok->always_track;
    ctx->code_points =
        (flags & TD_ENCODE_OFFSETS) != 0 && (flags & TD_ENCODE_CODE_POINTS) != 0;
    return TD_OK;
}

/* Steps 1 to 5 the fast way. *ret_done: false when the general way is needed for the offsets. */
static td_code encode_fast(td_encoder *enc, td_str text, unsigned flags, tk_encoding *ret,
                           bool *ret_done, td_error *err)
{
    tk_sink *sink = &enc->sink;
    sink->count = 0;
    sink->counting = false;
    enc->changed = false;
    TD_TRY(tk_fast_encode(enc, text, flags, sink, err));
    *ret = (tk_encoding){ .ids = sink->ids, .count = sink->count, .cap = sink->count };
    *ret_done = true;
    if ((flags & TD_ENCODE_OFFSETS) == 0)
        return TD_OK;
    *ret_done = !enc->changed;
    return enc->changed ? TD_OK
                        : tk_tiles_set(enc->tok, &enc->ctx, text, ret, ret_done, err);
}

static td_code encode(td_encoder *enc, td_str *given, unsigned flags, tk_encoding *ret,
                      td_error *err)
{
    const td_tokenizer *tok = enc->tok;
    tk_ctx *ctx = &enc->ctx;
    TD_TRY(begin(enc, given, flags, err));
    td_str text = *given;
    bool done = false;
    if (is_fast(enc, flags))
        TD_TRY(encode_fast(enc, text, flags, ret, &done, err));
    if (done) {
        if (ctx->code_points)
            tk_offsets_to_code_points(text, ret->starts, ret->ends, ret->count);
        return post_process(enc, flags, ret, err);
    }
    tk_text all = { .ptr = text.ptr, .len = (uint32_t)text.len, .to = (uint32_t)text.len };
    if (ctx->track)
        TD_TRY(tk_text_track(ctx, &all, err));
    tk_pieces pieces = { 0 };
    TD_TRY(find_pieces(enc, &all, flags, &pieces, err));
    if (tok->pretok != NULL)
        TD_TRY(tok->pretok->apply(tok->pretok, ctx, &pieces, err));
    *ret = (tk_encoding){ 0 };
    TD_TRY(run_models(enc, &pieces, ret, err));
    if (ctx->code_points)
        tk_offsets_to_code_points(text, ret->starts, ret->ends, ret->count);
    return post_process(enc, flags, ret, err);
}

td_code tk_encode(td_encoder *enc, td_str text, unsigned flags, tk_encoding *ret, td_error *err)
{
    td_code code = encode(enc, &text, flags, ret, err);
    tk_check_encode(enc, text, flags, code, ret, false);
    return code;
}

static td_code count_ids(td_encoder *enc, td_str text, unsigned flags, size_t *ret, td_error *err)
{
    const tk_post *post = enc->tok->post;
    bool free = enc->tok->truncation == NULL && enc->tok->padding == NULL;
    bool bare =
        (flags & TK_ENCODE_NO_POST) != 0 ||
        (free && (post == NULL || (post->copies == 1 && (flags & TD_ENCODE_ADD_SPECIAL) == 0)));
    if (bare && is_fast(enc, flags)) {
        TD_TRY(begin(enc, &text, flags, err));
        tk_sink sink = { .counting = true };
        td_code code = tk_fast_encode(enc, text, flags, &sink, err);
        tk_check_encode(enc, text, flags | TK_ENCODE_NO_POST, code,
                        &(tk_encoding){ .count = sink.count }, true);
        *ret = sink.count;
        return code;
    }
    tk_encoding e = { 0 };
    TD_TRY(tk_encode(enc, text, flags, &e, err));
    *ret = e.count;
    return TD_OK;
}

/* Callers may pass no error. */
static td_code hand_over(td_code code, td_error *local, td_error *err)
{
    if ((code | local->code) == TD_OK)
        return TD_OK; /* nothing to free */
    if (code != TD_OK && err != NULL)
        td_error_move(err, local);
    td_error_clear(local);
    return code;
}

td_code td_encode(td_encoder *enc, td_str text, unsigned flags, td_ids *ret_ids, td_error *err)
{
    tk_encoding e = { 0 };
    td_error local;
    td_error_start(&local);
    TD_TRY(hand_over(tk_encode(enc, text, flags, &e, &local), &local, err));
    bool offsets = (flags & TD_ENCODE_OFFSETS) != 0;
    *ret_ids = (td_ids){ .ids = e.ids,
                         .starts = offsets ? e.starts : NULL,
                         .ends = offsets ? e.ends : NULL,
                         .count = e.count };
    return TD_OK;
}

td_code td_count(td_encoder *enc, td_str text, unsigned flags, size_t *ret_count, td_error *err)
{
    td_error local;
    td_error_start(&local);
    td_code code = count_ids(enc, text, flags & ~(unsigned)TD_ENCODE_OFFSETS, ret_count, &local);
    return hand_over(code, &local, err);
}

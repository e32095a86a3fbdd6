/* words.c - WordLevel and WordPiece: models that look whole words or parts of them up.
 *
 * WordPiece takes the longest vocabulary entry at the front of what is left; behind the first one
 * entries carry a prefix. A word that cannot be covered so, or that is too long, is one unknown
 * token. Only parts as long as the longest entry are looked up, so the time is linear. */
#include "tokenizer/model/words.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/load/components.h"

typedef tk_words words;

static td_code put_unknown(const words *w, tk_ctx *ctx, td_str piece, tk_tokens *out,
                           td_error *err)
{
    if (!w->unk_known)
        return td_fail(err, TD_E_TOKENIZER, "model.unk_token '%.*s' is not in the vocabulary",
                       w->unk_token.len < 100 ? (int)w->unk_token.len : 100, w->unk_token.ptr);
    tk_token t = { .id = w->unk, .end = (uint32_t)piece.len, .value = w->unk_token };
    return tk_tokens_add(ctx, out, t, err);
}

static td_code word_level(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                          td_error *err)
{
    const words *w = (const words *)self;
    tk_token t = { .end = (uint32_t)piece.len };
    if (!tk_vocab_find(w->vocab, piece, &t.id))
        return put_unknown(w, ctx, piece, out, err);
    return tk_tokens_add(ctx, out, t, err);
}

/* The longest entry at the front of piece[start..]. probe: room for the prefix and an entry, the
 * prefix already in it. */
static bool longest_part(const words *w, td_str piece, size_t start, char *probe, td_id *ret_id,
                         size_t *ret_end)
{
    size_t head = start != 0 ? w->prefix.len : 0;
    if (head > w->longest)
        return false;
    size_t room = w->longest - head, left = piece.len - start;
    size_t len = left < room ? left : room;
    while (len < left && len > 0 && td_utf8_is_cont(piece.ptr[start + len]))
        len--;
    if (head != 0 && len != 0)
        memcpy(probe + head, piece.ptr + start, len);
    const char *text = head != 0 ? probe : piece.ptr + start;
    while (len > 0) {
        if (tk_vocab_find(w->vocab, (td_str){ text, head + len }, ret_id)) {
            *ret_end = start + len;
            return true;
        }
        do
            len--;
        while (td_utf8_is_cont(piece.ptr[start + len]));
    }
    return false;
}

static td_code wordpiece(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                         td_error *err)
{
    const words *w = (const words *)self;
    if (td_utf8_count(piece) > w->max_chars)
        return put_unknown(w, ctx, piece, out, err);
    char *probe = td_arena_alloc(&ctx->arena, w->prefix.len + w->longest + 1, 1);
    if (probe == NULL)
        return tk_nomem(ctx, err);
    if (w->prefix.len != 0)
        memcpy(probe, w->prefix.ptr, w->prefix.len);
    uint32_t before = out->count;
    for (size_t at = 0, end = 0; at < piece.len; at = end) {
        tk_token t = { .start = (uint32_t)at };
        if (!longest_part(w, piece, at, probe, &t.id, &end)) {
            out->count = before;
            return put_unknown(w, ctx, piece, out, err);
        }
        t.end = (uint32_t)end;
        TD_TRY(tk_tokens_add(ctx, out, t, err));
    }
    return TD_OK;
}

const tk_words *tk_as_wordpiece(const tk_model *model)
{
    return model->tokenize == wordpiece ? (const tk_words *)model : NULL;
}

static bool token_to_id(const tk_model *self, td_str text, td_id *ret)
{
    return tk_vocab_find(((const words *)self)->vocab, text, ret);
}

static td_str id_to_token(const tk_model *self, td_id id)
{
    return tk_vocab_spell(((const words *)self)->vocab, id);
}

static size_t vocab_size(const tk_model *self)
{
    return ((const words *)self)->vocab->count;
}

static td_id id_end(const tk_model *self)
{
    return ((const words *)self)->vocab->id_end;
}

static void free_vocab(void *v)
{
    tk_vocab_free(v);
}

static td_code make(const tk_at *at, const char *type, words **ret)
{
    tk_load *load = at->load;
    words *w = TK_NEW(load, words);
    if (w == NULL)
        return TD_E_INTERNAL;
    w->base = (tk_model){ .type = type,
                          .token_to_id = token_to_id,
                          .id_to_token = id_to_token,
                          .vocab_size = vocab_size,
                          .id_end = id_end };
    TD_TRY(tk_get_str(at, "unk_token", &w->unk_token));
    if (load->vocab == NULL)
        return tk_at_fail(at, "vocab", "expected an object of tokens and ids");
    w->vocab = load->vocab;
    load->vocab = NULL;
    TD_TRY(tk_on_free(load, free_vocab, w->vocab));
    w->unk_known = tk_vocab_find(w->vocab, w->unk_token, &w->unk);
    for (uint32_t place = 0; place < w->vocab->size; place = tk_vocab_next(w->vocab, place)) {
        size_t len = tk_vocab_text(w->vocab, place).len;
        w->longest = len > w->longest ? len : w->longest;
    }
    *ret = w;
    return TD_OK;
}

td_code tk_make_word_level(const tk_at *at, const tk_model **ret)
{
    words *w = NULL;
    TD_TRY(make(at, "WordLevel", &w));
    w->base.tokenize = word_level;
    *ret = &w->base;
    return TD_OK;
}

td_code tk_make_wordpiece(const tk_at *at, const tk_model **ret)
{
    words *w = NULL;
    TD_TRY(make(at, "WordPiece", &w));
    w->base.tokenize = wordpiece;
    TD_TRY(tk_get_str(at, "continuing_subword_prefix", &w->prefix));
    TD_TRY(tk_get_u64(at, "max_input_chars_per_word", &w->max_chars));
    *ret = &w->base;
    return TD_OK;
}

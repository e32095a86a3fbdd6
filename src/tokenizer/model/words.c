/* words.c - WordLevel and WordPiece: models that look whole words or parts of them up.
 *
 * WordPiece takes the longest vocabulary entry at the front of what is left; behind the first one
 * entries carry a prefix. A word that cannot be covered so, or that is too long, is one unknown
 * token. One walk through a trie finds the longest entry, so the time is linear. */
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
                       w->base.unk_token.len < 100 ? (int)w->base.unk_token.len : 100,
                       w->base.unk_token.ptr);
    tk_token t = { .id = w->unk, .end = (uint32_t)piece.len, .value = TK_VALUE_UNK };
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

/* The longest entry at the front of piece[start..]. */
static bool longest_part(const words *w, td_str piece, size_t start, td_id *ret_id, size_t *ret_end)
{
    const tk_prefix_trie *t = w->trie;
    uint8_t first = (uint8_t)piece.ptr[start];
    uint32_t node = start != 0 ? w->parts[first] : tk_prefix_step(t, 0, first), longest = 0;
    for (size_t at = start + 1; node != 0; at++) {
        bool ends = tk_prefix_ends(t, node);
        longest = ends ? node : longest;
        *ret_end = ends ? at : *ret_end;
        if (at == piece.len)
            break;
        node = tk_prefix_step(t, node, (uint8_t)piece.ptr[at]);
    }
    *ret_id = longest != 0 ? t->values[longest] : TK_NO_ID;
    return longest != 0;
}

static td_code wordpiece(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                         td_error *err)
{
    const words *w = (const words *)self;
    if (piece.len > w->max_chars && td_utf8_count(piece) > w->max_chars)
        return put_unknown(w, ctx, piece, out, err);
    uint32_t before = out->count;
    for (size_t at = 0, end = 0; at < piece.len; at = end) {
        tk_token t = { .start = (uint32_t)at };
        if (!longest_part(w, piece, at, &t.id, &end)) {
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
    TD_TRY(tk_get_str(at, "unk_token", &w->base.unk_token));
    if (load->vocab == NULL)
        return tk_at_fail(at, "vocab", "expected an object of tokens and ids");
    w->vocab = load->vocab;
    load->vocab = NULL;
    TD_TRY(tk_on_free(load, free_vocab, w->vocab));
    w->unk_known = tk_vocab_find(w->vocab, w->base.unk_token, &w->unk);
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

/* The trie of all entries, and where those with the prefix go on in it. */
static td_code make_trie(tk_load *load, words *w)
{
    const tk_vocab *v = w->vocab;
    w->trie = tk_prefix_trie_of(v);
    if (w->trie == NULL)
        return tk_load_nomem(load);
    TD_TRY(tk_on_free(load, tk_prefix_trie_free, w->trie));
    uint32_t node = 0;
    for (size_t i = 0; i < w->prefix.len; i++) {
        node = tk_prefix_step(w->trie, node, (uint8_t)w->prefix.ptr[i]);
        if (node == 0)
            return TD_OK;
    }
    for (unsigned byte = 0; byte < 256; byte++)
        w->parts[byte] = tk_prefix_step(w->trie, node, (uint8_t)byte);
    return TD_OK;
}

td_code tk_make_wordpiece(const tk_at *at, const tk_model **ret)
{
    words *w = NULL;
    TD_TRY(make(at, "WordPiece", &w));
    w->base.tokenize = wordpiece;
    TD_TRY(tk_get_str(at, "continuing_subword_prefix", &w->prefix));
    TD_TRY(tk_get_u64(at, "max_input_chars_per_word", &w->max_chars));
    TD_TRY(make_trie(at->load, w));
    *ret = &w->base;
    return TD_OK;
}

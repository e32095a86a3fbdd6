/* bpe.c - the BPE model: characters to symbols, merging, and its place in the pipeline. */
#include "tokenizer/model/bpe.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/load/components.h"

typedef struct speller {
    const tk_bpe *bpe;
    tk_symbols s;
    bool pending; /* an unknown token that waits for what follows */
    uint32_t pending_len;
} speller;

static void put(speller *sp, td_id id, uint32_t len)
{
    sp->s.ids[sp->s.count] = id;
    sp->s.lens[sp->s.count++] = len;
}

static void flush(speller *sp)
{
    if (sp->pending)
        put(sp, sp->bpe->unk, sp->pending_len);
    sp->pending = false;
}

/* One <0xXX> for each byte, when the vocabulary has them all. */
static bool put_bytes(speller *sp, td_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (sp->bpe->bytes[(unsigned char)s.ptr[i]] == TK_NO_ID)
            return false;
    /* A waiting unknown token stays waiting, as in the reference. */
    for (size_t i = 0; i < s.len; i++)
        put(sp, sp->bpe->bytes[(unsigned char)s.ptr[i]], 1);
    return true;
}

static td_code put_unknown(speller *sp, td_str s, uint32_t len, td_error *err)
{
    const tk_bpe *b = sp->bpe;
    if (b->byte_fallback && put_bytes(sp, s))
        return TD_OK;
    if (!b->has_unk)
        return TD_OK;
    if (!b->unk_known)
        return td_fail(err, TD_E_TOKENIZER, "model.unk_token '%.*s' is not in the vocabulary",
                       b->unk_token.len < 100 ? (int)b->unk_token.len : 100, b->unk_token.ptr);
    if (sp->pending && b->fuse_unk) {
        sp->pending_len += len;
        return TD_OK;
    }
    flush(sp);
    sp->pending = true;
    sp->pending_len = len;
    return TD_OK;
}

/* The character's text with the subword prefix and suffix around it. */
static td_str decorate(const tk_bpe *b, tk_ctx *ctx, td_str c, bool first, bool last)
{
    td_str prefix = first ? TD_STR("") : b->prefix, suffix = last ? b->suffix : TD_STR("");
    char *to = td_arena_alloc(&ctx->arena, prefix.len + c.len + suffix.len + 1, 1);
    if (to == NULL)
        return (td_str){ NULL, 0 };
    if (prefix.len != 0)
        memcpy(to, prefix.ptr, prefix.len);
    memcpy(to + prefix.len, c.ptr, c.len);
    if (suffix.len != 0)
        memcpy(to + prefix.len + c.len, suffix.ptr, suffix.len);
    return (td_str){ to, prefix.len + c.len + suffix.len };
}

static td_code spell(speller *sp, tk_ctx *ctx, td_str piece, td_error *err)
{
    const tk_bpe *b = sp->bpe;
    const char *p = piece.ptr, *end = piece.ptr + piece.len;
    bool plain = b->prefix.len == 0 && b->suffix.len == 0;
    while (p < end) {
        const char *from = p;
        uint32_t c = td_utf8_next(&p, end);
        uint32_t len = (uint32_t)(p - from);
        td_str s = { from, len };
        td_id id = TK_NO_ID;
        if (!plain) {
            s = decorate(b, ctx, s, from == piece.ptr, p == end);
            if (s.ptr == NULL)
                return tk_nomem(ctx, err);
        }
        if (plain && c < TK_BPE_DIRECT)
            id = b->direct[c];
        else
            tk_vocab_find(b->vocab, s, &id);
        if (id == TK_NO_ID) {
            TD_TRY(put_unknown(sp, s, len, err));
            continue;
        }
        flush(sp);
        put(sp, id, len);
    }
    flush(sp);
    return TD_OK;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                        td_error *err)
{
    const tk_bpe *b = (const tk_bpe *)self;
    td_id whole;
    if (b->ignore_merges && tk_vocab_find(b->vocab, piece, &whole))
        return tk_tokens_add(ctx, out,
                             (tk_token){ .id = whole, .end = (uint32_t)piece.len }, err);
    td_arena_mark mark = td_arena_save(&ctx->arena);
    size_t room = piece.len + (piece.len + 1) * (b->prefix.len + b->suffix.len) + 1;
    speller sp = { .bpe = b };
    sp.s.ids = td_arena_array(&ctx->arena, td_id, room);
    sp.s.lens = td_arena_array(&ctx->arena, uint32_t, room);
    if (sp.s.ids == NULL || sp.s.lens == NULL)
        return tk_nomem(ctx, err);
    TD_TRY(spell(&sp, ctx, piece, err));
    TD_TRY(tk_bpe_merge(b, ctx, &sp.s, err));
    /* Symbols lie above the mark, tokens may have to grow there too: keep the symbols then. */
    bool fits = out->cap - out->count >= sp.s.count;
    TD_TRY(tk_tokens_reserve(ctx, out, sp.s.count, err));
    uint32_t at = 0;
    for (uint32_t i = 0; i < sp.s.count; i++) {
        uint32_t end = at + sp.s.lens[i];
        out->items[out->count++] = (tk_token){ .id = sp.s.ids[i], .start = at, .end = end };
        at = end;
    }
    if (fits)
        td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

const tk_bpe *tk_as_bpe(const tk_model *model)
{
    return model->tokenize == tokenize ? (const tk_bpe *)model : NULL;
}

static bool token_to_id(const tk_model *self, td_str text, td_id *ret)
{
    return tk_vocab_find(((const tk_bpe *)self)->vocab, text, ret);
}

static td_str id_to_token(const tk_model *self, td_id id)
{
    return tk_vocab_spell(((const tk_bpe *)self)->vocab, id);
}

static size_t vocab_size(const tk_model *self)
{
    return ((const tk_bpe *)self)->vocab->count;
}

static td_id id_end(const tk_model *self)
{
    return ((const tk_bpe *)self)->vocab->id_end;
}

static td_code describe(const tk_model *self, td_buf *out)
{
    const tk_bpe *b = (const tk_bpe *)self;
    return td_buf_printf(out,
                         ", \"merges\": %u, \"byte_fallback\": %s, \"ignore_merges\": %s, "
                         "\"fuse_unk\": %s",
                         b->merges.count, b->byte_fallback ? "true" : "false",
                         b->ignore_merges ? "true" : "false", b->fuse_unk ? "true" : "false");
}

static void set_tables(tk_bpe *b)
{
    for (uint32_t c = 0; c < TK_BPE_DIRECT; c++) {
        char text[4];
        td_str s = { text, td_utf8_put(text, c) };
        b->direct[c] = TK_NO_ID;
        tk_vocab_find(b->vocab, s, &b->direct[c]);
    }
    for (uint32_t i = 0; i < 256; i++) {
        static const char digits[] = "0123456789ABCDEF";
        char text[] = "<0x00>";
        text[3] = digits[i >> 4];
        text[4] = digits[i & 15];
        b->bytes[i] = TK_NO_ID;
        tk_vocab_find(b->vocab, (td_str){ text, 6 }, &b->bytes[i]);
    }
    if (b->has_unk)
        b->unk_known = tk_vocab_find(b->vocab, b->unk_token, &b->unk);
}

static td_code refuse_dropout(const tk_at *at)
{
    tk_at field;
    if (!tk_at_field(at, "dropout", &field))
        return TD_OK;
    if ((field.value.tag == TD_V_INT && field.value.as.integer == 0) ||
        (field.value.tag == TD_V_FLOAT && field.value.as.real == 0.0))
        return TD_OK;
    return tk_at_fail(&field, NULL, "unsupported: dropout makes encoding random");
}

static void free_vocab(void *v)
{
    tk_vocab_free(v);
}

static tk_bpe *new_bpe(tk_load *load)
{
    tk_bpe *b = TK_NEW(load, tk_bpe);
    if (b == NULL)
        return NULL;
    b->base = (tk_model){ .type = "BPE",
                          .tokenize = tokenize,
                          .token_to_id = token_to_id,
                          .id_to_token = id_to_token,
                          .vocab_size = vocab_size,
                          .id_end = id_end,
                          .describe = describe };
    return b;
}

td_code tk_bpe_new(tk_load *load, tk_vocab *vocab, tk_bpe **ret)
{
    TD_TRY(tk_on_free(load, free_vocab, vocab));
    tk_bpe *b = new_bpe(load);
    if (b == NULL)
        return TD_E_INTERNAL;
    b->vocab = vocab;
    set_tables(b);
    *ret = b;
    return TD_OK;
}

td_code tk_make_bpe(const tk_at *at, const tk_model **ret)
{
    tk_load *load = at->load;
    tk_bpe *b = new_bpe(load);
    if (b == NULL)
        return TD_E_INTERNAL;
    TD_TRY(refuse_dropout(at));
    TD_TRY(tk_opt_str(at, "unk_token", &b->unk_token));
    b->has_unk = b->unk_token.ptr != NULL;
    TD_TRY(tk_opt_str(at, "continuing_subword_prefix", &b->prefix));
    TD_TRY(tk_opt_str(at, "end_of_word_suffix", &b->suffix));
    TD_TRY(tk_opt_bool(at, "fuse_unk", &b->fuse_unk));
    TD_TRY(tk_opt_bool(at, "byte_fallback", &b->byte_fallback));
    TD_TRY(tk_opt_bool(at, "ignore_merges", &b->ignore_merges));
    if (load->vocab == NULL)
        return tk_at_fail(at, "vocab", "expected an object of tokens and ids");
    if (load->merges_json.ptr == NULL)
        return tk_at_fail(at, "merges", "missing");
    b->vocab = load->vocab;
    load->vocab = NULL;
    TD_TRY(tk_on_free(load, free_vocab, b->vocab));
    set_tables(b);
    TD_TRY(tk_bpe_load_merges(at, b));
    *ret = &b->base;
    return TD_OK;
}

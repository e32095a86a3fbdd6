/* BPEDecoder, WordPiece, CTC and Metaspace: decoders that turn marks in tokens into spaces. */
#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"
#include "tokenizer/pretok/pretok.h"

/* s with each occurrence of what replaced; an empty what is found around each character. */
static td_code replace(tk_ctx *ctx, td_str *s, td_str what, td_str by, td_error *err)
{
    if (what.len != 0 && td_str_find(*s, what, 0) == TD_NOT_FOUND)
        return TD_OK;
    td_buf out = { 0 };
    td_code code = TD_OK;
    size_t at = 0;
    while (code == TD_OK && what.len != 0 && at <= s->len) {
        size_t hit = td_str_find(*s, what, at);
        size_t stop = hit == TD_NOT_FOUND ? s->len : hit;
        code = td_buf_append(&out, s->ptr + at, stop - at);
        if (hit == TD_NOT_FOUND)
            break;
        if (code == TD_OK)
            code = td_buf_put(&out, by);
        at = hit + what.len;
    }
    if (what.len == 0) {
        const char *p = s->ptr, *end = s->ptr + s->len;
        code = td_buf_put(&out, by);
        while (code == TD_OK && p < end) {
            const char *from = p;
            td_utf8_next(&p, end);
            code = td_buf_append(&out, from, (size_t)(p - from));
            if (code == TD_OK)
                code = td_buf_put(&out, by);
        }
    }
    if (code != TD_OK) {
        code = td_buf_fail(&out, err, code, "decoded text");
    } else {
        *s = tk_dec_keep(ctx, td_buf_view(&out), err);
        if (s->ptr == NULL)
            code = err->code;
    }
    td_buf_done(&out);
    return code;
}

/* Takes spaces out where tokenizing English put them. */
static td_code cleanup(tk_ctx *ctx, td_str *s, td_error *err)
{
    static const char *const pairs[][2] = {
        { " .", "." },     { " ?", "?" },     { " !", "!" },   { " ,", "," },
        { " ' ", "'" },    { " n't", "n't" }, { " 'm", "'m" }, { " do not", " don't" },
        { " 's", "'s" },   { " 've", "'ve" }, { " 're", "'re" },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        TD_TRY(replace(ctx, s, td_str_from(pairs[i][0]), td_str_from(pairs[i][1]), err));
    return TD_OK;
}

typedef struct words {
    tk_dec base;
    td_str mark;      /* suffix, prefix or pad token */
    td_str delimiter; /* of words, for CTC */
    bool cleanup;
    tk_metaspace metaspace;
} words;

static td_code apply_bpe(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    const words *w = (const words *)self;
    for (size_t i = 0; i < strs->count; i++)
        TD_TRY(replace(ctx, &strs->items[i], w->mark,
                       i + 1 == strs->count ? TD_STR("") : TD_STR(" "), err));
    return TD_OK;
}

static td_code apply_wordpiece(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    const words *w = (const words *)self;
    for (size_t i = 0; i < strs->count; i++) {
        td_str *s = &strs->items[i];
        if (i != 0 && td_str_starts(*s, w->mark)) {
            *s = td_str_from_offset(*s, w->mark.len);
        } else if (i != 0) {
            td_str parts[2] = { TD_STR(" "), *s };
            tk_strs both = { parts, 2 };
            TD_TRY(tk_dec_join(ctx, &both, TD_STR(""), s, err));
        }
        if (w->cleanup)
            TD_TRY(cleanup(ctx, s, err));
    }
    return TD_OK;
}

static td_code apply_ctc(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    const words *w = (const words *)self;
    size_t kept = 0;
    td_str last = { NULL, 0 };
    for (size_t i = 0; i < strs->count; i++) {
        td_str s = strs->items[i];
        bool again = i != 0 && td_str_eq(s, last);
        last = s;
        if (again)
            continue;
        TD_TRY(replace(ctx, &s, w->mark, TD_STR(""), err));
        if (w->cleanup) {
            TD_TRY(cleanup(ctx, &s, err));
            TD_TRY(replace(ctx, &s, w->delimiter, TD_STR(" "), err));
        }
        if (s.len != 0)
            strs->items[kept++] = s;
    }
    strs->count = kept;
    return TD_OK;
}

static td_code apply_metaspace(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    const tk_metaspace *m = &((const words *)self)->metaspace;
    for (size_t i = 0; i < strs->count; i++) {
        bool drops = i == 0 && m->scheme != TK_PREPEND_NEVER;
        TD_TRY(replace(ctx, &strs->items[i], m->text, drops ? TD_STR("") : TD_STR(" "), err));
    }
    return TD_OK;
}

static words *make(const tk_at *at, const char *type,
                   td_code (*apply)(const tk_dec *, tk_ctx *, tk_strs *, td_error *),
                   const tk_dec **ret)
{
    words *w = TK_NEW(at->load, words);
    if (w == NULL)
        return NULL;
    w->base = (tk_dec){ .type = type, .apply = apply };
    *ret = &w->base;
    return w;
}

td_code tk_make_dec_bpe(const tk_at *at, const tk_dec **ret)
{
    words *w = make(at, "BPEDecoder", apply_bpe, ret);
    return w == NULL ? TD_E_INTERNAL : tk_get_str(at, "suffix", &w->mark);
}

td_code tk_make_dec_wordpiece(const tk_at *at, const tk_dec **ret)
{
    words *w = make(at, "WordPiece", apply_wordpiece, ret);
    if (w == NULL)
        return TD_E_INTERNAL;
    TD_TRY(tk_get_str(at, "prefix", &w->mark));
    return tk_get_bool(at, "cleanup", &w->cleanup);
}

td_code tk_make_dec_ctc(const tk_at *at, const tk_dec **ret)
{
    words *w = make(at, "CTC", apply_ctc, ret);
    if (w == NULL)
        return TD_E_INTERNAL;
    TD_TRY(tk_get_str(at, "pad_token", &w->mark));
    TD_TRY(tk_get_str(at, "word_delimiter_token", &w->delimiter));
    return tk_get_bool(at, "cleanup", &w->cleanup);
}

td_code tk_make_dec_metaspace(const tk_at *at, const tk_dec **ret)
{
    words *w = make(at, "Metaspace", apply_metaspace, ret);
    return w == NULL ? TD_E_INTERNAL : tk_get_metaspace(at, &w->metaspace);
}

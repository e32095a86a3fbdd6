/* WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit and BertPreTokenizer: splitting at
 * characters of one kind. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "tokenizer/pretok/pretok.h"
#include "unicode/unicode_ref.h"

typedef struct char_split {
    tk_pretok base;
    bool (*is_hit)(const void *self, uint32_t c);
    tk_behavior behavior;
    uint32_t delimiter;
} char_split;

static bool is_whitespace(const void *self, uint32_t c)
{
    (void)self;
    return td_tk_is_whitespace(c);
}

static bool is_punctuation(const void *self, uint32_t c)
{
    (void)self;
    return td_tk_is_punctuation(c);
}

static bool is_numeric(const void *self, uint32_t c)
{
    (void)self;
    return td_tk_is_numeric(c);
}

static bool is_delimiter(const void *self, uint32_t c)
{
    return ((const char_split *)self)->delimiter == c;
}

/* Appends what lies between the characters. */
static td_code put_gaps(const char_split *s, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                        td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    for (uint32_t from = 0, at = 0; at < text->len;) {
        at = (uint32_t)(p - text->ptr);
        bool ends = p == end || s->is_hit(s, td_utf8_next(&p, end));
        if (ends && from < at) {
            tk_piece piece = { tk_text_slice(text, from, at), TK_NO_ID };
            TD_TRY(tk_pieces_add(ctx, out, &piece, err));
        }
        if (ends)
            from = (uint32_t)(p - text->ptr);
    }
    return TD_OK;
}

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const char_split *s = self;
    if (s->behavior == TK_REMOVED)
        return put_gaps(s, ctx, text, out, err);
    tk_matches *m = tk_matches_start(ctx);
    TD_TRY(tk_matches_chars(ctx, text, s->is_hit, s, m, err));
    return tk_split(ctx, text, m, s->behavior, out, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

static td_code apply_bert(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    static const char_split at_whitespace = { .is_hit = is_whitespace, .behavior = TK_REMOVED };
    static const char_split at_marks = { .is_hit = is_punctuation, .behavior = TK_ISOLATED };
    (void)self;
    TD_TRY(tk_pretok_each(ctx, pieces, split_one, &at_whitespace, err));
    return tk_pretok_each(ctx, pieces, split_one, &at_marks, err);
}

static char_split *make(const tk_at *at, const char *type, bool (*is_hit)(const void *, uint32_t),
                        tk_behavior behavior)
{
    char_split *s = TK_NEW(at->load, char_split);
    if (s != NULL)
        *s = (char_split){ { .type = type, .apply = apply }, is_hit, behavior, 0 };
    return s;
}

td_code tk_make_pretok_whitespace_split(const tk_at *at, const tk_pretok **ret)
{
    char_split *s = make(at, "WhitespaceSplit", is_whitespace, TK_REMOVED);
    if (s == NULL)
        return TD_E_INTERNAL;
    *ret = &s->base;
    return TD_OK;
}

td_code tk_make_pretok_punctuation(const tk_at *at, const tk_pretok **ret)
{
    char_split *s = make(at, "Punctuation", is_punctuation, TK_ISOLATED);
    tk_at field;
    if (s == NULL)
        return TD_E_INTERNAL;
    if (tk_at_has(at, "behavior", &field))
        TD_TRY(tk_get_behavior(at, "behavior", &s->behavior));
    *ret = &s->base;
    return TD_OK;
}

td_code tk_make_pretok_digits(const tk_at *at, const tk_pretok **ret)
{
    bool individual = false;
    TD_TRY(tk_get_bool(at, "individual_digits", &individual));
    char_split *s = make(at, "Digits", is_numeric, individual ? TK_ISOLATED : TK_CONTIGUOUS);
    if (s == NULL)
        return TD_E_INTERNAL;
    *ret = &s->base;
    return TD_OK;
}

td_code tk_make_pretok_delimiter(const tk_at *at, const tk_pretok **ret)
{
    char_split *s = make(at, "CharDelimiterSplit", is_delimiter, TK_REMOVED);
    if (s == NULL)
        return TD_E_INTERNAL;
    TD_TRY(tk_get_char(at, "delimiter", &s->delimiter));
    *ret = &s->base;
    return TD_OK;
}

td_code tk_make_pretok_bert(const tk_at *at, const tk_pretok **ret)
{
    tk_pretok *p = TK_NEW(at->load, tk_pretok);
    if (p == NULL)
        return TD_E_INTERNAL;
    *p = (tk_pretok){ .type = "BertPreTokenizer", .apply = apply_bert };
    *ret = p;
    return TD_OK;
}

/* Replace: every match of a pattern becomes a fixed text. */
#include "tokenizer/load/components.h"
#include "tokenizer/regex.h"

typedef struct replace {
    tk_norm base;
    const tk_regex *pattern;
    td_str content;
} replace;

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const replace *r = (const replace *)self;
    tk_matches m = { 0 };
    if (text->len == 0)
        return TD_OK;
    TD_TRY(tk_regex_matches(r->pattern, ctx, (td_str){ text->ptr, text->len }, &m, err));
    if (m.count == 1 && !m.items[0].hit)
        return TD_OK;
    return tk_text_replace(ctx, text, &m, r->content, err);
}

td_code tk_make_norm_replace(const tk_at *at, const tk_norm **ret)
{
    replace *r = TK_NEW(at->load, replace);
    if (r == NULL)
        return TD_E_INTERNAL;
    r->base = (tk_norm){ .type = "Replace", .apply = apply };
    TD_TRY(tk_regex_load(at, "pattern", &r->pattern));
    TD_TRY(tk_get_str(at, "content", &r->content));
    /* A pattern that matches the empty text inserts what stands for nothing. */
    bool is_string;
    r->base.zero_width = !(tk_regex_source(r->pattern, &is_string).len != 0 && is_string);
    *ret = &r->base;
    return TD_OK;
}

/* Replace: every match of a pattern in a token becomes a fixed text. */
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"
#include "tokenizer/regex.h"

typedef struct replace {
    tk_dec base;
    const tk_regex *pattern;
    td_str content;
} replace;

static td_code replace_one(const replace *r, tk_ctx *ctx, td_str *s, td_error *err)
{
    tk_matches m = { 0 };
    TD_TRY(tk_regex_matches(r->pattern, ctx, *s, &m, err));
    if (m.count == 1 && !m.items[0].hit)
        return TD_OK;
    tk_strs parts = { td_arena_array(&ctx->arena, td_str, m.count), m.count };
    if (parts.items == NULL)
        return tk_nomem(ctx, err);
    for (uint32_t i = 0; i < m.count; i++) {
        const tk_match *it = &m.items[i];
        parts.items[i] = it->hit ? r->content : (td_str){ s->ptr + it->start, it->end - it->start };
    }
    return tk_dec_join(ctx, &parts, TD_STR(""), s, err);
}

static td_code apply(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    for (size_t i = 0; i < strs->count; i++)
        TD_TRY(replace_one((const replace *)self, ctx, &strs->items[i], err));
    return TD_OK;
}

td_code tk_make_dec_replace(const tk_at *at, const tk_dec **ret)
{
    replace *r = TK_NEW(at->load, replace);
    if (r == NULL)
        return TD_E_INTERNAL;
    r->base = (tk_dec){ .type = "Replace", .apply = apply };
    TD_TRY(tk_regex_load(at, "pattern", &r->pattern));
    TD_TRY(tk_get_str(at, "content", &r->content));
    *ret = &r->base;
    return TD_OK;
}

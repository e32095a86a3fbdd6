/* Split: by a string or a regex, with one of five behaviours, maybe inverted. */
#include "base/str.h"
#include "tokenizer/load/components.h"
#include "tokenizer/pretok/pretok.h"

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const tk_split_pretok *s = self;
    tk_matches *m = tk_matches_start(ctx);
    TD_TRY(tk_regex_matches(s->pattern, ctx, (td_str){ text->ptr, text->len }, m, err));
    for (uint32_t i = 0; s->invert && i < m->count; i++)
        m->items[i].hit = !m->items[i].hit;
    return tk_split(ctx, text, m, s->behavior, out, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

bool tk_is_split(const tk_pretok *p)
{
    return p->apply == apply;
}

td_code tk_get_behavior(const tk_at *at, const char *key, tk_behavior *ret)
{
    static const char *const names[] = {
        [TK_REMOVED] = "Removed",
        [TK_ISOLATED] = "Isolated",
        [TK_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
        [TK_MERGED_WITH_NEXT] = "MergedWithNext",
        [TK_CONTIGUOUS] = "Contiguous",
    };
    td_str name;
    TD_TRY(tk_get_str(at, key, &name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (td_str_eq(name, td_str_from(names[i]))) {
            *ret = (tk_behavior)i;
            return TD_OK;
        }
    }
    return tk_at_fail(at, key, "unsupported behavior '%.*s'", name.len < 100 ? (int)name.len : 100,
                      name.ptr);
}

td_code tk_make_pretok_split(const tk_at *at, const tk_pretok **ret)
{
    tk_split_pretok *s = TK_NEW(at->load, tk_split_pretok);
    if (s == NULL)
        return TD_E_INTERNAL;
    s->base = (tk_pretok){ .type = "Split", .apply = apply };
    TD_TRY(tk_regex_load(at, "pattern", &s->pattern));
    TD_TRY(tk_get_behavior(at, "behavior", &s->behavior));
    TD_TRY(tk_get_bool(at, "invert", &s->invert));
    *ret = &s->base;
    return TD_OK;
}

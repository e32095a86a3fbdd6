/* Metaspace: spaces become a visible character, a text may get one in front, and pieces start at
 * it. Its options, which the decoder of that name has too, are read here. */
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "tokenizer/pretok/pretok.h"

typedef struct metaspace {
    tk_pretok base;
    tk_metaspace how;
} metaspace;

static bool is_space(const void *self, uint32_t c)
{
    (void)self;
    return c == ' ';
}

static bool is_mark(const void *self, uint32_t c)
{
    return ((const metaspace *)self)->how.mark == c;
}

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const metaspace *ms = self;
    tk_text t = *text;
    tk_matches m = { 0 };
    TD_TRY(tk_matches_chars(ctx, &t, is_space, NULL, &m, err));
    if (m.count > 1 || (m.count == 1 && m.items[0].hit))
        TD_TRY(tk_text_replace(ctx, &t, &m, ms->how.text, err));
    bool wanted =
        t.from == 0 ? tk_metaspace_heads(&ms->how, ctx) : ms->how.scheme == TK_PREPEND_ALWAYS;
    if (wanted && !td_str_starts((td_str){ t.ptr, t.len }, ms->how.text))
        TD_TRY(tk_text_prepend(ctx, &t, ms->how.text, err));
    if (!ms->how.split) {
        tk_piece whole = { t, TK_NO_ID };
        return tk_pieces_add(ctx, out, &whole, err);
    }
    m.count = 0;
    TD_TRY(tk_matches_chars(ctx, &t, is_mark, ms, &m, err));
    return tk_split(ctx, &t, &m, TK_MERGED_WITH_NEXT, out, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

const tk_metaspace *tk_as_metaspace(const tk_pretok *p)
{
    return p->apply == apply ? &((const metaspace *)p)->how : NULL;
}

size_t tk_metaspace_put(const tk_metaspace *how, td_str text, bool head, char *out)
{
    char *to = out;
    char mark[4] = { 0 };
    size_t n = how->text.len;
    for (size_t i = 0; i < n; i++)
        mark[i] = how->text.ptr[i];
    if (head && text.len != 0 && text.ptr[0] != ' ' && !td_str_starts(text, how->text))
        for (size_t i = 0; i < n; i++)
            *to++ = mark[i];
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != ' ') {
            *to++ = text.ptr[i];
            continue;
        }
        for (size_t k = 0; k < n; k++)
            *to++ = mark[k];
    }
    return (size_t)(to - out);
}

static td_code get_scheme(const tk_at *at, tk_metaspace *ret)
{
    static const char *const names[] = {
        [TK_PREPEND_FIRST] = "first",
        [TK_PREPEND_NEVER] = "never",
        [TK_PREPEND_ALWAYS] = "always",
    };
    tk_at field;
    td_str name;
    ret->scheme = TK_PREPEND_ALWAYS;
    if (!tk_at_has(at, "prepend_scheme", &field))
        return TD_OK;
    TD_TRY(tk_get_str(at, "prepend_scheme", &name));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (td_str_eq(name, td_str_from(names[i]))) {
            ret->scheme = (tk_prepend)i;
            return TD_OK;
        }
    }
    return tk_at_fail(&field, NULL, "unsupported prepend scheme '%.*s'",
                      name.len < 100 ? (int)name.len : 100, name.ptr);
}

td_code tk_get_metaspace(const tk_at *at, tk_metaspace *ret)
{
    bool prefix = true;
    td_str unused; /* "str_rep": once the replacement as a text */
    ret->split = true;
    TD_TRY(tk_get_char(at, "replacement", &ret->mark));
    TD_TRY(tk_get_str(at, "replacement", &ret->text));
    TD_TRY(tk_opt_bool(at, "add_prefix_space", &prefix));
    TD_TRY(get_scheme(at, ret));
    TD_TRY(tk_opt_bool(at, "split", &ret->split));
    TD_TRY(tk_opt_str(at, "str_rep", &unused));
    if (!prefix && ret->scheme != TK_PREPEND_NEVER)
        return tk_at_fail(at, "add_prefix_space", "false contradicts prepend_scheme");
    return TD_OK;
}

td_code tk_make_pretok_metaspace(const tk_at *at, const tk_pretok **ret)
{
    metaspace *ms = TK_NEW(at->load, metaspace);
    if (ms == NULL)
        return TD_E_INTERNAL;
    ms->base = (tk_pretok){ .type = "Metaspace", .apply = apply };
    TD_TRY(tk_get_metaspace(at, &ms->how));
    ms->base.positional = ms->how.scheme == TK_PREPEND_FIRST;
    *ret = &ms->base;
    return TD_OK;
}

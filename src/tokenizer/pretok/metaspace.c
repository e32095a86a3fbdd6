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

/* Puts marks for spaces, and one in front where that is wanted, while alignments follow. */
static td_code put_aligned(const tk_metaspace *how, tk_ctx *ctx, tk_text *t, bool head,
                           td_error *err)
{
    tk_matches *m = tk_matches_start(ctx);
    TD_TRY(tk_matches_chars(ctx, t, is_space, NULL, m, err));
    if (m->count > 1 || (m->count == 1 && m->items[0].hit))
        TD_TRY(tk_text_replace(ctx, t, m, how->text, err));
    if (head && !td_str_starts((td_str){ t->ptr, t->len }, how->text))
        TD_TRY(tk_text_prepend(ctx, t, how->text, err));
    return TD_OK;
}

/* The same where nobody asks where characters stood. */
static td_code put_plain(const tk_metaspace *how, tk_ctx *ctx, tk_text *t, bool head, td_error *err)
{
    td_str from = { t->ptr, t->len };
    if (from.len >= UINT32_MAX / 4)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc_n(&ctx->arena, from.len + 1, how->text.len, 1);
    if (to == NULL)
        return tk_nomem(ctx, err);
    t->ptr = to;
    t->len = (uint32_t)tk_metaspace_put(how, from, head, to);
    td_arena_shrink(&ctx->arena, to + t->len);
    return TD_OK;
}

/* A piece ends in front of each mark. */
static td_code split_at_marks(td_str mark, tk_ctx *ctx, const tk_text *t, tk_pieces *out,
                              td_error *err)
{
    uint32_t from = 0, most = 1;
    for (uint32_t at = 0; at < t->len; at++)
        most += t->ptr[at] == mark.ptr[0];
    TD_TRY(tk_pieces_reserve(ctx, out, most, err));
    for (uint32_t at = 1; at <= t->len && t->len != 0; at++) {
        bool ends = at == t->len ||
                    (t->ptr[at] == mark.ptr[0] &&
                     td_str_starts((td_str){ t->ptr + at, t->len - at }, mark));
        if (!ends)
            continue;
        tk_piece *piece = &out->items[out->count++];
        piece->text = tk_text_slice(t, from, at);
        piece->id = TK_NO_ID;
        from = at;
    }
    return TD_OK;
}

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const tk_metaspace *how = &((const metaspace *)self)->how;
    tk_text t = *text;
    bool head = t.from == 0 ? tk_metaspace_heads(how, ctx) : how->scheme == TK_PREPEND_ALWAYS;
    TD_TRY((t.align != NULL ? put_aligned : put_plain)(how, ctx, &t, head, err));
    if (how->split)
        return split_at_marks(how->text, ctx, &t, out, err);
    tk_piece whole = { t, TK_NO_ID };
    return tk_pieces_add(ctx, out, &whole, err);
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

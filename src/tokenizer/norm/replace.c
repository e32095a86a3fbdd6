/* Replace: every match of a pattern becomes a fixed text. */
#include <string.h>

#include "base/str.h"
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/regex.h"

typedef struct replace {
    tk_norm base;
    const tk_regex *pattern;
    td_str content;
} replace;

/* Without alignments, and for plain texts only. */
static td_code replace_plain(tk_ctx *ctx, tk_text *text, td_str what, td_str with, td_error *err)
{
    td_str s = { text->ptr, text->len };
    size_t hits = 0, from = 0, at;
    for (; (at = td_str_find(s, what, from)) != TD_NOT_FOUND; from = at + what.len)
        hits++;
    if (hits == 0)
        return TD_OK;
    size_t len = s.len - hits * what.len + hits * with.len;
    if (len > UINT32_MAX)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc(&ctx->arena, len + 1, 1);
    if (to == NULL)
        return tk_nomem(ctx, err);
    *text = (tk_text){ .ptr = to, .len = (uint32_t)len, .from = text->from, .to = text->to };
    for (from = 0; (at = td_str_find(s, what, from)) != TD_NOT_FOUND; from = at + what.len) {
        to = (char *)memcpy(to, s.ptr + from, at - from) + (at - from);
        for (size_t i = 0; i < with.len; i++)
            *to++ = with.ptr[i];
    }
    memcpy(to, s.ptr + from, s.len - from);
    return TD_OK;
}

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const replace *r = (const replace *)self;
    tk_matches m = { 0 };
    if (text->len == 0)
        return TD_OK;
    bool is_string;
    td_str source = tk_regex_source(r->pattern, &is_string);
    if (is_string && source.len != 0 && text->align == NULL)
        return replace_plain(ctx, text, source, r->content, err);
    TD_TRY(tk_regex_matches(r->pattern, ctx, (td_str){ text->ptr, text->len }, &m, err));
    if (m.count == 1 && !m.items[0].hit)
        return TD_OK;
    return tk_text_replace(ctx, text, &m, r->content, err);
}

bool tk_norm_replaces(const tk_norm *norm, td_str *ret_what, td_str *ret_with)
{
    if (norm->apply != apply)
        return false;
    const replace *r = (const replace *)norm;
    bool is_string;
    *ret_what = tk_regex_source(r->pattern, &is_string);
    *ret_with = r->content;
    return is_string;
}

bool tk_norm_removes(const tk_norm *norm, td_str what)
{
    td_str source, content;
    if (norm == NULL)
        return false;
    if (norm->part_count != 0)
        return tk_norm_removes(norm->parts[norm->part_count - 1], what);
    /* One character can come neither from the content nor from a seam. */
    return tk_norm_replaces(norm, &source, &content) && what.len == 1 &&
           td_str_eq(source, what) && td_str_find(content, what, 0) == TD_NOT_FOUND;
}

bool tk_norm_maps_char(const tk_norm *norm)
{
    td_str source, content;
    return tk_norm_replaces(norm, &source, &content) && source.len == 1 &&
           (unsigned char)source.ptr[0] < 0x80 && content.len != 0;
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
    r->base.zero_width = !tk_regex_takes_text(r->pattern);
    *ret = &r->base;
    return TD_OK;
}

/* spaces.c - which normalizers do no more than put marks for spaces (see spaces.h). */
#include "tokenizer/spaces.h"

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/norm/norm.h"
#include "tokenizer/pretok/pretok.h"

static bool is_one_char(td_str s)
{
    return s.len != 0 && td_utf8_count(s) == 1;
}

/* Replace, or Prepend and Replace in any order, where what is put in front ends as the mark. */
static bool read_norm(const tk_norm *norm, tk_spaces *ret)
{
    const tk_norm *const *parts = norm->part_count != 0 ? norm->parts : &norm;
    uint32_t count = norm->part_count != 0 ? norm->part_count : 1;
    td_str head = { NULL, 0 }, what, with;
    if (count > 2)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (tk_norm_replaces(parts[i], &what, &with)) {
            if (ret->mark.len != 0 || !td_str_eq(what, TD_STR(" ")) || !is_one_char(with))
                return false;
            ret->mark = with;
            if (td_str_eq(head, TD_STR(" ")))
                head = with;
        } else if (ret->prepends || !tk_norm_prepends(parts[i], &head)) {
            return false;
        } else {
            ret->prepends = true;
        }
    }
    return ret->mark.len != 0 && (!ret->prepends || td_str_eq(head, ret->mark));
}

bool tk_spaces_of(const tk_norm *norm, const tk_metaspace *how, tk_spaces *ret)
{
    *ret = (tk_spaces){ .how = how };
    if (how != NULL)
        ret->mark = how->text;
    bool good = how != NULL ? norm == NULL : norm == NULL || read_norm(norm, ret);
    return good && !td_str_eq(ret->mark, TD_STR(" "));
}

bool tk_spaces_head(const tk_spaces *s, const tk_ctx *ctx, td_str text)
{
    if (s->how == NULL)
        return s->prepends && !ctx->joined;
    bool wanted = text.ptr == ctx->input.ptr ? tk_metaspace_heads(s->how, ctx)
                                             : s->how->scheme == TK_PREPEND_ALWAYS;
    return wanted && text.ptr[0] != ' ' && !td_str_starts(text, s->mark);
}

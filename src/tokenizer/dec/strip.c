/* Strip: takes up to start (stop) copies of one character off the front (end) of each token. */
#include "base/utf8.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"

typedef struct strip {
    tk_dec base;
    uint32_t content, start, stop;
} strip;

static td_code strip_one(const strip *d, td_str *s, td_error *err)
{
    const char *p = s->ptr, *end = s->ptr + s->len, *q = end;
    for (uint32_t i = 0; i < d->start && p < end; i++) {
        const char *next = p;
        if (td_utf8_next(&next, end) != d->content)
            break;
        p = next;
    }
    for (uint32_t i = 0; i < d->stop; i++) {
        const char *before = q;
        if (q == s->ptr)
            return td_fail(err, TD_E_TOKENIZER, "decoder Strip: a token is too short to strip");
        if (td_utf8_prev(s->ptr, &before) != d->content)
            break;
        q = before;
    }
    if (p > q)
        return td_fail(err, TD_E_TOKENIZER, "decoder Strip: both ends overlap in a token");
    *s = (td_str){ p, (size_t)(q - p) };
    return TD_OK;
}

static td_code apply(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    (void)ctx;
    for (size_t i = 0; i < strs->count; i++)
        TD_TRY(strip_one((const strip *)self, &strs->items[i], err));
    return TD_OK;
}

td_code tk_make_dec_strip(const tk_at *at, const tk_dec **ret)
{
    td_str content;
    strip *d = TK_NEW(at->load, strip);
    if (d == NULL)
        return TD_E_INTERNAL;
    d->base = (tk_dec){ .type = "Strip", .apply = apply };
    TD_TRY(tk_get_str(at, "content", &content));
    const char *p = content.ptr, *end = p + content.len;
    d->content = content.len != 0 ? td_utf8_next(&p, end) : 0;
    if (content.len == 0 || p != end)
        return tk_at_fail(at, "content", "expected one character");
    TD_TRY(tk_get_uint(at, "start", &d->start));
    TD_TRY(tk_get_uint(at, "stop", &d->stop));
    *ret = &d->base;
    return TD_OK;
}

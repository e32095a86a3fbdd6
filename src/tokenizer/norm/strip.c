/* Strip: takes white space off the front, the end or both. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "unicode/unicode_ref.h"

typedef struct strip {
    tk_norm base;
    bool left, right;
} strip;

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const strip *s = (const strip *)self;
    const char *p = text->ptr, *end = text->ptr + text->len, *stop = end;
    uint32_t front = 0;
    while (s->left && p < end) {
        const char *q = p;
        if (!td_tk_is_whitespace(td_utf8_next(&q, end)))
            break;
        p = q;
        front++;
    }
    while (s->right && stop > text->ptr) {
        const char *q = stop;
        if (!td_tk_is_whitespace(td_utf8_prev(text->ptr, &q)))
            break;
        stop = q;
    }
    if (p == text->ptr && stop == end)
        return TD_OK;
    tk_edit e;
    tk_edit_begin(&e, ctx, text, front);
    while (p < stop)
        TD_TRY(tk_edit_char(&e, td_utf8_next(&p, end), 0, err));
    return tk_edit_end(&e, text, err);
}

td_code tk_make_norm_strip(const tk_at *at, const tk_norm **ret)
{
    strip *s = TK_NEW(at->load, strip);
    if (s == NULL)
        return TD_E_INTERNAL;
    s->base = (tk_norm){ .type = "Strip", .apply = apply };
    TD_TRY(tk_get_bool(at, "strip_left", &s->left));
    TD_TRY(tk_get_bool(at, "strip_right", &s->right));
    *ret = &s->base;
    return TD_OK;
}

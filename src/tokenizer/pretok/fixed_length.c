/* FixedLength: pieces of so many characters; the last may be shorter. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"

typedef struct fixed_length {
    tk_pretok base;
    uint32_t length;
} fixed_length;

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const fixed_length *f = self;
    const char *p = text->ptr, *end = text->ptr + text->len;
    while (p < end) {
        uint32_t from = (uint32_t)(p - text->ptr);
        for (uint32_t n = 0; n < f->length && p < end; n++)
            td_utf8_next(&p, end);
        tk_piece piece = { tk_text_slice(text, from, (uint32_t)(p - text->ptr)), TK_NO_ID };
        TD_TRY(tk_pieces_add(ctx, out, &piece, err));
    }
    return TD_OK;
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

td_code tk_make_pretok_fixed_length(const tk_at *at, const tk_pretok **ret)
{
    fixed_length *f = TK_NEW(at->load, fixed_length);
    tk_at field;
    if (f == NULL)
        return TD_E_INTERNAL;
    *f = (fixed_length){ { .type = "FixedLength", .apply = apply }, 5 };
    if (tk_at_has(at, "length", &field))
        TD_TRY(tk_get_uint(at, "length", &f->length));
    if (f->length == 0)
        return tk_at_fail(at, "length", "expected a length above 0");
    *ret = &f->base;
    return TD_OK;
}

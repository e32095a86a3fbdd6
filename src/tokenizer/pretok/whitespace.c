/* Whitespace: runs of word characters and runs of all else, white space between them dropped. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "unicode/unicode_ref.h"

typedef enum kind { SPACE, WORD, OTHER } kind;

static kind kind_of(uint32_t c)
{
    return td_tk_is_word(c) ? WORD : td_tk_is_whitespace(c) ? SPACE : OTHER;
}

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len, *run = p;
    kind of_run = SPACE;
    (void)self;
    while (p < end) {
        const char *at = p;
        kind k = kind_of(td_utf8_next(&p, end));
        if (k == of_run)
            continue;
        if (of_run != SPACE) {
            tk_piece piece = { tk_text_slice(text, (uint32_t)(run - text->ptr),
                                             (uint32_t)(at - text->ptr)),
                               TK_NO_ID };
            TD_TRY(tk_pieces_add(ctx, out, &piece, err));
        }
        run = at;
        of_run = k;
    }
    if (of_run == SPACE)
        return TD_OK;
    tk_piece last = { tk_text_slice(text, (uint32_t)(run - text->ptr), text->len), TK_NO_ID };
    return tk_pieces_add(ctx, out, &last, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

td_code tk_make_pretok_whitespace(const tk_at *at, const tk_pretok **ret)
{
    tk_pretok *p = TK_NEW(at->load, tk_pretok);
    if (p == NULL)
        return TD_E_INTERNAL;
    *p = (tk_pretok){ .type = "Whitespace", .apply = apply };
    *ret = p;
    return TD_OK;
}

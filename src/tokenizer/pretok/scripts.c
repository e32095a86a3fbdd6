/* UnicodeScripts: a piece ends where the script changes. Characters of no script in particular
 * belong to what stands before them; at the very front they are dropped, as in the reference. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "unicode/unicode_ref.h"

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len, *run = NULL;
    unsigned last = TD_TK_ANY;
    (void)self;
    while (p < end) {
        const char *at = p;
        unsigned script = td_tk_script(td_utf8_next(&p, end));
        if (script == TD_TK_ANY || script == last)
            continue;
        if (run != NULL) {
            tk_piece piece = { tk_text_slice(text, (uint32_t)(run - text->ptr),
                                             (uint32_t)(at - text->ptr)),
                               TK_NO_ID };
            TD_TRY(tk_pieces_add(ctx, out, &piece, err));
        }
        run = at;
        last = script;
    }
    if (run == NULL)
        return TD_OK;
    tk_piece rest = { tk_text_slice(text, (uint32_t)(run - text->ptr), text->len), TK_NO_ID };
    return tk_pieces_add(ctx, out, &rest, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    return tk_pretok_each(ctx, pieces, split_one, self, err);
}

td_code tk_make_pretok_scripts(const tk_at *at, const tk_pretok **ret)
{
    tk_pretok *p = TK_NEW(at->load, tk_pretok);
    if (p == NULL)
        return TD_E_INTERNAL;
    *p = (tk_pretok){ .type = "UnicodeScripts", .apply = apply };
    *ret = p;
    return TD_OK;
}

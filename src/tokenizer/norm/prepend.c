/* Prepend: puts a text in front of every text that is not empty. What goes on with a text that has
 * it already gets none. */
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"

typedef struct prepend {
    tk_norm base;
    td_str head;
} prepend;

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    if (ctx->joined)
        return TD_OK;
    return tk_text_prepend(ctx, text, ((const prepend *)self)->head, err);
}

bool tk_norm_prepends(const tk_norm *norm, td_str *ret_head)
{
    if (norm->apply != apply)
        return false;
    *ret_head = ((const prepend *)norm)->head;
    return true;
}

td_code tk_make_norm_prepend(const tk_at *at, const tk_norm **ret)
{
    prepend *n = TK_NEW(at->load, prepend);
    if (n == NULL)
        return TD_E_INTERNAL;
    n->base = (tk_norm){ .type = "Prepend", .apply = apply };
    TD_TRY(tk_get_str(at, "prepend", &n->head));
    n->base.zero_width = n->head.len == 0;
    *ret = &n->base;
    return TD_OK;
}

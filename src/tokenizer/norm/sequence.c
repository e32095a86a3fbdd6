/* Sequence of normalizers: one after the other. */
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    for (uint32_t i = 0; i < self->part_count; i++)
        TD_TRY(tk_norm_apply(self->parts[i], ctx, text, err));
    return TD_OK;
}

td_code tk_make_norm_sequence(const tk_at *at, const tk_norm **ret)
{
    tk_at list;
    bool by_char = true;
    TD_TRY(tk_get_list(at, "normalizers", &list));
    tk_norm *n = TK_NEW(at->load, tk_norm);
    const tk_norm **parts = tk_new(at->load, (list.value.len + 1) * sizeof(tk_norm *));
    if (n == NULL || parts == NULL)
        return TD_E_INTERNAL;
    *n = (tk_norm){ .type = "Sequence", .apply = apply, .parts = parts };
    for (; n->part_count < list.value.len; n->part_count++) {
        tk_at item = tk_at_item(&list, n->part_count);
        TD_TRY(tk_make_norm(&item, &parts[n->part_count]));
        n->zero_width |= parts[n->part_count]->zero_width;
        by_char &= parts[n->part_count]->ascii != NULL;
    }
    *ret = n;
    return by_char ? tk_norm_learn(at->load, n) : TD_OK;
}

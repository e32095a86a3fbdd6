/* Sequence of pre-tokenizers: one after the other, each on the pieces of the one before. */
#include "tokenizer/load/components.h"

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    for (uint32_t i = 0; i < self->part_count; i++)
        TD_TRY(self->parts[i]->apply(self->parts[i], ctx, pieces, err));
    return TD_OK;
}

td_code tk_make_pretok_sequence(const tk_at *at, const tk_pretok **ret)
{
    tk_at list;
    TD_TRY(tk_get_list(at, "pretokenizers", &list));
    tk_pretok *p = TK_NEW(at->load, tk_pretok);
    const tk_pretok **parts = tk_new(at->load, (list.value.len + 1) * sizeof(tk_pretok *));
    if (p == NULL || parts == NULL)
        return TD_E_INTERNAL;
    *p = (tk_pretok){ .type = "Sequence", .apply = apply, .parts = parts };
    for (; p->part_count < list.value.len; p->part_count++) {
        tk_at item = tk_at_item(&list, p->part_count);
        TD_TRY(tk_make_pretok(&item, &parts[p->part_count]));
        p->positional |= parts[p->part_count]->positional;
    }
    *ret = p;
    return TD_OK;
}

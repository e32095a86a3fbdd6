/* Sequence of post-processors: one after the other. */
#include "tokenizer/load/components.h"

static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    for (uint32_t i = 0; i < self->part_count; i++)
        TD_TRY(self->parts[i]->apply(self->parts[i], ctx, enc, add_special, err));
    return TD_OK;
}

td_code tk_make_post_sequence(const tk_at *at, const tk_post **ret)
{
    tk_at list;
    TD_TRY(tk_get_list(at, "processors", &list));
    tk_post *p = TK_NEW(at->load, tk_post);
    const tk_post **parts = tk_new(at->load, (list.value.len + 1) * sizeof(tk_post *));
    if (p == NULL || parts == NULL)
        return TD_E_INTERNAL;
    *p = (tk_post){ .type = "Sequence", .apply = apply, .copies = 1, .parts = parts };
    for (; p->part_count < list.value.len; p->part_count++) {
        tk_at item = tk_at_item(&list, p->part_count);
        TD_TRY(tk_make_post(&item, &parts[p->part_count]));
        const tk_post *part = parts[p->part_count];
        /* A template behind another one may use its parts in any way. Any number but 1 means that
         * counts do not add up. */
        if (p->copies == 1)
            p->copies = p->makes_parts && part->makes_parts ? 0 : part->copies;
        p->makes_parts |= part->makes_parts;
        p->added += part->added;
    }
    *ret = p;
    return TD_OK;
}

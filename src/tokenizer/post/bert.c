/* BertProcessing and RobertaProcessing: one token before the text, one behind it; the latter also
 * trims offsets. */
#include "tokenizer/load/components.h"
#include "tokenizer/post/post.h"

typedef struct bert {
    tk_post base;
    td_str cls_text, sep_text;
    td_id cls, sep;
    bool is_roberta, trim_offsets, add_prefix_space;
} bert;

/* Parts behind the first come from a template: the reference takes them for the second text. */
static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    const bert *b = (const bert *)self;
    if (b->trim_offsets)
        tk_trim_offsets(ctx, enc, b->add_prefix_space);
    if (!add_special)
        return TD_OK;
    tk_encoding out;
    TD_TRY(tk_parts_begin(ctx, tk_part_count(enc), &out, err));
    for (uint32_t i = 0; i < tk_part_count(enc); i++) {
        if (i == 0)
            TD_TRY(tk_put_special(ctx, &out, b->cls, b->cls_text, err));
        else if (b->is_roberta)
            TD_TRY(tk_put_special(ctx, &out, b->sep, b->sep_text, err));
        TD_TRY(tk_put_part(ctx, &out, enc, i, err));
        TD_TRY(tk_put_special(ctx, &out, b->sep, b->sep_text, err));
        tk_end_part(&out);
    }
    *enc = out;
    return TD_OK;
}

/* The reference tells the two by their fields, whatever "type" says. */
td_code tk_make_post_bert(const tk_at *at, const tk_post **ret)
{
    tk_at field;
    bert *b = TK_NEW(at->load, bert);
    if (b == NULL)
        return TD_E_INTERNAL;
    b->base = (tk_post){ .type = "BertProcessing", .apply = apply, .added = 2, .copies = 1 };
    TD_TRY(tk_get_token(at, "sep", &b->sep_text, &b->sep));
    TD_TRY(tk_get_token(at, "cls", &b->cls_text, &b->cls));
    if (tk_at_field(at, "trim_offsets", &field) && field.value.tag == TD_V_BOOL &&
        tk_at_field(at, "add_prefix_space", &field) && field.value.tag == TD_V_BOOL) {
        b->base.type = "RobertaProcessing";
        b->is_roberta = true;
        TD_TRY(tk_get_bool(at, "trim_offsets", &b->trim_offsets));
        TD_TRY(tk_get_bool(at, "add_prefix_space", &b->add_prefix_space));
    }
    *ret = &b->base;
    return TD_OK;
}

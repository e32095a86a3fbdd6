/* BertProcessing and RobertaProcessing: one token before the text, one behind it; the latter also
 * trims offsets. */
#include <string.h>

#include "tokenizer/load/components.h"
#include "tokenizer/post/post.h"

typedef struct token {
    td_str text;
    td_id id;
} token;

typedef struct bert {
    tk_post base;
    token cls, sep;
    bool trim_offsets, add_prefix_space;
} bert;

static void put(tk_encoding *out, const tk_ctx *ctx, const token *t)
{
    out->ids[out->count] = t->id;
    if (ctx->track) {
        out->starts[out->count] = out->ends[out->count] = 0;
        out->values[out->count] = t->text;
    }
    out->count++;
}

static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    const bert *b = (const bert *)self;
    if (b->trim_offsets)
        tk_trim_offsets(ctx, enc, b->add_prefix_space);
    if (!add_special)
        return TD_OK;
    tk_encoding out = { 0 };
    TD_TRY(tk_encoding_reserve(ctx, &out, enc->count + 2, err));
    put(&out, ctx, &b->cls);
    if (enc->count != 0) {
        memcpy(out.ids + 1, enc->ids, enc->count * sizeof *enc->ids);
        if (ctx->track) {
            memcpy(out.starts + 1, enc->starts, enc->count * sizeof *enc->starts);
            memcpy(out.ends + 1, enc->ends, enc->count * sizeof *enc->ends);
            memcpy(out.values + 1, enc->values, enc->count * sizeof *enc->values);
        }
        out.count += enc->count;
    }
    put(&out, ctx, &b->sep);
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
    b->base = (tk_post){ .type = "BertProcessing", .apply = apply, .copies = 1 };
    TD_TRY(tk_get_token(at, "sep", &b->sep.text, &b->sep.id));
    TD_TRY(tk_get_token(at, "cls", &b->cls.text, &b->cls.id));
    if (tk_at_field(at, "trim_offsets", &field) && field.value.tag == TD_V_BOOL &&
        tk_at_field(at, "add_prefix_space", &field) && field.value.tag == TD_V_BOOL) {
        b->base.type = "RobertaProcessing";
        TD_TRY(tk_get_bool(at, "trim_offsets", &b->trim_offsets));
        TD_TRY(tk_get_bool(at, "add_prefix_space", &b->add_prefix_space));
    }
    *ret = &b->base;
    return TD_OK;
}

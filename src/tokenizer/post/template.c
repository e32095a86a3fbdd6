/* TemplateProcessing: the text's ids between special tokens, by a template. Only the template of a
 * single text is used here. */
#include <string.h>

#include "base/str.h"
#include "tokenizer/load/components.h"

typedef struct piece {
    bool is_text; /* the sequence A */
    bool is_pair; /* the sequence B, which a single text does not have */
    td_str name;  /* of a special token */
    bool missing; /* it is not in special_tokens */
    const td_id *ids;
    const td_str *tokens;
    uint32_t count;
} piece;

typedef struct template {
    tk_post base;
    piece *pieces;
    uint32_t count;
} template;

static td_code put_special(tk_ctx *ctx, const piece *p, tk_encoding *out, td_error *err)
{
    if (p->missing)
        return td_fail(err, TD_E_TOKENIZER, "post_processor: no special token '%.*s'",
                       (int)p->name.len, p->name.ptr);
    TD_TRY(tk_encoding_reserve(ctx, out, p->count, err));
    for (uint32_t i = 0; i < p->count; i++) {
        out->ids[out->count] = p->ids[i];
        if (ctx->track) {
            out->starts[out->count] = out->ends[out->count] = 0;
            out->values[out->count] = p->tokens[i];
        }
        out->count++;
    }
    return TD_OK;
}

static td_code put_text(tk_ctx *ctx, const tk_encoding *enc, tk_encoding *out, td_error *err)
{
    TD_TRY(tk_encoding_reserve(ctx, out, enc->count, err));
    if (enc->count == 0)
        return TD_OK;
    memcpy(out->ids + out->count, enc->ids, enc->count * sizeof *enc->ids);
    if (ctx->track) {
        memcpy(out->starts + out->count, enc->starts, enc->count * sizeof *enc->starts);
        memcpy(out->ends + out->count, enc->ends, enc->count * sizeof *enc->ends);
        memcpy(out->values + out->count, enc->values, enc->count * sizeof *enc->values);
    }
    out->count += enc->count;
    return TD_OK;
}

static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    const template *t = (const template *)self;
    tk_encoding out = { 0 };
    if (!add_special && t->count == 1 && t->pieces[0].is_text)
        return TD_OK;
    for (uint32_t i = 0; i < t->count; i++) {
        const piece *p = &t->pieces[i];
        if (p->is_pair)
            return td_fail(err, TD_E_TOKENIZER,
                           "post_processor: the template of a single text uses $B");
        if (p->is_text)
            TD_TRY(put_text(ctx, enc, &out, err));
        else if (add_special)
            TD_TRY(put_special(ctx, p, &out, err));
    }
    *enc = out;
    return TD_OK;
}

static td_code read_tokens(const tk_at *entry, piece *p)
{
    tk_at ids, tokens;
    TD_TRY(tk_get_list(entry, "ids", &ids));
    TD_TRY(tk_get_list(entry, "tokens", &tokens));
    td_id *id = tk_new(entry->load, (ids.value.len + 1) * sizeof *id);
    td_str *text = tk_new(entry->load, (tokens.value.len + 1) * sizeof *text);
    if (id == NULL || text == NULL)
        return TD_E_INTERNAL;
    if (ids.value.len != tokens.value.len)
        return tk_at_fail(&tokens, NULL, "expected as many tokens as ids");
    for (uint32_t i = 0; i < ids.value.len; i++) {
        tk_at item = tk_at_item(&ids, i), token = tk_at_item(&tokens, i);
        if (item.value.tag != TD_V_INT || item.value.as.integer < 0 ||
            item.value.as.integer > UINT32_MAX)
            return tk_at_fail(&item, NULL, "expected an id");
        if (token.value.tag != TD_V_STR)
            return tk_at_fail(&token, NULL, "expected a string");
        id[i] = (td_id)item.value.as.integer;
        text[i] = tk_keep(entry->load, td_as_str(token.value));
        if (text[i].ptr == NULL)
            return TD_E_INTERNAL;
    }
    p->ids = id;
    p->tokens = text;
    p->count = ids.value.len;
    return TD_OK;
}

static td_code read_special(const tk_at *specials, piece *p)
{
    const td_value *v = td_dict_find(specials->value.as.dict, p->name);
    if (v == NULL) {
        p->missing = true;
        return TD_OK;
    }
    tk_at entry = { .load = specials->load, .up = specials, .key = p->name.ptr, .value = *v };
    return read_tokens(&entry, p);
}

static td_code read_piece(const tk_at *item, const tk_at *specials, piece *p)
{
    tk_at inner;
    uint32_t type_id;
    if (tk_at_field(item, "Sequence", &inner)) {
        td_str name;
        TD_TRY(tk_get_str(&inner, "id", &name));
        TD_TRY(tk_get_uint(&inner, "type_id", &type_id));
        p->is_text = td_str_eq(name, TD_STR("A"));
        p->is_pair = td_str_eq(name, TD_STR("B"));
        return p->is_text || p->is_pair ? TD_OK : tk_at_fail(&inner, "id", "expected A or B");
    }
    if (!tk_at_field(item, "SpecialToken", &inner))
        return tk_at_fail(item, NULL, "expected Sequence or SpecialToken");
    TD_TRY(tk_get_str(&inner, "id", &p->name));
    TD_TRY(tk_get_uint(&inner, "type_id", &type_id));
    return read_special(specials, p);
}

td_code tk_make_post_template(const tk_at *at, const tk_post **ret)
{
    tk_at single, pair, specials;
    TD_TRY(tk_get_list(at, "single", &single));
    TD_TRY(tk_get_list(at, "pair", &pair));
    if (!tk_at_field(at, "special_tokens", &specials) || specials.value.tag != TD_V_DICT)
        return tk_at_fail(at, "special_tokens", "expected an object");
    template *t = TK_NEW(at->load, template);
    piece *pieces = tk_new(at->load, (single.value.len + 1) * sizeof *pieces);
    if (t == NULL || pieces == NULL)
        return TD_E_INTERNAL;
    t->base = (tk_post){ .type = "TemplateProcessing", .apply = apply };
    t->pieces = pieces;
    for (; t->count < single.value.len; t->count++) {
        tk_at item = tk_at_item(&single, t->count);
        TD_TRY(read_piece(&item, &specials, &pieces[t->count]));
        t->base.copies += pieces[t->count].is_text;
    }
    for (uint32_t i = 0; i < t->count; i++)
        if (pieces[i].is_pair)
            t->base.copies = 0;
    *ret = &t->base;
    return TD_OK;
}

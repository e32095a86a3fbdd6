/* TemplateProcessing: the text's ids between special tokens, by a template. The template of two
 * texts is used where another template made two parts of the text before. */
#include "base/str.h"
#include "tokenizer/load/components.h"
#include "tokenizer/post/post.h"

typedef struct piece {
    bool is_text;
    uint32_t text; /* 0: sequence A, 1: B */
    td_str name;   /* of a special token */
    bool missing;  /* it is not in special_tokens */
    const td_id *ids;
    const td_str *tokens;
    uint32_t count;
} piece;

typedef struct pieces {
    piece *items;
    uint32_t count;
} pieces;

typedef struct template {
    tk_post base;
    pieces single, pair;
} template;

static td_code put_specials(tk_ctx *ctx, const piece *p, tk_encoding *out, td_error *err)
{
    if (p->missing)
        return td_fail(err, TD_E_TOKENIZER, "post_processor: no special token '%.*s'",
                       p->name.len < 100 ? (int)p->name.len : 100, p->name.ptr);
    for (uint32_t i = 0; i < p->count; i++)
        TD_TRY(tk_put_special(ctx, out, p->ids[i], p->tokens[i], err));
    return TD_OK;
}

static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    const template *t = (const template *)self;
    uint32_t texts = tk_part_count(enc);
    if (texts != 1 && texts != 2)
        return td_fail(err, TD_E_TOKENIZER, "post_processor: a template for %u texts", texts);
    const pieces *use = texts == 1 ? &t->single : &t->pair;
    if (texts == 1 && !add_special && t->base.copies == 1)
        return TD_OK; /* the text's ids and no others */
    tk_encoding out;
    TD_TRY(tk_parts_begin(ctx, use->count, &out, err));
    for (uint32_t i = 0; i < use->count; i++) {
        const piece *p = &use->items[i];
        if (!p->is_text && !add_special)
            continue;
        if (p->is_text && p->text >= texts)
            return td_fail(err, TD_E_TOKENIZER,
                           "post_processor: the template of a single text uses $B");
        TD_TRY(p->is_text ? tk_put_part(ctx, &out, enc, p->text, err)
                          : put_specials(ctx, p, &out, err));
        tk_end_part(&out);
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
        p->is_text = true;
        p->text = td_str_eq(name, TD_STR("B"));
        return p->text == 1 || td_str_eq(name, TD_STR("A"))
                   ? TD_OK
                   : tk_at_fail(&inner, "id", "expected A or B");
    }
    if (!tk_at_field(item, "SpecialToken", &inner))
        return tk_at_fail(item, NULL, "expected Sequence or SpecialToken");
    TD_TRY(tk_get_str(&inner, "id", &p->name));
    TD_TRY(tk_get_uint(&inner, "type_id", &type_id));
    return read_special(specials, p);
}

static td_code read_pieces(const tk_at *list, const tk_at *specials, pieces *ret)
{
    ret->items = tk_new(list->load, (list->value.len + 1) * sizeof *ret->items);
    if (ret->items == NULL)
        return TD_E_INTERNAL;
    for (; ret->count < list->value.len; ret->count++) {
        tk_at item = tk_at_item(list, ret->count);
        TD_TRY(read_piece(&item, specials, &ret->items[ret->count]));
    }
    return TD_OK;
}

td_code tk_make_post_template(const tk_at *at, const tk_post **ret)
{
    tk_at single, pair, specials;
    TD_TRY(tk_get_list(at, "single", &single));
    TD_TRY(tk_get_list(at, "pair", &pair));
    if (!tk_at_field(at, "special_tokens", &specials) || specials.value.tag != TD_V_DICT)
        return tk_at_fail(at, "special_tokens", "expected an object");
    template *t = TK_NEW(at->load, template);
    if (t == NULL)
        return TD_E_INTERNAL;
    t->base = (tk_post){ .type = "TemplateProcessing", .apply = apply, .makes_parts = true };
    TD_TRY(read_pieces(&single, &specials, &t->single));
    TD_TRY(read_pieces(&pair, &specials, &t->pair));
    bool second = false;
    for (uint32_t i = 0; i < t->single.count; i++) {
        t->base.copies += t->single.items[i].is_text;
        t->base.added += t->single.items[i].count;
        second |= t->single.items[i].text == 1;
    }
    if (second) /* there is none */
        t->base.copies = 0;
    *ret = &t->base;
    return TD_OK;
}

/* describe.c - what was loaded, as JSON for people and scripts. */
#include "base/str.h"
#include "tokenizer/internal.h"
#include "value/json.h"

static td_code put_name(td_buf *out, const char *type)
{
    return td_json_write_string(out, td_str_from(type), false);
}

/* "NFC", or a list of the parts of a Sequence. */
#define PUT_PARTS(NAME, BASE)                                                                      \
    static td_code NAME(td_buf *out, const BASE *c)                                                \
    {                                                                                              \
        if (c == NULL)                                                                             \
            return td_buf_put(out, TD_STR("null"));                                                \
        if (c->parts == NULL)                                                                      \
            return put_name(out, c->type);                                                         \
        TD_TRY(td_buf_byte(out, '['));                                                             \
        for (uint32_t i = 0; i < c->part_count; i++) {                                             \
            if (i != 0)                                                                            \
                TD_TRY(td_buf_put(out, TD_STR(", ")));                                             \
            TD_TRY(NAME(out, c->parts[i]));                                                        \
        }                                                                                          \
        return td_buf_byte(out, ']');                                                              \
    }

PUT_PARTS(put_norm, tk_norm)
PUT_PARTS(put_pretok, tk_pretok)
PUT_PARTS(put_post, tk_post)
PUT_PARTS(put_dec, tk_dec)

static const char *scanner_name(const td_tokenizer *tok)
{
    if (tok->fast == NULL)
        return "general";
    return tok->fast->scanner != NULL ? tok->fast->scanner->name : "cuts";
}

static td_code put_limits(td_buf *out, const td_tokenizer *tok)
{
    const tk_truncation *t = tok->truncation;
    const tk_padding *p = tok->padding;
    if (t != NULL)
        TD_TRY(td_buf_printf(out, ", \"truncation\": {\"max_length\": %llu, \"side\": \"%s\"}",
                             (unsigned long long)t->max_length, t->left ? "left" : "right"));
    if (p == NULL)
        return TD_OK;
    TD_TRY(td_buf_put(out, TD_STR(", \"padding\": {\"length\": ")));
    if (p->longest)
        TD_TRY(td_buf_put(out, TD_STR("\"longest\"")));
    else
        TD_TRY(td_buf_printf(out, "%llu", (unsigned long long)p->length));
    return td_buf_printf(out, ", \"multiple_of\": %llu, \"side\": \"%s\", \"id\": %u}",
                         (unsigned long long)(p->multiple != 0 ? p->multiple : 1),
                         p->left ? "left" : "right", p->id);
}

td_code tk_describe(const td_tokenizer *tok, td_buf *out)
{
    TD_TRY(td_buf_put(out, TD_STR("{\"format\": ")));
    TD_TRY(put_name(out, tok->format != NULL ? tok->format : "tokenizer.json"));
    if (tok->family != NULL) {
        TD_TRY(td_buf_put(out, TD_STR(", \"family\": ")));
        TD_TRY(put_name(out, tok->family));
    }
    TD_TRY(td_buf_put(out, TD_STR(", \"normalizer\": ")));
    TD_TRY(put_norm(out, tok->norm));
    TD_TRY(td_buf_put(out, TD_STR(", \"pre_tokenizer\": ")));
    TD_TRY(put_pretok(out, tok->pretok));
    TD_TRY(td_buf_put(out, TD_STR(", \"scanner\": ")));
    TD_TRY(put_name(out, scanner_name(tok)));
    TD_TRY(td_buf_put(out, TD_STR(", \"model\": {\"type\": ")));
    TD_TRY(put_name(out, tok->model->type));
    TD_TRY(td_buf_printf(out, ", \"vocab\": %zu", tok->model->vocab_size(tok->model)));
    if (tok->model->describe != NULL)
        TD_TRY(tok->model->describe(tok->model, out));
    TD_TRY(td_buf_put(out, TD_STR("}, \"post_processor\": ")));
    TD_TRY(put_post(out, tok->post));
    TD_TRY(td_buf_put(out, TD_STR(", \"decoder\": ")));
    TD_TRY(tok->detok != NULL ? put_name(out, tok->detok->type) : put_dec(out, tok->dec));
    TD_TRY(put_limits(out, tok));
    return td_buf_printf(out, ", \"added_tokens\": %u, \"vocab_size\": %zu}", tok->added.count,
                         td_tokenizer_vocab_size(tok));
}

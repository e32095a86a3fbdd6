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

td_code tk_describe(const td_tokenizer *tok, td_buf *out)
{
    TD_TRY(td_buf_put(out, TD_STR("{\"normalizer\": ")));
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
    TD_TRY(put_dec(out, tok->dec));
    return td_buf_printf(out, ", \"added_tokens\": %u, \"vocab_size\": %zu}", tok->added.count,
                         td_tokenizer_vocab_size(tok));
}

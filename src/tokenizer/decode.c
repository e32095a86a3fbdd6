/* decode.c - ids to text: token texts, without specials when asked, through the decoder. */
#include "base/str.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/internal.h"

static td_code by_ids(const td_tokenizer *tok, tk_ctx *ctx, const td_id *ids, size_t count,
                      bool skip_special, td_str *ret, td_error *err)
{
    td_buf out = { 0 };
    td_code code = tok->detok->apply(tok->detok, tok, ids, count, skip_special, &out, err);
    if (code == TD_OK) {
        *ret = tk_dec_keep(ctx, td_buf_view(&out), err);
        if (ret->ptr == NULL)
            code = err->code;
    }
    td_buf_done(&out);
    return code;
}

static td_code decode(td_encoder *enc, const td_id *ids, size_t count, unsigned flags, td_str *ret,
                      td_error *err)
{
    const td_tokenizer *tok = enc->tok;
    tk_ctx *ctx = &enc->ctx;
    const void *given = ids;
    TD_TRY(tk_encoder_reset(enc, &given, count * sizeof *ids, err));
    ids = given;
    ctx->input = (td_str){ NULL, 0 };
    if (tok->detok != NULL)
        return by_ids(tok, ctx, ids, count, (flags & TD_DECODE_SKIP_SPECIAL) != 0, ret, err);
    tk_strs strs = { td_arena_array(&ctx->arena, td_str, count + 1), 0 };
    if (strs.items == NULL)
        return tk_nomem(ctx, err);
    for (size_t i = 0; i < count; i++) {
        if ((flags & TD_DECODE_SKIP_SPECIAL) != 0 && tk_added_is_special(&tok->added, ids[i]))
            continue;
        const tk_added_token *t = tk_added_by_id(&tok->added, ids[i]);
        td_str s = t != NULL ? t->normalized_form : tok->model->id_to_token(tok->model, ids[i]);
        if (s.ptr != NULL)
            strs.items[strs.count++] = s;
    }
    if (tok->dec == NULL)
        return tk_dec_join(ctx, &strs, TD_STR(" "), ret, err);
    TD_TRY(tok->dec->apply(tok->dec, ctx, &strs, err));
    return tk_dec_join(ctx, &strs, TD_STR(""), ret, err);
}

td_code td_decode(td_encoder *enc, const td_id *ids, size_t count, unsigned flags,
                  td_str *ret_text, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_code code = decode(enc, ids, count, flags, ret_text, &local);
    if (code != TD_OK && err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

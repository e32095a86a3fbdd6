/* NFC, NFD, NFKC, NFKD of the reference's Unicode version. */
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"

typedef struct unicode_norm {
    tk_norm base;
    td_norm_form form;
} unicode_norm;

td_code tk_norm_unicode(td_norm_form form, tk_ctx *ctx, tk_text *text, td_error *err)
{
    td_str s = { text->ptr, text->len };
    if (td_norm_is_quick(form, s) && (text->align == NULL || tk_text_is_whole(text)))
        return TD_OK;
    if (text->align != NULL)
        return tk_norm_aligned(form, ctx, text, err);
    td_buf out = { 0 };
    td_code code = td_norm(form, &out, s);
    if (code != TD_OK) {
        code = td_buf_fail(&out, err, code, "normalized text");
    } else {
        td_str kept = td_arena_copy(&ctx->arena, td_buf_view(&out));
        if (kept.ptr == NULL)
            code = tk_nomem(ctx, err);
        else if (kept.len > UINT32_MAX)
            code = td_fail(err, TD_E_LIMIT, "normalized text is too long");
        text->ptr = kept.ptr;
        text->len = (uint32_t)kept.len;
    }
    td_buf_done(&out);
    return code;
}

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    return tk_norm_unicode(((const unicode_norm *)self)->form, ctx, text, err);
}

static td_code make(const tk_at *at, const char *type, td_norm_form form, const tk_norm **ret)
{
    unicode_norm *n = TK_NEW(at->load, unicode_norm);
    if (n == NULL)
        return TD_E_INTERNAL;
    *n = (unicode_norm){ { .type = type, .apply = apply }, form };
    *ret = &n->base;
    return tk_norm_learn(at->load, &n->base);
}

td_code tk_make_norm_nfc(const tk_at *at, const tk_norm **ret)
{
    return make(at, "NFC", TD_NFC, ret);
}

td_code tk_make_norm_nfd(const tk_at *at, const tk_norm **ret)
{
    return make(at, "NFD", TD_NFD, ret);
}

td_code tk_make_norm_nfkc(const tk_at *at, const tk_norm **ret)
{
    return make(at, "NFKC", TD_NFKC, ret);
}

td_code tk_make_norm_nfkd(const tk_at *at, const tk_norm **ret)
{
    return make(at, "NFKD", TD_NFKD, ret);
}

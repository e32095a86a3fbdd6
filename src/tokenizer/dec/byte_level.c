/* ByteLevel: tokens that consist of byte characters are those bytes, others stay; all together are
 * one text. */
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"

/* Appends the bytes that s spells, or s when a character spells none. */
static td_code put_token(td_buf *bytes, td_str s)
{
    size_t before = bytes->len;
    const char *p = s.ptr, *end = s.ptr + s.len;
    TD_TRY(td_buf_reserve(bytes, s.len));
    while (p < end) {
        int b = tk_char_to_byte(td_utf8_next(&p, end));
        if (b < 0) {
            bytes->len = before;
            return td_buf_put(bytes, s);
        }
        bytes->ptr[bytes->len++] = (char)b;
    }
    return TD_OK;
}

static td_code apply(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    (void)self;
    td_buf bytes = { 0 }, text = { 0 };
    td_code code = TD_OK;
    for (size_t i = 0; code == TD_OK && i < strs->count; i++)
        code = put_token(&bytes, strs->items[i]);
    if (code == TD_OK)
        code = tk_put_lossy(&text, td_buf_view(&bytes));
    if (code != TD_OK)
        code = td_buf_fail(&text, err, code, "decoded text");
    td_str *one = td_arena_new(&ctx->arena, td_str);
    if (code == TD_OK && one == NULL)
        code = tk_nomem(ctx, err);
    if (code == TD_OK) {
        *one = tk_dec_keep(ctx, td_buf_view(&text), err);
        *strs = (tk_strs){ one, 1 };
        if (one->ptr == NULL)
            code = err->code;
    }
    td_buf_done(&bytes);
    td_buf_done(&text);
    return code;
}

td_code tk_make_dec_byte_level(const tk_at *at, const tk_dec **ret)
{
    bool unused = false;
    tk_dec *d = TK_NEW(at->load, tk_dec);
    if (d == NULL)
        return TD_E_INTERNAL;
    TD_TRY(tk_get_bool(at, "add_prefix_space", &unused));
    TD_TRY(tk_get_bool(at, "trim_offsets", &unused));
    TD_TRY(tk_def_bool(at, "use_regex", &unused));
    *d = (tk_dec){ .type = "ByteLevel", .apply = apply };
    *ret = d;
    return TD_OK;
}

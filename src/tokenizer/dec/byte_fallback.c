/* ByteFallback: runs of tokens like <0x61> become the text that their bytes spell, or one U+FFFD
 * for each when they spell none. */
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* -1: not a byte token. A sign is accepted, as number parsing there does. */
static int byte_of(td_str s)
{
    if (s.len != 6 || !td_str_starts(s, TD_STR("<0x")) || s.ptr[5] != '>')
        return -1;
    int high = s.ptr[3] == '+' ? 0 : hex(s.ptr[3]), low = hex(s.ptr[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Appends what the run of n byte tokens ending before items[i] becomes. */
static td_code put_run(tk_ctx *ctx, const td_str *run, size_t n, tk_strs *out, td_error *err)
{
    char *bytes = td_arena_alloc(&ctx->arena, n + 1, 1);
    if (bytes == NULL)
        return tk_nomem(ctx, err);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)byte_of(run[i]);
    td_str text = { bytes, n };
    if (td_utf8_check_strict(text) == n) {
        out->items[out->count++] = text;
        return TD_OK;
    }
    while (n-- > 0)
        out->items[out->count++] = TD_STR("\xEF\xBF\xBD");
    return TD_OK;
}

static td_code apply(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    (void)self;
    tk_strs out = { td_arena_array(&ctx->arena, td_str, strs->count + 1), 0 };
    if (out.items == NULL)
        return tk_nomem(ctx, err);
    size_t run = 0;
    for (size_t i = 0; i < strs->count; i++) {
        if (byte_of(strs->items[i]) >= 0) {
            run++;
            continue;
        }
        if (run != 0)
            TD_TRY(put_run(ctx, strs->items + i - run, run, &out, err));
        run = 0;
        out.items[out.count++] = strs->items[i];
    }
    if (run != 0)
        TD_TRY(put_run(ctx, strs->items + strs->count - run, run, &out, err));
    *strs = out;
    return TD_OK;
}

td_code tk_make_dec_byte_fallback(const tk_at *at, const tk_dec **ret)
{
    tk_dec *d = TK_NEW(at->load, tk_dec);
    if (d == NULL)
        return TD_E_INTERNAL;
    *d = (tk_dec){ .type = "ByteFallback", .apply = apply };
    *ret = d;
    return TD_OK;
}

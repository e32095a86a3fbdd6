/* Sequence of decoders, Fuse, and what decoders share. */
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/dec/dec.h"
#include "tokenizer/load/components.h"

td_str tk_dec_keep(tk_ctx *ctx, td_str s, td_error *err)
{
    td_str copy = td_arena_copy(&ctx->arena, s);
    if (copy.ptr == NULL)
        tk_nomem(ctx, err);
    return copy;
}

td_code tk_dec_join(tk_ctx *ctx, const tk_strs *strs, td_str separator, td_str *ret, td_error *err)
{
    size_t len = 0;
    for (size_t i = 0; i < strs->count; i++)
        len += strs->items[i].len + (i != 0 ? separator.len : 0);
    char *to = td_arena_alloc(&ctx->arena, len + 1, 1);
    if (to == NULL)
        return tk_nomem(ctx, err);
    *ret = (td_str){ to, len };
    for (size_t i = 0; i < strs->count; i++) {
        if (i != 0 && separator.len != 0)
            to = (char *)memcpy(to, separator.ptr, separator.len) + separator.len;
        if (strs->items[i].len != 0)
            to = (char *)memcpy(to, strs->items[i].ptr, strs->items[i].len) + strs->items[i].len;
    }
    return TD_OK;
}

/* Bytes of the longest well-formed start of a sequence that is not whole. */
static size_t bad_len(td_str s)
{
    unsigned char a = (unsigned char)s.ptr[0];
    unsigned char low = 0x80, high = 0xBF;
    size_t need = a >= 0xC2 && a <= 0xDF ? 1 : a >= 0xE0 && a <= 0xEF ? 2
                                           : a >= 0xF0 && a <= 0xF4   ? 3
                                                                      : 0;
    if (a == 0xE0)
        low = 0xA0;
    else if (a == 0xED)
        high = 0x9F;
    else if (a == 0xF0)
        low = 0x90;
    else if (a == 0xF4)
        high = 0x8F;
    size_t n = 1;
    while (n <= need && n < s.len) {
        unsigned char c = (unsigned char)s.ptr[n];
        if (c < low || c > high)
            break;
        low = 0x80;
        high = 0xBF;
        n++;
    }
    return n;
}

td_code tk_put_lossy(td_buf *out, td_str bytes)
{
    while (bytes.len != 0) {
        size_t good = td_utf8_check_strict(bytes);
        TD_TRY(td_buf_append(out, bytes.ptr, good));
        bytes = (td_str){ bytes.ptr + good, bytes.len - good };
        if (bytes.len == 0)
            break;
        TD_TRY(td_buf_append(out, "\xEF\xBF\xBD", 3));
        size_t bad = bad_len(bytes);
        bytes = (td_str){ bytes.ptr + bad, bytes.len - bad };
    }
    return TD_OK;
}

static td_code fuse(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    (void)self;
    td_str *one = td_arena_new(&ctx->arena, td_str);
    if (one == NULL)
        return tk_nomem(ctx, err);
    TD_TRY(tk_dec_join(ctx, strs, TD_STR(""), one, err));
    *strs = (tk_strs){ one, 1 };
    return TD_OK;
}

td_code tk_make_dec_fuse(const tk_at *at, const tk_dec **ret)
{
    tk_dec *d = TK_NEW(at->load, tk_dec);
    if (d == NULL)
        return TD_E_INTERNAL;
    *d = (tk_dec){ .type = "Fuse", .apply = fuse };
    *ret = d;
    return TD_OK;
}

static td_code apply(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err)
{
    for (uint32_t i = 0; i < self->part_count; i++)
        TD_TRY(self->parts[i]->apply(self->parts[i], ctx, strs, err));
    return TD_OK;
}

td_code tk_make_dec_sequence(const tk_at *at, const tk_dec **ret)
{
    tk_at list;
    TD_TRY(tk_get_list(at, "decoders", &list));
    tk_dec *d = TK_NEW(at->load, tk_dec);
    const tk_dec **parts = tk_new(at->load, (list.value.len + 1) * sizeof(tk_dec *));
    if (d == NULL || parts == NULL)
        return TD_E_INTERNAL;
    *d = (tk_dec){ .type = "Sequence", .apply = apply, .parts = parts };
    for (; d->part_count < list.value.len; d->part_count++) {
        tk_at item = tk_at_item(&list, d->part_count);
        TD_TRY(tk_make_dec(&item, &parts[d->part_count]));
    }
    *ret = d;
    return TD_OK;
}

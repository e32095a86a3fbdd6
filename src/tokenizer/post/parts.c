/* parts.c - building encodings of several parts. */
#include <string.h>

#include "tokenizer/post/post.h"

td_code tk_parts_begin(tk_ctx *ctx, uint32_t parts, tk_encoding *ret, td_error *err)
{
    *ret = (tk_encoding){ 0 };
    ret->part_ends = td_arena_array(&ctx->arena, size_t, (size_t)parts + 1);
    return ret->part_ends != NULL ? TD_OK : tk_nomem(ctx, err);
}

td_code tk_put_part(tk_ctx *ctx, tk_encoding *out, const tk_encoding *from, uint32_t i,
                    td_error *err)
{
    size_t start = tk_part_start(from, i), n = tk_part_end(from, i) - start, at = out->count;
    TD_TRY(tk_encoding_reserve(ctx, out, n, err));
    if (n == 0)
        return TD_OK;
    memcpy(out->ids + at, from->ids + start, n * sizeof *from->ids);
    if (ctx->track) {
        memcpy(out->starts + at, from->starts + start, n * sizeof *from->starts);
        memcpy(out->ends + at, from->ends + start, n * sizeof *from->ends);
        memcpy(out->values + at, from->values + start, n * sizeof *from->values);
    }
    out->count += n;
    return TD_OK;
}

td_code tk_put_special(tk_ctx *ctx, tk_encoding *out, td_id id, td_str text, td_error *err)
{
    TD_TRY(tk_encoding_reserve(ctx, out, 1, err));
    out->ids[out->count] = id;
    if (ctx->track) {
        out->starts[out->count] = out->ends[out->count] = 0;
        out->values[out->count] = text;
    }
    out->count++;
    return TD_OK;
}

void tk_end_part(tk_encoding *out)
{
    out->part_ends[out->part_count++] = out->count;
}

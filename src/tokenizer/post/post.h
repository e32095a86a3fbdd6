/* post.h - what several post-processors share. */
#ifndef TD_SRC_TOKENIZER_POST_POST_H
#define TD_SRC_TOKENIZER_POST_POST_H

#include "tokenizer/pipeline.h"

/* Takes the white space at both ends of each token's text out of its offsets, as process_offsets()
 * of the reference does (it counts characters). Nothing unless ctx->track. */
void tk_trim_offsets(const tk_ctx *ctx, tk_encoding *enc, bool add_prefix_space);

/* ---- parts (parts.c) ---- */

static inline uint32_t tk_part_count(const tk_encoding *enc)
{
    return enc->part_ends != NULL ? enc->part_count : 1;
}

static inline size_t tk_part_start(const tk_encoding *enc, uint32_t i)
{
    return i == 0 ? 0 : enc->part_ends[i - 1];
}

static inline size_t tk_part_end(const tk_encoding *enc, uint32_t i)
{
    return enc->part_ends != NULL ? enc->part_ends[i] : enc->count;
}

/* An empty encoding with room for so many parts. */
td_code tk_parts_begin(tk_ctx *ctx, uint32_t parts, tk_encoding *ret, td_error *err);
/* Appends part i of from. */
td_code tk_put_part(tk_ctx *ctx, tk_encoding *out, const tk_encoding *from, uint32_t i,
                    td_error *err);
/* Appends a special token. */
td_code tk_put_special(tk_ctx *ctx, tk_encoding *out, td_id id, td_str text, td_error *err);
/* What was appended since the last part is a part. */
void tk_end_part(tk_encoding *out);

#endif

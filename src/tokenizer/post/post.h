/* post.h - what several post-processors share. */
#ifndef TD_SRC_TOKENIZER_POST_POST_H
#define TD_SRC_TOKENIZER_POST_POST_H

#include "tokenizer/pipeline.h"

/* Takes the white space at both ends of each token's text out of its offsets, as process_offsets()
 * of the reference does (it counts characters). Nothing unless ctx->track. */
void tk_trim_offsets(const tk_ctx *ctx, tk_encoding *enc, bool add_prefix_space);

#endif

/* dec.h - what several decoders share. */
#ifndef TD_SRC_TOKENIZER_DEC_DEC_H
#define TD_SRC_TOKENIZER_DEC_DEC_H

#include "tokenizer/pipeline.h"

/* Appends bytes as text: each maximal part of an ill-formed sequence becomes one U+FFFD. */
td_code tk_put_lossy(td_buf *out, td_str bytes);

/* A copy in the call's arena; ptr NULL after raising. */
td_str tk_dec_keep(tk_ctx *ctx, td_str s, td_error *err);
/* All texts in one. */
td_code tk_dec_join(tk_ctx *ctx, const tk_strs *strs, td_str separator, td_str *ret, td_error *err);

#endif

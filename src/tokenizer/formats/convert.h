/* convert.h - vocabulary files as the tokenizer.json that transformers makes of them for a model
 * directory without one (MistralConverter, TikTokenConverter). */
#ifndef TD_SRC_TOKENIZER_FORMATS_CONVERT_H
#define TD_SRC_TOKENIZER_FORMATS_CONVERT_H

#include "base/arena.h"
#include "base/buf.h"
#include "tokdrain/base.h"

/* Append a tokenizer.json. a is for scratch. */
td_code tk_convert_tekken(td_arena *a, td_str bytes, td_buf *out, td_error *err);
/* specials: added tokens behind the ranks. */
td_code tk_convert_tiktoken(td_arena *a, td_str bytes, const td_str *specials, size_t count,
                            td_buf *out, td_error *err);

/* How many ranks a tiktoken file has. */
td_code tk_count_ranks(td_arena *a, td_str bytes, uint32_t *ret, td_error *err);

#endif

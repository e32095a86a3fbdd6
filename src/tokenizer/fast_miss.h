/* fast_miss.h - the ids of a word that the table of short words does not have. */
#ifndef TD_SRC_TOKENIZER_FAST_MISS_H
#define TD_SRC_TOKENIZER_FAST_MISS_H

#include "tokenizer/fast.h"

/* Appends the ids of a word or a part of one. key and hash: as key.h makes them. text_end: how far
 * may be read behind the word. */
td_code tk_word_put(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2],
                    uint32_t hash, const char *text_end, tk_sink *sink, td_error *err);

#endif

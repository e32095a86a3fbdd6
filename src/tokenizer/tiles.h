/* tiles.h - offsets without alignments, where the tokens of a text lie side by side.
 *
 * A byte-level token is as long as its text has characters, and an added token that swallows no
 * white space is as long as its content. A token of a model of characters is as long as its text,
 * where each mark is one space, or is a mark in the text, too. So where the normalizer changes
 * nothing else the ids tell where every token stands, and no alignment of each byte has to be
 * kept. */
#ifndef TD_SRC_TOKENIZER_TILES_H
#define TD_SRC_TOKENIZER_TILES_H

#include "tokenizer/pipeline.h"

/* Whether the ids of a tokenizer tell the lengths of its tokens. */
bool tk_tiles_of(const td_tokenizer *tok);

/* Sets starts, ends and values of an encoding that has ids only. *ret: whether the tokens cover
 * text exactly; else nothing is set. */
td_code tk_tiles_set(const td_tokenizer *tok, tk_ctx *ctx, td_str text, tk_encoding *e, bool *ret,
                     td_error *err);

#endif

/* spaces.h - models of characters that write a mark for each space (SentencePiece's U+2581).
 *
 * When nothing else changes a text, no copy with marks is made of it: words are cut from the text
 * as it stands, with a space taken for the mark, and only a word that the cache does not know is
 * spelled with marks. Texts that get a mark in front get a space there instead. */
#ifndef TD_SRC_TOKENIZER_SPACES_H
#define TD_SRC_TOKENIZER_SPACES_H

#include "tokenizer/pipeline.h"

typedef struct tk_spaces {
    td_str mark;                     /* one character; len 0: a space is a space */
    const struct tk_metaspace *how;  /* Metaspace puts the marks; NULL: the normalizer does */
    bool prepends;                   /* the normalizer puts one in front of each text */
} tk_spaces;

/* What norm and how (NULL: no Metaspace) do together, when it is no more than that; else false. */
bool tk_spaces_of(const tk_norm *norm, const struct tk_metaspace *how, tk_spaces *ret);

/* Whether text, which lies between added tokens and is not empty, gets a mark in front. */
bool tk_spaces_head(const tk_spaces *s, const tk_ctx *ctx, td_str text);

#endif

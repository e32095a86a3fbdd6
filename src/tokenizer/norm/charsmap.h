/* charsmap.h - SentencePiece's character map: byte sequences and what replaces them. */
#ifndef TD_SRC_TOKENIZER_NORM_CHARSMAP_H
#define TD_SRC_TOKENIZER_NORM_CHARSMAP_H

#include "tokenizer/load/load.h"

typedef struct tk_charsmap {
    const uint32_t *units; /* of a double array; see charsmap.c */
    uint32_t unit_count;
    td_str texts;   /* replacements, each ended by a zero byte */
    bool front[256]; /* whether any sequence starts with that byte */
} tk_charsmap;

/* base64 text of the map, the field key of at. */
td_code tk_charsmap_load(const tk_at *at, const char *key, tk_charsmap *ret);

/* The map of bytes, which live as long as the tokenizer; at is where they come from. */
td_code tk_charsmap_make(const tk_at *at, td_str bytes, tk_charsmap *ret);

/* What replaces the shortest sequence that s starts with. *ret_found: there is one. */
td_code tk_charsmap_find(const tk_charsmap *m, td_str s, bool *ret_found, td_str *ret,
                         td_error *err);
/* The same for the longest one, with its length; 0: there is none. */
td_code tk_charsmap_longest(const tk_charsmap *m, td_str s, size_t *ret_len, td_str *ret,
                            td_error *err);

#endif

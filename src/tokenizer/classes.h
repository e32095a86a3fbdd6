/* classes.h - character tests of the reference outside its regexes. */
#ifndef TD_SRC_TOKENIZER_CLASSES_H
#define TD_SRC_TOKENIZER_CLASSES_H

#include "unicode/unicode.h"

/* Unicode White_Space: is_whitespace() and \s. */
static inline bool tk_is_space(uint32_t c)
{
    return (td_re_bits(c) & TD_RE_S) != 0;
}

/* \w as added tokens with single_word see it: Alphabetic, M, Nd, Pc and the joiners. */
bool tk_is_word(uint32_t c);

#endif

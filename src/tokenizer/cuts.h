/* cuts.h - between which characters no symbol of a BPE model can ever lie across.
 *
 * Symbols longer than a byte (or, in models of characters, than a character) are products of
 * merges. If no product, wherever it is placed, can hold both the last byte of one character and
 * the first byte of the next, then nothing merges across that place, and both sides are encoded on
 * their own: encode(ab) = encode(a) encode(b). Products of bytes may begin or end inside a
 * character; each boundary inside a product is therefore kept with exactly the bytes that the
 * product has on both sides of it. A bit filter holds them: what it has not is certain, what it
 * has costs a cut and no more.
 */
#ifndef TD_SRC_TOKENIZER_CUTS_H
#define TD_SRC_TOKENIZER_CUTS_H

#include "tokenizer/model/bpe.h"

enum { TK_CUT_BITS = 20 };

typedef struct tk_cuts {
    uint64_t whole[(1 << TK_CUT_BITS) / 64];   /* boundaries between two whole characters */
    uint64_t partial[(1 << TK_CUT_BITS) / 64]; /* others */
    uint64_t bytes[256][4]; /* last byte, first byte: is there a partial one? */
    uint64_t ascii[128][2]; /* of models of characters: pairs of ASCII ones */
    bool chars;
} tk_cuts;

/* chars: symbols start as characters, not as bytes behind byte characters. Models of bytes are
 * never cut between two ASCII characters. NULL: out of memory. */
tk_cuts *tk_cuts_new(const tk_bpe *bpe, bool chars);

/* Whether text may be cut between the characters [x, y) and [y, z). */
bool tk_can_cut(const tk_cuts *c, const char *x, const char *y, const char *z);

#endif

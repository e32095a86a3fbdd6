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
    /* Last byte, first byte: which partial ones there are, a bit of tk_cut_kind each. */
    uint16_t parts[256][256];
    /* Of models of characters: pairs of ASCII ones. A mark that is none has the space's place. */
    uint64_t ascii[128][2];
    bool chars;
} tk_cuts;

/* chars: symbols start as characters, not as bytes behind byte characters. Models of bytes are
 * never cut between two ASCII characters. mark: see tk_spaces. NULL: out of memory. */
tk_cuts *tk_cuts_new(const tk_bpe *bpe, bool chars, td_str mark);

/* Whether two ASCII characters meet in no product, nor such a mark where one is the space. */
static inline bool tk_can_cut_ascii(const tk_cuts *c, unsigned left, unsigned right)
{
    return (c->ascii[left][right >> 6] >> (right & 63) & 1) == 0;
}

/* Up to four bytes, in the order of reading, and their number above them. */
static inline uint64_t tk_cut_pack(const char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)p[i];
    return (uint64_t)v | (uint64_t)n << 32;
}

/* The character at *p, packed; moves *p behind it. */
static inline uint64_t tk_cut_next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    uint32_t v = s[0];
    if (v < 0x80) {
        *p += 1;
        return v | (uint64_t)1 << 32;
    }
    v = v << 8 | s[1];
    if (s[0] < 0xE0) {
        *p += 2;
        return v | (uint64_t)2 << 32;
    }
    v = v << 8 | s[2];
    if (s[0] < 0xF0) {
        *p += 3;
        return v | (uint64_t)3 << 32;
    }
    *p += 4;
    return (v << 8 | s[3]) | (uint64_t)4 << 32;
}

static inline uint32_t tk_cut_place(uint64_t left, uint64_t right)
{
    uint64_t h = left * 0x9E3779B97F4A7C15u + right * 0xD6E8FEB86659FD93u;
    return (uint32_t)(h >> (64 - TK_CUT_BITS));
}

/* The bit for a boundary with left_len bytes of the one character and right_len of the other. */
static inline unsigned tk_cut_kind(size_t left_len, size_t right_len)
{
    return (unsigned)(4 * (left_len - 1) + right_len - 1);
}

/* Whether some product has parts of two packed characters that meet on its sides. kinds: those that
 * there may be. */
bool tk_cut_has_partial(const tk_cuts *c, uint64_t left, uint64_t right, uint32_t kinds);

/* Whether text may be cut at p between two packed characters. */
static inline bool tk_can_cut_at(const tk_cuts *c, uint64_t left, uint64_t right, const char *p)
{
    unsigned last = left & 0xFF, first = (unsigned char)*p;
    if ((last | first) < 0x80)
        return c->chars && tk_can_cut_ascii(c, last, first);
    uint32_t at = tk_cut_place(left, right);
    if ((c->whole[at >> 6] >> (at & 63) & 1) != 0)
        return false;
    uint32_t kinds = c->parts[last][first];
    return kinds == 0 || !tk_cut_has_partial(c, left, right, kinds);
}

/* Whether text may be cut between the characters [x, y) and [y, z). */
static inline bool tk_can_cut(const tk_cuts *c, const char *x, const char *y, const char *z)
{
    return tk_can_cut_at(c, tk_cut_pack(x, (size_t)(y - x)), tk_cut_pack(y, (size_t)(z - y)), y);
}

/* Ends of the parts into which the characters of text from from to end can be cut: at most max,
 * the last of them end if that is no more. Returns how many. from < end, max >= 1. */
uint32_t tk_cut_places(const tk_cuts *c, const char *text, uint32_t from, uint32_t end,
                       uint32_t *ends, uint32_t max);

#endif

/* blocks.h - word boundaries, 64 bytes at a time, as arithmetic on bit masks.
 *
 * A block starts at a word's start, so nothing before it matters. Bit i of a mask belongs to byte
 * i. The functions here turn the classes of the bytes into the places where words start, and say
 * how many of these are certain: bytes behind the block, or characters in it that are not known,
 * may change what stands right before them. Whoever calls goes on at a certain place, and takes a
 * word that no block decides from the scalar scanner. */
#ifndef TD_SRC_TOKENIZER_SCANNER_BLOCKS_H
#define TD_SRC_TOKENIZER_SCANNER_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Into functions for some CPU, so that they are built for it, too. */
#define TK_INLINE static inline __attribute__((always_inline))

typedef struct tk_block {
    uint64_t letter, upper, digit, space, newline, blank; /* blank: U+0020 */
    uint64_t apostrophe, slash, underscore;
    uint64_t control; /* ASCII of no class: all below U+0020 but white space, and U+007F */
    /* Characters of three bytes, all bytes of each: letters without case of China and Japan, and of
     * Korea; the second and third bytes of these, and of punctuation and symbols. */
    uint64_t han, hangul, tails;
    uint64_t e2;     /* bytes that are 0xE2 */
    uint64_t high;   /* bytes of all other characters that are not ASCII */
    uint64_t beyond; /* bytes behind the end of the text, which are zeros; no control */
} tk_block;

/* Bytes of a block that have to be known behind the last place that is used, unless the text ends
 * before. */
enum { TK_BLOCK_MARGIN = 4 };

static inline uint64_t tk_below(unsigned n) /* bits 0..n-1 */
{
    return n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

/* Starts of digit groups: every digit, or every third of a run. */
TK_INLINE uint64_t tk_digit_starts(uint64_t n, bool triples)
{
    if (!triples)
        return n;
    uint64_t starts = 0, at = n & ~(n << 1), run = n & n << 1 & n << 2;
    while (at != 0) {
        starts |= at;
        at = (at << 3) & run;
    }
    return starts;
}

/* What white space decides. glued: newlines that belong to the word before. ends: where the text
 * ends for white space beside its end, so that a run before it is one word. */
TK_INLINE uint64_t tk_space_starts(const tk_block *b, uint64_t glued, uint64_t ends)
{
    uint64_t white = b->space & ~glued, newline = b->newline & white;
    uint64_t plain = white & ~newline;
    uint64_t starts = white & ~(white << 1);
    /* behind the last newline of a run: stretches between two newlines are no starts */
    uint64_t behind = plain & newline << 1;
    if (((plain + behind) & ~plain & newline) != 0) {
        for (uint64_t rest = behind; rest != 0; rest &= rest - 1) {
            uint64_t one = rest & (~rest + 1);
            if (((plain + one) & ~plain & newline) != 0 && (((plain + one) ^ plain) & newline) != 0)
                behind &= ~one;
        }
    }
    starts |= behind;
    /* the last one of a run stands for itself or leads the next word */
    return starts | (plain & ~((b->space | ends | b->beyond) >> 1));
}

/* The end of a contraction at bit i (an apostrophe), 0 when there is none. text is the block. */
static inline unsigned tk_block_contraction(const char *text, unsigned i)
{
    char c = text[i + 1] | 0x20, d = text[i + 2] | 0x20;
    if (c == 's' || c == 't' || c == 'm' || c == 'd')
        return i + 2;
    return ((c == 'r' || c == 'v') && d == 'e') || (c == 'l' && d == 'l') ? i + 3 : 0;
}

/* Places up to where starts are certain, given that bytes from known on are not. */
static inline uint64_t tk_certain(const tk_block *b, unsigned known)
{
    if (known <= TK_BLOCK_MARGIN)
        return 0;
    uint64_t keep = tk_below(known - TK_BLOCK_MARGIN + 1);
    /* White space that reaches the end of what is known may go on: only its start is certain. */
    if ((b->space >> (known - 1) & 1) != 0) {
        uint64_t others = ~b->space & tk_below(known);
        keep &= others == 0 ? 0 : tk_below(65 - (unsigned)__builtin_clzll(others));
    }
    return keep;
}

/* Blanks behind other than white space start words in every family, whatever follows; so all starts
 * up to the last of them are certain. Where it is follows from the classes alone: the next block
 * need not wait for the arithmetic on this one. Not bit 0, and bits that no contraction reaches
 * which goes beyond the block. */
static inline uint64_t tk_leads(const tk_block *b)
{
    return b->blank & ~(b->space << 1) & tk_below(64 - TK_BLOCK_MARGIN + 1) & ~(uint64_t)1;
}

/* The places behind characters that begin at the bits of first. */
static inline uint64_t tk_behind(const tk_block *b, uint64_t first)
{
    return ((first << 1) + b->tails) & ~b->tails; /* the bit is carried over the tail */
}

/* The functions for the families return starts as if the block had nothing behind it but what
 * changes no start, and set *ret_known to where that is no longer so: at most 64. text has 64
 * readable bytes. */

/* cl100k, Llama 3 (triples) and Qwen 2. */
TK_INLINE uint64_t tk_cl100k_starts(const tk_block *b, const char *text, bool triples,
                                    unsigned *ret_known)
{
    uint64_t letter = b->letter | b->han | b->hangul;
    uint64_t other = ~(letter | b->digit | b->space | b->high);
    uint64_t other_start = other & ~(other << 1);
    uint64_t lone = other_start & ~(b->blank << 1); /* if no other follows */
    uint64_t led = (b->space & ~b->newline) << 1 | (tk_behind(b, lone) & ~other);
    uint64_t after = (other << 1) & b->newline;
    uint64_t glued = b->newline & ~(b->newline + after);
    uint64_t starts = (letter & ~(letter << 1) & ~led) | (other_start & ~(b->blank << 1)) |
                      tk_space_starts(b, glued, 0) | tk_digit_starts(b->digit, triples);
    *ret_known = b->high != 0 ? (unsigned)__builtin_ctzll(b->high) : 64;
    for (uint64_t rest = lone & b->apostrophe & b->letter >> 1; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        if (i + 3 >= 64)
            break;
        unsigned end = tk_block_contraction(text, i);
        if (end != 0)
            starts |= letter & (uint64_t)1 << end;
    }
    return starts;
}

/* o200k, and tekken, which has no contractions and single digits (mistral). */
TK_INLINE uint64_t tk_o200k_starts(const tk_block *b, const char *text, bool mistral,
                                   unsigned *ret_known)
{
    uint64_t caseless = b->han | b->hangul, letter = b->letter | caseless;
    uint64_t other = ~(letter | b->digit | b->space | b->high);
    uint64_t other_start = other & ~(other << 1);
    uint64_t lone = other_start & ~(b->blank << 1); /* if no other follows */
    uint64_t led = (b->space & ~b->newline) << 1 | (tk_behind(b, lone) & ~other);
    uint64_t after = (other << 1) & b->newline;
    uint64_t glued = b->newline & ~(b->newline + after);
    uint64_t humps = b->upper & (b->letter & ~b->upper) << 1;
    uint64_t starts = (letter & ~(letter << 1) & ~led) | humps | (other_start & ~(b->blank << 1)) |
                      tk_space_starts(b, glued, 0) | tk_digit_starts(b->digit, !mistral);
    /* A tail of line ends goes on with a slash; whether a word goes on with a capital behind
     * letters without case depends on what follows. */
    uint64_t unsure = b->high | (glued << 1 & b->slash) | (caseless << 1 & b->upper);
    *ret_known = unsure != 0 ? (unsigned)__builtin_ctzll(unsure) : 64;
    unsigned last = 0;
    uint64_t suffixes = mistral ? 0 : letter << 1 & b->apostrophe & b->letter >> 1;
    for (uint64_t rest = suffixes; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        if (i + 3 >= 64)
            break;
        unsigned end = tk_block_contraction(text, i);
        if (end == 0 || i == last) /* a word has one contraction at most */
            continue;
        starts &= ~(tk_below(end) & ~tk_below(i));
        starts |= letter & (uint64_t)1 << end;
        last = end;
    }
    return starts;
}

/* GPT-2: only a blank leads, contractions are in small letters and words of their own, digits are
 * not counted, and line ends are white space like any other. */
TK_INLINE uint64_t tk_gpt2_starts(const tk_block *b, const char *text, unsigned *ret_known)
{
    uint64_t letter = b->letter | b->han | b->hangul, led = b->blank << 1;
    uint64_t other = ~(letter | b->digit | b->space | b->high);
    uint64_t other_start = other & ~(other << 1) & ~led;
    uint64_t starts = (letter & ~(letter << 1) & ~led) | (b->digit & ~(b->digit << 1) & ~led) |
                      other_start | (b->space & ~(b->space << 1)) |
                      (b->space & ~((b->space | b->beyond) >> 1));
    *ret_known = b->high != 0 ? (unsigned)__builtin_ctzll(b->high) : 64;
    uint64_t small = b->letter & ~b->upper;
    for (uint64_t rest = other_start & b->apostrophe & small >> 1; rest != 0; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctzll(rest);
        if (i + 3 >= 64)
            break;
        unsigned end = tk_block_contraction(text, i);
        if (end == 0 || (end == i + 3 && (b->upper >> (i + 2) & 1) != 0))
            continue;
        starts &= ~((uint64_t)1 << (i + 1));
        starts |= letter & (uint64_t)1 << end;
    }
    return starts;
}

/* DeepSeek V3: digits and Chinese and Japanese are cut out first, so white space before them stands
 * at the end of a text; an apostrophe is punctuation like any other, and only ASCII leads letters,
 * only ASCII ones. */
TK_INLINE uint64_t tk_deepseek3_starts(const tk_block *b, unsigned *ret_known)
{
    uint64_t unsure = b->high | b->control | (b->letter << 1 & b->hangul);
    uint64_t letter = b->letter | b->hangul;
    uint64_t other = ~(letter | b->han | b->digit | b->space | b->high | b->control);
    uint64_t other_start = other & ~(other << 1);
    uint64_t lone = other_start & ~(other >> 1) & ~(b->blank << 1);
    uint64_t led = (b->space & ~b->newline) << 1 | (lone << 1 & b->letter);
    uint64_t after = (other << 1) & b->newline;
    uint64_t glued = b->newline & ~(b->newline + after);
    uint64_t starts = (letter & ~(letter << 1) & ~led) | (b->han & ~(b->han << 1)) |
                      (other_start & ~(b->blank << 1)) |
                      tk_space_starts(b, glued, b->digit | b->han) |
                      tk_digit_starts(b->digit, true);
    *ret_known = unsure != 0 ? (unsigned)__builtin_ctzll(unsure) : 64;
    return starts;
}

/* What kinds.c splits by: punctuation by itself, runs of word characters and of others, or white
 * space alone. White space leads a word if it is the last one of a run. */
typedef enum tk_kinds { TK_KINDS_BERT, TK_KINDS_WHITESPACE, TK_KINDS_SPLIT } tk_kinds;

TK_INLINE uint64_t tk_kinds_starts(const tk_block *b, tk_kinds kinds, unsigned *ret_known)
{
    uint64_t white = b->space, led = white << 1, run = b->letter | b->han | b->hangul | b->digit;
    uint64_t unsure = b->high | (b->tails & ~(b->han | b->hangul)) >> 1;
    uint64_t starts = (white & ~led) | (white & ~((white | b->beyond) >> 1));
    *ret_known = unsure != 0 ? (unsigned)__builtin_ctzll(unsure) : 64;
    if (kinds == TK_KINDS_SPLIT)
        return starts;
    run |= kinds == TK_KINDS_BERT ? b->control : b->underscore;
    uint64_t other = ~(run | white);
    if (kinds == TK_KINDS_WHITESPACE)
        other &= ~(other << 1);
    return starts | (((run & ~(run << 1)) | other) & ~led);
}

/* Metaspace: words start at blanks and marks. */
TK_INLINE uint64_t tk_metaspace_starts(const tk_block *b, unsigned *ret_known)
{
    *ret_known = b->e2 != 0 ? (unsigned)__builtin_ctzll(b->e2) : 64; /* it may be a mark */
    return b->blank;
}

#endif

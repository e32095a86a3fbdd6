/* wide.h - which characters of three bytes the block scanners know (blocks.c).
 *
 * Tables for the last six bits of each byte: what is set in all three is what the character is.
 * Letters: bits 0 to 2 Chinese, 3 to 5 Japanese; others: 0 to 2 Korean letters, 3 to 6 punctuation
 * and symbols. Only characters whose class no version of Unicode will change. */
#ifndef TD_SRC_TOKENIZER_SCANNER_WIDE_H
#define TD_SRC_TOKENIZER_SCANNER_WIDE_H

#include <stdint.h>

enum {
    TK_WIDE_LETTERS = 0, /* the first of three tables */
    TK_WIDE_OTHERS = 3,
    TK_WIDE_HANGUL = 0x07, /* bits of others */
    TK_WIDE_MARKS = 0x78,
};

static const _Alignas(64) uint8_t tk_wide_tables[6][64] = {
    { /* letters, first byte */
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 56, 2, 1, 1, 1, 1, 4, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    },
    { /* second */
      5, 13, 21, 37, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
      5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
      5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
      5, 5, 5, 5, 5, 5, 5, 5, 7, 7, 7, 7, 7, 7, 3, 3,
    },
    { /* third */
      55, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
      63, 63, 63, 63, 63, 63, 63, 47, 47, 47, 47, 47, 47, 47, 47, 47,
      47, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
      63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 31, 31, 31, 31, 31,
    },
    { /* others, first byte */
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 64, 8, 0, 0, 0, 0, 0, 0, 2, 1, 1, 4, 0, 48,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    },
    { /* second */
      77, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
      5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 19, 35, 3, 3,
    },
    { /* third */
      39, 31, 31, 31, 23, 23, 23, 23, 31, 31, 31, 31, 31, 31, 31, 31,
      79, 79, 79, 79, 79, 79, 79, 79, 79, 79, 95, 127, 127, 127, 127, 127,
      119, 103, 103, 103, 103, 103, 71, 71, 7, 7, 7, 7, 7, 7, 7, 7,
      7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 23, 23, 23, 23, 23,
    },
};

#endif

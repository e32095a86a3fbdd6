/* byte_chars.h - the printable character that byte-level models write for each byte. */
#ifndef TD_SRC_TOKENIZER_BYTE_CHARS_H
#define TD_SRC_TOKENIZER_BYTE_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tokdrain/base.h"

/* The bytes ! to ~, U+00A1 to U+00AC and U+00AE to U+00FF stand for themselves; the other 68 are
 * U+0100 and up, in order. */
static inline uint32_t tk_byte_to_char(uint8_t b)
{
    if (b <= ' ')
        return 0x100u + b;
    if (b <= '~')
        return b;
    if (b <= 0xA0)
        return 0x121u + (b - 0x7Fu);
    return b == 0xAD ? 0x143u : b;
}

/* -1: the character stands for no byte. */
static inline int tk_char_to_byte(uint32_t c)
{
    if (c < 0x100)
        return (c > ' ' && c <= '~') || (c > 0xA0 && c != 0xAD) ? (int)c : -1;
    if (c <= 0x120)
        return (int)(c - 0x100);
    if (c <= 0x142)
        return (int)(c - 0x121 + 0x7F);
    return c == 0x143 ? 0xAD : -1;
}

typedef int16_t tk_eight __attribute__((vector_size(16)));
typedef uint8_t tk_eight_bytes __attribute__((vector_size(8)));

/* The bytes of n <= 8 characters at p that have two bytes of UTF-8 each, in the lowest n bytes of
 * *ret; false: some have not, or stand for no byte. 16 bytes can be read at p. */
static inline bool tk_wide_chars_to_bytes(const char *p, size_t n, uint64_t *ret)
{
    static const int16_t numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    tk_eight x, number; /* lead and continuation, in the order of reading */
    memcpy(&x, p, sizeof x);
    memcpy(&number, numbers, sizeof number);
    tk_eight there = number < (int16_t)n;
    tk_eight c = (x & 7) << 6 | (x >> 8 & 0x3F);
    tk_eight good = ((x & (int16_t)0xC0F8) == (int16_t)0x80C0) & (c > 0xA0) & (c != 0xAD) &
                    (c < 0x144);
    tk_eight bad = ~good & there;
    uint64_t half[2];
    memcpy(half, &bad, sizeof half);
    if ((half[0] | half[1]) != 0)
        return false;
    tk_eight byte = c - ((c > 0xFF) & 0x100) + ((c > 0x120) & 0x5E) + ((c == 0x143) & 0xC);
    tk_eight_bytes bytes = __builtin_convertvector(byte & there, tk_eight_bytes);
    memcpy(ret, &bytes, sizeof bytes);
    return true;
}

/* The bytes that a text of such characters stands for, at most room of them; 0: it has others, or
 * more. 16 bytes can be read from wherever it has some left. */
size_t tk_chars_to_bytes(td_str text, char *out, size_t room);

#endif

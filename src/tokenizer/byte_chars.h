/* byte_chars.h - the printable character that byte-level models write for each byte. */
#ifndef TD_SRC_TOKENIZER_BYTE_CHARS_H
#define TD_SRC_TOKENIZER_BYTE_CHARS_H

#include <stdbool.h>
#include <stdint.h>

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

#endif

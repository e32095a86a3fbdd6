/* utf8.h - UTF-8, one code point at a time, plus whole-string checks.
 *
 * Strings inside the engines are "Python text": UTF-8 that may hold lone surrogates, each as three
 * bytes (ED A0..BF xx). Functions here read such text unless their name says strict. */
#ifndef TD_SRC_BASE_UTF8_H
#define TD_SRC_BASE_UTF8_H

#include "tokdrain/base.h"

static inline bool td_utf8_is_cont(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Reads the code point at p (p < end, text known to be valid) and moves p behind it. */
static inline uint32_t td_utf8_next(const char **p, const char *end)
{
    const unsigned char *s = (const unsigned char *)*p;
    (void)end;
    if (s[0] < 0x80) {
        *p += 1;
        return s[0];
    }
    if (s[0] < 0xE0) {
        *p += 2;
        return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F);
    }
    if (s[0] < 0xF0) {
        *p += 3;
        return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    }
    *p += 4;
    return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 |
           (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
}

/* Reads the code point that ends just before p (start < p) and moves p to its first byte. */
static inline uint32_t td_utf8_prev(const char *start, const char **p)
{
    const char *q = *p - 1;
    while (q > start && td_utf8_is_cont(*q))
        q--;
    const char *read = q;
    uint32_t c = td_utf8_next(&read, *p);
    *p = q;
    return c;
}

/* Writes c (surrogates too) at out, which has room for 4 bytes; returns the length. */
static inline size_t td_utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Code points in valid text. */
size_t td_utf8_count(td_str s);
bool td_utf8_is_ascii(td_str s);
/* Bytes of ASCII at the start of s. */
size_t td_utf8_ascii_run(td_str s);
/* Offset of the first byte that is not part of valid UTF-8 (surrogates and overlong forms are
 * invalid too); s.len when all is valid. */
size_t td_utf8_check_strict(td_str s);
/* The same, accepting surrogates. */
size_t td_utf8_check(td_str s);

#endif

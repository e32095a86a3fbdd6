/* chars.h - reading one character and its classes, for the scanners. */
#ifndef TD_SRC_TOKENIZER_SCANNER_CHARS_H
#define TD_SRC_TOKENIZER_SCANNER_CHARS_H

#include "base/utf8.h"
#include "unicode/generated/regex.h"

/* td_re_bits of ASCII. */
static const uint8_t tk_ascii_bits[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    4, 64, 64, 64, 128, 64, 64, 64, 64, 64, 64, 128, 64, 64, 64, 64,
    2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 64, 64, 128, 128, 128, 64,
    64, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17,
    17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 64, 64, 64, 128, 64,
    128, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33,
    33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 33, 64, 128, 64, 128, 0,
};

/* The classes (TD_RE_) of the character at p, and the place behind it. */
static inline uint8_t tk_bits(const char *p, const char *end, const char **ret_next)
{
    uint8_t b = (uint8_t)*p;
    if (b < 0x80) {
        *ret_next = p + 1;
        return tk_ascii_bits[b];
    }
    const char *q = p;
    uint32_t c = td_utf8_next(&q, end);
    *ret_next = q;
    return re_bits(c);
}

/* p moved over all characters that have one of the classes. */
static inline const char *tk_skip(const char *p, const char *end, uint8_t classes)
{
    while (p < end) {
        const char *next;
        if ((tk_bits(p, end, &next) & classes) == 0)
            break;
        p = next;
    }
    return p;
}

/* p moved over all characters that have none of the classes. */
static inline const char *tk_skip_not(const char *p, const char *end, uint8_t classes)
{
    while (p < end) {
        const char *next;
        if ((tk_bits(p, end, &next) & classes) != 0)
            break;
        p = next;
    }
    return p;
}

static inline bool tk_is_newline(char c)
{
    return c == '\n' || c == '\r';
}

/* The end of (?i:'s|'t|'re|'ve|'m|'ll|'d) at p, or p when it is not there. U+017F folds to s. */
static inline const char *tk_contraction(const char *p, const char *end)
{
    if (end - p < 2 || *p != '\'')
        return p;
    char c = p[1] | 0x20, d = end - p > 2 ? p[2] | 0x20 : '\0';
    switch (c) {
    case 's':
    case 't':
    case 'm':
    case 'd':
        return (unsigned char)p[1] < 0x80 ? p + 2 : p;
    case 'r':
    case 'v':
        return d == 'e' ? p + 3 : p;
    case 'l':
        return d == 'l' ? p + 3 : p;
    default:
        return end - p > 2 && p[1] == '\xC5' && p[2] == '\xBF' ? p + 3 : p;
    }
}

/* The end of what \s*[\r\n]+|\s+(?!\S)|\s+ matches at p, where white space stands. */
static inline const char *tk_white(const char *p, const char *end)
{
    const char *run = p, *last = p, *newline = NULL;
    while (run < end) {
        const char *next;
        if ((tk_bits(run, end, &next) & TD_RE_S) == 0)
            break;
        if (tk_is_newline(*run))
            newline = next;
        last = run;
        run = next;
    }
    if (newline != NULL)
        return newline;
    return run == end || last == p ? run : last;
}

#endif

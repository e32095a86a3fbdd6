/* skip.c - brackets outside of strings, counted 64 bytes at a time.
 *
 * Quotes that no backslash escapes switch between outside and inside; the running parity of their
 * bits is the mask of the bytes inside strings. Brackets there do not count. A block that cannot
 * close the outermost bracket only changes the depth by the difference of two bit counts. */
#include "tokenizer/load/skip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct masks {
    uint64_t quote, backslash, open, close;
} masks;

#if defined(__SSE2__)
#include <emmintrin.h>

static inline uint64_t equal16(__m128i v, char c)
{
    return (uint16_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

static inline masks classify(const char *p)
{
    masks m = { 0 };
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i folded = _mm_or_si128(v, _mm_set1_epi8(0x20)); /* [ and {, ] and } */
        m.quote |= equal16(v, '"') << (16 * i);
        m.backslash |= equal16(v, '\\') << (16 * i);
        m.open |= equal16(folded, '{') << (16 * i);
        m.close |= equal16(folded, '}') << (16 * i);
    }
    return m;
}
#else
/* Bit i of the result: byte i of the eight in w is c. */
static inline uint64_t equal8(uint64_t w, uint8_t c)
{
    uint64_t x = w ^ 0x0101010101010101u * c;
    uint64_t t = (x & 0x7F7F7F7F7F7F7F7Fu) + 0x7F7F7F7F7F7F7F7Fu;
    t = ~(t | x | 0x7F7F7F7F7F7F7F7Fu) >> 7; /* 1 in each byte that is equal */
    return t * 0x0102040810204080u >> 56;
}

static inline masks classify(const char *p)
{
    masks m = { 0 };
    for (int i = 0; i < 8; i++) {
        uint64_t w;
        memcpy(&w, p + 8 * i, 8);
        m.quote |= equal8(w, '"') << (8 * i);
        m.backslash |= equal8(w, '\\') << (8 * i);
        m.open |= (equal8(w, '{') | equal8(w, '[')) << (8 * i);
        m.close |= (equal8(w, '}') | equal8(w, ']')) << (8 * i);
    }
    return m;
}
#endif

/* Bits behind an odd number of backslashes; *carry: whether the next block's first one is. */
static uint64_t escaped_bits(uint64_t backslash, bool *carry)
{
    uint64_t escaped = *carry ? 1 : 0;
    bool next = *carry;
    if (backslash == 0) {
        *carry = false;
        return escaped;
    }
    escaped = 0;
    for (int i = 0; i < 64; i++) {
        bool here = next;
        escaped |= (uint64_t)here << i;
        next = !here && (backslash >> i & 1) != 0;
    }
    *carry = next;
    return escaped;
}

static inline uint64_t parity(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

const char *tk_skip_brackets(const char *p, const char *end)
{
    char tail[64];
    uint64_t inside = 0; /* all ones: the block begins inside a string */
    size_t depth = 0;
    bool carry = false;
    for (; p < end; p += 64) {
        const char *block = p;
        if (end - p < 64) {
            memset(tail, ' ', sizeof tail);
            memcpy(tail, p, (size_t)(end - p));
            block = tail;
        }
        masks m = classify(block);
        uint64_t string = parity(m.quote & ~escaped_bits(m.backslash, &carry)) ^ inside;
        inside = (uint64_t)((int64_t)string >> 63);
        uint64_t open = m.open & ~string, close = m.close & ~string;
        size_t closes = (size_t)__builtin_popcountll(close);
        if (closes < depth) {
            depth = depth + (size_t)__builtin_popcountll(open) - closes;
            continue;
        }
        for (uint64_t rest = open | close; rest != 0; rest &= rest - 1) {
            int i = __builtin_ctzll(rest);
            if (open >> i & 1)
                depth++;
            else if (depth <= 1)
                return p + i + 1;
            else
                depth--;
        }
    }
    return NULL;
}

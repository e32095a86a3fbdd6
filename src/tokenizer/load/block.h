/* block.h - sixteen bytes at a time, compared with one character each, for reading big files. */
#ifndef TD_SRC_TOKENIZER_LOAD_BLOCK_H
#define TD_SRC_TOKENIZER_LOAD_BLOCK_H

#include <stdint.h>
#include <string.h>

enum { TK_BLOCK = 16 };

#if defined(__SSE2__) && !defined(TD_NO_SIMD)
#include <emmintrin.h>

typedef __m128i tk_block;

static inline tk_block tk_block_load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Bit i of the result: byte i is c. */
static inline uint32_t tk_block_equal(tk_block b, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(b, _mm_set1_epi8(c)));
}

/* Bit i: byte i is the same in both. */
static inline uint32_t tk_block_same(tk_block a, tk_block b)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
}

/* Bit i: byte i is white space of JSON. */
static inline uint32_t tk_block_white(tk_block b)
{
    __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8(' ')),
                                 _mm_cmpeq_epi8(b, _mm_set1_epi8('\n')));
    __m128i rare = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('\r')),
                                _mm_cmpeq_epi8(b, _mm_set1_epi8('\t')));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(blank, rare));
}

/* Bit i: byte i ends the plain part of a JSON string: a quote, a backslash or below 32. */
static inline uint32_t tk_block_stops(tk_block b)
{
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(b, _mm_set1_epi8(31)), b);
    __m128i mark = _mm_or_si128(_mm_cmpeq_epi8(b, _mm_set1_epi8('"')),
                                _mm_cmpeq_epi8(b, _mm_set1_epi8('\\')));
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(control, mark));
}

/* Bit i: byte i is c or more; c is 128 or more. */
static inline uint32_t tk_block_from(tk_block b, uint8_t c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(b, _mm_set1_epi8((char)c)), b));
}

/* All bytes with bit 5 set: [ becomes {, and ] becomes }. */
static inline tk_block tk_block_fold(tk_block b)
{
    return _mm_or_si128(b, _mm_set1_epi8(0x20));
}

#else

typedef struct tk_block {
    uint64_t half[2];
} tk_block;

static inline tk_block tk_block_load(const char *p)
{
    tk_block b;
    memcpy(&b, p, sizeof b);
    return b;
}

/* Bit i of the result: byte i of w has its highest bit. */
static inline uint32_t tk_block_bits(uint64_t w)
{
    return (uint32_t)((w >> 7 & 0x0101010101010101u) * 0x0102040810204080u >> 56);
}

static inline uint32_t tk_block_same(tk_block a, tk_block b)
{
    uint32_t bits = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t x = a.half[i] ^ b.half[i], low = 0x7F7F7F7F7F7F7F7Fu;
        bits |= tk_block_bits(~(((x & low) + low) | x | low)) << (8 * i);
    }
    return bits;
}

static inline uint32_t tk_block_equal(tk_block b, char c)
{
    uint64_t all = 0x0101010101010101u * (uint8_t)c;
    return tk_block_same(b, (tk_block){ { all, all } });
}

static inline uint32_t tk_block_white(tk_block b)
{
    return tk_block_equal(b, ' ') | tk_block_equal(b, '\n') | tk_block_equal(b, '\r') |
           tk_block_equal(b, '\t');
}

static inline uint32_t tk_block_stops(tk_block b)
{
    uint32_t bits = tk_block_equal(b, '"') | tk_block_equal(b, '\\');
    for (int i = 0; i < 2; i++) {
        uint64_t high = b.half[i] & 0xE0E0E0E0E0E0E0E0u, low = 0x7F7F7F7F7F7F7F7Fu;
        bits |= tk_block_bits(~(((high & low) + low) | high | low)) << (8 * i);
    }
    return bits;
}

static inline uint32_t tk_block_from(tk_block b, uint8_t c)
{
    uint32_t bits = 0;
    for (int i = 0; i < 2; i++) {
        uint64_t low = b.half[i] & 0x7F7F7F7F7F7F7F7Fu;
        bits |= tk_block_bits((low + 0x0101010101010101u * (256u - c)) & b.half[i]) << (8 * i);
    }
    return bits;
}

static inline tk_block tk_block_fold(tk_block b)
{
    return (tk_block){ { b.half[0] | 0x2020202020202020u, b.half[1] | 0x2020202020202020u } };
}

#endif
#endif

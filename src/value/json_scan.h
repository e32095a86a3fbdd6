/* json_scan.h - finds the bytes of a JSON string that need a closer look, 64 at a time.
 *
 * Private to the JSON reader and writer. The SSE2 form and its plain twin (-DTD_NO_SIMD) give the
 * same masks. */
#ifndef TD_SRC_VALUE_JSON_SCAN_H
#define TD_SRC_VALUE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(TD_NO_SIMD)
#include <emmintrin.h>
#define TD_JSON_SSE2 1
#endif

enum { JSON_BLOCK = 64, JSON_OVERRUN = 32 };

/* Bit i of special: byte i is '"', '\\' or below 0x20; of high: it is not ASCII; of del: 0x7F. */
typedef struct json_mask {
    uint64_t special, high, del;
} json_mask;

static inline bool json_is_special(char c)
{
    return c == '"' || c == '\\' || (unsigned char)c < 0x20;
}

#ifdef TD_JSON_SSE2

static inline __m128i json_special16(__m128i v)
{
    __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
    return _mm_or_si128(_mm_or_si128(quote, slash), control);
}

static inline uint64_t json_bits16(__m128i v)
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(v);
}

static inline json_mask json_scan64(const char *p)
{
    json_mask m = { 0, 0, 0 };
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        m.special |= json_bits16(json_special16(v)) << 16 * i;
        m.high |= json_bits16(v) << 16 * i;
        m.del |= json_bits16(_mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F))) << 16 * i;
    }
    return m;
}

static inline void json_copy32(char *to, const char *from)
{
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
    _mm_storeu_si128((__m128i *)(void *)to, a);
    _mm_storeu_si128((__m128i *)(void *)(to + 16), b);
}

/* Copies len <= 64 bytes; up to JSON_OVERRUN more are read and written. */
static inline char *json_copy(char *to, const char *from, size_t len)
{
    json_copy32(to, from); /* pieces are mostly shorter: one branch that is rarely taken */
    if (len > 32)
        json_copy32(to + 32, from + 32);
    return to + len;
}

#else

static inline json_mask json_scan64(const char *p)
{
    json_mask m = { 0, 0, 0 };
    for (int i = 0; i < JSON_BLOCK; i++) {
        m.special |= (uint64_t)json_is_special(p[i]) << i;
        m.high |= (uint64_t)((unsigned char)p[i] >> 7) << i;
        m.del |= (uint64_t)(p[i] == 0x7F) << i;
    }
    return m;
}

static inline char *json_copy(char *to, const char *from, size_t len)
{
    memcpy(to, from, len);
    return to + len;
}

#endif

/* Length of the part of p[0..n) in front of the first special byte; *any_high: it holds bytes that
 * are not ASCII. */
static inline size_t json_plain_length(const char *p, size_t n, bool *any_high)
{
    size_t i = 0;
    unsigned high = 0;
#ifdef TD_JSON_SSE2
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        unsigned special = (unsigned)json_bits16(json_special16(v));
        if (special != 0) {
            unsigned at = (unsigned)__builtin_ctz(special);
            *any_high = (high | ((unsigned)json_bits16(v) & ((1u << at) - 1))) != 0;
            return i + at;
        }
        high |= (unsigned)json_bits16(v);
    }
#endif
    for (; i < n && !json_is_special(p[i]); i++)
        high |= (unsigned char)p[i] & 0x80u;
    *any_high = high != 0;
    return i;
}

#endif

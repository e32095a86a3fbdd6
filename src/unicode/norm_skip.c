/* norm_skip.c - characters that are in NFC whatever stands around them, by vectors (see norm.h). */
#include "base/cpu.h"
#include "base/utf8.h"
#include "unicode/norm.h"

#if TD_X86

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

/* By the last six bits of the first, second and third byte: a character is certain where a bit is
 * set in the first three or the last two. In this order: what is certain by its first byte, Greek,
 * Latin Extended Additional, General Punctuation, arrows to operators and boxes to symbols, then
 * Japanese in three parts; Korean, full-width forms, and U+1F000 to U+1FFFF. */
static const _Alignas(64) uint8_t tables[5][64] = {
    { /* first byte */
      0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 2, 1,
      1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 4, 24, 224, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    },
    { /* second */
      139, 35, 67, 35, 35, 35, 51, 49, 51, 51, 51, 51, 35, 35, 35, 35,
      35, 35, 35, 35, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 51,
      51, 51, 51, 51, 51, 51, 51, 51, 51, 51, 35, 35, 35, 35, 35, 35,
      35, 35, 35, 35, 35, 35, 35, 35, 39, 39, 39, 39, 35, 35, 35, 35,
    },
    { /* third */
      247, 247, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 191, 191, 255, 255, 255, 255, 255,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 127, 127, 127, 127, 127, 127,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    },
    { /* others, first byte */
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2,
      4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    },
    { /* second */
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4,
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3,
    },
};

AVX512 static inline __m512i lookup(int table, __m512i v)
{
    return _mm512_permutexvar_epi8(v, _mm512_load_si512(tables[table]));
}

AVX512 static const char *skip_avx512(const char *p, const char *end)
{
    const __m512i lead = _mm512_set1_epi8((char)0xC0);
    const char *start = p;
    for (; end - p >= 64 + 2; p += 64) {
        __m512i v = _mm512_loadu_si512(p);
        uint64_t leads = _mm512_cmpge_epu8_mask(v, lead);
        if (leads == 0)
            continue;
        __m512i second = _mm512_loadu_si512(p + 1), third = _mm512_loadu_si512(p + 2);
        __m512i some = _mm512_and_si512(_mm512_and_si512(lookup(0, v), lookup(1, second)),
                                        lookup(2, third));
        __m512i others = _mm512_and_si512(lookup(3, v), lookup(4, second));
        __m512i both = _mm512_or_si512(some, others);
        uint64_t unsure = leads & ~(uint64_t)_mm512_test_epi8_mask(both, both);
        if (unsure != 0)
            return p + __builtin_ctzll(unsure);
    }
    while (p > start && td_utf8_is_cont(*p))
        p--;
    return p;
}

bool norm_can_skip(void)
{
    return td_cpu_best() >= TD_CPU_AVX512;
}

const char *norm_skip_nfc(const char *p, const char *end)
{
    return skip_avx512(p, end);
}

#else

bool norm_can_skip(void)
{
    return false;
}

const char *norm_skip_nfc(const char *p, const char *end)
{
    (void)end;
    return p;
}

#endif

/* blocks.c - the classes of 64 bytes by vectors, and the scanners that use them (see blocks.h).
 *
 * One loop, built for each instruction set; the best one is chosen when a tokenizer is loaded.
 * Text that is not ASCII, long words and the end of the text are the scalar scanner's. */
#include "tokenizer/scanner/blocks.h"

#include "base/cpu.h"
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

#if TD_X86

#include <immintrin.h>

typedef enum family { CL100K, QWEN2, O200K, DEEPSEEK3 } family;

#define INLINE static inline __attribute__((always_inline))

/* Words starting at p are taken one by one while text is not ASCII. */
INLINE bool is_ascii_here(const char *p)
{
    uint32_t w;
    __builtin_memcpy(&w, p, 4);
    return (w & 0x80808080u) == 0;
}

INLINE uint64_t starts_of(family f, const tk_block *b, const char *p)
{
    switch (f) {
    case O200K:
        return tk_o200k_starts(b, p);
    case DEEPSEEK3:
        return tk_deepseek3_starts(b);
    default:
        return tk_cl100k_starts(b, p, f == CL100K);
    }
}

INLINE void put_places(uint64_t bits, uint32_t from, uint32_t *to)
{
    do { /* eight at a time: how many there are can only be guessed */
        for (int i = 0; i < 8; i++) {
            to[i] = from + (uint32_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
            bits &= bits - 1;
        }
        to += 8;
    } while (bits != 0);
}

/* One loop for each instruction set. PUT writes a place for each bit of a block, and may write up
 * to 64 whatever their number. */
#define DEFINE_SCAN(NAME, TARGET, CLASSIFY, PUT)                                                   \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME(                    \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f, tk_scan_fn scalar)     \
    {                                                                                              \
        uint32_t n = 0;                                                                            \
        while (from < text.len && n < max) {                                                       \
            uint64_t starts = 0;                                                                   \
            if (n != 0 && max - n < 64)                                                            \
                break; /* no room for a block */                                                   \
            if (text.len - from >= 64 + 8 && max - n >= 64 && is_ascii_here(text.ptr + from)) {    \
                const char *p = text.ptr + from;                                                   \
                tk_block b;                                                                        \
                CLASSIFY(p, &b);                                                                   \
                starts = starts_of(f, &b, p);                                                      \
            }                                                                                      \
            if (starts == 0) {                                                                     \
                n += scalar(text, from, ends + n, 1);                                              \
                from = ends[n - 1];                                                                \
            } else {                                                                               \
                PUT(starts, from, ends + n);                                                       \
                n += (uint32_t)__builtin_popcountll(starts);                                       \
                from += 63 - (uint32_t)__builtin_clzll(starts);                                    \
            }                                                                                      \
        }                                                                                          \
        return n;                                                                                  \
    }

/* ---- SSE2: four times 16 bytes ---- */

INLINE uint64_t mask16(__m128i v)
{
    return (uint16_t)_mm_movemask_epi8(v);
}

/* Bytes from low to high, both ASCII; bytes with the top bit are negative and never in range. */
INLINE __m128i range16(__m128i v, char low, char high)
{
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8((char)(low - 1))),
                         _mm_cmplt_epi8(v, _mm_set1_epi8((char)(high + 1))));
}

INLINE void classify_sse2(const char *p, tk_block *b)
{
    *b = (tk_block){ 0 };
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i lower = _mm_or_si128(v, _mm_set1_epi8(0x20));
        __m128i newline = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')),
                                       _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
        __m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
        int at = 16 * i;
        b->letter |= mask16(range16(lower, 'a', 'z')) << at;
        b->upper |= mask16(range16(v, 'A', 'Z')) << at;
        b->digit |= mask16(range16(v, '0', '9')) << at;
        b->space |= mask16(_mm_or_si128(range16(v, '\t', '\r'), blank)) << at;
        b->newline |= mask16(newline) << at;
        b->blank |= mask16(blank) << at;
        b->apostrophe |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('\''))) << at;
        b->slash |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('/'))) << at;
        b->high |= mask16(v) << at;
        b->control |= mask16(_mm_or_si128(range16(v, 0, 31), _mm_cmpeq_epi8(v, _mm_set1_epi8(127))))
                      << at;
    }
    b->control &= ~b->space;
}

/* ---- AVX2: twice 32 bytes ---- */

#define AVX2 "avx2,bmi,bmi2,popcnt"
#define INLINE_AVX2 __attribute__((target(AVX2))) INLINE

INLINE_AVX2 uint64_t mask32(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

INLINE_AVX2 __m256i range32(__m256i v, char low, char high)
{
    return _mm256_and_si256(_mm256_cmpgt_epi8(v, _mm256_set1_epi8((char)(low - 1))),
                            _mm256_cmpgt_epi8(_mm256_set1_epi8((char)(high + 1)), v));
}

INLINE_AVX2 void classify_avx2(const char *p, tk_block *b)
{
    *b = (tk_block){ 0 };
    for (int i = 0; i < 2; i++) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + 32 * i));
        __m256i lower = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
        __m256i newline = _mm256_or_si256(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n')),
                                          _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\r')));
        __m256i blank = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(' '));
        int at = 32 * i;
        b->letter |= mask32(range32(lower, 'a', 'z')) << at;
        b->upper |= mask32(range32(v, 'A', 'Z')) << at;
        b->digit |= mask32(range32(v, '0', '9')) << at;
        b->space |= mask32(_mm256_or_si256(range32(v, '\t', '\r'), blank)) << at;
        b->newline |= mask32(newline) << at;
        b->blank |= mask32(blank) << at;
        b->apostrophe |= mask32(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('\''))) << at;
        b->slash |= mask32(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('/'))) << at;
        b->high |= mask32(v) << at;
        __m256i del = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(127));
        b->control |= mask32(_mm256_or_si256(range32(v, 0, 31), del)) << at;
    }
    b->control &= ~b->space;
}

/* ---- AVX-512: all at once ---- */

#define AVX512 "avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt"
#define INLINE_AVX512 __attribute__((target(AVX512))) INLINE

INLINE_AVX512 uint64_t range64(__m512i v, char low, char high)
{
    __m512i from_low = _mm512_sub_epi8(v, _mm512_set1_epi8(low));
    return _mm512_cmple_epu8_mask(from_low, _mm512_set1_epi8((char)(high - low)));
}

INLINE_AVX512 void classify_avx512(const char *p, tk_block *b)
{
    __m512i v = _mm512_loadu_si512(p);
    b->letter = range64(_mm512_or_si512(v, _mm512_set1_epi8(0x20)), 'a', 'z');
    b->upper = range64(v, 'A', 'Z');
    b->digit = range64(v, '0', '9');
    b->newline = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\n')) |
                 _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\r'));
    b->blank = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(' '));
    b->space = range64(v, '\t', '\r') | b->blank;
    b->apostrophe = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\''));
    b->slash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('/'));
    b->high = _mm512_movepi8_mask(v);
    b->control = (range64(v, 0, 31) | _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(127))) & ~b->space;
}

INLINE_AVX512 void put_places_avx512(uint64_t bits, uint32_t from, uint32_t *to)
{
    __m512i place =
        _mm512_add_epi32(_mm512_set1_epi32((int)from),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    for (int i = 0; i < 4; i++) {
        __mmask16 some = (__mmask16)(bits >> 16 * i);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(some, place));
        to += __builtin_popcount(some);
        place = _mm512_add_epi32(place, _mm512_set1_epi32(16));
    }
}

DEFINE_SCAN(scan_sse2, "sse2", classify_sse2, put_places)
DEFINE_SCAN(scan_avx2, AVX2, classify_avx2, put_places)
DEFINE_SCAN(scan_avx512, AVX512, classify_avx512, put_places_avx512)

#define DEFINE_VERSION(NAME, FAMILY, CPU, TARGET)                                                  \
    __attribute__((target(TARGET))) static uint32_t NAME##_##CPU(td_str text, uint32_t from,       \
                                                                 uint32_t *ends, uint32_t max)     \
    {                                                                                              \
        return scan_##CPU(text, from, ends, max, FAMILY, tk_scan_##NAME);                          \
    }

#define DEFINE_FAMILY(NAME, FAMILY)                                                                \
    DEFINE_VERSION(NAME, FAMILY, sse2, "sse2")                                                     \
    DEFINE_VERSION(NAME, FAMILY, avx2, AVX2)                                                       \
    DEFINE_VERSION(NAME, FAMILY, avx512, AVX512)

DEFINE_FAMILY(cl100k, CL100K)
DEFINE_FAMILY(qwen2, QWEN2)
DEFINE_FAMILY(o200k, O200K)
DEFINE_FAMILY(deepseek3, DEEPSEEK3)

tk_scan_fn tk_scan_best(tk_scan_fn scalar, td_cpu cpu)
{
    static const struct {
        tk_scan_fn scalar, best[4];
    } all[] = {
        { tk_scan_cl100k, { tk_scan_cl100k, cl100k_sse2, cl100k_avx2, cl100k_avx512 } },
        { tk_scan_qwen2, { tk_scan_qwen2, qwen2_sse2, qwen2_avx2, qwen2_avx512 } },
        { tk_scan_o200k, { tk_scan_o200k, o200k_sse2, o200k_avx2, o200k_avx512 } },
        { tk_scan_deepseek3,
          { tk_scan_deepseek3, deepseek3_sse2, deepseek3_avx2, deepseek3_avx512 } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].scalar == scalar)
            return all[i].best[cpu];
    return scalar;
}

#else

tk_scan_fn tk_scan_best(tk_scan_fn scalar, td_cpu cpu)
{
    (void)cpu;
    return scalar;
}

#endif

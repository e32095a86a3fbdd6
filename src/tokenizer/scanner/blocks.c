/* blocks.c - the classes of 64 bytes by vectors, and the scanners that use them (see blocks.h).
 *
 * One loop, built for each instruction set; the best one is chosen when a tokenizer is loaded.
 * Characters that are not known, long words and the end of the text are the scalar scanner's. */
#include "tokenizer/scanner/blocks.h"

#include "base/cpu.h"
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

#if TD_X86

#include <immintrin.h>

typedef enum family { CL100K, QWEN2, O200K, DEEPSEEK3 } family;

#define INLINE static inline __attribute__((always_inline))

/* Whether a block can start at from: there are enough bytes, and it may be of use. Where characters
 * are not known words are taken one by one. wide: some others than ASCII are known. */
INLINE bool has_block(td_str text, uint32_t from, bool wide)
{
    uint32_t w;
    if (text.len - from < 64 + 8)
        return false;
    __builtin_memcpy(&w, text.ptr + from, 4);
    uint32_t high = w & 0x80808080u;
    if (high == 0)
        return true;
    uint32_t first = w >> (__builtin_ctz(high) - 7) & 0xFF;
    return wide && first >= 0xE2 && first <= 0xEF;
}

INLINE uint64_t starts_of(family f, const tk_block *b, const char *p, unsigned *ret_known)
{
    switch (f) {
    case O200K:
        return tk_o200k_starts(b, p, ret_known);
    case DEEPSEEK3:
        return tk_deepseek3_starts(b, ret_known);
    default:
        return tk_cl100k_starts(b, p, f == CL100K, ret_known);
    }
}

/* The certain starts in a block, 0 when there are none; *ret_last: the last of them. */
INLINE uint64_t certain_starts(family f, const tk_block *b, const char *p, unsigned *ret_last)
{
    unsigned known;
    uint64_t leads = tk_leads(b), starts = starts_of(f, b, p, &known) & ~(uint64_t)1;
    if (leads != 0 && known == 64) {
        *ret_last = 63 - (unsigned)__builtin_clzll(leads);
        return starts & tk_below(*ret_last + 1);
    }
    starts &= tk_certain(b, known);
    *ret_last = starts != 0 ? 63 - (unsigned)__builtin_clzll(starts) : 0;
    return starts;
}

/* Knows no characters but ASCII. */
INLINE void no_wide(const char *p, tk_block *b)
{
    (void)p;
    (void)b;
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

/* Two loops for each instruction set: the inner one goes from block to block, and without a call
 * in it constants stay in registers. PUT writes a place for each bit of a block, and may write up
 * to 64 whatever their number. */
#define DEFINE_SCAN(NAME, TARGET, CONSTS, CLASSIFY, WIDE, PUT)                                     \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME##_blocks(           \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f)                        \
    {                                                                                              \
        const consts##CONSTS consts = make_consts##CONSTS();                                       \
        uint32_t n = 0;                                                                            \
        while (max - n >= 64 && has_block(text, from, CONSTS != 0)) {                              \
            const char *p = text.ptr + from;                                                       \
            unsigned last;                                                                         \
            tk_block b;                                                                            \
            CLASSIFY(p, &b, &consts);                                                              \
            uint64_t starts;                                                                       \
            if (b.high == 0) {                                                                     \
                starts = certain_starts(f, &b, p, &last);                                          \
            } else {                                                                               \
                WIDE(p, &b);                                                                       \
                starts = certain_starts(f, &b, p, &last);                                          \
            }                                                                                      \
            if (starts == 0)                                                                       \
                break;                                                                             \
            PUT(starts, from, ends + n);                                                           \
            n += (uint32_t)__builtin_popcountll(starts);                                           \
            from += last;                                                                          \
        }                                                                                          \
        return n;                                                                                  \
    }                                                                                              \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME(                    \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f, tk_scan_fn scalar)     \
    {                                                                                              \
        uint32_t n = 0;                                                                            \
        while (from < text.len && n < max) {                                                       \
            if (max - n >= 64 && has_block(text, from, CONSTS != 0))                               \
                n += NAME##_blocks(text, from, ends + n, max - n, f);                              \
            if (n != 0 && max - n < 64)                                                            \
                break; /* no room for a block */                                                   \
            from = n != 0 ? ends[n - 1] : from;                                                    \
            n += scalar(text, from, ends + n, 1);                                                  \
            from = ends[n - 1];                                                                    \
        }                                                                                          \
        return n;                                                                                  \
    }

/* ---- SSE2: four times 16 bytes ---- */

typedef struct consts0 {
    char none;
} consts0;

INLINE consts0 make_consts0(void)
{
    return (consts0){ 0 };
}

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

INLINE void classify_sse2(const char *p, tk_block *b, const consts0 *none)
{
    (void)none;
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

INLINE_AVX2 void classify_avx2(const char *p, tk_block *b, const consts0 *none)
{
    (void)none;
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

#define AVX512 "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt"
#define INLINE_AVX512 __attribute__((target(AVX512))) INLINE

INLINE_AVX512 uint64_t range64(__m512i v, __m512i low, __m512i width)
{
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(v, low), width);
}

/* A byte 64 times, in a register: the compiler would make it again for each block. */
INLINE_AVX512 __m512i all64(char c)
{
    __m512i v = _mm512_set1_epi8(c);
    __asm__("" : "+v"(v));
    return v;
}

typedef struct consts512 {
    __m512i blank, a, letters, upper, zero, digits, tab, spaces, newline, ret, apostrophe, slash;
} consts512;

INLINE_AVX512 consts512 make_consts512(void)
{
    return (consts512){ .blank = all64(' '),
                        .a = all64('a'),
                        .letters = all64(25),
                        .upper = all64('A'),
                        .zero = all64('0'),
                        .digits = all64(9),
                        .tab = all64('\t'),
                        .spaces = all64('\r' - '\t'),
                        .newline = all64('\n'),
                        .ret = all64('\r'),
                        .apostrophe = all64('\''),
                        .slash = all64('/') };
}

INLINE_AVX512 void classify_avx512(const char *p, tk_block *b, const consts512 *k)
{
    __m512i v = _mm512_loadu_si512(p);
    b->letter = range64(_mm512_or_si512(v, k->blank), k->a, k->letters);
    b->upper = range64(v, k->upper, k->letters);
    b->digit = range64(v, k->zero, k->digits);
    b->newline = _mm512_cmpeq_epi8_mask(v, k->newline) | _mm512_cmpeq_epi8_mask(v, k->ret);
    b->blank = _mm512_cmpeq_epi8_mask(v, k->blank);
    b->space = range64(v, k->tab, k->spaces) | b->blank;
    b->apostrophe = _mm512_cmpeq_epi8_mask(v, k->apostrophe);
    b->slash = _mm512_cmpeq_epi8_mask(v, k->slash);
    b->high = _mm512_movepi8_mask(v);
    b->han = b->hangul = b->tails = 0;
    b->control = (_mm512_cmplt_epu8_mask(v, k->blank) |
                  _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(127))) &
                 ~b->space;
}

/* Tables for the last six bits of each byte of a character of three: what is set in all three is
 * what it is. Letters: bits 0 to 2 Chinese, 3 to 5 Japanese; others: 0 to 2 Korean letters, 3 to 6
 * punctuation and symbols. Only characters whose class no version of Unicode will change. */
static const _Alignas(64) uint8_t wide_tables[6][64] = {
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

INLINE_AVX512 __m512i lookup64(int table, __m512i v)
{
    return _mm512_permutexvar_epi8(v, _mm512_load_si512(wide_tables[table]));
}

/* The known characters among those that are not ASCII. Two bytes behind the block can be read. */
INLINE_AVX512 void wide_avx512(const char *p, tk_block *b)
{
    __m512i v = _mm512_loadu_si512(p), second = _mm512_loadu_si512(p + 1);
    __m512i third = _mm512_loadu_si512(p + 2);
    uint64_t first = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xE0));
    __m512i letters = _mm512_and_si512(_mm512_and_si512(lookup64(0, v), lookup64(1, second)),
                                       lookup64(2, third));
    __m512i others = _mm512_and_si512(_mm512_and_si512(lookup64(3, v), lookup64(4, second)),
                                      lookup64(5, third));
    uint64_t han = first & _mm512_test_epi8_mask(letters, letters);
    uint64_t hangul = first & _mm512_test_epi8_mask(others, _mm512_set1_epi8(0x07));
    uint64_t marks = first & _mm512_test_epi8_mask(others, _mm512_set1_epi8(0x78));
    uint64_t known = han | hangul | marks;
    b->han = han | han << 1 | han << 2;
    b->hangul = hangul | hangul << 1 | hangul << 2;
    b->tails = known << 1 | known << 2;
    b->high &= ~(b->tails | known);
}

/* Places as bytes, the first 32 of them always: few blocks have more words. */
INLINE_AVX512 void put_places_avx512(uint64_t bits, uint32_t from, uint32_t *to)
{
    static const _Alignas(64) uint8_t all[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    __m512i places = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(all));
    __m512i start = _mm512_set1_epi32((int)from);
    __m128i first = _mm512_castsi512_si128(places), second = _mm512_extracti32x4_epi32(places, 1);
    _mm512_storeu_si512(to, _mm512_add_epi32(start, _mm512_cvtepu8_epi32(first)));
    _mm512_storeu_si512(to + 16, _mm512_add_epi32(start, _mm512_cvtepu8_epi32(second)));
    if (__builtin_popcountll(bits) <= 32)
        return;
    __m128i third = _mm512_extracti32x4_epi32(places, 2);
    __m128i last = _mm512_extracti32x4_epi32(places, 3);
    _mm512_storeu_si512(to + 32, _mm512_add_epi32(start, _mm512_cvtepu8_epi32(third)));
    _mm512_storeu_si512(to + 48, _mm512_add_epi32(start, _mm512_cvtepu8_epi32(last)));
}

DEFINE_SCAN(scan_sse2, "sse2", 0, classify_sse2, no_wide, put_places)
DEFINE_SCAN(scan_avx2, AVX2, 0, classify_avx2, no_wide, put_places)
DEFINE_SCAN(scan_avx512, AVX512, 512, classify_avx512, wide_avx512, put_places_avx512)

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

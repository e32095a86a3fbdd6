/* blocks.c - the scanners that use blocks (see blocks.h).
 *
 * One loop, built for each instruction set; the best one is chosen when a tokenizer is loaded. The
 * end of a text goes through a copy that has zeros behind it. Characters that are not known and
 * long words are the scalar scanner's. */
#include "tokenizer/scanner/blocks.h"

#include "base/bit_places.h"
#include "base/cpu.h"
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/classify.h"
#include "tokenizer/scanner/scanner.h"

#if TD_X86

typedef enum family {
    CL100K,
    QWEN2,
    O200K,
    TEKKEN,
    GPT2,
    DEEPSEEK3,
    BERT,
    WHITESPACE,
    WHITESPACE_SPLIT,
    METASPACE,
} family;

enum { REACH = 64 + 8 /* bytes that there are from the start of a block on */ };

/* Whether a block that starts at p may be of use: where characters are not known words are taken
 * one by one. wide: some others than ASCII are known. */
INLINE bool is_known(const char *p, bool wide)
{
    uint32_t w;
    __builtin_memcpy(&w, p, 4);
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
    case TEKKEN:
        return tk_o200k_starts(b, p, f == TEKKEN, ret_known);
    case GPT2:
        return tk_gpt2_starts(b, p, ret_known);
    case DEEPSEEK3:
        return tk_deepseek3_starts(b, ret_known);
    case BERT:
        return tk_kinds_starts(b, TK_KINDS_BERT, ret_known);
    case WHITESPACE:
        return tk_kinds_starts(b, TK_KINDS_WHITESPACE, ret_known);
    case WHITESPACE_SPLIT:
        return tk_kinds_starts(b, TK_KINDS_SPLIT, ret_known);
    case METASPACE:
        return tk_metaspace_starts(b, ret_known);
    default:
        return tk_cl100k_starts(b, p, f == CL100K, ret_known);
    }
}

/* The certain starts in a block, 0 when there are none; *ret_last: the last of them. len: bytes
 * from the block on to the end of the text, which is a start, too, where it is near. */
INLINE uint64_t certain_starts(family f, const tk_block *b, const char *p, unsigned len,
                               unsigned *ret_last)
{
    unsigned known;
    uint64_t leads = tk_leads(b), starts = starts_of(f, b, p, &known) & ~(uint64_t)1;
    if (len <= 64 - TK_BLOCK_MARGIN && known == 64) {
        *ret_last = len;
        return (starts & tk_below(len)) | (uint64_t)1 << len;
    }
    if (leads != 0 && known == 64) {
        *ret_last = 63 - (unsigned)__builtin_clzll(leads);
        return starts & tk_below(*ret_last + 1);
    }
    starts &= tk_certain(b, known);
    *ret_last = starts != 0 ? 63 - (unsigned)__builtin_clzll(starts) : 0;
    return starts;
}

/* What is left of a text where no block reaches its end, and zeros for blocks that start in it. */
typedef struct tail {
    char bytes[2 * REACH];
} tail;

/* By eight bytes, the last of which may be some of those before: how many there are can only be
 * guessed. */
INLINE void copy_tail(tail *t, const char *from, size_t len)
{
    __builtin_memset(t, 0, sizeof *t);
    for (size_t i = 0; i + 8 < len; i += 8)
        __builtin_memcpy(t->bytes + i, from + i, 8);
    if (len >= 8)
        __builtin_memcpy(t->bytes + len - 8, from + len - 8, 8);
    for (size_t i = 0; len < 8 && i < len; i++)
        t->bytes[i] = from[i];
}

INLINE_AVX512 void copy_tail_avx512(tail *t, const char *from, size_t len)
{
    uint64_t first = tk_below((unsigned)len);
    uint16_t rest = (uint16_t)(len > 64 ? tk_below((unsigned)len - 64) : 0);
    _mm512_storeu_si512(t->bytes, _mm512_maskz_loadu_epi8(first, from));
    _mm_storeu_si128((__m128i *)(void *)(t->bytes + 64), _mm_maskz_loadu_epi8(rest, from + 64));
    _mm512_storeu_si512(t->bytes + 80, _mm512_setzero_si512());
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

/* Eight places for each byte of the bits, however many count. */
INLINE_AVX2 void put_places_avx2(uint64_t bits, uint32_t from, uint32_t *to)
{
    __m256i start = _mm256_set1_epi32((int)from), eight = _mm256_set1_epi32(8);
    __asm__("" : "+x"(eight)); /* as one register */
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++, bits >>= 8) {
        uint32_t byte = (uint8_t)bits;
        const __m128i *row = (const __m128i *)(const void *)&td_bit_places[byte];
        __m256i places = _mm256_cvtepu8_epi32(_mm_loadl_epi64(row));
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_add_epi32(start, places));
        start = _mm256_add_epi32(start, eight);
        to += __builtin_popcount(byte);
    }
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

/* Three loops for each instruction set: the inner one goes from block to block, and without a call
 * in it constants stay in registers; the second does so where less is left than a block may reach,
 * in a copy. Both end where no block decides a word. COPY makes it, and PUT writes a place for each
 * bit of a block, and may write up to 64 whatever their number. */
#define DEFINE_SCAN(NAME, TARGET, CONSTS, CLASSIFY, IS_WIDE, WIDE, COPY, PUT)                      \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME##_blocks(           \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f)                        \
    {                                                                                              \
        const consts##CONSTS consts = make_consts##CONSTS();                                       \
        uint32_t n = 0;                                                                            \
        while (max - n >= 64 && text.len - from >= REACH && is_known(text.ptr + from, IS_WIDE)) {  \
            const char *p = text.ptr + from;                                                       \
            unsigned last;                                                                         \
            tk_block b;                                                                            \
            CLASSIFY(p, &b, &consts);                                                              \
            uint64_t starts;                                                                       \
            if (b.high == 0) {                                                                     \
                starts = certain_starts(f, &b, p, REACH, &last);                                   \
            } else {                                                                               \
                WIDE(p, &b);                                                                       \
                starts = certain_starts(f, &b, p, REACH, &last);                                   \
            }                                                                                      \
            if (starts == 0)                                                                       \
                break;                                                                             \
            PUT(starts, from, ends + n);                                                           \
            n += (uint32_t)__builtin_popcountll(starts);                                           \
            from += last;                                                                          \
        }                                                                                          \
        return n;                                                                                  \
    }                                                                                              \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME##_tail(             \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f)                        \
    {                                                                                              \
        const consts##CONSTS consts = make_consts##CONSTS();                                       \
        uint32_t n = 0, end = (uint32_t)text.len;                                                  \
        tail t;                                                                                    \
        COPY(&t, text.ptr + from, end - from);                                                     \
        for (const char *p = t.bytes; max - n >= 64 && from < end && is_known(p, IS_WIDE);) {      \
            unsigned last;                                                                         \
            tk_block b;                                                                            \
            CLASSIFY(p, &b, &consts);                                                              \
            if (b.high != 0)                                                                       \
                WIDE(p, &b);                                                                       \
            b.beyond = ~tk_below(end - from);                                                      \
            b.control &= ~b.beyond;                                                                \
            uint64_t starts = certain_starts(f, &b, p, end - from, &last);                         \
            if (starts == 0)                                                                       \
                break;                                                                             \
            PUT(starts, from, ends + n);                                                           \
            n += (uint32_t)__builtin_popcountll(starts);                                           \
            from += last;                                                                          \
            p += last;                                                                             \
        }                                                                                          \
        return n;                                                                                  \
    }                                                                                              \
    __attribute__((target(TARGET), always_inline)) static inline uint32_t NAME(                    \
        td_str text, uint32_t from, uint32_t *ends, uint32_t max, family f, tk_scan_fn scalar)     \
    {                                                                                              \
        uint32_t n = 0;                                                                            \
        while (from < text.len && n < max) {                                                       \
            n += NAME##_blocks(text, from, ends + n, max - n, f);                                  \
            from = n != 0 ? ends[n - 1] : from;                                                    \
            if (text.len - from < REACH && max - n >= 64) {                                        \
                n += NAME##_tail(text, from, ends + n, max - n, f);                                \
                from = n != 0 ? ends[n - 1] : from;                                                \
            }                                                                                      \
            if (from == text.len || (n != 0 && max - n < 64))                                      \
                break; /* the end, or no room for a block */                                       \
            n += scalar(text, from, ends + n, 1);                                                  \
            from = ends[n - 1];                                                                    \
        }                                                                                          \
        return n;                                                                                  \
    }

DEFINE_SCAN(scan_sse2, "sse2", 0, classify_sse2, false, no_wide, copy_tail, put_places)
DEFINE_SCAN(scan_avx2, AVX2, 2, classify_avx2, true, wide_avx2, copy_tail, put_places_avx2)
DEFINE_SCAN(scan_avx512, AVX512, 512, classify_avx512, true, wide_avx512, copy_tail_avx512,
            put_places_avx512)

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
DEFINE_FAMILY(tekken, TEKKEN)
DEFINE_FAMILY(gpt2, GPT2)
DEFINE_FAMILY(deepseek3, DEEPSEEK3)
DEFINE_FAMILY(bert, BERT)
DEFINE_FAMILY(whitespace, WHITESPACE)
DEFINE_FAMILY(whitespace_split, WHITESPACE_SPLIT)
DEFINE_FAMILY(metaspace, METASPACE)

tk_scan_fn tk_scan_best(tk_scan_fn scalar, td_cpu cpu)
{
    static const struct {
        tk_scan_fn scalar, best[4];
    } all[] = {
        { tk_scan_cl100k, { tk_scan_cl100k, cl100k_sse2, cl100k_avx2, cl100k_avx512 } },
        { tk_scan_qwen2, { tk_scan_qwen2, qwen2_sse2, qwen2_avx2, qwen2_avx512 } },
        { tk_scan_o200k, { tk_scan_o200k, o200k_sse2, o200k_avx2, o200k_avx512 } },
        { tk_scan_tekken, { tk_scan_tekken, tekken_sse2, tekken_avx2, tekken_avx512 } },
        { tk_scan_gpt2, { tk_scan_gpt2, gpt2_sse2, gpt2_avx2, gpt2_avx512 } },
        { tk_scan_deepseek3,
          { tk_scan_deepseek3, deepseek3_sse2, deepseek3_avx2, deepseek3_avx512 } },
        { tk_scan_bert, { tk_scan_bert, bert_sse2, bert_avx2, bert_avx512 } },
        { tk_scan_whitespace,
          { tk_scan_whitespace, whitespace_sse2, whitespace_avx2, whitespace_avx512 } },
        { tk_scan_whitespace_split,
          { tk_scan_whitespace_split, whitespace_split_sse2, whitespace_split_avx2,
            whitespace_split_avx512 } },
        { tk_scan_metaspace,
          { tk_scan_metaspace, metaspace_sse2, metaspace_avx2, metaspace_avx512 } },
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

/* doubts.c - passing over characters of which something is certain (see doubts.h). */
#include "unicode/doubts.h"

#include "base/cpu.h"
#include "base/utf8.h"

static const uint8_t groups[16] = { TD_DOUBTS_GROUPS };

void td_doubts_add(td_doubts *doubts, uint32_t c)
{
    if (c >= 0x800) {
        doubts->blocks[c >> 6 & 63] |= groups[c >> 12];
        return;
    }
    unsigned lead = c < 0x80 ? c : 0xC0 | c >> 6;
    uint8_t *half = lead < 0x80 ? doubts->low : doubts->high;
    half[lead & 15] |= (uint8_t)(1u << (lead >> 4 & 7));
}

#if TD_X86

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256i table(const uint8_t *entries)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)entries));
}

/* Looks up continuation bytes whose bits 4 and 5 are those of part; others are not found. */
AVX2 static inline __m256i part_of(const td_doubts *doubts, int part, __m256i second)
{
    /* A byte with the top bit set is not found: so is what is not 0 above the lower half. */
    __m256i at = _mm256_xor_si256(second, _mm256_set1_epi8((char)(0x80 | part << 4)));
    return _mm256_shuffle_epi8(table(doubts->blocks + 16 * part),
                               _mm256_add_epi8(at, _mm256_set1_epi8(0x70)));
}

AVX2 static const char *skip_avx2(const td_doubts *doubts, const char *p, const char *end)
{
    static const uint8_t bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    const __m256i half = _mm256_set1_epi8(0x0F), three = _mm256_set1_epi8(0x0E);
    const char *start = p;
    for (; end - p >= 32 + 1; p += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(p + 1));
        __m256i low = _mm256_and_si256(v, half);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
        __m256i set = _mm256_blendv_epi8(_mm256_shuffle_epi8(table(doubts->low), low),
                                         _mm256_shuffle_epi8(table(doubts->high), low), v);
        __m256i alone = _mm256_and_si256(set, _mm256_shuffle_epi8(table(bits), high));
        __m256i group = _mm256_and_si256(_mm256_shuffle_epi8(table(groups), low),
                                         _mm256_cmpeq_epi8(high, three));
        __m256i block = _mm256_or_si256(
            _mm256_or_si256(part_of(doubts, 0, second), part_of(doubts, 1, second)),
            _mm256_or_si256(part_of(doubts, 2, second), part_of(doubts, 3, second)));
        __m256i four = _mm256_cmpeq_epi8(high, half);
        __m256i doubt =
            _mm256_or_si256(_mm256_or_si256(alone, four), _mm256_and_si256(group, block));
        uint32_t certain =
            (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(doubt, _mm256_setzero_si256()));
        if (certain != UINT32_MAX)
            return p + __builtin_ctz(~certain);
    }
    while (p > start && td_utf8_is_cont(*p))
        p--;
    return p;
}

const char *td_doubts_skip(const td_doubts *doubts, const char *p, const char *end)
{
    return td_cpu_best() >= TD_CPU_AVX2 ? skip_avx2(doubts, p, end) : p;
}

#else

const char *td_doubts_skip(const td_doubts *doubts, const char *p, const char *end)
{
    (void)doubts;
    (void)end;
    return p;
}

#endif

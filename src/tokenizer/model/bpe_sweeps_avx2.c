/* bpe_sweeps_avx2.c - the sweeps of bpe_sweeps.h, with AVX2. */
#include "tokenizer/model/bpe_sweeps.h"

#if TD_X86
#include <immintrin.h>

#include "base/bit_places.h"

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define ALWAYS static inline __attribute__((always_inline)) AVX2

/* All that a look at a chunk needs is in the row. */
typedef struct walk {
    char none;
} walk;

#include "tokenizer/model/sweep_steps.inc"

ALWAYS __m256i load(const void *p)
{
    return _mm256_loadu_si256(p);
}

ALWAYS __m256i all(uint32_t x)
{
    return _mm256_set1_epi32((int)x);
}

ALWAYS __m256i all16(uint16_t x)
{
    return _mm256_set1_epi16((short)x);
}

ALWAYS __m256i minus(__m256i a, __m256i b) /* what a has and b has not */
{
    return _mm256_andnot_si256(b, a);
}

/* A bit for each of 32 numbers of 16 bits, which are 0 or all bits. */
ALWAYS uint32_t bits_of(__m256i a, __m256i b)
{
    __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xD8);
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

/* ---- looking pairs up ---- */

ALWAYS uint64_t slot_of(const uint64_t *group, uint64_t pair, uint32_t turn)
{
    const __m256i mask = _mm256_set1_epi64x((long long)(TK_TAG_MASK << 2 * TK_FIELD));
    uint64_t tag = pair << turn | pair >> (-turn & 63);
    __m256i other = _mm256_xor_si256(load(group), _mm256_set1_epi64x((long long)tag));
    other = _mm256_cmpeq_epi64(_mm256_and_si256(other, mask), _mm256_setzero_si256());
    uint32_t same = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(other));
    return group[_tzcnt_u32(same) % TK_GROUP] & (0 - (uint64_t)(same != 0));
}

/* ---- the first look ---- */

/* Of eight pairs, as look_near. */
typedef struct near {
    __m256i codes, lefts, rights;
    uint32_t far;
} near;

/* The codes of eight ranks + 1. hasty: of products that are. */
ALWAYS __m256i codes_of(__m256i rank, __m256i hasty)
{
    __m256i code = _mm256_castps_si256(_mm256_cvtepi32_ps(rank));
    code = _mm256_srli_epi32(_mm256_sub_epi32(code, all(TK_CODE_ONE)), TK_CODE_SHIFT);
    code = _mm256_add_epi32(_mm256_or_si256(code, all(1)), hasty);
    return _mm256_blendv_epi8(code, all(NONE), _mm256_cmpeq_epi32(rank, all(0)));
}

/* All bits of the numbers whose highest bit is set. */
ALWAYS __m256i signs(__m256i x)
{
    return _mm256_srai_epi32(x, 31);
}

ALWAYS near look_at_eight(tk_row *w, uint32_t i)
{
    const tk_merges *m = w->m;
    const long long *square = (const long long *)(const void *)m->square;
    const __m256i low = all((1u << TK_FIELD) - 1), none = all(0);
    __m256i left = load(w->ids + i), right = load(w->ids + i + 1);
    __m256i apart = signs(_mm256_or_si256(left, right));
    __m256i is_near =
        minus(_mm256_cmpgt_epi32(all(m->square_end), _mm256_max_epu32(left, right)), apart);
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(left, all(TK_SQUARE)), right);
    __m256i a =
        _mm256_mask_i32gather_epi64(none, square, _mm256_castsi256_si128(at),
                                    _mm256_cvtepi32_epi64(_mm256_castsi256_si128(is_near)), 8);
    __m256i b =
        _mm256_mask_i32gather_epi64(none, square, _mm256_extracti128_si256(at, 1),
                                    _mm256_cvtepi32_epi64(_mm256_extracti128_si256(is_near, 1)), 8);
    __m256 x = _mm256_castsi256_ps(a), y = _mm256_castsi256_ps(b);
    __m256i lower = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0x88));
    __m256i upper = _mm256_castps_si256(_mm256_shuffle_ps(x, y, 0xDD));
    lower = _mm256_permute4x64_epi64(lower, 0xD8);
    upper = _mm256_permute4x64_epi64(upper, 0xD8);
    __m256i rank = _mm256_or_si256(_mm256_srli_epi32(lower, TK_FIELD),
                                   _mm256_slli_epi32(upper, 32 - TK_FIELD));
    _mm256_storeu_si256((void *)(w->products + i), _mm256_and_si256(lower, low));
    __m256i codes = codes_of(_mm256_and_si256(rank, low), signs(upper));
    __m256i never = _mm256_srli_epi32(apart, 16), seen = _mm256_or_si256(is_near, apart);
    return (near){
        .codes = _mm256_or_si256(codes, _mm256_srli_epi32(signs(left), 16)),
        .lefts = _mm256_or_si256(never, _mm256_and_si256(_mm256_srli_epi32(upper, 4), all(0xFFF0))),
        .rights =
            _mm256_or_si256(never, _mm256_and_si256(_mm256_srli_epi32(upper, 15), all(0xFFE0))),
        .far = ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(seen)) & 0xFF,
    };
}

ALWAYS void store16(uint16_t *p, __m256i a, __m256i b)
{
    __m256i x = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xD8);
    _mm256_storeu_si256((void *)p, x);
}

ALWAYS uint32_t look_near(tk_row *w, uint32_t i)
{
    near a = look_at_eight(w, i), b = look_at_eight(w, i + 8);
    store16(w->ranks + i, a.codes, b.codes);
    store16(w->lefts + i, a.lefts, b.lefts);
    store16(w->rights + i, a.rights, b.rights);
    return a.far | b.far << 8;
}

/* ---- a sweep ---- */

/* How far up pairs are safe from one side: the greatest of all bounds, or of the ranks on the way
 * to it where these are lower. From the far end on, as each pair on the way is either a bound for
 * what lies behind it or lets through what comes from there. */
ALWAYS __m256i reach(const uint16_t *bounds, const uint16_t *ranks, int step)
{
    __m256i reached = load(bounds + WALK * step);
#pragma GCC unroll 16
    for (int k = WALK - 1; k >= 1; k--)
        reached = _mm256_max_epu16(_mm256_min_epu16(reached, load(ranks + k * step)),
                                   load(bounds + k * step));
    return reached;
}

/* The same where nothing but the end of a word is a bound. */
ALWAYS __m256i reach_end(const uint16_t *bounds, const uint16_t *ranks, int step)
{
    __m256i reached = all(0);
#pragma GCC unroll 16
    for (int k = WALK; k >= 1; k--) {
        __m256i end = _mm256_cmpeq_epi16(load(bounds + k * step), all16(NEVER));
        reached = _mm256_or_si256(_mm256_min_epu16(reached, load(ranks + k * step)), end);
    }
    return reached;
}

/* What is not below the limits on both sides. */
ALWAYS __m256i exceeds(__m256i rank, __m256i left, __m256i right)
{
    __m256i limit = _mm256_min_epu16(left, right);
    return _mm256_cmpeq_epi16(_mm256_max_epu16(rank, limit), rank);
}

/* As find_in_chunk, of 16 places: 0 or all bits for each. */
typedef struct sixteen {
    __m256i safe, open, ends;
} sixteen;

ALWAYS sixteen find_at(const tk_row *w, uint32_t i)
{
    const __m256i odd = all16(1);
    __m256i rank = load(w->ranks + i), odd_rank = _mm256_or_si256(rank, odd);
    __m256i from_left = reach(w->lefts + i, w->ranks + i, -1);
    __m256i from_right = reach(w->rights + i, w->ranks + i, 1);
    sixteen f;
    f.open = _mm256_cmpeq_epi16(_mm256_min_epu16(rank, all16(NONE - 1)), rank);
    f.ends = _mm256_cmpeq_epi16(rank, all16(NEVER));
    f.safe = minus(f.open, exceeds(odd_rank, from_left, from_right));
    __m256i hasty = minus(f.safe, _mm256_cmpeq_epi16(rank, odd_rank));
    if (__builtin_expect(_mm256_testz_si256(hasty, hasty) == 0, 0)) {
        from_left = reach_end(w->lefts + i, w->ranks + i, -1);
        from_right = reach_end(w->rights + i, w->ranks + i, 1);
        f.safe = minus(f.safe, _mm256_and_si256(hasty, exceeds(odd_rank, from_left, from_right)));
    }
    return f;
}

ALWAYS walk start_walk(const tk_row *w)
{
    (void)w;
    return (walk){ 0 };
}

ALWAYS found find_in_chunk(const tk_row *w, uint32_t at, walk *unused)
{
    found f = { 0, 0, 0 };
    (void)unused;
    for (uint32_t k = 0; k < CHUNK; k += 32) {
        sixteen a = find_at(w, at + k), b = find_at(w, at + k + 16);
        f.safe |= (uint64_t)bits_of(a.safe, b.safe) << k;
        f.open |= (uint64_t)bits_of(a.open, b.open) << k;
        f.ends |= (uint64_t)bits_of(a.ends, b.ends) << k;
    }
    return f;
}

/* All bits of each of 16 numbers that has its bit. */
ALWAYS __m256i spread(uint64_t bits)
{
    const __m256i each = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096,
                                           8192, 16384, INT16_MIN);
    return _mm256_cmpeq_epi16(_mm256_and_si256(all16((uint16_t)bits), each), each);
}

/* Eight places on their way, or what is known of them: 16 bits for each. */
typedef struct eight {
    __m128i merge, asked, ranks, lefts, rights;
} eight;

/* Notes which of eight places that were moved to to have to be looked up, a bit each. Returns the
 * end of the notes. */
ALWAYS uint16_t *ask(uint16_t *asked, uint32_t to, uint32_t which)
{
    __m128i places = _mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)&td_bit_places[which]));
    places = _mm_add_epi16(places, _mm_set1_epi16((short)to));
    _mm_storeu_si128((void *)asked, places);
    return asked + __builtin_popcount(which);
}

/* Moves what is kept of eight places. Returns how many that is. */
ALWAYS uint32_t move_eight(tk_row *w, uint32_t from, uint32_t to, uint32_t kept, eight e,
                           uint16_t **ret_asked)
{
    uint32_t count = (uint32_t)__builtin_popcount(kept);
    __m128i places = _mm_loadl_epi64((const void *)&td_bit_places[kept]);
    __m256i by_four = _mm256_cvtepu8_epi32(places), merge = _mm256_cvtepi16_epi32(e.merge);
    __m128i by_two = _mm_mullo_epi16(_mm_cvtepu8_epi16(places), _mm_set1_epi16(0x0202));
    by_two = _mm_add_epi16(by_two, _mm_set1_epi16(0x0100));
    __m256i ids = load(w->ids + from), products = load(w->products + from);
    ids = _mm256_blendv_epi8(ids, products, merge);
    _mm256_storeu_si256((void *)(w->ids + to), _mm256_permutevar8x32_epi32(ids, by_four));
    products = _mm256_permutevar8x32_epi32(products, by_four);
    _mm256_storeu_si256((void *)(w->products + to), products);
    _mm_storeu_si128((void *)(w->ranks + to), _mm_shuffle_epi8(e.ranks, by_two));
    _mm_storeu_si128((void *)(w->lefts + to), _mm_shuffle_epi8(e.lefts, by_two));
    _mm_storeu_si128((void *)(w->rights + to), _mm_shuffle_epi8(e.rights, by_two));
    __m128i asked = _mm_shuffle_epi8(e.asked, by_two);
    uint32_t which = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(asked, asked));
    *ret_asked = ask(*ret_asked, to, which & ((1u << count) - 1));
    return count;
}

ALWAYS uint32_t move_chunk(tk_row *w, uint32_t from, uint32_t to, uint64_t kept, uint64_t safe,
                           uint64_t right)
{
    uint16_t *asks = w->asked + w->asked_count;
    for (uint32_t k = 0; k < CHUNK; k += 16, from += 16) {
        __m256i merge = spread(safe >> k), before = spread(right >> k);
        __m256i ranks = load(w->ranks + from), lefts = load(w->lefts + from);
        __m256i rights = load(w->rights + from);
        __m256i made =
            _mm256_or_si256(merge, minus(before, _mm256_cmpeq_epi16(ranks, all16(NEVER))));
        ranks = _mm256_blendv_epi8(ranks, all16(NONE), made);
        /* Behind what is merged the bounds are those of its second part. */
        lefts = _mm256_blendv_epi8(lefts, load(w->lefts + from + 1), merge);
        rights = _mm256_blendv_epi8(rights, load(w->rights + from + 1), merge);
        __m256i apart = _mm256_cmpeq_epi16(lefts, all16(NEVER));
        __m256i asked = minus(_mm256_or_si256(merge, before), apart);
        lefts = minus(lefts, minus(before, apart));
        rights = minus(rights, minus(merge, apart));
        eight low = { _mm256_castsi256_si128(merge), _mm256_castsi256_si128(asked),
                      _mm256_castsi256_si128(ranks), _mm256_castsi256_si128(lefts),
                      _mm256_castsi256_si128(rights) };
        eight high = { _mm256_extracti128_si256(merge, 1), _mm256_extracti128_si256(asked, 1),
                       _mm256_extracti128_si256(ranks, 1), _mm256_extracti128_si256(lefts, 1),
                       _mm256_extracti128_si256(rights, 1) };
        to += move_eight(w, from, to, (uint8_t)(kept >> k), low, &asks);
        to += move_eight(w, from + 8, to, (uint8_t)(kept >> k >> 8), high, &asks);
    }
    w->asked_count = (uint32_t)(asks - w->asked);
    return to;
}

/* ---- the end ---- */

ALWAYS uint64_t separators_at(const tk_row *w, uint32_t at)
{
    uint64_t ends = 0;
    for (uint32_t k = 0; k < CHUNK; k += 8)
        ends |= (uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(load(w->ids + at + k))) << k;
    return ends;
}

ALWAYS uint64_t open_at(const tk_row *w, uint32_t at)
{
    uint64_t open = 0;
    for (uint32_t k = 0; k < CHUNK; k += 32) {
        __m256i a = load(w->ranks + at + k), b = load(w->ranks + at + k + 16);
        a = _mm256_cmpeq_epi16(_mm256_min_epu16(a, all16(NONE - 1)), a);
        b = _mm256_cmpeq_epi16(_mm256_min_epu16(b, all16(NONE - 1)), b);
        open |= (uint64_t)bits_of(a, b) << k;
    }
    return open;
}

AVX2 uint32_t tk_merge_sweeps_avx2(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w,
                                   tk_lane **rest)
{
    return sweep(m, lanes, n, w, rest);
}
#endif

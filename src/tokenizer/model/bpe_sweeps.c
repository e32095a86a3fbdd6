/* bpe_sweeps.c - the sweeps of bpe_sweeps.h, with AVX-512. */
#include "tokenizer/model/bpe_sweeps.h"

#if TD_X86
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,"  \
                                     "avx2,bmi,bmi2,lzcnt,popcnt")))
#define ALWAYS static inline __attribute__((always_inline)) AVX512

/* Pairs side by side, seen from one side: what comes from behind gets through up to a rank, and
 * they are a bound themselves. */
typedef struct span {
    __m512i bound, rank;
} span;

/* What a look at 32 places leaves for the next 32. */
typedef struct walk {
    span left, right; /* two_left of the places before; two_right of these */
} walk;

#include "tokenizer/model/sweep_steps.inc"

ALWAYS __m512i load(const void *p)
{
    return _mm512_loadu_si512(p);
}

ALWAYS __m512i all(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

ALWAYS __m512i all16(uint16_t x)
{
    return _mm512_set1_epi16((short)x);
}

/* 32 numbers. */
ALWAYS __m512i count16(uint16_t from)
{
    const __m512i number =
        _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                         12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi16(number, all16(from));
}

/* ---- looking pairs up ---- */

ALWAYS uint64_t slot_of(const uint64_t *group, uint64_t pair, uint32_t turn)
{
    const __m256i mask = _mm256_set1_epi64x((long long)(TK_TAG_MASK << 2 * TK_FIELD));
    const __m256i by = _mm256_set1_epi64x(turn);
    __m256i slots = _mm256_loadu_si256((const void *)group);
    __m256i tag = _mm256_rolv_epi64(_mm256_set1_epi64x((long long)pair), by);
    __m256i other = _mm256_xor_si256(slots, tag);
    slots = _mm256_maskz_compress_epi64(_mm256_testn_epi64_mask(other, mask), slots);
    return (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(slots));
}

/* ---- the first look ---- */

/* The codes of sixteen ranks + 1. hasty: of products that are. */
ALWAYS __m512i codes_of(__m512i rank, __mmask16 hasty)
{
    __m512i code = _mm512_castps_si512(_mm512_cvtepu32_ps(rank));
    code = _mm512_srli_epi32(_mm512_sub_epi32(code, all(TK_CODE_ONE)), TK_CODE_SHIFT);
    code = _mm512_or_si512(code, all(1));
    code = _mm512_mask_sub_epi32(code, hasty, code, all(1));
    return _mm512_mask_mov_epi32(code, _mm512_testn_epi32_mask(rank, rank), all(NONE));
}

typedef struct parts {
    __m512i ranks, products, upper; /* of sixteen slots */
} parts;

ALWAYS parts split(__m512i a, __m512i b)
{
    const __m512i low = all((1u << TK_FIELD) - 1);
    __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i lower = _mm512_permutex2var_epi32(a, even, b);
    __m512i upper = _mm512_permutex2var_epi32(a, _mm512_or_si512(even, all(1)), b);
    __m512i ranks = _mm512_shrdi_epi32(lower, upper, TK_FIELD);
    return (parts){ _mm512_and_si512(ranks, low), _mm512_and_si512(lower, low), upper };
}

ALWAYS void store16(uint16_t *p, __m512i x)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(x));
}

ALWAYS uint32_t look_near(tk_row *w, uint32_t i)
{
    const tk_merges *m = w->m;
    const __m512i zero = all(0);
    __m512i left = load(w->ids + i), right = load(w->ids + i + 1);
    __mmask16 apart = _mm512_movepi32_mask(_mm512_or_si512(left, right));
    __mmask16 near = _mm512_cmplt_epu32_mask(_mm512_max_epu32(left, right), all(m->square_end));
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(left, all(TK_SQUARE)), right);
    __m512i a = _mm512_mask_i32gather_epi64(zero, (__mmask8)near, _mm512_castsi512_si256(at),
                                            m->square, 8);
    __m512i b = _mm512_mask_i32gather_epi64(zero, (__mmask8)(near >> 8),
                                            _mm512_extracti64x4_epi64(at, 1), m->square, 8);
    parts p = split(a, b);
    __m512i lefts = _mm512_and_si512(_mm512_srli_epi32(p.upper, 4), all(0xFFF0));
    __m512i rights = _mm512_and_si512(_mm512_srli_epi32(p.upper, 15), all(0xFFE0));
    lefts = _mm512_mask_mov_epi32(lefts, apart, all(NEVER));
    rights = _mm512_mask_mov_epi32(rights, apart, all(NEVER));
    _mm512_storeu_si512(w->products + i, p.products);
    __m512i codes = codes_of(p.ranks, _mm512_movepi32_mask(p.upper));
    codes = _mm512_mask_mov_epi32(codes, _mm512_movepi32_mask(left), all(NEVER));
    store16(w->ranks + i, codes);
    store16(w->lefts + i, lefts);
    store16(w->rights + i, rights);
    return ~(uint32_t)(near | apart) & 0xFFFF;
}

/* ---- a sweep ---- */

ALWAYS span join(span near, span far)
{
    return (span){ _mm512_max_epu16(near.bound, _mm512_min_epu16(near.rank, far.bound)),
                   _mm512_min_epu16(near.rank, far.rank) };
}

ALWAYS span span_at(const uint16_t *bounds, const uint16_t *ranks)
{
    return (span){ load(bounds), load(ranks) };
}

/* The pairs next to each of 32 and the ones behind these. */
ALWAYS span two_left(const tk_row *w, uint32_t i)
{
    return join(span_at(w->lefts + i - 1, w->ranks + i - 1),
                span_at(w->lefts + i - 2, w->ranks + i - 2));
}

ALWAYS span two_right(const tk_row *w, uint32_t i)
{
    return join(span_at(w->rights + i + 1, w->ranks + i + 1),
                span_at(w->rights + i + 2, w->ranks + i + 2));
}

/* From the place by of a on, where b lies behind it. */
ALWAYS __m512i shifted(__m512i a, __m512i b, uint16_t by)
{
    return _mm512_permutex2var_epi16(a, count16(by), b);
}

ALWAYS span shifted_span(span a, span b, uint16_t by)
{
    return (span){ shifted(a.bound, b.bound, by), shifted(a.rank, b.rank, by) };
}

/* How far up pairs are safe from one side: the greatest of all bounds, or of the ranks on the way
 * to it where these are lower. last: the bound behind two pairs and the next two. */
ALWAYS __m512i reach(span two, span next, __m512i last)
{
    span four = join(two, next);
    return _mm512_max_epu16(four.bound, _mm512_min_epu16(four.rank, last));
}

/* The same where nothing but the end of a word is a bound. From the far end on, as each pair on the
 * way is either a bound for what lies behind it or lets through what comes from there. */
ALWAYS __m512i reach_end(const uint16_t *bounds, const uint16_t *ranks, int step)
{
    __m512i reached = all(0);
#pragma GCC unroll 16
    for (int k = WALK; k >= 1; k--) {
        __mmask32 end = _mm512_cmpeq_epi16_mask(load(bounds + k * step), all16(NEVER));
        reached = _mm512_min_epu16(reached, load(ranks + k * step));
        reached = _mm512_mask_mov_epi16(reached, end, all16(NEVER));
    }
    return reached;
}

/* As find_in_chunk, of 32 places. */
ALWAYS found find_at(const tk_row *w, uint32_t i, walk *k)
{
    const __m512i odd = all16(1);
    __m512i rank = load(w->ranks + i), odd_rank = _mm512_or_si512(rank, odd);
    span left = two_left(w, i), next = two_right(w, i + 32);
    __m512i from_left = reach(left, shifted_span(k->left, left, 30),
                              shifted(k->left.bound, left.bound, 28));
    __m512i from_right = reach(k->right, shifted_span(k->right, next, 2),
                               shifted(k->right.bound, next.bound, 4));
    *k = (walk){ left, next };
    __mmask32 open = _mm512_cmplt_epu16_mask(rank, all16(NONE));
    __mmask32 safe = _mm512_cmplt_epu16_mask(odd_rank, _mm512_min_epu16(from_left, from_right));
    __mmask32 hasty = _mm512_mask_testn_epi16_mask(open, rank, odd);
    if (__builtin_expect(hasty != 0, 0)) {
        from_left = reach_end(w->lefts + i, w->ranks + i, -1);
        from_right = reach_end(w->rights + i, w->ranks + i, 1);
        safe &=
            ~hasty | _mm512_cmplt_epu16_mask(odd_rank, _mm512_min_epu16(from_left, from_right));
    }
    return (found){ safe & open, open, _mm512_cmpeq_epi16_mask(rank, all16(NEVER)) };
}

ALWAYS walk start_walk(const tk_row *w)
{
    return (walk){ { all(0), all(0) }, two_right(w, PAD) };
}

ALWAYS found find_in_chunk(const tk_row *w, uint32_t i, walk *k)
{
    found a = find_at(w, i, k), b = find_at(w, i + 32, k);
    return (found){ a.safe | b.safe << 32, a.open | b.open << 32, a.ends | b.ends << 32 };
}

/* Moves ids and products of 16 places. */
ALWAYS void move_ids(tk_row *w, uint32_t from, uint32_t to, __mmask16 keep, __mmask16 merge)
{
    __m512i ids = load(w->ids + from), products = load(w->products + from);
    ids = _mm512_mask_mov_epi32(ids, merge, products);
    _mm512_storeu_si512(w->ids + to, _mm512_maskz_compress_epi32(keep, ids));
    _mm512_storeu_si512(w->products + to, _mm512_maskz_compress_epi32(keep, products));
}

/* Moves what is known of 32 pairs. right: what is behind it is made now. Returns which pairs have
 * to be looked up. */
ALWAYS uint32_t move_pairs(tk_row *w, uint32_t from, uint32_t to, __mmask32 keep, __mmask32 merge,
                           __mmask32 right)
{
    __m512i ranks = load(w->ranks + from);
    __mmask32 separator = _mm512_cmpeq_epi16_mask(ranks, all16(NEVER));
    /* Behind what is merged the bounds are those of its second part. */
    __m512i lefts = _mm512_mask_mov_epi16(load(w->lefts + from), merge, load(w->lefts + from + 1));
    __m512i rights =
        _mm512_mask_mov_epi16(load(w->rights + from), merge, load(w->rights + from + 1));
    __mmask32 apart = _mm512_cmpeq_epi16_mask(lefts, all16(NEVER));
    ranks = _mm512_mask_mov_epi16(ranks, merge | (right & ~separator), all16(NONE));
    lefts = _mm512_maskz_mov_epi16(~right | apart, lefts);
    rights = _mm512_maskz_mov_epi16(~merge | apart, rights);
    _mm512_storeu_si512(w->ranks + to, _mm512_maskz_compress_epi16(keep, ranks));
    _mm512_storeu_si512(w->lefts + to, _mm512_maskz_compress_epi16(keep, lefts));
    _mm512_storeu_si512(w->rights + to, _mm512_maskz_compress_epi16(keep, rights));
    return (merge | right) & ~apart;
}

/* Asks for some of the 64 pairs from a place on. */
ALWAYS void ask(tk_row *w, uint32_t from, uint64_t which)
{
    __m512i at = count16((uint16_t)from);
    uint16_t *to = w->asked + w->asked_count;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi16((__mmask32)which, at));
    to += (uint32_t)__builtin_popcount((uint32_t)which);
    at = _mm512_add_epi16(at, all16(32));
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi16((__mmask32)(which >> 32), at));
    w->asked_count += (uint32_t)__builtin_popcountll(which);
}

ALWAYS uint32_t move_chunk(tk_row *w, uint32_t from, uint32_t to, uint64_t kept, uint64_t safe,
                           uint64_t right)
{
    uint32_t out = to;
    for (uint32_t k = 0; k < CHUNK; k += 16) {
        move_ids(w, from + k, out, (__mmask16)(kept >> k), (__mmask16)(safe >> k));
        out += (uint32_t)__builtin_popcount((uint16_t)(kept >> k));
    }
    uint32_t half = to + (uint32_t)__builtin_popcount((uint32_t)kept);
    uint64_t new = move_pairs(w, from, to, (__mmask32)kept, (__mmask32)safe, (__mmask32)right);
    new |= (uint64_t)move_pairs(w, from + 32, half, (__mmask32)(kept >> 32),
                                (__mmask32)(safe >> 32), (__mmask32)(right >> 32))
           << 32;
    ask(w, to, _pext_u64(new, kept));
    return out;
}

/* ---- the end ---- */

ALWAYS uint64_t separators_at(const tk_row *w, uint32_t i)
{
    uint64_t ends = 0;
    for (uint32_t k = 0; k < CHUNK; k += 16)
        ends |= (uint64_t)_mm512_movepi32_mask(load(w->ids + i + k)) << k;
    return ends;
}

ALWAYS uint64_t open_at(const tk_row *w, uint32_t i)
{
    uint64_t pairs = _mm512_cmplt_epu16_mask(load(w->ranks + i), all16(NONE));
    return pairs | (uint64_t)_mm512_cmplt_epu16_mask(load(w->ranks + i + 32), all16(NONE)) << 32;
}

AVX512 uint32_t tk_merge_sweeps(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w,
                                tk_lane **rest)
{
    return sweep(m, lanes, n, w, rest);
}

size_t tk_row_bytes(void)
{
    return sizeof(tk_row);
}
#else
size_t tk_row_bytes(void)
{
    return 0;
}
#endif

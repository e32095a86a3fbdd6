/* bpe_sweeps.c - the sweeps of bpe_sweeps.h, with AVX-512.
 *
 * All words lie in one row, with a separator in front of each and behind the last one; what is
 * known of a pair stands at its left symbol. A sweep finds the pairs that can be merged, merges
 * them and closes the gaps, and looks up the pairs that have come about. What it can not decide is
 * left to the lanes. */
#include "tokenizer/model/bpe_sweeps.h"

#if TD_X86
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,"  \
                                     "avx2,bmi,bmi2,lzcnt,popcnt")))
#define ALWAYS static inline __attribute__((always_inline)) AVX512

enum {
    CHUNK = 64,
    PAD = CHUNK, /* what may be read or written beside the row */
    ROW = TK_LANES * (TK_LANE + 1) + 1,
    ASKED = 256,
    WORTH = 40, /* places of the row for each pair of a sweep: with fewer pairs lanes are faster */
    WALK = 6, /* pairs that are looked at on each side */
    NONE = 0xFFFE,
    NEVER = 0xFFFF,
};

#define SEPARATOR ((uint32_t)1 << 31) /* with the number of the word in front of it */
#define MADE ((uint32_t)1 << 30)      /* by this sweep */

/* Pairs and their places in the row. */
typedef struct pair_list {
    uint32_t left[ASKED + CHUNK], right[ASKED + CHUNK], at[ASKED + CHUNK];
    uint32_t count;
} pair_list;

struct tk_row {
    const tk_merges *m;
    tk_lane *lanes;
    uint32_t count;
    _Alignas(64) uint32_t ids[PAD + ROW + PAD], products[PAD + ROW + PAD];
    uint16_t ranks[PAD + ROW + PAD]; /* codes, even ones of hasty products; NONE: not merged */
    uint16_t lefts[PAD + ROW + PAD], rights[PAD + ROW + PAD]; /* bounds; NEVER: a word ends here */
    uint64_t safe[ROW / CHUNK + 2]; /* a bit for each pair that can be merged now */
    pair_list asked;
    uint32_t groups[ASKED + CHUNK]; /* of what is asked for */
    uint64_t tags[ASKED + CHUNK];
    uint32_t known[ASKED + CHUNK], known_at[ASKED + CHUNK]; /* which of it the filter has */
    uint64_t slots[ASKED + CHUNK];                          /* of that */
    uint32_t known_count;
};

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

/* ---- looking pairs up ---- */

ALWAYS void put(pair_list *l, __mmask16 which, __m512i left, __m512i right, __m512i at)
{
    _mm512_storeu_si512(l->left + l->count, _mm512_maskz_compress_epi32(which, left));
    _mm512_storeu_si512(l->right + l->count, _mm512_maskz_compress_epi32(which, right));
    _mm512_storeu_si512(l->at + l->count, _mm512_maskz_compress_epi32(which, at));
    l->count += (uint32_t)__builtin_popcount(which);
}

ALWAYS __m512i hash_of(__m256i left, __m256i right)
{
    __m512i pair = _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(left), 32),
                                   _mm512_cvtepu32_epi64(right));
    return _mm512_mullo_epi64(pair, _mm512_set1_epi64((long long)TK_FILTER_ODD));
}

/* Of eight hashes: tk_filter_has. */
ALWAYS uint32_t filter_has(const tk_merges *m, __m512i hash)
{
    __m512i at = _mm512_srl_epi64(hash, _mm_cvtsi32_si128((int)m->filter_shift));
    __m512i word = _mm512_i64gather_epi64(at, m->filter, 8);
    __m512i first = _mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 32));
    __m512i second = _mm512_rorv_epi64(word, _mm512_srli_epi64(hash, 38));
    return _mm512_test_epi64_mask(_mm512_and_si512(first, second), _mm512_set1_epi64(1));
}

/* Finds the groups of all pairs, eight at a time, as tk_place_of does, and asks for them and for
 * what the filter has. */
ALWAYS void find_places(tk_row *w)
{
    const tk_merges *m = w->m;
    pair_list *a = &w->asked;
    __m128i up_left = _mm_cvtsi32_si128((int)(64 - m->id_bits));
    __m128i up_right = _mm_cvtsi32_si128((int)(64 - 2 * m->id_bits));
    __m128i to_word = _mm_cvtsi32_si128((int)m->filter_shift);
    for (uint32_t i = 0; i < a->count; i += 8) {
        uint32_t words[8];
        __m256i left4 = _mm256_loadu_si256((const void *)(a->left + i));
        __m256i right4 = _mm256_loadu_si256((const void *)(a->right + i));
        __m512i hash = hash_of(left4, right4);
        __m512i left = _mm512_cvtepu32_epi64(left4), right = _mm512_cvtepu32_epi64(right4);
        __m512i pair =
            _mm512_or_si512(_mm512_sll_epi64(left, up_left), _mm512_sll_epi64(right, up_right));
        pair = _mm512_mullo_epi64(pair, _mm512_set1_epi64((long long)TK_PAIR_ODD));
        __m512i group = _mm512_mul_epu32(_mm512_srli_epi64(pair, 32),
                                         _mm512_set1_epi64((long long)m->groups));
        __m512i tag = _mm512_and_si512(_mm512_srl_epi64(pair, up_right),
                                       _mm512_set1_epi64((long long)TK_TAG_MASK));
        _mm256_storeu_si256((void *)(w->groups + i),
                            _mm512_cvtepi64_epi32(_mm512_srli_epi64(group, 32)));
        _mm256_storeu_si256((void *)words, _mm512_cvtepi64_epi32(_mm512_srl_epi64(hash, to_word)));
        _mm512_storeu_si512(w->tags + i, _mm512_slli_epi64(tag, 2 * TK_FIELD));
#pragma GCC unroll 8
        for (uint32_t k = 0; k < 8; k++) {
            __builtin_prefetch(m->filter + words[k]);
            __builtin_prefetch(m->slots + (size_t)w->groups[i + k] * TK_GROUP);
        }
    }
}

/* Which pairs the filter has. */
ALWAYS void ask_filter(tk_row *w)
{
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const pair_list *a = &w->asked;
    w->known_count = 0;
    for (uint32_t i = 0; i < a->count; i += 16) {
        uint32_t rest = a->count - i;
        __m512i left = load(a->left + i), right = load(a->right + i);
        uint32_t has = filter_has(
            w->m, hash_of(_mm512_castsi512_si256(left), _mm512_castsi512_si256(right)));
        has |= filter_has(w->m, hash_of(_mm512_extracti64x4_epi64(left, 1),
                                        _mm512_extracti64x4_epi64(right, 1)))
               << 8;
        has &= rest < 16 ? (1u << rest) - 1 : 0xFFFF;
        _mm512_storeu_si512(w->known + w->known_count,
                            _mm512_maskz_compress_epi32((__mmask16)has,
                                                        _mm512_add_epi32(count, all(i))));
        _mm512_storeu_si512(w->known_at + w->known_count,
                            _mm512_maskz_compress_epi32((__mmask16)has, load(a->at + i)));
        w->known_count += (uint32_t)__builtin_popcount(has);
    }
}

/* The slots of those, as tk_merge_at finds them. */
ALWAYS void find_slots(tk_row *w)
{
    const uint64_t fields = ((uint64_t)1 << 2 * TK_FIELD) - 1;
    const __m256i mask = _mm256_set1_epi64x((long long)(TK_TAG_MASK << 2 * TK_FIELD));
    for (uint32_t i = 0; i < w->known_count; i++) {
        uint32_t k = w->known[i];
        const uint64_t *group = w->m->slots + (size_t)w->groups[k] * TK_GROUP;
        __m256i slots = _mm256_loadu_si256((const void *)group);
        __m256i other = _mm256_xor_si256(slots, _mm256_set1_epi64x((long long)w->tags[k]));
        /* The first one that is the same, or 0. */
        slots = _mm256_maskz_compress_epi64(_mm256_testn_epi64_mask(other, mask), slots);
        uint64_t slot = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(slots)) & fields;
        if (__builtin_expect(group[TK_GROUP - 1] >> 63 > slot >> TK_FIELD, 0)) {
            tk_merged e = tk_merges_find_more(w->m, w->asked.left[k], w->asked.right[k]);
            slot = (uint64_t)(e.rank + 1) << TK_FIELD | e.product;
        }
        w->slots[i] = slot;
    }
}

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

ALWAYS __mmask16 hasty_of(const tk_merges *m, __m512i products)
{
    __m512i words = _mm512_i32gather_epi32(_mm512_srli_epi32(products, 5), m->hasty, 4);
    words = _mm512_rorv_epi32(words, products);
    return _mm512_test_epi32_mask(words, all(1));
}

ALWAYS void look_up(tk_row *w)
{
    find_places(w);
    ask_filter(w);
    find_slots(w);
    for (uint32_t i = 0; i < w->known_count; i += 16) {
        uint32_t codes[16], n = w->known_count - i < 16 ? w->known_count - i : 16;
        parts p = split(load(w->slots + i), load(w->slots + i + 8));
        __mmask16 valid = (__mmask16)((1u << n) - 1);
        __mmask16 hasty = 0;
        if (w->m->hurries)
            hasty = hasty_of(w->m, _mm512_maskz_mov_epi32(valid, p.products));
        _mm512_mask_i32scatter_epi32(w->products, valid, load(w->known_at + i), p.products, 4);
        _mm512_storeu_si512(codes, codes_of(p.ranks, hasty));
        for (uint32_t k = 0; k < n; k++)
            w->ranks[w->known_at[i + k]] = (uint16_t)codes[k];
    }
    w->asked.count = 0;
}

/* ---- the first look ---- */

ALWAYS void take(tk_row *w, uint32_t n)
{
    uint32_t at = PAD;
    w->ids[at++] = SEPARATOR;
    for (uint32_t i = 0; i < n; i++) {
        const tk_lane *l = &w->lanes[i];
        uint32_t count = l->end - 1;
        _mm512_storeu_si512(w->ids + at, load(l->ids + 1));
        if (count > 16)
            _mm512_storeu_si512(w->ids + at + 16, load(l->ids + 17));
        at += count;
        w->ids[at++] = SEPARATOR | i;
    }
    w->count = at - PAD;
}

ALWAYS void store16(uint16_t *p, __m512i x)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(x));
}

ALWAYS void look_first(tk_row *w)
{
    const tk_merges *m = w->m;
    const __m512i zero = all(0);
    for (uint32_t i = PAD; i < PAD + w->count; i += 16) {
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
        store16(w->ranks + i, codes_of(p.ranks, _mm512_movepi32_mask(p.upper)));
        store16(w->lefts + i, lefts);
        store16(w->rights + i, rights);
        uint32_t far = ~(uint32_t)(near | apart) & 0xFFFF, rest = PAD + w->count - i;
        far &= rest < 16 ? (1u << rest) - 1 : 0xFFFF;
        if (far != 0) {
            __m512i place = _mm512_add_epi32(
                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), all(i));
            put(&w->asked, (__mmask16)far, left, right, place);
            if (w->asked.count >= ASKED)
                look_up(w);
        }
    }
    if (w->asked.count != 0)
        look_up(w);
}

/* ---- a sweep ---- */

/* How far up pairs are safe from one side: the greatest of all bounds, or of the ranks on the way
 * to it where these are lower. From the far end on, as each pair on the way is either a bound for
 * what lies behind it or lets through what comes from there. Both come in two parts, one behind the
 * other; from: where the pairs themselves begin. */
ALWAYS __m512i reach(const __m512i *bounds, const __m512i *ranks, int from, int step, bool ends)
{
    const __m512i number = _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
                                            17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2,
                                            1, 0);
    __m512i reached = all(0);
#pragma GCC unroll 16
    for (int k = WALK; k >= 1; k--) {
        __m512i at = _mm512_add_epi16(number, all16((uint16_t)(from + k * step)));
        __m512i bound = _mm512_permutex2var_epi16(bounds[0], at, bounds[1]);
        if (ends)
            bound = _mm512_maskz_mov_epi16(_mm512_cmpeq_epi16_mask(bound, all16(NEVER)), bound);
        reached = _mm512_min_epu16(reached, _mm512_permutex2var_epi16(ranks[0], at, ranks[1]));
        reached = _mm512_max_epu16(reached, bound);
    }
    return reached;
}

ALWAYS __mmask32 safe_below(const tk_row *w, uint32_t i, __m512i rank, bool ends)
{
    __m512i ranks[3] = { load(w->ranks + i - 32), load(w->ranks + i), load(w->ranks + i + 32) };
    __m512i lefts[2] = { load(w->lefts + i - 32), load(w->lefts + i) };
    __m512i rights[2] = { load(w->rights + i), load(w->rights + i + 32) };
    __m512i left = reach(lefts, ranks, 32, -1, ends);
    __m512i right = reach(rights, ranks + 1, 0, 1, ends);
    return _mm512_cmplt_epu16_mask(rank, _mm512_min_epu16(left, right));
}

/* Which of 32 pairs can be merged. The lowest bit of codes tells hasty products only: it is set
 * before ranks are compared, so that of equal ones none seems to be higher. */
ALWAYS uint32_t safe_at(const tk_row *w, uint32_t i)
{
    const __m512i none = all16(NONE), odd = all16(1);
    __m512i rank = load(w->ranks + i);
    __mmask32 open = _mm512_cmpneq_epi16_mask(rank, none);
    __mmask32 hasty = _mm512_mask_testn_epi16_mask(open, rank, odd);
    rank = _mm512_or_si512(rank, odd);
    __mmask32 safe = open & safe_below(w, i, rank, false);
    if (__builtin_expect(hasty != 0, 0))
        safe &= ~hasty | safe_below(w, i, rank, true);
    return safe;
}

/* false: there are too few pairs that can be merged to be worth a sweep. */
ALWAYS bool find_safe(tk_row *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->count; i += CHUNK) {
        uint64_t safe = safe_at(w, PAD + i) | (uint64_t)safe_at(w, PAD + i + 32) << 32;
        if (w->count - i < CHUNK)
            safe &= ((uint64_t)1 << (w->count - i)) - 1;
        w->safe[i / CHUNK] = safe;
        count += (uint32_t)__builtin_popcountll(safe);
    }
    return count > w->count / WORTH;
}

ALWAYS void give_back(tk_row *w, uint32_t from, uint32_t count, uint32_t separator)
{
    tk_lane *l = &w->lanes[separator & ~SEPARATOR];
    _mm512_storeu_si512(l->ids + 1, load(w->ids + from));
    if (count > 16)
        _mm512_storeu_si512(l->ids + 17, load(w->ids + from + 16));
    tk_lane_start(l, count);
}

/* Merges what is safe and closes the gaps. */
ALWAYS void merge_safe(tk_row *w)
{
    uint32_t to = PAD, count = w->count;
    uint64_t before = 0;
    for (uint32_t c = 0; c < count; c += CHUNK) {
        uint32_t i = PAD + c;
        uint64_t safe = w->safe[c / CHUNK], kept = ~(safe << 1 | before >> 63);
        if (count - c < CHUNK)
            kept &= ((uint64_t)1 << (count - c)) - 1;
        before = safe;
        uint32_t out = to;
        for (uint32_t k = 0; k < CHUNK; k += 16) {
            __mmask16 keep = (__mmask16)(kept >> k), merge = (__mmask16)(safe >> k);
            __m512i ids = load(w->ids + i + k), products = load(w->products + i + k);
            ids = _mm512_mask_or_epi32(ids, merge, products, all(MADE));
            _mm512_storeu_si512(w->ids + out, _mm512_maskz_compress_epi32(keep, ids));
            _mm512_storeu_si512(w->products + out, _mm512_maskz_compress_epi32(keep, products));
            out += (uint32_t)__builtin_popcount(keep);
        }
        for (uint32_t k = 0; k < CHUNK; k += 32) {
            __mmask32 keep = (__mmask32)(kept >> k), merge = (__mmask32)(safe >> k);
            __m512i ranks = load(w->ranks + i + k);
            /* Behind what is merged the bounds are those of its second part. */
            __m512i lefts = _mm512_mask_mov_epi16(load(w->lefts + i + k), merge,
                                                  load(w->lefts + i + k + 1));
            __m512i rights = _mm512_mask_mov_epi16(load(w->rights + i + k), merge,
                                                   load(w->rights + i + k + 1));
            _mm512_storeu_si512(w->ranks + to, _mm512_maskz_compress_epi16(keep, ranks));
            _mm512_storeu_si512(w->lefts + to, _mm512_maskz_compress_epi16(keep, lefts));
            _mm512_storeu_si512(w->rights + to, _mm512_maskz_compress_epi16(keep, rights));
            to += (uint32_t)__builtin_popcount(keep);
        }
    }
    w->count = to - PAD;
}

ALWAYS uint32_t bits32(__mmask16 low, __mmask16 high)
{
    return (uint32_t)low | (uint32_t)high << 16;
}

/* Asks for the pairs of what has been made. */
ALWAYS void look_again(tk_row *w)
{
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i made = all(MADE);
    for (uint32_t i = PAD; i < PAD + w->count; i += 32) {
        __m512i a = load(w->ids + i), b = load(w->ids + i + 16);
        __m512i c = load(w->ids + i + 1), d = load(w->ids + i + 17);
        uint32_t left_made =
            bits32(_mm512_test_epi32_mask(a, made), _mm512_test_epi32_mask(b, made));
        uint32_t right_made =
            bits32(_mm512_test_epi32_mask(c, made), _mm512_test_epi32_mask(d, made));
        uint32_t new = left_made | right_made;
        if (new == 0)
            continue;
        uint32_t apart = bits32(_mm512_movepi32_mask(_mm512_or_si512(a, c)),
                                _mm512_movepi32_mask(_mm512_or_si512(b, d)));
        _mm512_mask_storeu_epi16(w->ranks + i, new, all16(NONE));
        _mm512_mask_storeu_epi16(w->lefts + i, right_made & ~apart, all16(0));
        _mm512_mask_storeu_epi16(w->rights + i, left_made & ~apart, all16(0));
        a = _mm512_andnot_si512(made, a);
        b = _mm512_andnot_si512(made, b);
        _mm512_storeu_si512(w->ids + i, a);
        _mm512_storeu_si512(w->ids + i + 16, b);
        new &= ~apart;
        if (PAD + w->count - i < 32)
            new &= (1u << (PAD + w->count - i)) - 1;
        __m512i at = _mm512_add_epi32(count, all(i));
        put(&w->asked, (__mmask16)new, a, _mm512_andnot_si512(made, c), at);
        put(&w->asked, (__mmask16)(new >> 16), b, _mm512_andnot_si512(made, d),
            _mm512_add_epi32(at, all(16)));
        if (w->asked.count >= ASKED)
            look_up(w);
    }
    look_up(w);
}

/* Gives all words back. Returns how many of them still have pairs. */
ALWAYS uint32_t end(tk_row *w, tk_lane **rest)
{
    uint32_t n = 0, from = PAD + 1;
    bool some = false; /* pairs in this word, so far */
    for (uint32_t i = PAD; i < PAD + w->count; i += CHUNK) {
        uint64_t ends = 0, pairs;
        for (uint32_t k = 0; k < CHUNK; k += 16)
            ends |= (uint64_t)_mm512_movepi32_mask(load(w->ids + i + k)) << k;
        pairs = _mm512_cmpneq_epi16_mask(load(w->ranks + i), all16(NONE));
        pairs |= (uint64_t)_mm512_cmpneq_epi16_mask(load(w->ranks + i + 32), all16(NONE)) << 32;
        if (PAD + w->count - i < CHUNK)
            ends &= ((uint64_t)1 << (PAD + w->count - i)) - 1;
        if (i == PAD)
            ends &= ends - 1; /* in front of the first word */
        for (; ends != 0; ends &= ends - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctzll(ends);
            uint64_t before = ends ^ (ends - 1);
            some |= (pairs & before) != 0;
            pairs &= ~before;
            give_back(w, from, at - from, w->ids[at]);
            rest[n] = &w->lanes[w->ids[at] & ~SEPARATOR];
            n += some;
            from = at + 1;
            some = false;
        }
        some |= pairs != 0;
    }
    return n;
}

AVX512 uint32_t tk_merge_sweeps(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w,
                                tk_lane **rest)
{
    w->m = m;
    w->lanes = lanes;
    w->asked.count = 0;
    take(w, n);
    look_first(w);
    while (find_safe(w)) {
        merge_safe(w);
        look_again(w);
    }
    return end(w, rest);
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

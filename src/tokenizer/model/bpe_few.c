/* bpe_few.c - a merge after the other, of up to four words at the same time.
 *
 * Where there are few words, each merge waits for the one before it. So what is known of the pairs
 * of a word stays in registers: a store that is read back as a part of a vector, or a branch that
 * cannot be guessed, takes longer than a merge. While the two new pairs of a merge are looked up,
 * the lowest one of the others is found; filter and table are asked for at once. Words that are
 * done go along with those that are not, and look where nothing is. */
#include "tokenizer/model/bpe_few.h"

#if TD_X86
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,"  \
                                     "avx2,bmi,bmi2,lzcnt,popcnt")))
#define ALWAYS static inline __attribute__((always_inline)) AVX512

enum { FEW = 4, FEW_LONG = 2, ROOM = TK_LANE + 2 };

#define FIELD_MASK (((uint64_t)1 << TK_FIELD) - 1)

/* What all words need of tk_merges: copies, which no store into a lane can change. */
typedef struct table {
    const tk_merges *m;
    const char *slots;
    const uint64_t *filter;
    uint64_t groups, nowhere; /* how many; where the empty one is, in bytes */
    uint32_t left_shift, right_shift, filter_shift;
    __m256i tag_turn;
} table;

/* A pair is a key of 32 bits, rank << 5 | place, or one of 64 bits with its product below that. A
 * pair that is not merged has the highest rank there is: the highest bit of its key is set. So it
 * is at place 0, which comes first of all such places. */
#define KEY_AT 32
#define RANK_AT (KEY_AT + 5)

typedef struct word {
    td_id *ids, *products; /* by place */
    uint32_t end;
    __m512i keys[2]; /* by place; the second 16 are of long words */
    uint64_t alive;
    uint64_t best, rest; /* the lowest key; of those that the last merge did not change */
    uint32_t x, at;      /* the symbol that the last merge made, and the one before it */
    td_id before, made, after;
    uint64_t pairs[2], hashes[2], groups[2]; /* of the pairs on both sides of it */
} word;

ALWAYS __m512i all(uint32_t x)
{
    return _mm512_set1_epi32((int)x);
}

ALWAYS uint64_t lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* yes if it is not 0. Which one cannot be guessed, and gcc takes a branch for it. */
ALWAYS uint64_t choose(uint64_t is, uint64_t yes, uint64_t no)
{
    __asm__("test %1, %1\n\tcmovz %2, %0" : "+r"(yes) : "r"(is), "r"(no) : "cc");
    return yes;
}

/* ---- keys ---- */

/* Of rank + 1 and product as a slot has them, or 0. */
ALWAYS uint64_t key_of(uint64_t slot, uint32_t place)
{
    return _pdep_u64(slot, FIELD_MASK << RANK_AT | FIELD_MASK) + ((uint64_t)place << KEY_AT) -
           ((uint64_t)1 << RANK_AT);
}

ALWAYS void put_key(__m512i *keys, bool is_long, uint32_t place, uint64_t key)
{
    uint64_t bit = (uint64_t)1 << place;
    keys[0] = _mm512_mask_set1_epi32(keys[0], (__mmask16)bit, (int)(key >> KEY_AT));
    if (is_long)
        keys[1] = _mm512_mask_set1_epi32(keys[1], (__mmask16)(bit >> 16), (int)(key >> KEY_AT));
}

/* The lowest key of a word. */
ALWAYS uint64_t least_key(const word *w, bool is_long)
{
    __m512i keys = is_long ? _mm512_min_epu32(w->keys[0], w->keys[1]) : w->keys[0];
    __m256i a = _mm256_min_epu32(_mm512_castsi512_si256(keys), _mm512_extracti64x4_epi64(keys, 1));
    __m128i b = _mm_min_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    b = _mm_min_epu32(b, _mm_shuffle_epi32(b, 0x4E));
    b = _mm_min_epu32(b, _mm_shuffle_epi32(b, 0xB1));
    uint32_t key = (uint32_t)_mm_cvtsi128_si32(b);
    return (uint64_t)key << KEY_AT | w->products[key % TK_LANE];
}

/* ---- the first look ---- */

/* The keys of 16 pairs, as far as they are in the square; others are left in far. pairs: a bit for
 * each that is there. */
ALWAYS __m512i look_in_square(const tk_merges *m, const word *w, const tk_lane *l, uint32_t from,
                              uint32_t pairs, uint32_t *far)
{
    const __m512i count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i zero = all(0), low = all((uint32_t)FIELD_MASK);
    __m512i left = _mm512_loadu_si512(l->ids + from), right = _mm512_loadu_si512(l->ids + from + 1);
    __mmask16 near =
        _mm512_mask_cmplt_epu32_mask((__mmask16)(pairs >> from), _mm512_max_epu32(left, right),
                                     all(m->square_end));
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(left, all(TK_SQUARE)), right);
    __m512i a = _mm512_mask_i32gather_epi64(zero, (__mmask8)near, _mm512_castsi512_si256(at),
                                            m->square, 8);
    __m512i b = _mm512_mask_i32gather_epi64(zero, (__mmask8)(near >> 8),
                                            _mm512_extracti64x4_epi64(at, 1), m->square, 8);
    __m512i even = _mm512_slli_epi32(count, 1), odd = _mm512_or_si512(even, all(1));
    __m512i lower_half = _mm512_permutex2var_epi32(a, even, b);
    __m512i upper_half = _mm512_permutex2var_epi32(a, odd, b);
    __m512i ranks =
        _mm512_and_si512(_mm512_shrdi_epi32(lower_half, upper_half, TK_FIELD), low);
    _mm512_storeu_si512(w->ids + from + 1, right);
    _mm512_storeu_si512(w->products + from, _mm512_and_si512(lower_half, low));
    *far &= ~((uint32_t)near << from);
    return _mm512_or_si512(_mm512_slli_epi32(_mm512_sub_epi32(ranks, all(1)), 5),
                           _mm512_add_epi32(count, all(from)));
}

/* The keys of other pairs. */
__attribute__((noinline)) AVX512 static void look_far(const tk_merges *m, const tk_lane *l,
                                                      td_id *products, uint32_t far,
                                                      __m512i *keys, bool is_long)
{
    for (uint32_t rest = far; rest != 0; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        tk_merge_prefetch(m, l->ids[i], l->ids[i + 1]);
    }
    for (; far != 0; far &= far - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(far);
        td_id product = 0;
        uint32_t rank = tk_merge_rank(m, l->ids[i], l->ids[i + 1], &product);
        products[i] = product;
        put_key(keys, is_long, i, (uint64_t)(rank << 5 | i) << KEY_AT);
    }
}

/* room: for ids and products. */
ALWAYS void look_first(table t, word *w, bool is_long, const tk_lane *l, td_id room[2][ROOM])
{
    uint32_t pairs = (uint32_t)(((uint64_t)1 << (l->end - 1)) - 1) & ~(uint32_t)1, far = pairs;
    w->ids = room[0];
    w->products = room[1];
    w->end = l->end;
    w->alive = l->alive;
    w->keys[0] = look_in_square(t.m, w, l, 0, pairs, &far);
    if (is_long)
        w->keys[1] = look_in_square(t.m, w, l, 16, pairs, &far);
    w->ids[0] = w->ids[w->end] = TK_NO_ID;
    if (__builtin_expect(far != 0, 0)) {
        /* Copies: what a call can reach is not kept in registers. */
        __m512i keys[2] = { w->keys[0], w->keys[is_long] };
        look_far(t.m, l, w->products, far, keys, is_long);
        w->keys[0] = keys[0];
        w->keys[is_long] = keys[is_long];
    }
    w->best = least_key(w, is_long);
}

/* ---- a merge ---- */

/* there: 0 at an end of the word. */
ALWAYS void ask(table t, word *w, int side, td_id left, td_id right, uint64_t there)
{
    uint64_t hash = tk_filter_hash(left, right);
    uint64_t pair =
        ((uint64_t)left << t.left_shift | (uint64_t)right << t.right_shift) * TK_PAIR_ODD;
    uint64_t group = ((pair >> 32) * t.groups >> 32) * TK_GROUP * sizeof *t.m->slots;
    group = choose(there, group, t.nowhere);
    __builtin_prefetch(t.filter + (hash >> t.filter_shift));
    __builtin_prefetch(t.slots + group);
    w->hashes[side] = hash;
    w->pairs[side] = pair;
    w->groups[side] = group;
}

/* Merges the best pair and asks for the two that come about. alone: there is such a pair. */
ALWAYS void merge(table t, word *w, bool is_long, bool alone)
{
    uint64_t going = alone ? UINT64_MAX : ~(uint64_t)((int64_t)w->best >> 63);
    uint32_t at = (uint32_t)(w->best >> KEY_AT) % TK_LANE;
    uint64_t behind = w->alive >> at >> 1;
    uint32_t gone = at + 1 + (uint32_t)_tzcnt_u64(behind);
    uint32_t y = at + 1 + (uint32_t)_tzcnt_u64(behind & (behind - 1));
    uint32_t x = 63 ^ (uint32_t)_lzcnt_u64(_bzhi_u64(w->alive, at) | 1);
    w->alive &= ~((uint64_t)1 << gone & going);
    w->x = x;
    w->at = at;
    w->before = w->ids[x];
    w->made = (td_id)w->best;
    w->after = w->ids[y];
    w->ids[at] = w->made;
    ask(t, w, 0, w->before, w->made, x);
    ask(t, w, 1, w->made, w->after, (y ^ w->end) & going);
    uint64_t old = (uint64_t)1 << x | (uint64_t)1 << at | (uint64_t)1 << gone;
    w->keys[0] = _mm512_mask_mov_epi32(w->keys[0], (__mmask16)old, all(UINT32_MAX));
    if (is_long)
        w->keys[1] = _mm512_mask_mov_epi32(w->keys[1], (__mmask16)(old >> 16), all(UINT32_MAX));
    w->rest = least_key(w, is_long);
}

/* A slot as the list has it. */
__attribute__((noinline)) static uint64_t find_more(const tk_merges *m, td_id left, td_id right)
{
    tk_merged e = tk_merges_find_more(m, left, right);
    return e.rank == UINT32_MAX ? 0 : (uint64_t)(e.rank + 1) << TK_FIELD | e.product;
}

/* The key of a pair that was asked for, as tk_merge_rank finds it. */
ALWAYS uint64_t answer(table t, const word *w, int side, uint32_t place)
{
    const __m256i mask = _mm256_set1_epi64x((long long)(TK_TAG_MASK << 2 * TK_FIELD));
    uint64_t has = tk_filter_has(t.filter, t.filter_shift, w->hashes[side]);
    const uint64_t *group =
        (const uint64_t *)(const void *)(t.slots + choose(has, w->groups[side], t.nowhere));
    __m256i slots = _mm256_loadu_si256((const void *)group);
    __m256i tag = _mm256_rolv_epi64(_mm256_set1_epi64x((long long)w->pairs[side]), t.tag_turn);
    __mmask8 same = _mm256_testn_epi64_mask(_mm256_xor_si256(slots, tag), mask);
    /* The first one that is the same, or 0. */
    slots = _mm256_maskz_compress_epi64(same, slots);
    uint64_t slot = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(slots));
    if (__builtin_expect(group[TK_GROUP - 1] >> 63 > slot >> TK_FIELD, 0))
        slot = side == 0 ? find_more(t.m, w->before, w->made) : find_more(t.m, w->made, w->after);
    return key_of(slot, place);
}

ALWAYS void look_around(table t, word *w, bool is_long)
{
    uint64_t left = answer(t, w, 0, w->x), right = answer(t, w, 1, w->at);
    w->products[w->x] = (td_id)left;
    w->products[w->at] = (td_id)right;
    put_key(w->keys, is_long, w->x, left);
    put_key(w->keys, is_long, w->at, right);
    w->best = lower(w->rest, lower(left, right));
}

/* Puts what is left of a word side by side. */
ALWAYS void give_back(const word *w, bool is_long, tk_lane *l)
{
    uint32_t kept = (uint32_t)((w->alive ^ (uint64_t)1 << w->end) >> 1), low = kept & UINT16_MAX;
    __m512i ids = _mm512_loadu_si512(w->ids + 1);
    _mm512_storeu_si512(l->ids + 1, _mm512_maskz_compress_epi32((__mmask16)low, ids));
    if (is_long) {
        ids = _mm512_maskz_compress_epi32((__mmask16)(kept >> 16),
                                          _mm512_loadu_si512(w->ids + 17));
        _mm512_storeu_si512(l->ids + 1 + _mm_popcnt_u32(low), ids);
    }
    tk_lane_start(l, (uint32_t)_mm_popcnt_u32(kept));
}

/* n and is_long are constants: no loop is left but that over the merges. */
ALWAYS void run(table t, tk_lane *const *lanes, uint32_t n, bool is_long)
{
    word w[FEW];
    td_id room[FEW][2][ROOM]; /* not in the lanes, which may lie where stores look like others */
    uint64_t best = UINT64_MAX;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++) {
        look_first(t, &w[i], is_long, lanes[i], room[i]);
        best &= w[i].best;
    }
    while ((int64_t)best >= 0) {
#pragma GCC unroll 4
        for (uint32_t i = 0; i < n; i++)
            merge(t, &w[i], is_long, n == 1);
        best = UINT64_MAX;
#pragma GCC unroll 4
        for (uint32_t i = 0; i < n; i++) {
            look_around(t, &w[i], is_long);
            best &= w[i].best;
        }
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < n; i++)
        give_back(&w[i], is_long, lanes[i]);
}

ALWAYS void run_short(table t, tk_lane *const *lanes, uint32_t n)
{
    for (uint32_t parts = (n + FEW - 1) / FEW; parts != 0; parts--) {
        uint32_t k = (n + parts - 1) / parts;
        if (k == 1)
            run(t, lanes, 1, false);
        else if (k == 2)
            run(t, lanes, 2, false);
        else if (k == 3)
            run(t, lanes, 3, false);
        else
            run(t, lanes, FEW, false);
        lanes += k;
        n -= k;
    }
}

ALWAYS void run_long(table t, tk_lane *const *lanes, uint32_t n)
{
    if (n % FEW_LONG != 0)
        run(t, lanes++, 1, true);
    for (uint32_t i = 0; i + 1 < n; i += FEW_LONG, lanes += FEW_LONG)
        run(t, lanes, FEW_LONG, true);
}

AVX512 void tk_merge_few(const tk_merges *m, tk_lane **lanes, uint32_t n)
{
    table t = {
        .m = m,
        .slots = (const char *)m->slots,
        .filter = m->filter,
        .groups = m->groups,
        .nowhere = (uint64_t)m->groups * TK_GROUP * sizeof *m->slots,
        .left_shift = 64 - m->id_bits,
        .right_shift = 64 - 2 * m->id_bits,
        .filter_shift = m->filter_shift,
        .tag_turn = _mm256_set1_epi64x((long long)(2 * m->id_bits + 2 * TK_FIELD) % 64),
    };
    /* Long ones apart: a short word that goes along with one is done long before it. */
    uint32_t longs = 0;
    for (uint32_t i = 0; i < n; i++) {
        tk_lane *l = lanes[i];
        bool is_long = l->end > TK_LANE_SHORT + 1;
        uint32_t to = is_long ? longs : i;
        lanes[i] = lanes[to];
        lanes[to] = l;
        longs += is_long;
    }
    run_long(t, lanes, longs);
    run_short(t, lanes + longs, n - longs);
}
#endif

/* bpe_lanes.c - the steps of bpe_lanes.h. */
#include "tokenizer/model/bpe_lanes.h"

#include "tokenizer/model/bpe_few.h"
#include "tokenizer/model/bpe_sweeps.h"

#if TD_X86
#include <immintrin.h>
#endif

/* Keys from here on are of pairs that are not merged: rank UINT32_MAX. */
#define NO_PAIR (UINT32_MAX << 5)
#define ALWAYS static inline __attribute__((always_inline))

/* What the steps need of tk_merges: copies, which no store into a lane can change. */
typedef struct table {
    const tk_merges *merges;
    const uint64_t *slots, *filter;
    uint64_t groups;
    uint32_t filter_shift, id_bits;
} table;

/* there: 0 at an end of the word, where there is no pair, 1 elsewhere. */
ALWAYS void ask(table t, tk_lane *l, int side, td_id left, td_id right, uint64_t there)
{
    uint64_t hash = tk_filter_hash(left, right);
    __builtin_prefetch(&t.filter[hash >> t.filter_shift]);
    l->hashes[side] = hash;
    l->pairs[side] = tk_pair_of(t.id_bits, left, right);
    l->there[side] = there;
}

/* What the filter does not know leads to the empty group, which is always near. */
ALWAYS void find_group(table t, tk_lane *l, int side)
{
    uint64_t pair = l->pairs[side], group = (pair >> 32) * t.groups >> 32;
    uint64_t may_be =
        0 - (l->there[side] & tk_filter_has(t.filter, t.filter_shift, l->hashes[side]));
    group = (group & may_be) | (t.groups & ~may_be);
    l->groups[side] = t.slots + group * TK_GROUP;
    __builtin_prefetch(l->groups[side]);
}

ALWAYS void set_pair(tk_lane *l, uint32_t at, tk_merged e)
{
    l->products[at] = e.product;
    l->keys[at] = e.rank << 5 | at;
}

ALWAYS void answer(table t, tk_lane *l, tk_place place, uint32_t at, uint32_t next)
{
    set_pair(l, at, tk_merge_at(t.merges, place, l->ids[at], l->ids[next]));
}

ALWAYS uint32_t after(uint64_t alive, uint32_t at)
{
    return (uint32_t)__builtin_ctzll(alive >> (at + 1)) + at + 1;
}

ALWAYS uint32_t before(uint64_t alive, uint32_t at)
{
    return 63 - (uint32_t)__builtin_clzll(alive & (((uint64_t)1 << at) - 1));
}

/* Pairs of bytes are mostly in the square. */
ALWAYS bool in_square(const tk_merges *m, td_id left, td_id right)
{
    return left < m->square_end && right < m->square_end;
}

ALWAYS void ask_first(const tk_merges *m, const tk_lane *l)
{
    for (uint32_t i = 1; i + 1 < l->end; i++)
        if (!in_square(m, l->ids[i], l->ids[i + 1]))
            tk_merge_prefetch(m, l->ids[i], l->ids[i + 1]);
}

ALWAYS void look_first(table t, tk_lane *l)
{
    const tk_merges *m = t.merges;
    for (uint32_t i = 0; i < TK_LANE; i++)
        l->keys[i] = NO_PAIR;
    for (uint32_t i = 1; i + 1 < l->end; i++) {
        td_id left = l->ids[i], right = l->ids[i + 1];
        if (in_square(m, left, right))
            set_pair(l, i, tk_merged_of(m->square[left * TK_SQUARE + right]));
        else
            answer(t, l, tk_place_of(m, tk_pair_of(t.id_bits, left, right)), i, i + 1);
    }
}

/* The least of TK_LANE_SHORT keys. */
typedef uint32_t least_fn(const uint32_t *keys);

ALWAYS uint32_t least_scalar(const uint32_t *keys)
{
    uint32_t best = NO_PAIR;
    for (uint32_t i = 0; i < TK_LANE_SHORT; i++)
        best = keys[i] < best ? keys[i] : best;
    return best;
}

/* Merges the pair of the lowest rank; false: there is none. */
ALWAYS bool merge_one(table t, tk_lane *l, least_fn *least)
{
    uint32_t best = least(l->keys);
    if (l->end > TK_LANE_SHORT + 1) {
        uint32_t other = least(l->keys + TK_LANE_SHORT);
        best = other < best ? other : best;
    }
    if (best >= NO_PAIR)
        return false;
    uint32_t at = best % TK_LANE, gone = after(l->alive, at);
    uint64_t alive = l->alive & ~((uint64_t)1 << gone);
    uint32_t x = before(alive, at), y = after(alive, at);
    td_id made = l->products[at];
    l->ids[at] = made;
    l->alive = alive;
    l->keys[gone] = NO_PAIR;
    l->before = x;
    l->at = at;
    l->after = y;
    ask(t, l, 0, l->ids[x], made, x != 0);
    ask(t, l, 1, made, l->ids[y], y != l->end);
    return true;
}

ALWAYS void look_around(table t, tk_lane *l)
{
    tk_place left = { l->groups[0], tk_pair_tag(t.id_bits, l->pairs[0]) };
    tk_place right = { l->groups[1], tk_pair_tag(t.id_bits, l->pairs[1]) };
    answer(t, l, left, l->before, l->at);
    answer(t, l, right, l->at, l->after);
}

ALWAYS void run(table t, tk_lane *const *lanes, uint32_t n, least_fn *least)
{
    tk_lane *active[TK_LANES];
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        ask_first(t.merges, lanes[i]);
    for (uint32_t i = 0; i < n; i++)
        look_first(t, lanes[i]);
    for (uint32_t i = 0; i < n; i++) {
        active[left] = lanes[i];
        left += merge_one(t, lanes[i], least);
    }
    while (left != 0) {
        uint32_t still = 0;
        for (uint32_t i = 0; i < left; i++) {
            find_group(t, active[i], 0);
            find_group(t, active[i], 1);
        }
        for (uint32_t i = 0; i < left; i++)
            look_around(t, active[i]);
        for (uint32_t i = 0; i < left; i++) {
            tk_lane *l = active[i];
            active[still] = l;
            still += merge_one(t, l, least);
        }
        left = still;
    }
}

#if TD_X86
#define AVX2 "avx2,bmi,bmi2,popcnt"

__attribute__((target(AVX2))) ALWAYS uint32_t least_avx2(const uint32_t *keys)
{
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)keys);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(keys + 8));
    a = _mm256_min_epu32(a, b);
    __m128i c = _mm_min_epu32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    c = _mm_min_epu32(c, _mm_shuffle_epi32(c, 0x4E));
    c = _mm_min_epu32(c, _mm_shuffle_epi32(c, 0xB1));
    return (uint32_t)_mm_cvtsi128_si32(c);
}

__attribute__((target(AVX2))) static void run_avx2(table t, tk_lane *const *lanes, uint32_t n)
{
    run(t, lanes, n, least_avx2);
}
#endif

static void merge_in_turn(td_cpu cpu, const tk_merges *m, tk_lane *const *lanes, uint32_t n)
{
    table t = { m, m->slots, m->filter, m->groups, m->filter_shift, m->id_bits };
#if TD_X86
    if (cpu >= TD_CPU_AVX2) {
        run_avx2(t, lanes, n);
        return;
    }
#else
    (void)cpu;
#endif
    run(t, lanes, n, least_scalar);
}

enum {
    SWEPT_MIN = 5, /* fewer words than this are not worth a sweep */
    FEW_MAX = 8,   /* of more, each waits long enough for the others in its turn */
};

void tk_merge_lanes_on(td_cpu cpu, const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *row)
{
    tk_lane *rest[TK_LANES];
    for (uint32_t i = 0; i < n; i++)
        rest[i] = &lanes[i];
#if TD_X86
    bool swept = m->swept && row != NULL && n >= SWEPT_MIN;
    if (swept && cpu >= TD_CPU_AVX512)
        n = tk_merge_sweeps(m, lanes, n, row, rest);
    else if (swept && cpu >= TD_CPU_AVX2)
        n = tk_merge_sweeps_avx2(m, lanes, n, row, rest);
    if (cpu >= TD_CPU_AVX512 && m->square_end != 0 && n <= FEW_MAX) {
        tk_merge_few(m, rest, n);
        return;
    }
#else
    (void)row;
#endif
    merge_in_turn(cpu, m, rest, n);
}

void tk_merge_lanes(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *row)
{
    tk_merge_lanes_on(td_cpu_best(), m, lanes, n, row);
}

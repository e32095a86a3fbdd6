/* bpe_sweeps.c - the sweeps of bpe_sweeps.h, with AVX-512.
 *
 * All words lie in one row, with a separator in front of each and behind the last one; what is
 * known of a pair stands at its left symbol. A sweep finds the pairs that can be merged, merges
 * them and closes the gaps, and looks up the pairs that have come about. What it can not decide is
 * left to the lanes. */
#include "tokenizer/model/bpe_sweeps.h"

#if TD_X86
#include <string.h>

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,"  \
                                     "avx2,bmi,bmi2,lzcnt,popcnt")))
#define ALWAYS static inline __attribute__((always_inline)) AVX512

enum {
    CHUNK = 64,
    PAD = 2 * CHUNK, /* what may be read or written beside the row */
    ROW = TK_LANES * (TK_LANE + 1) + 1,
    CHUNKS = ROW / CHUNK + 2,
    ASKED = 256, /* pairs that are looked up together */
    WORTH = 40,  /* places of the row for each pair of a sweep: with fewer pairs lanes are faster */
    WALK = 6,    /* pairs that are looked at on each side */
    NONE = 0xFFFE,
    NEVER = 0xFFFF,
};

#define SEPARATOR ((uint32_t)1 << 31) /* with the number of the word in front of it */

struct tk_row {
    const tk_merges *m;
    tk_lane *lanes;
    uint32_t count;
    _Alignas(64) uint32_t ids[PAD + ROW + PAD], products[PAD + ROW + PAD];
    /* Codes, even ones of hasty products; NONE: not merged; NEVER: a separator. */
    uint16_t ranks[PAD + ROW + PAD];
    uint16_t lefts[PAD + ROW + PAD], rights[PAD + ROW + PAD]; /* bounds; NEVER: a word ends here */
    uint64_t safe[CHUNKS];       /* a bit for each pair that can be merged now */
    uint64_t ends[CHUNKS];       /* for each separator */
    uint64_t done[CHUNKS];       /* for those behind words that have no pairs any more */
    uint64_t gone[CHUNKS];       /* for each place of such words */
    uint16_t asked[ROW + CHUNK]; /* places of pairs that are to be looked up */
    uint32_t asked_count;
    uint64_t hashes[ASKED];        /* of some of them, for the filter */
    uint16_t known[ASKED];         /* which of these it has */
    uint64_t pairs[ASKED];         /* tk_pair_of those */
    const uint64_t *groups[ASKED]; /* where to look for them */
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

/* 32 numbers. */
ALWAYS __m512i count16(uint16_t from)
{
    const __m512i number =
        _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                         12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_add_epi16(number, all16(from));
}

/* ---- looking pairs up ---- */

/* The two ids at a place: the left one is below. */
ALWAYS uint64_t pair_at(const tk_row *w, uint32_t at)
{
    uint64_t pair;
    memcpy(&pair, w->ids + at, sizeof pair);
    return pair;
}

ALWAYS uint64_t hash_at(const tk_row *w, uint32_t at)
{
    uint64_t pair = pair_at(w, at);
    return (pair << 32 | pair >> 32) * TK_FILTER_ODD;
}

/* Which of the pairs the filter has. Returns how many. */
ALWAYS uint32_t ask_filter(tk_row *w, const uint16_t *asked, uint32_t count)
{
    const uint64_t *filter = w->m->filter;
    uint32_t shift = w->m->filter_shift, n = 0;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = hash_at(w, asked[i]);
        w->hashes[i] = hash;
        __builtin_prefetch(filter + (hash >> shift));
    }
#pragma GCC unroll 4
    for (uint32_t i = 0; i < count; i++) {
        w->known[n] = asked[i];
        n += (uint32_t)tk_filter_has(filter, shift, w->hashes[i]);
    }
    return n;
}

/* Asks for the groups of those. */
ALWAYS void find_places(tk_row *w, uint32_t count)
{
    tk_merges m = *w->m;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t pair = pair_at(w, w->known[i]);
        pair = tk_pair_of(m.id_bits, (td_id)pair, (td_id)(pair >> 32));
        tk_place place = tk_place_of(&m, pair);
        __builtin_prefetch(place.group);
        w->groups[i] = place.group;
        w->pairs[i] = pair;
    }
}

/* One of those pairs, as tk_merge_at finds it. turn: from tk_pair_of to where tags of slots are. */
ALWAYS tk_merged answer(const tk_row *w, uint32_t i, __m256i turn)
{
    const __m256i mask = _mm256_set1_epi64x((long long)(TK_TAG_MASK << 2 * TK_FIELD));
    const uint64_t *group = w->groups[i];
    __m256i slots = _mm256_loadu_si256((const void *)group);
    __m256i tag = _mm256_rolv_epi64(_mm256_set1_epi64x((long long)w->pairs[i]), turn);
    __m256i other = _mm256_xor_si256(slots, tag);
    /* The first one that is the same, or 0. */
    slots = _mm256_maskz_compress_epi64(_mm256_testn_epi64_mask(other, mask), slots);
    uint64_t slot = (uint64_t)_mm_cvtsi128_si64(_mm256_castsi256_si128(slots));
    slot &= ((uint64_t)1 << 2 * TK_FIELD) - 1;
    if (__builtin_expect(group[TK_GROUP - 1] >> 63 > slot >> TK_FIELD, 0)) {
        uint64_t pair = pair_at(w, w->known[i]);
        return tk_merges_find_more(w->m, (td_id)pair, (td_id)(pair >> 32));
    }
    return tk_merged_of(slot);
}

/* Puts the answers into the row. hasty: NULL: no product is. */
ALWAYS void put_answers(tk_row *w, uint32_t count, const uint64_t *hasty)
{
    const __m256i turn = _mm256_set1_epi64x((long long)(2 * w->m->id_bits + 2 * TK_FIELD) % 64);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = w->known[i];
        tk_merged e = answer(w, i, turn);
        uint32_t code = tk_rank_code(e.rank); /* far above NONE where there is no such pair */
        if (hasty != NULL)
            code -= tk_id_bit(hasty, e.product);
        w->products[at] = e.product;
        w->ranks[at] = (uint16_t)(code < NONE ? code : NONE);
    }
}

/* One pair after the other, as vectors would have to be taken apart for each look into memory. */
ALWAYS void look_up_some(tk_row *w, const uint16_t *asked, uint32_t count)
{
    uint32_t n = ask_filter(w, asked, count);
    find_places(w, n);
    if (w->m->hurries)
        put_answers(w, n, w->m->hasty);
    else
        put_answers(w, n, NULL);
}

ALWAYS void look_up(tk_row *w)
{
    for (uint32_t i = 0; i < w->asked_count; i += ASKED) {
        uint32_t rest = w->asked_count - i;
        look_up_some(w, w->asked + i, rest < ASKED ? rest : ASKED);
    }
    w->asked_count = 0;
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
        __m512i codes = codes_of(p.ranks, _mm512_movepi32_mask(p.upper));
        codes = _mm512_mask_mov_epi32(codes, _mm512_movepi32_mask(left), all(NEVER));
        store16(w->ranks + i, codes);
        store16(w->lefts + i, lefts);
        store16(w->rights + i, rights);
        uint32_t far = ~(uint32_t)(near | apart) & 0xFFFF, rest = PAD + w->count - i;
        far &= rest < 16 ? (1u << rest) - 1 : 0xFFFF;
        for (; far != 0; far &= far - 1)
            w->asked[w->asked_count++] = (uint16_t)(i + (uint32_t)__builtin_ctz(far));
    }
    look_up(w);
}

/* ---- a sweep ---- */

/* Pairs side by side, seen from one side: what comes from behind gets through up to a rank, and
 * they are a bound themselves. */
typedef struct span {
    __m512i bound, rank;
} span;

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

/* What find_at leaves for the next 32 places. */
typedef struct walk {
    span left, right; /* two_left of the places before; two_right of these */
} walk;

typedef struct found {
    uint32_t safe, open, ends;
} found;

/* Which of 32 pairs can be merged, and which are there. The lowest bit of codes tells hasty
 * products only: it is set before ranks are compared, so that of equal ones none seems to be
 * higher. */
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
    found f;
    f.open = _mm512_cmplt_epu16_mask(rank, all16(NONE));
    f.ends = _mm512_cmpeq_epi16_mask(rank, all16(NEVER));
    f.safe = f.open & _mm512_cmplt_epu16_mask(odd_rank, _mm512_min_epu16(from_left, from_right));
    __mmask32 hasty = _mm512_mask_testn_epi16_mask(f.open, rank, odd);
    if (__builtin_expect(hasty != 0, 0)) {
        from_left = reach_end(w->lefts + i, w->ranks + i, -1);
        from_right = reach_end(w->rights + i, w->ranks + i, 1);
        f.safe &=
            ~hasty | _mm512_cmplt_epu16_mask(odd_rank, _mm512_min_epu16(from_left, from_right));
    }
    return f;
}

/* false: there are too few pairs that can be merged to be worth a sweep. */
ALWAYS bool find_safe(tk_row *w)
{
    uint32_t count = 0, c = 0;
    uint64_t before = 0;
    unsigned char carry = 0;
    walk k = { { all(0), all(0) }, two_right(w, PAD) };
    for (; c * CHUNK < w->count; c++) {
        uint32_t i = PAD + c * CHUNK;
        found a = find_at(w, i, &k), b = find_at(w, i + 32, &k);
        uint64_t safe = a.safe | (uint64_t)b.safe << 32, open = a.open | (uint64_t)b.open << 32;
        uint64_t ends = a.ends | (uint64_t)b.ends << 32;
        if (w->count - c * CHUNK < CHUNK) {
            uint64_t in = ((uint64_t)1 << (w->count - c * CHUNK)) - 1;
            safe &= in;
            ends &= in;
        }
        /* A one where a word begins goes through to its end if there is no pair on the way. */
        unsigned long long through;
        carry = _addcarry_u64(carry, ends << 1 | before >> 63, ~(open | ends), &through);
        before = ends;
        w->safe[c] = safe;
        w->ends[c] = ends;
        w->done[c] = through & ends;
        w->gone[c] = 0;
        count += (uint32_t)__builtin_popcountll(safe);
    }
    w->safe[c] = w->gone[c] = 0;
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

/* Gives back the words that are done. */
ALWAYS void let_go(tk_row *w)
{
    uint32_t last = 0; /* behind the last separator */
    for (uint32_t c = 0; c * CHUNK < w->count; c++) {
        uint64_t ends = w->ends[c];
        for (uint64_t done = w->done[c]; done != 0; done &= done - 1) {
            uint32_t at = (uint32_t)__builtin_ctzll(done);
            uint64_t before = ends & ((done & -done) - 1);
            uint32_t from =
                before != 0 ? (c + 1) * CHUNK - (uint32_t)__builtin_clzll(before) : last;
            uint32_t count = c * CHUNK + at - from;
            uint64_t places = ((uint64_t)2 << count) - 1;
            give_back(w, PAD + from, count, w->ids[PAD + from + count]);
            w->gone[from / CHUNK] |= places << from % CHUNK;
            w->gone[from / CHUNK + 1] |= places >> 1 >> (CHUNK - 1 - from % CHUNK);
        }
        if (ends != 0)
            last = (c + 1) * CHUNK - (uint32_t)__builtin_clzll(ends);
    }
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

/* Merges what is safe, closes the gaps and asks for the pairs of what has been made. */
ALWAYS void merge_safe(tk_row *w)
{
    uint32_t to = PAD;
    uint64_t before = 0;
    for (uint32_t c = 0; c * CHUNK < w->count; c++) {
        uint32_t i = PAD + c * CHUNK, rest = w->count - c * CHUNK;
        uint64_t safe = w->safe[c], next = w->safe[c + 1];
        uint64_t kept = ~(safe << 1 | before >> 63 | w->gone[c]);
        if (rest < CHUNK)
            kept &= ((uint64_t)1 << rest) - 1;
        before = safe;
        /* What is behind a symbol is made, too. */
        uint64_t right = (safe & (safe >> 2 | next << 62)) | (~safe & (safe >> 1 | next << 63));
        uint32_t out = to;
        for (uint32_t k = 0; k < CHUNK; k += 16) {
            move_ids(w, i + k, out, (__mmask16)(kept >> k), (__mmask16)(safe >> k));
            out += (uint32_t)__builtin_popcount((uint16_t)(kept >> k));
        }
        uint32_t half = to + (uint32_t)__builtin_popcount((uint32_t)kept);
        uint64_t new = move_pairs(w, i, to, (__mmask32)kept, (__mmask32)safe, (__mmask32)right);
        new |= (uint64_t)move_pairs(w, i + 32, half, (__mmask32)(kept >> 32),
                                    (__mmask32)(safe >> 32), (__mmask32)(right >> 32))
               << 32;
        ask(w, to, _pext_u64(new, kept));
        to = out;
    }
    w->count = to - PAD;
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
        pairs = _mm512_cmplt_epu16_mask(load(w->ranks + i), all16(NONE));
        pairs |= (uint64_t)_mm512_cmplt_epu16_mask(load(w->ranks + i + 32), all16(NONE)) << 32;
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
    w->asked_count = 0;
    take(w, n);
    look_first(w);
    while (find_safe(w)) {
        let_go(w);
        merge_safe(w);
        look_up(w);
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

/* sweep_steps.h - what the sweeps of bpe_sweeps.h are made of, whatever the vectors.
 *
 * All words lie in one row, with a separator in front of each and behind the last one; what is
 * known of a pair stands at its left symbol. A sweep finds the pairs that can be merged, merges
 * them and closes the gaps, and looks up the pairs that have come about. What it can not decide is
 * left to the lanes.
 *
 * To be included once by the file of an instruction set, which has ALWAYS for functions that are
 * built for it, and the type walk; and behind this the functions that are only declared here. */
#ifndef TD_SRC_TOKENIZER_MODEL_SWEEP_STEPS_H
#define TD_SRC_TOKENIZER_MODEL_SWEEP_STEPS_H

#include <string.h>

#include <immintrin.h>

#include "tokenizer/model/bpe_sweeps.h"

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

/* ---- for each instruction set ---- */

/* The first slot of a group that has the tag of a pair, or 0. turn: from tk_pair_of to where slots
 * have the tag. */
ALWAYS uint64_t slot_of(const uint64_t *group, uint64_t pair, uint32_t turn);

/* Takes what the square knows of the 16 pairs from a place on. Returns those that are to be looked
 * up elsewhere: a bit each. */
ALWAYS uint32_t look_near(tk_row *w, uint32_t at);

/* Of the 64 places of a chunk, a bit each: pairs that can be merged, pairs that are merged at some
 * time, separators. */
typedef struct found {
    uint64_t safe, open, ends;
} found;

/* Looks at the chunks one behind the other. The lowest bit of codes tells hasty products only: it
 * is set before ranks are compared, so that of equal ones none seems to be higher. */
ALWAYS walk start_walk(const tk_row *w);
ALWAYS found find_in_chunk(const tk_row *w, uint32_t at, walk *k);

/* Moves what is kept of the 64 places from from on to to, merges what is safe, and notes the pairs
 * that have to be looked up as asked. right: what is behind such a place is made now. Returns the
 * place behind. */
ALWAYS uint32_t move_chunk(tk_row *w, uint32_t from, uint32_t to, uint64_t kept, uint64_t safe,
                           uint64_t right);

/* Which of the 64 places from a place on are separators, and which of the pairs are merged at some
 * time. */
ALWAYS uint64_t separators_at(const tk_row *w, uint32_t at);
ALWAYS uint64_t open_at(const tk_row *w, uint32_t at);

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

/* One of those pairs, as tk_merge_at finds it. */
ALWAYS tk_merged answer(const tk_row *w, uint32_t i, uint32_t turn)
{
    const uint64_t *group = w->groups[i];
    uint64_t slot = slot_of(group, w->pairs[i], turn) & (((uint64_t)1 << 2 * TK_FIELD) - 1);
    if (__builtin_expect(group[TK_GROUP - 1] >> 63 > slot >> TK_FIELD, 0)) {
        uint64_t pair = pair_at(w, w->known[i]);
        return tk_merges_find_more(w->m, (td_id)pair, (td_id)(pair >> 32));
    }
    return tk_merged_of(slot);
}

/* Puts the answers into the row. hasty: NULL: no product is. */
ALWAYS void put_answers(tk_row *w, uint32_t count, const uint64_t *hasty)
{
    const uint32_t turn = (2 * w->m->id_bits + 2 * TK_FIELD) % 64;
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

/* Up to TK_LANE ids, of which more may be written than there are. */
ALWAYS void copy_ids(uint32_t *to, const uint32_t *from, uint32_t count)
{
    memcpy(to, from, TK_LANE_SHORT * sizeof *to);
    if (count > TK_LANE_SHORT)
        memcpy(to + TK_LANE_SHORT, from + TK_LANE_SHORT, TK_LANE_SHORT * sizeof *to);
}

ALWAYS void take(tk_row *w, uint32_t n)
{
    uint32_t at = PAD;
    w->ids[at++] = SEPARATOR;
    for (uint32_t i = 0; i < n; i++) {
        const tk_lane *l = &w->lanes[i];
        uint32_t count = l->end - 1;
        copy_ids(w->ids + at, l->ids + 1, count);
        at += count;
        w->ids[at++] = SEPARATOR | i;
    }
    w->count = at - PAD;
}

ALWAYS void look_first(tk_row *w)
{
    for (uint32_t i = PAD; i < PAD + w->count; i += 16) {
        uint32_t far = look_near(w, i), rest = PAD + w->count - i;
        far &= rest < 16 ? (1u << rest) - 1 : 0xFFFF;
        for (; far != 0; far &= far - 1)
            w->asked[w->asked_count++] = (uint16_t)(i + (uint32_t)__builtin_ctz(far));
    }
    look_up(w);
}

/* ---- a sweep ---- */

/* false: there are too few pairs that can be merged to be worth a sweep. */
ALWAYS bool find_safe(tk_row *w)
{
    uint32_t count = 0, c = 0;
    uint64_t before = 0;
    unsigned char carry = 0;
    walk k = start_walk(w);
    for (; c * CHUNK < w->count; c++) {
        found f = find_in_chunk(w, PAD + c * CHUNK, &k);
        if (w->count - c * CHUNK < CHUNK) {
            uint64_t in = ((uint64_t)1 << (w->count - c * CHUNK)) - 1;
            f.safe &= in;
            f.ends &= in;
        }
        /* A one where a word begins goes through to its end if there is no pair on the way. */
        unsigned long long through;
        carry = _addcarry_u64(carry, f.ends << 1 | before >> 63, ~(f.open | f.ends), &through);
        before = f.ends;
        w->safe[c] = f.safe;
        w->ends[c] = f.ends;
        w->done[c] = through & f.ends;
        w->gone[c] = 0;
        count += (uint32_t)__builtin_popcountll(f.safe);
    }
    w->safe[c] = w->gone[c] = 0;
    return count > w->count / WORTH;
}

ALWAYS void give_back(tk_row *w, uint32_t from, uint32_t count, uint32_t separator)
{
    tk_lane *l = &w->lanes[separator & ~SEPARATOR];
    copy_ids(l->ids + 1, w->ids + from, count);
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

/* Merges what is safe, closes the gaps and asks for the pairs of what has been made. */
ALWAYS void merge_safe(tk_row *w)
{
    uint32_t to = PAD;
    uint64_t before = 0;
    for (uint32_t c = 0; c * CHUNK < w->count; c++) {
        uint32_t rest = w->count - c * CHUNK;
        uint64_t safe = w->safe[c], next = w->safe[c + 1];
        uint64_t kept = ~(safe << 1 | before >> 63 | w->gone[c]);
        if (rest < CHUNK)
            kept &= ((uint64_t)1 << rest) - 1;
        before = safe;
        /* What is behind a symbol is made, too. */
        uint64_t right = (safe & (safe >> 2 | next << 62)) | (~safe & (safe >> 1 | next << 63));
        to = move_chunk(w, PAD + c * CHUNK, to, kept, safe, right);
    }
    w->count = to - PAD;
}

/* Gives all words back. Returns how many of them still have pairs. */
ALWAYS uint32_t end(tk_row *w, tk_lane **rest)
{
    uint32_t n = 0, from = PAD + 1;
    bool some = false; /* pairs in this word, so far */
    for (uint32_t i = PAD; i < PAD + w->count; i += CHUNK) {
        uint64_t ends = separators_at(w, i), pairs = open_at(w, i);
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

/* As tk_merge_sweeps. */
ALWAYS uint32_t sweep(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w, tk_lane **rest)
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

#endif

/* bpe_periods.c - long words that repeat themselves, merged at the cost of short ones.
 *
 * Take any two neighbouring tokens x y of the ids of some text. Merging "xy" alone gives x y again:
 * what happens inside of x and of y happens in the same order there, and a merge across the border
 * would have come before something in the longer text as well. And the other way round, a row of
 * tokens is what its text gives when each pair of neighbours is such a pair: a merge across a
 * border would have to come before all that is left to do on both sides of it, so it would in "xy",
 * too.
 *
 * So when a stretch of a word has the same symbols again and again, most of it is left out. Where
 * the ids of the rest show one token twice at the same place of the period, what lies from the one
 * to the other may be put in again as often as wanted: it brings no new neighbours. */
#include <string.h>

#include "tokenizer/model/bpe.h"

enum {
    PERIOD_MAX = 32,
    SEEN = 96,      /* symbols that must repeat before the rest of a stretch is looked at */
    STEP = 256,     /* symbols from one such look to the next */
    KEEP = 1024,    /* symbols of a stretch that are merged, at first */
    WORTH = 4096,   /* symbols of the shortest stretch */
    STRETCHES = 64, /* the most of a word */
    TRIES = 5,
};

typedef struct stretch {
    uint32_t from, count, period; /* symbols of the word */
    uint32_t keep;                /* of count, the first ones; differs by whole periods */
    uint32_t start, end;          /* bytes of what is merged */
    uint32_t first, again;        /* tokens of the result: what lies between may be repeated */
    uint32_t size;                /* symbols of that; 0: not found */
} stretch;

typedef struct periods {
    tk_ctx *ctx;
    td_error *err;
    const tk_symbols *word;
    stretch all[STRETCHES];
    uint32_t count;
    tk_symbols rest; /* the word without what is left out; then its tokens */
} periods;

static inline bool same_symbol(const tk_symbols *s, uint32_t a, uint32_t b)
{
    return s->ids[a] == s->ids[b] && s->lens[a] == s->lens[b];
}

static uint32_t period_at(const tk_symbols *s, uint32_t from)
{
    for (uint32_t p = 1; p <= PERIOD_MAX; p++) {
        uint32_t i = from;
        while (i < from + SEEN && same_symbol(s, i, i + p))
            i++;
        if (i == from + SEEN)
            return p;
    }
    return 0;
}

static uint32_t stretch_end(const tk_symbols *s, uint32_t from, uint32_t period)
{
    uint32_t at = from + period;
    while (at < s->count && same_symbol(s, at, at - period))
        at++;
    return at;
}

static uint32_t bytes_of(const tk_symbols *s, uint32_t from, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += s->lens[from + i];
    return sum;
}

/* Finds the stretches; returns the symbols that they have in all. */
static uint32_t find_stretches(periods *x)
{
    const tk_symbols *s = x->word;
    uint32_t sum = 0;
    for (uint32_t at = 0; s->count - at >= WORTH && x->count < STRETCHES;) {
        uint32_t period = period_at(s, at), end = period != 0 ? stretch_end(s, at, period) : at;
        if (end - at < WORTH) {
            at = end - at < STEP ? at + STEP : end;
            continue;
        }
        uint32_t count = end - at;
        x->all[x->count++] = (stretch){ .from = at, .count = count, .period = period,
                                        .keep = KEEP + (count - KEEP) % period };
        sum += count;
        at = end;
    }
    return sum;
}

static void copy(periods *x, uint32_t from, uint32_t count)
{
    tk_symbols *to = &x->rest;
    memcpy(to->ids + to->count, x->word->ids + from, count * sizeof *to->ids);
    memcpy(to->lens + to->count, x->word->lens + from, count * sizeof *to->lens);
    to->count += count;
}

/* The word without what is left out. */
static td_code make_rest(periods *x)
{
    uint32_t room = x->word->count, at = 0, bytes = 0;
    for (uint32_t i = 0; i < x->count; i++)
        room -= x->all[i].count - x->all[i].keep;
    td_arena *a = &x->ctx->arena;
    x->rest = (tk_symbols){ td_arena_array(a, td_id, room), td_arena_array(a, uint32_t, room), 0 };
    if (x->rest.ids == NULL || x->rest.lens == NULL)
        return td_arena_fail(a, x->err);
    for (uint32_t i = 0; i < x->count; i++) {
        stretch *t = &x->all[i];
        copy(x, at, t->from - at);
        t->start = bytes + bytes_of(x->word, at, t->from - at);
        copy(x, t->from, t->keep);
        t->end = bytes = t->start + bytes_of(x->word, t->from, t->keep);
        at = t->from + t->count;
    }
    copy(x, at, x->word->count - at);
    return TD_OK;
}

/* Looks for what may be repeated; *at, *pos: a token of the result and where it begins, which are
 * moved on. */
static void find_again(const periods *x, stretch *t, uint32_t *at, uint32_t *pos)
{
    const tk_symbols *r = &x->rest;
    uint32_t middle = t->start + (t->end - t->start) / 2;
    uint32_t bytes = bytes_of(x->word, t->from, t->period);
    while (*pos < middle)
        *pos += r->lens[(*at)++];
    uint32_t begin = *pos;
    t->first = *at;
    t->size = 0;
    while (t->size == 0 && *pos <= t->end && *at + 1 < r->count) {
        *pos += r->lens[(*at)++];
        if (*pos <= t->end && r->ids[*at] == r->ids[t->first] && (*pos - begin) % bytes == 0) {
            t->again = *at;
            t->size = (*pos - begin) / bytes * t->period;
        }
    }
}

/* Whether what is left out is so many times what may be repeated; else keep is changed. */
static bool is_settled(periods *x)
{
    uint32_t at = 0, pos = 0;
    bool settled = true;
    for (uint32_t i = 0; i < x->count; i++) {
        stretch *t = &x->all[i];
        if (t->keep == t->count)
            continue;
        find_again(x, t, &at, &pos);
        uint32_t out = t->count - t->keep;
        uint32_t more = t->size != 0 ? out % t->size : t->keep * 7 / t->period * t->period;
        settled &= more == 0;
        t->keep = more < out ? t->keep + more : t->count;
    }
    return settled;
}

static void put_tokens(const periods *x, tk_symbols *to, uint32_t from, uint32_t end)
{
    const tk_symbols *r = &x->rest;
    memcpy(to->ids + to->count, r->ids + from, (end - from) * sizeof *to->ids);
    memcpy(to->lens + to->count, r->lens + from, (end - from) * sizeof *to->lens);
    to->count += end - from;
}

/* Puts the last count tokens again, times over. */
static void put_again(tk_symbols *to, uint32_t count, uint32_t times)
{
    uint32_t n = to->count, first = n - count, left = count * times;
    for (uint32_t have = count; left != 0; have = n - first) {
        uint32_t more = left < have ? left : have;
        memcpy(to->ids + n, to->ids + first, more * sizeof *to->ids);
        memcpy(to->lens + n, to->lens + first, more * sizeof *to->lens);
        n += more;
        left -= more;
    }
    to->count = n;
}

static void put_all(const periods *x, tk_symbols *to)
{
    uint32_t at = 0;
    to->count = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        const stretch *t = &x->all[i];
        if (t->keep == t->count)
            continue;
        put_tokens(x, to, at, t->again);
        put_again(to, t->again - t->first, (t->count - t->keep) / t->size);
        at = t->again;
    }
    put_tokens(x, to, at, x->rest.count);
}

td_code tk_bpe_merge_periods(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err)
{
    td_arena_mark mark = td_arena_save(&ctx->arena);
    periods x = { .ctx = ctx, .err = err, .word = s };
    bool settled = false, worth = find_stretches(&x) / 3 >= s->count / 4;
    for (uint32_t i = 0; worth && !settled && i < TRIES; i++) {
        TD_TRY(make_rest(&x));
        TD_TRY(tk_bpe_merge_runs(m, ctx, &x.rest, err));
        settled = is_settled(&x);
        if (settled)
            put_all(&x, s);
        td_arena_rewind(&ctx->arena, mark);
    }
    return settled ? TD_OK : tk_bpe_merge_runs(m, ctx, s, err);
}

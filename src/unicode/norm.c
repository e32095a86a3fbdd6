/* Normalization into the reference's four forms.
 *
 * Text that the quick check lets through is copied. The rest goes through a window: characters are
 * decomposed into it until one comes that cannot interact with those in front, then the marks in
 * the window are sorted by combining class (stably, in linear time whatever their number), pairs
 * are composed if the form wants that, and the window is written out.
 *
 * A window's item is a code point with its combining class in the top byte. */
#include "base/alloc.h"
#include "base/utf8.h"
#include "unicode/generated/norm.h"
#include "unicode/norm.h"

enum {
    HANGUL = 0xAC00,
    HANGUL_COUNT = 11172,
    LEAD = 0x1100,
    LEAD_COUNT = 19,
    VOWEL = 0x1161,
    VOWEL_COUNT = 21,
    TAIL = 0x11A7, /* one in front of the first tail: the syllable without one */
    TAIL_COUNT = 28,
    SMALL = 128,   /* items that need no heap */
    SHORT_RUN = 24 /* marks that insertion sort is good for */
};

typedef struct window {
    td_buf *out;
    uint32_t *items;
    size_t count, cap;
    unsigned boundary; /* flags that keep a character from starting a new window */
    bool compat, compose;
    uint32_t small[SMALL];
} window;

static unsigned class_of(uint32_t item)
{
    return item >> 24;
}

static uint32_t char_of(uint32_t item)
{
    return item & 0xFFFFFF;
}

static void sort_short(uint32_t *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t item = items[i];
        size_t j = i;
        for (; j > 0 && class_of(items[j - 1]) > class_of(item); j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

/* Counting sort. */
static td_code sort_long(uint32_t *items, size_t n)
{
    size_t at[257] = { 0 };
    uint32_t *copy = td_malloc(n * sizeof *copy);
    if (copy == NULL)
        return TD_E_INTERNAL;
    memcpy(copy, items, n * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        at[class_of(copy[i]) + 1]++;
    for (size_t i = 1; i < 257; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < n; i++)
        items[at[class_of(copy[i])]++] = copy[i];
    td_free(copy);
    return TD_OK;
}

/* Sorts each run of marks by class. */
static td_code sort_marks(uint32_t *items, size_t n)
{
    td_code code = TD_OK;
    for (size_t i = 0; i < n && code == TD_OK;) {
        size_t from = i;
        while (i < n && class_of(items[i]) != 0)
            i++;
        if (i - from > SHORT_RUN)
            code = sort_long(items + from, i - from);
        else
            sort_short(items + from, i - from);
        while (i < n && class_of(items[i]) == 0)
            i++;
    }
    return code;
}

static uint32_t compose_hangul(uint32_t a, uint32_t b)
{
    uint32_t lead = a - LEAD, vowel = b - VOWEL, syllable = a - HANGUL, tail = b - TAIL;
    if (lead < LEAD_COUNT && vowel < VOWEL_COUNT)
        return HANGUL + (lead * VOWEL_COUNT + vowel) * TAIL_COUNT;
    if (syllable < HANGUL_COUNT && syllable % TAIL_COUNT == 0 && tail > 0 && tail < TAIL_COUNT)
        return a + tail;
    return 0;
}

/* The character that a and b compose to, 0 if there is none. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
    if ((norm_flags(b) & 256u << TD_NFC) == 0)
        return 0; /* never second of a pair */
    size_t lo = 0, hi = NORM_PAIR_COUNT;
    uint64_t key = (uint64_t)a << 32 | b;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        uint64_t have = (uint64_t)norm_pairs[mid].first << 32 | norm_pairs[mid].second;
        if (have == key)
            return norm_pairs[mid].composite;
        if (have < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return compose_hangul(a, b);
}

/* Composes sorted items in place; returns how many are left. A character composes with the last
 * starter unless one between them has its class or a higher one, or is a starter itself. */
static size_t compose(uint32_t *items, size_t n)
{
    size_t kept = 0, starter = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t item = items[i];
        bool adjacent = starter != SIZE_MAX && kept == starter + 1;
        if (adjacent || (starter != SIZE_MAX && class_of(items[kept - 1]) < class_of(item))) {
            uint32_t c = compose_pair(char_of(items[starter]), char_of(item));
            if (c != 0) {
                items[starter] = c; /* composites are starters */
                continue;
            }
        }
        if (class_of(item) == 0)
            starter = kept;
        items[kept++] = item;
    }
    return kept;
}

static td_code flush(window *w)
{
    td_code code = sort_marks(w->items, w->count);
    size_t n = w->count;
    w->count = 0;
    if (code != TD_OK)
        return code;
    if (w->compose)
        n = compose(w->items, n);
    for (size_t i = 0; i < n && code == TD_OK; i++) {
        char bytes[4];
        code = td_buf_append(w->out, bytes, td_utf8_put(bytes, char_of(w->items[i])));
    }
    return code;
}

static td_code push(window *w, uint32_t c)
{
    unsigned flags = norm_flags(c);
    td_code code = TD_OK;
    if ((flags & w->boundary) == 0 && w->count > 0)
        code = flush(w);
    if (w->count == w->cap && code == TD_OK) {
        bool small = w->items == w->small;
        uint32_t *items = w->cap > SIZE_MAX / 8
                              ? NULL
                              : td_realloc(small ? NULL : w->items, w->cap * 2 * sizeof *items);
        if (items == NULL)
            return TD_E_INTERNAL;
        if (small)
            memcpy(items, w->small, sizeof w->small);
        w->items = items;
        w->cap *= 2;
    }
    if (code == TD_OK)
        w->items[w->count++] = (uint32_t)(flags & 0xFF) << 24 | c;
    return code;
}

static td_code push_decomposed(window *w, uint32_t c)
{
    uint32_t syllable = c - HANGUL;
    if (syllable < HANGUL_COUNT) {
        uint32_t tail = syllable % TAIL_COUNT;
        td_code code = push(w, LEAD + syllable / (VOWEL_COUNT * TAIL_COUNT));
        if (code == TD_OK)
            code = push(w, VOWEL + syllable / TAIL_COUNT % VOWEL_COUNT);
        if (code == TD_OK && tail != 0)
            code = push(w, TAIL + tail);
        return code;
    }
    const uint16_t *at = &norm_pool[norm_kinds[norm_kind(c)][w->compat]];
    if (at == norm_pool)
        return push(w, c);
    td_code code = TD_OK;
    for (const uint16_t *end = at + 1 + *at, *p = at + 1; p < end && code == TD_OK; p++) {
        uint32_t part = *p;
        if ((part & 0xFC00) == 0xD800) /* a pair of surrogates */
            part = 0x10000 + ((part & 0x3FF) << 10 | (*++p & 0x3FFu));
        code = push(w, part);
    }
    return code;
}

/* Normalizes s from *at to the next character that is a safe place, and moves *at there. */
static td_code normalize_segment(window *w, td_norm_form form, td_str s, size_t *at)
{
    const unsigned keeps = 256u << form | 0xFF;
    const char *p = s.ptr + *at, *end = s.ptr + s.len;
    td_code code = TD_OK;
    bool first = true;
    while (p < end && code == TD_OK) {
        const char *next = p;
        uint32_t c = td_utf8_next(&next, end);
        if (!first && (norm_flags(c) & keeps) == 0)
            break;
        code = push_decomposed(w, c);
        p = next;
        first = false;
    }
    *at = (size_t)(p - s.ptr);
    return code == TD_OK ? flush(w) : code;
}

td_code td_norm(td_norm_form form, td_buf *out, td_str s)
{
    size_t old = out->len, at = 0;
    window w = { .out = out, .cap = SMALL };
    w.items = w.small;
    w.compat = form == TD_NFKC || form == TD_NFKD;
    w.compose = form == TD_NFC || form == TD_NFKC;
    w.boundary = w.compose ? 256u << TD_NFC | 0xFF : 0xFF;
    td_code code = TD_OK;
    while (at < s.len && code == TD_OK) {
        norm_span span = norm_quick_span(form, s, at);
        size_t end = span.stop == s.len ? s.len : span.safe;
        code = td_buf_append(out, s.ptr + at, end - at);
        at = end;
        if (code == TD_OK && at < s.len)
            code = normalize_segment(&w, form, s, &at);
    }
    if (w.items != w.small)
        td_free(w.items);
    if (code != TD_OK)
        out->len = old;
    return code;
}

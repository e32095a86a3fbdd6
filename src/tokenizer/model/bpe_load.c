/* bpe_load.c - reading merges: "left right" strings or [left, right] pairs, in order of rank.
 *
 * The texts of left and right need lookups that miss the near caches; they are made in batches,
 * step by step, so that the misses overlap. The product needs none as a rule: files list merges in
 * the order of what they make, so it is the product of the merge before, or the entry behind that.
 * The table is filled when all merges have been read and its size is known. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/load/scan.h"
#include "tokenizer/model/bpe.h"

enum { BATCH = 64 };

/* left and right of a merge. text: views into the JSON text, or copies in r->copies, with 16
 * readable bytes at the front; head: those of them that belong to it; guess: the entry where it
 * seems to be, or UINT32_MAX. */
typedef struct pending {
    td_str text[2];
    tk_short_text head[2];
    uint64_t hash[2];
    uint32_t guess[2];
} pending;

typedef struct reader {
    const tk_at *at;
    tk_bpe *bpe;
    tk_scan scan;
    bool pairs;
    td_str gap, inner_gap; /* what stood between two merges; between left and right */
    pending batch[BATCH];
    uint32_t waiting; /* in the batch */
    uint32_t last;    /* place of the last product in the vocabulary */
    tk_merge *merges; /* all so far */
    uint32_t count, cap;
    td_arena copies; /* of texts with escapes, until the batch is done */
    td_buf text;     /* a product that is looked for */
} reader;

static td_code fail_nomem(const reader *r)
{
    return td_fail_nomem(r->at->load->err);
}

/* ---- ids ---- */

static inline bool is_text(const tk_vocab *v, uint32_t place, const pending *p, int k)
{
    td_str s = tk_vocab_text(v, place), text = p->text[k];
    if (s.len != text.len)
        return false;
    return s.len <= 16 ? tk_same_short(tk_short_padded(s.ptr, s.len), p->head[k])
                       : memcmp(s.ptr, text.ptr, s.len) == 0;
}

/* Whether the vocabulary's entry is left and right together. */
static inline bool is_product(const tk_vocab *v, uint32_t place, const pending *p)
{
    if (place >= v->size)
        return false;
    td_str s = tk_vocab_text(v, place), left = p->text[0], right = p->text[1];
    if (s.len != left.len + right.len)
        return false;
    if (left.len <= 16 && right.len <= 16)
        return tk_same_short(tk_short_padded(s.ptr, left.len), p->head[0]) &&
               tk_same_short(tk_short_padded(s.ptr + left.len, right.len), p->head[1]);
    return memcmp(s.ptr, left.ptr, left.len) == 0 &&
           memcmp(s.ptr + left.len, right.ptr, right.len) == 0;
}

static td_code not_known(const reader *r, td_str s)
{
    return tk_at_fail(r->at, "merges", "merge %u: '%.*s' is not in the vocabulary", r->count,
                      s.len < 100 ? (int)s.len : 100, s.ptr);
}

/* With a subword prefix the product is left and right without its prefix. */
static td_code look_for_product(reader *r, const pending *p, td_id *ret)
{
    const tk_vocab *v = r->bpe->vocab;
    size_t skip = r->bpe->prefix.len;
    if (p->text[1].len < skip)
        return tk_at_fail(r->at, "merges", "merge %u: the right side is shorter than the prefix",
                          r->count);
    r->text.len = 0;
    td_code code = td_buf_put(&r->text, p->text[0]);
    if (code == TD_OK)
        code = td_buf_put(&r->text, td_str_from_offset(p->text[1], skip));
    if (code != TD_OK)
        return td_buf_fail(&r->text, r->at->load->err, code, "merges");
    if (!tk_vocab_find(v, td_buf_view(&r->text), ret))
        return not_known(r, td_buf_view(&r->text));
    r->last = v->by_id[*ret] - 1;
    return TD_OK;
}

static td_code find_product(reader *r, const pending *p, td_id *ret)
{
    const tk_vocab *v = r->bpe->vocab;
    if (r->bpe->prefix.len != 0)
        return look_for_product(r, p, ret);
    if (!is_product(v, r->last, p)) {
        uint32_t next = r->last < v->size ? tk_vocab_next(v, r->last) : 0;
        if (!is_product(v, next, p))
            return look_for_product(r, p, ret);
        r->last = next;
    }
    *ret = tk_vocab_head_at(v, r->last).id;
    return TD_OK;
}

static td_code find_ids(reader *r, const pending *p)
{
    const tk_vocab *v = r->bpe->vocab;
    td_id ids[3];
    for (int k = 0; k < 2; k++) {
        uint32_t place = p->guess[k];
        if (place == UINT32_MAX || !is_text(v, place, p, k))
            place = tk_vocab_place(v, p->text[k], p->hash[k]);
        if (place == UINT32_MAX)
            return not_known(r, p->text[k]);
        ids[k] = tk_vocab_head_at(v, place).id;
    }
    TD_TRY(find_product(r, p, &ids[2]));
    r->merges[r->count] = (tk_merge){ ids[0], ids[1], r->count, ids[2] };
    r->count++;
    return TD_OK;
}

static td_code make_room(reader *r, uint32_t n)
{
    if (n <= r->cap - r->count)
        return TD_OK;
    size_t cap = (size_t)r->cap * 2 + n;
    tk_merge *more = cap <= UINT32_MAX / 4 ? td_realloc(r->merges, cap * sizeof *more) : NULL;
    if (more == NULL)
        return fail_nomem(r);
    r->merges = more;
    r->cap = (uint32_t)cap;
    return TD_OK;
}

/* Each step is for the whole batch, so that the memory for the next one is on its way. */
static td_code run_batch(reader *r)
{
    const tk_vocab *v = r->bpe->vocab;
    uint32_t n = r->waiting;
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            uint32_t guess = tk_vocab_guess(v, r->batch[i].hash[k]);
            r->batch[i].guess[k] = guess;
            __builtin_prefetch(v->block + (guess != UINT32_MAX ? guess : 0));
        }
    }
    TD_TRY(make_room(r, n));
    for (uint32_t i = 0; i < n; i++)
        TD_TRY(find_ids(r, &r->batch[i]));
    r->waiting = 0;
    td_arena_reset(&r->copies);
    return TD_OK;
}

/* ---- texts ---- */

/* s, or a copy of it when it does not lie in the text with 16 bytes from its start on. */
static inline td_code keep(reader *r, td_str *s)
{
    const char *start = r->scan.start, *end = r->scan.end;
    if (s->ptr >= start && s->ptr < end && end - s->ptr >= 16)
        return TD_OK;
    *s = td_arena_copy(&r->copies, *s); /* has slack behind it */
    return s->ptr != NULL ? TD_OK : fail_nomem(r);
}

/* Texts have 16 readable bytes. */
static inline td_code add(reader *r, td_str left, td_str right)
{
    pending *p = &r->batch[r->waiting++];
    p->text[0] = left;
    p->text[1] = right;
    for (int k = 0; k < 2; k++) {
        const char *ptr = p->text[k].ptr;
        size_t len = p->text[k].len;
        if (len <= 16) {
            p->head[k] = tk_short_padded(ptr, len);
            p->hash[k] = tk_vocab_hash_short(p->head[k], len);
        } else {
            p->hash[k] = tk_vocab_hash(ptr, len);
        }
        __builtin_prefetch(tk_vocab_slot(r->bpe->vocab, p->hash[k]));
    }
    return r->waiting == BATCH ? run_batch(r) : TD_OK;
}

/* Where the only space of s is; SIZE_MAX when there is none or more than one. 16 bytes can be read
 * at s. */
static inline size_t only_space(td_str s)
{
    if (s.len <= TK_BLOCK) {
        uint32_t spaces = tk_block_equal(tk_block_load(s.ptr), ' ') & ((1u << s.len) - 1);
        return spaces != 0 && (spaces & (spaces - 1)) == 0 ? (size_t)__builtin_ctz(spaces)
                                                           : SIZE_MAX;
    }
    const char *space = memchr(s.ptr, ' ', s.len);
    size_t at = space != NULL ? (size_t)(space - s.ptr) : 0;
    bool one = space != NULL && memchr(space + 1, ' ', s.len - at - 1) == NULL;
    return one ? at : SIZE_MAX;
}

static td_code add_line(reader *r, td_str s)
{
    if (s.len != 0 && s.ptr[0] == '#' && td_str_starts(s, TD_STR("#version")))
        return TD_OK;
    TD_TRY(keep(r, &s));
    size_t at = only_space(s);
    if (at == SIZE_MAX)
        return tk_at_fail(r->at, "merges", "merge %u: expected two tokens",
                          r->count + r->waiting);
    td_str left = { s.ptr, at }, right = td_str_from_offset(s, at + 1);
    TD_TRY(keep(r, &right));
    return add(r, left, right);
}

/* ---- JSON ----
 *
 * What stands between two strings is nearly always the same as the last time, so it is compared
 * with that first. */

enum { GAP_MAX = 2 * TK_BLOCK, NEAR_END = 256 };

/* Remembers the bytes from the quote in front of from to the character in front of to. */
static void learn(td_str *gap, const char *from, td_str to, const tk_scan *s)
{
    bool in_text = to.ptr > from && to.ptr < s->end && to.ptr - from < GAP_MAX;
    *gap = in_text ? (td_str){ from - 1, (size_t)(to.ptr - from) + 1 } : (td_str){ NULL, 0 };
}

/* Whether p goes on with the gap; both have GAP_MAX readable bytes. */
static inline bool is_gap(const char *p, td_str gap)
{
    if (gap.len == 0)
        return false;
    uint32_t there = (uint32_t)(((uint64_t)1 << gap.len) - 1);
    uint32_t same = tk_block_same(tk_block_load(p), tk_block_load(gap.ptr)) |
                    tk_block_same(tk_block_load(p + TK_BLOCK),
                                  tk_block_load(gap.ptr + TK_BLOCK)) << TK_BLOCK;
    return (same & there) == there;
}

/* A string without escapes that ends before limit; p stands behind its first quote. */
static inline bool plain_string(const char *p, const char *limit, td_str *ret)
{
    for (const char *q = p; q < limit; q += TK_BLOCK) {
        uint32_t stops = tk_block_stops(tk_block_load(q));
        if (stops != 0) {
            q += __builtin_ctz(stops);
            *ret = (td_str){ p, (size_t)(q - p) };
            return *q == '"';
        }
    }
    return false;
}

/* Reads on from behind a string, as long as the gaps stay the same. */
static td_code read_alike(reader *r)
{
    tk_scan *s = &r->scan;
    td_str left, right;
    if (s->end - s->p < NEAR_END)
        return TD_OK;
    const char *p = s->p - 1, *limit = s->end - NEAR_END / 2;
    while (p < limit && is_gap(p, r->gap) && plain_string(p + r->gap.len, limit, &left)) {
        p = left.ptr + left.len;
        if (!r->pairs) {
            TD_TRY(add_line(r, left));
        } else {
            if (!is_gap(p, r->inner_gap) ||
                !plain_string(p + r->inner_gap.len, limit, &right))
                break;
            p = right.ptr + right.len;
            TD_TRY(add(r, left, right));
        }
        s->p = p + 1;
    }
    return TD_OK;
}

/* The next merge; before: behind the last string, NULL: there was none. */
static td_code read_one(reader *r, const char *before)
{
    tk_scan *s = &r->scan;
    td_str left, right;
    if (r->pairs)
        TD_TRY(tk_scan_take(s, '['));
    TD_TRY(tk_scan_string(s, &left));
    if (before != NULL)
        learn(&r->gap, before, left, s);
    if (!r->pairs)
        return add_line(r, left);
    const char *middle = s->p;
    TD_TRY(keep(r, &left));
    TD_TRY(tk_scan_take(s, ','));
    TD_TRY(tk_scan_string(s, &right));
    learn(&r->inner_gap, middle, right, s);
    TD_TRY(keep(r, &right));
    return add(r, left, right);
}

static td_code read_all(reader *r)
{
    tk_scan *s = &r->scan;
    const char *before = NULL;
    TD_TRY(tk_scan_take(s, '['));
    if (tk_scan_is(s, ']'))
        return TD_OK;
    tk_scan_space(s);
    r->pairs = s->p < s->end && *s->p == '[';
    do {
        TD_TRY(read_one(r, before));
        TD_TRY(read_alike(r));
        before = s->p;
        if (r->pairs)
            TD_TRY(tk_scan_take(s, ']'));
    } while (tk_scan_is(s, ','));
    TD_TRY(tk_scan_take(s, ']'));
    return run_batch(r);
}

/* ---- tables ---- */

static void free_merges(void *bpe)
{
    tk_merges_done(&((tk_bpe *)bpe)->merges);
}

td_code tk_bpe_set_merges(tk_load *load, tk_bpe *bpe, tk_merge *merges, uint32_t count)
{
    TD_TRY(tk_on_free(load, free_merges, bpe));
    return tk_bpe_fill(load, bpe, merges, count);
}

td_code tk_bpe_load_merges(const tk_at *at, tk_bpe *bpe)
{
    td_str json = at->load->merges_json;
    reader r = { .at = at, .bpe = bpe };
    r.scan = (tk_scan){ .start = json.ptr, .p = json.ptr, .end = json.ptr + json.len,
                        .err = at->load->err };
    r.cap = (uint32_t)(json.len / 32) + 16;
    r.merges = td_malloc(r.cap * sizeof *r.merges);
    if (r.merges != NULL)
        td_expect_random(r.merges, r.cap * sizeof *r.merges);
    td_code code = r.merges != NULL ? read_all(&r) : fail_nomem(&r);
    if (code == TD_E_INPUT)
        at->load->err->offset += at->load->merges_at;
    if (code == TD_OK)
        code = tk_bpe_set_merges(at->load, bpe, r.merges, r.count);
    td_free(r.merges);
    td_arena_done(&r.copies);
    td_buf_done(&r.scan.text);
    td_buf_done(&r.text);
    return code;
}

/* bpe_load.c - reading merges: "left right" strings or [left, right] pairs, in order of rank.
 *
 * Each merge needs three lookups (left, right, product) that miss the caches; they are made in
 * batches, hashes first, so that the misses overlap. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/load/scan.h"
#include "tokenizer/model/bpe.h"

enum { BATCH = 32 };

/* Places in the texts of the batch. */
typedef struct span {
    size_t at, len;
} span;

typedef struct pending {
    span text[3]; /* left, right, product */
    uint64_t hash[3];
} pending;

typedef struct reader {
    const tk_at *at;
    tk_bpe *bpe;
    tk_scan scan;
    pending batch[BATCH];
    uint32_t count;
    uint32_t rank; /* of the first in the batch */
    td_buf texts;  /* of the batch */
} reader;

static td_code set_slots(tk_merges *m, uint64_t want, td_error *err)
{
    uint32_t mask = 63;
    while (mask < want && mask < UINT32_MAX)
        mask = mask * 2 + 1;
    tk_merge *slots = td_malloc(((size_t)mask + 1) * sizeof *slots);
    if (slots == NULL)
        return td_fail_nomem(err);
    td_expect_random(slots, ((size_t)mask + 1) * sizeof *slots);
    memset(slots, 0xFF, ((size_t)mask + 1) * sizeof *slots);
    tk_merges to = { .slots = slots, .mask = mask, .count = m->count };
    for (size_t i = 0; m->slots != NULL && i <= m->mask; i++) {
        const tk_merge *e = &m->slots[i];
        if (e->left == TK_NO_ID)
            continue;
        uint32_t at = tk_merge_hash(e->left, e->right) & mask;
        while (slots[at].left != TK_NO_ID)
            at = (at + 1) & mask;
        slots[at] = *e;
    }
    td_free(m->slots);
    *m = to;
    return TD_OK;
}

static td_code insert(tk_merges *m, tk_merge e, td_error *err)
{
    if ((uint64_t)m->count * 2 >= m->mask)
        TD_TRY(set_slots(m, (uint64_t)m->mask * 2, err));
    uint32_t at = tk_merge_hash(e.left, e.right) & m->mask;
    while (m->slots[at].left != TK_NO_ID &&
           (m->slots[at].left != e.left || m->slots[at].right != e.right))
        at = (at + 1) & m->mask;
    m->count += m->slots[at].left == TK_NO_ID;
    m->slots[at] = e; /* of equal pairs the last one counts */
    return TD_OK;
}

static td_str text_of(const reader *r, span s)
{
    return (td_str){ r->texts.ptr + s.at, s.len };
}

/* Brings the entry that a hash seems to belong to. */
static void prefetch_entry(const tk_vocab *v, uint64_t hash)
{
    uint64_t slot = *tk_vocab_slot(v, hash);
    if (slot == 0)
        return;
    uint32_t entry = (uint32_t)slot - 1;
    __builtin_prefetch(&v->starts[entry]);
    __builtin_prefetch(&v->ids[entry]);
}

static td_code find_ids(const reader *r, uint32_t i, tk_merge *ret)
{
    td_id ids[3] = { 0 };
    for (int k = 0; k < 3; k++) {
        td_str s = text_of(r, r->batch[i].text[k]);
        if (!tk_vocab_find_hashed(r->bpe->vocab, s, r->batch[i].hash[k], &ids[k]))
            return tk_at_fail(r->at, "merges", "merge %u: '%.*s' is not in the vocabulary",
                              r->rank + i, s.len < 100 ? (int)s.len : 100, s.ptr);
    }
    *ret = (tk_merge){ ids[0], ids[1], r->rank + i, ids[2] };
    return TD_OK;
}

/* Each step is for the whole batch, so that the memory for the next one is on its way. */
static td_code run_batch(reader *r)
{
    const tk_vocab *v = r->bpe->vocab;
    tk_merges *m = &r->bpe->merges;
    tk_merge found[BATCH];
    for (uint32_t i = 0; i < r->count; i++) {
        for (int k = 0; k < 3; k++) {
            td_str s = text_of(r, r->batch[i].text[k]);
            r->batch[i].hash[k] = tk_vocab_hash(s.ptr, s.len);
            __builtin_prefetch(tk_vocab_slot(v, r->batch[i].hash[k]));
        }
    }
    for (uint32_t i = 0; i < r->count; i++)
        for (int k = 0; k < 3; k++)
            prefetch_entry(v, r->batch[i].hash[k]);
    for (uint32_t i = 0; i < r->count; i++) {
        TD_TRY(find_ids(r, i, &found[i]));
        __builtin_prefetch(&m->slots[tk_merge_hash(found[i].left, found[i].right) & m->mask], 1);
    }
    for (uint32_t i = 0; i < r->count; i++)
        TD_TRY(insert(m, found[i], r->at->load->err));
    r->rank += r->count;
    r->count = 0;
    r->texts.len = 0;
    return TD_OK;
}

static td_code put_text(reader *r, td_str s)
{
    td_code code = td_buf_put(&r->texts, s);
    return code == TD_OK ? TD_OK : td_buf_fail(&r->texts, r->at->load->err, code, "merges");
}

/* Adds a merge whose left text (and right one behind it) lie at the end of r->texts. */
static td_code add(reader *r, size_t left_len, size_t right_len)
{
    size_t skip = r->bpe->prefix.len;
    if (right_len < skip)
        return tk_at_fail(r->at, "merges", "merge %u: the right side is shorter than the prefix",
                          r->rank + r->count);
    pending *p = &r->batch[r->count++];
    size_t at = r->texts.len - left_len - right_len;
    p->text[0] = (span){ at, left_len };
    p->text[1] = (span){ at + left_len, right_len };
    p->text[2] = (span){ at, left_len + right_len };
    if (skip != 0) { /* the product is left and right without its prefix */
        p->text[2] = (span){ r->texts.len, left_len + right_len - skip };
        td_code code = td_buf_reserve(&r->texts, left_len + right_len);
        if (code != TD_OK)
            return td_buf_fail(&r->texts, r->at->load->err, code, "merges");
        char *to = r->texts.ptr + r->texts.len;
        memcpy(to, r->texts.ptr + at, left_len);
        memcpy(to + left_len, r->texts.ptr + at + left_len + skip, right_len - skip);
        r->texts.len += left_len + right_len - skip;
    }
    return r->count == BATCH ? run_batch(r) : TD_OK;
}

static td_code read_pair(reader *r)
{
    td_str left, right;
    TD_TRY(tk_scan_take(&r->scan, '['));
    TD_TRY(tk_scan_string(&r->scan, &left));
    TD_TRY(put_text(r, left));
    TD_TRY(tk_scan_take(&r->scan, ','));
    TD_TRY(tk_scan_string(&r->scan, &right));
    TD_TRY(put_text(r, right));
    TD_TRY(tk_scan_take(&r->scan, ']'));
    return add(r, left.len, right.len);
}

static td_code read_line(reader *r)
{
    td_str s;
    TD_TRY(tk_scan_string(&r->scan, &s));
    if (td_str_starts(s, TD_STR("#version")))
        return TD_OK;
    const char *space = s.len != 0 ? memchr(s.ptr, ' ', s.len) : NULL;
    size_t left = space != NULL ? (size_t)(space - s.ptr) : 0;
    if (space == NULL || memchr(space + 1, ' ', s.len - left - 1) != NULL)
        return tk_at_fail(r->at, "merges", "merge %u: expected two tokens", r->rank + r->count);
    TD_TRY(put_text(r, (td_str){ s.ptr, left }));
    TD_TRY(put_text(r, (td_str){ space + 1, s.len - left - 1 }));
    return add(r, left, s.len - left - 1);
}

static td_code read_all(reader *r)
{
    tk_scan *s = &r->scan;
    TD_TRY(tk_scan_take(s, '['));
    if (tk_scan_is(s, ']'))
        return TD_OK;
    tk_scan_space(s);
    bool pairs = s->p < s->end && *s->p == '[';
    do {
        TD_TRY(pairs ? read_pair(r) : read_line(r));
    } while (tk_scan_is(s, ','));
    TD_TRY(tk_scan_take(s, ']'));
    return run_batch(r);
}

static void free_merges(void *bpe)
{
    tk_merges *m = &((tk_bpe *)bpe)->merges;
    td_free(m->slots);
    td_free(m->grid);
    td_free(m->filter);
}

/* About 16 bits a pair, so that one in 16 that are not there is looked for all the same. */
static td_code make_short_ways(tk_merges *m, td_error *err)
{
    uint32_t mask = 1023;
    while (mask / 16 < m->count && mask < 1u << 27)
        mask = mask * 2 + 1;
    m->grid = td_calloc((size_t)TK_GRID * TK_GRID, sizeof *m->grid);
    m->filter = td_calloc(((size_t)mask + 1) / 64, sizeof *m->filter);
    m->filter_mask = mask;
    if (m->grid == NULL || m->filter == NULL)
        return td_fail_nomem(err);
    for (size_t i = 0; i <= m->mask; i++) {
        const tk_merge *e = &m->slots[i];
        if (e->left == TK_NO_ID)
            continue;
        if ((e->left | e->right) < TK_GRID) {
            m->grid[e->left * TK_GRID + e->right] = (tk_grid){ e->rank + 1, e->product };
            continue;
        }
        uint32_t at = tk_filter_place(m, e->left, e->right);
        m->filter[at >> 6] |= (uint64_t)1 << (at & 63);
    }
    return TD_OK;
}

td_code tk_bpe_load_merges(const tk_at *at, tk_bpe *bpe)
{
    td_str json = at->load->merges_json;
    TD_TRY(tk_on_free(at->load, free_merges, bpe));
    TD_TRY(set_slots(&bpe->merges, (uint64_t)bpe->vocab->count * 2, at->load->err));
    reader r = { .at = at, .bpe = bpe };
    r.scan = (tk_scan){ .start = json.ptr, .p = json.ptr, .end = json.ptr + json.len,
                        .err = at->load->err };
    td_code code = read_all(&r);
    if (code == TD_E_INPUT)
        at->load->err->offset += at->load->merges_at;
    td_buf_done(&r.scan.text);
    td_buf_done(&r.texts);
    return code == TD_OK ? make_short_ways(&bpe->merges, at->load->err) : code;
}

/* implied.c - splits are looked up in batches, so that the misses of memory overlap. */
#include "tokenizer/formats/implied.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

enum { BATCH = 64 };

typedef struct split {
    uint64_t hash[2];
    uint32_t at, left, len; /* of the text in the batch's texts, and where it is split */
    uint32_t rank;
    td_id id;
} split;

typedef struct merger {
    tk_load *load;
    const tk_vocab *vocab;
    split batch[BATCH];
    uint32_t waiting;
    td_buf texts; /* of the batch */
    tk_merge *merges;
    uint32_t count, cap;
} merger;

static td_code put(merger *m, tk_merge e)
{
    if (m->count == m->cap) {
        if (m->cap > UINT32_MAX / 4)
            return td_fail(m->load->err, TD_E_LIMIT, "the vocabulary has too many merges");
        uint32_t cap = m->cap * 2 + 4096;
        tk_merge *to = td_realloc(m->merges, cap * sizeof *to);
        if (to == NULL)
            return tk_load_nomem(m->load);
        m->merges = to;
        m->cap = cap;
    }
    m->merges[m->count++] = e;
    return TD_OK;
}

static td_code run_batch(merger *m)
{
    const tk_vocab *v = m->vocab;
    for (uint32_t i = 0; i < m->waiting; i++) {
        for (int k = 0; k < 2; k++) {
            uint32_t guess = tk_vocab_guess(v, m->batch[i].hash[k]);
            if (guess != UINT32_MAX)
                __builtin_prefetch(v->block + guess);
        }
    }
    for (uint32_t i = 0; i < m->waiting; i++) {
        const split *s = &m->batch[i];
        const char *text = m->texts.ptr + s->at;
        uint32_t left = tk_vocab_place(v, (td_str){ text, s->left }, s->hash[0]);
        if (left == UINT32_MAX)
            continue;
        td_str rest = { text + s->left, s->len - s->left };
        uint32_t right = tk_vocab_place(v, rest, s->hash[1]);
        if (right != UINT32_MAX)
            TD_TRY(put(m, (tk_merge){ tk_vocab_head_at(v, left).id, tk_vocab_head_at(v, right).id,
                                      s->rank, s->id }));
    }
    m->waiting = 0;
    return TD_OK;
}

/* The texts of a batch stay until it has run; then only the one that is being split is kept. */
static td_code add_splits(merger *m, const tk_product *product)
{
    td_str text = product->text;
    if (m->waiting == 0)
        m->texts.len = 0;
    size_t at = m->texts.len;
    td_code code = td_buf_put(&m->texts, text);
    if (code != TD_OK)
        return td_buf_fail(&m->texts, m->load->err, code, "vocabulary");
    const char *p = text.ptr, *end = text.ptr + text.len;
    for (td_utf8_next(&p, end); p < end; td_utf8_next(&p, end)) {
        if (m->waiting == BATCH) {
            TD_TRY(run_batch(m));
            memmove(m->texts.ptr, m->texts.ptr + at, text.len);
            m->texts.len = text.len;
            at = 0;
        }
        uint32_t left = (uint32_t)(p - text.ptr);
        split *s = &m->batch[m->waiting++];
        *s = (split){ .at = (uint32_t)at,
                      .left = left,
                      .len = (uint32_t)text.len,
                      .rank = product->rank,
                      .id = product->id };
        s->hash[0] = tk_vocab_hash(text.ptr, left);
        s->hash[1] = tk_vocab_hash(p, text.len - left);
        __builtin_prefetch(tk_vocab_slot(m->vocab, s->hash[0]));
        __builtin_prefetch(tk_vocab_slot(m->vocab, s->hash[1]));
    }
    return TD_OK;
}

/* Every split of a text looks at all of it. No real vocabulary comes near the limit. */
static td_code check_work(tk_load *load, tk_product_fn get, const void *user, uint32_t count)
{
    static const uint64_t work_max = (uint64_t)1 << 35;
    uint64_t work = 0;
    for (uint32_t i = 0; i < count; i++) {
        tk_product product;
        if (get(user, i, &product))
            work += (uint64_t)product.text.len * product.text.len;
        if (work > work_max)
            return td_fail(load->err, TD_E_LIMIT, "the vocabulary has too many long tokens");
    }
    return TD_OK;
}

td_code tk_imply_merges(tk_load *load, tk_bpe *bpe, tk_product_fn get, const void *user,
                        uint32_t count)
{
    merger m = { .load = load, .vocab = bpe->vocab };
    td_code code = check_work(load, get, user, count);
    for (uint32_t i = 0; code == TD_OK && i < count; i++) {
        tk_product product;
        if (get(user, i, &product))
            code = add_splits(&m, &product);
    }
    if (code == TD_OK)
        code = run_batch(&m);
    if (code == TD_OK)
        code = tk_bpe_set_merges(load, bpe, m.merges, m.count);
    td_free(m.merges);
    td_buf_done(&m.texts);
    return code;
}

/* ranks.c - the tables of a BPE model from ranks.
 *
 * Texts are spelled with byte characters, as the fast way and the byte-level pre-tokenizer have
 * them. Each split of a token's bytes into two tokens is a merge with the token's rank: merging the
 * lowest rank first, leftmost first, is then what tiktoken does, which looks pairs up by the bytes
 * that they make. Splits are looked up in batches, so that the misses of memory overlap. */
#include "tokenizer/formats/ranks.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"

/* The spelling of bytes; out has room for two bytes each. */
static td_str spell(td_str bytes, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes.len; i++)
        n += td_utf8_put(out + n, tk_byte_to_char((uint8_t)bytes.ptr[i]));
    return (td_str){ out, n };
}

/* Names two ranks of the same token. */
static td_code twins(tk_load *load, const tk_vocab *v, const tk_rank *items, uint32_t count,
                     td_id first_id, char *scratch)
{
    for (uint32_t i = 0; i < count; i++) {
        td_id id;
        if (tk_vocab_find(v, spell(items[i].bytes, scratch), &id) && id != first_id + items[i].rank)
            return td_fail(load->err, TD_E_TOKENIZER, "the ranks %u and %u are of the same token",
                           items[i].rank, id - first_id);
    }
    return tk_load_nomem(load);
}

static td_code fill_vocab(tk_load *load, tk_vocab *v, const tk_rank *items, uint32_t count,
                          td_id first_id, char *scratch)
{
    uint32_t singles = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!tk_vocab_add(v, spell(items[i].bytes, scratch), first_id + items[i].rank))
            return tk_load_nomem(load);
        singles += items[i].bytes.len == 1;
    }
    if (!tk_vocab_seal(v))
        return tk_load_nomem(load);
    if (v->count != count)
        return twins(load, v, items, count, first_id, scratch);
    if (singles != 256)
        return td_fail(load->err, TD_E_TOKENIZER, "%u of the 256 single bytes have no rank",
                       256 - singles);
    return TD_OK;
}

/* ---- merges ---- */

enum { BATCH = 64 };

typedef struct split {
    uint64_t hash[2];
    uint32_t at, left, len; /* of the token in the batch's texts, and where it is split */
    uint32_t rank;
} split;

typedef struct merger {
    tk_load *load;
    const tk_vocab *vocab;
    td_id first_id;
    split batch[BATCH];
    uint32_t waiting;
    td_buf texts; /* spellings of the tokens in the batch */
    tk_merge *merges;
    uint32_t count, cap;
} merger;

static td_code put(merger *m, tk_merge e)
{
    if (m->count == m->cap) {
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
        uint32_t right =
            tk_vocab_place(v, (td_str){ text + s->left, s->len - s->left }, s->hash[1]);
        if (right == UINT32_MAX)
            continue;
        TD_TRY(put(m, (tk_merge){ tk_vocab_head_at(v, left).id, tk_vocab_head_at(v, right).id,
                                  s->rank, m->first_id + s->rank }));
    }
    m->waiting = 0;
    return TD_OK;
}

/* All splits of a token between two of its bytes. */
static td_code add_splits(merger *m, const tk_rank *item, char *scratch)
{
    td_str text = spell(item->bytes, scratch);
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
        *s = (split){ .at = (uint32_t)at, .left = left, .len = (uint32_t)text.len,
                      .rank = item->rank };
        s->hash[0] = tk_vocab_hash(text.ptr, left);
        s->hash[1] = tk_vocab_hash(p, text.len - left);
        __builtin_prefetch(tk_vocab_slot(m->vocab, s->hash[0]));
        __builtin_prefetch(tk_vocab_slot(m->vocab, s->hash[1]));
    }
    return TD_OK;
}

static td_code make_merges(tk_load *load, tk_bpe *bpe, const tk_rank *items, uint32_t count,
                           td_id first_id, char *scratch)
{
    merger m = { .load = load, .vocab = bpe->vocab, .first_id = first_id };
    td_code code = TD_OK;
    for (uint32_t i = 0; code == TD_OK && i < count; i++)
        code = add_splits(&m, &items[i], scratch);
    if (code == TD_OK)
        code = run_batch(&m);
    if (code == TD_OK)
        code = tk_bpe_set_merges(load, bpe, m.merges, m.count);
    td_free(m.merges);
    td_buf_done(&m.texts);
    return code;
}

td_code tk_make_ranked_bpe(tk_load *load, const tk_rank *items, uint32_t count, td_id first_id,
                           const tk_bpe **ret)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < count; i++)
        longest = items[i].bytes.len > longest ? items[i].bytes.len : longest;
    char *scratch = td_arena_alloc_n(&load->temp, longest + 1, 2, 1);
    if (scratch == NULL)
        return tk_load_nomem(load);
    tk_vocab *vocab = tk_vocab_new(count);
    if (vocab == NULL)
        return tk_load_nomem(load);
    td_code code = fill_vocab(load, vocab, items, count, first_id, scratch);
    if (code != TD_OK) {
        tk_vocab_free(vocab);
        return code;
    }
    tk_bpe *bpe = NULL;
    TD_TRY(tk_bpe_new(load, vocab, &bpe));
    bpe->ignore_merges = true;
    TD_TRY(make_merges(load, bpe, items, count, first_id, scratch));
    *ret = bpe;
    return TD_OK;
}

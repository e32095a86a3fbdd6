/* ranks.c - the tables of a BPE model from ranks.
 *
 * Texts are spelled with byte characters, as the fast way and the byte-level pre-tokenizer have
 * them. Each split of a token's bytes into two tokens is a merge with the token's rank: merging the
 * lowest rank first, leftmost first, is then what tiktoken does, which looks pairs up by the bytes
 * that they make. */
#include "tokenizer/formats/ranks.h"

#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/formats/implied.h"

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

/* ---- merges of ranks ---- */

typedef struct ranks {
    const tk_rank *items;
    td_id first_id;
    char *scratch;
} ranks;

static bool product_of(const void *user, uint32_t i, tk_product *ret)
{
    const ranks *r = user;
    const tk_rank *item = &r->items[i];
    *ret = (tk_product){ spell(item->bytes, r->scratch), item->rank, r->first_id + item->rank };
    return true;
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
    ranks user = { items, first_id, scratch };
    TD_TRY(tk_imply_merges(load, bpe, product_of, &user, count));
    *ret = bpe;
    return TD_OK;
}

/* sentencepiece.c - a SentencePiece model as a tokenizer.
 *
 * Control pieces are never found in texts, user-defined ones always. "With special tokens" puts the
 * piece for the beginning of a text in front, where the model has one: encode(add_bos=True). */
#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/formats/spm.h"

static td_code make_user_trie(tk_load *load, const spm_file *file, const tk_prefix_trie **ret)
{
    uint32_t n = 0;
    td_str *texts = td_arena_array(&load->temp, td_str, (size_t)file->count + 1);
    uint32_t *values = td_arena_array(&load->temp, uint32_t, (size_t)file->count + 1);
    if (texts == NULL || values == NULL)
        return tk_load_nomem(load);
    for (uint32_t i = 0; i < file->count; i++) {
        if (file->items[i].type != SPM_USER_DEFINED)
            continue;
        texts[n] = file->items[i].text;
        values[n++] = i;
    }
    if (n == 0)
        return TD_OK;
    tk_prefix_trie *trie = tk_prefix_trie_new(texts, values, n);
    if (trie == NULL)
        return tk_load_nomem(load);
    *ret = trie;
    return tk_on_free(load, tk_prefix_trie_free, trie);
}

static void free_vocab(void *v)
{
    tk_vocab_free(v);
}

/* All pieces by their text, which must be distinct. */
static td_code make_vocab(tk_load *load, spm_model *m)
{
    tk_vocab *v = tk_vocab_new(m->count);
    if (v == NULL)
        return tk_load_nomem(load);
    TD_TRY(tk_on_free(load, free_vocab, v));
    for (uint32_t i = 0; i < m->count; i++)
        if (!tk_vocab_add(v, m->items[i].text, i))
            return tk_load_nomem(load);
    if (!tk_vocab_seal(v))
        return tk_load_nomem(load);
    m->vocab = v;
    for (uint32_t i = 0; v->count != m->count && i < m->count; i++) {
        td_id last = i;
        if (tk_vocab_find(v, m->items[i].text, &last) && last != i)
            return td_fail(load->err, TD_E_TOKENIZER,
                           "SentencePiece model: the pieces %u and %u are the same", i, last);
    }
    return TD_OK;
}

static td_code make_model(td_tokenizer *tok, tk_load *load, const spm_file *file,
                          const tk_prefix_trie *user, spm_model **ret)
{
    bool plain = false;
    TD_TRY(tk_spm_make_model(load, file, user, ret));
    spm_model *m = *ret;
    TD_TRY(make_vocab(load, m));
    if (file->kind == SPM_BPE)
        TD_TRY(tk_spm_make_bpe(load, m, &plain));
    else if (file->kind == SPM_UNIGRAM)
        TD_TRY(tk_spm_make_unigram(load, m));
    else
        tk_spm_set_words(m, file->kind);
    tok->model = &m->base;
    return plain ? tk_fast_new(load, tok->norm, NULL, &m->bpe->base, &tok->fast) : TD_OK;
}

/* For BPE, user-defined pieces are what added tokens are that are looked for in normalized text. */
static td_code make_added(td_tokenizer *tok, tk_load *load, const spm_model *m, bool find)
{
    uint32_t n = 0;
    tk_added_token *tokens = td_arena_array(&load->temp, tk_added_token, (size_t)m->count + 1);
    if (tokens == NULL)
        return tk_load_nomem(load);
    for (uint32_t i = 0; find && i < m->count; i++)
        if (m->items[i].type == SPM_USER_DEFINED)
            tokens[n++] =
                (tk_added_token){ .content = m->items[i].text, .id = i, .normalized = true };
    TD_TRY(tk_added_make(load, tokens, n, find, tok->model, &tok->added));
    tok->added.fresh = 0;
    return TD_OK;
}

td_code tk_load_sentencepiece(td_tokenizer *tok, tk_load *load, td_str bytes)
{
    spm_file file;
    const tk_prefix_trie *user = NULL;
    const spm_norm *norm = NULL, *denorm = NULL;
    spm_model *m = NULL;
    td_id bos;
    TD_TRY(tk_spm_read(&load->temp, bytes, &file, load->err));
    tok->format = "sentencepiece";
    TD_TRY(make_user_trie(load, &file, &user));
    TD_TRY(tk_spm_make_norm(load, &file.norm, file.suffix, user, &norm));
    tok->norm = &norm->base;
    TD_TRY(make_model(tok, load, &file, user, &m));
    if (file.denorm.charsmap.len != 0)
        TD_TRY(tk_spm_make_norm(load, &file.denorm, false, NULL, &denorm));
    TD_TRY(tk_spm_make_detok(load, &file, m, denorm, &tok->detok));
    TD_TRY(make_added(tok, load, m, file.kind == SPM_BPE));
    if (tk_vocab_find(m->vocab, file.bos_piece, &bos) && bos < m->count &&
        m->items[bos].type == SPM_CONTROL)
        TD_TRY(tk_make_bos(load, m->items[bos].text, bos, false, &tok->post));
    return TD_OK;
}

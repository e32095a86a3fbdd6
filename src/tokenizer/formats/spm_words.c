/* spm_words.c - SentencePiece models of characters and of words: each is looked up, that is all. */
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm.h"

#define MARK "\xE2\x96\x81"

static td_code put(spm_output *o, td_str word, td_error *err)
{
    td_id id = o->m->unk;
    tk_vocab_find(o->m->vocab, word, &id);
    return tk_spm_put(o, id, (uint32_t)word.len, err);
}

static td_code chars(const tk_model *self, tk_ctx *ctx, td_str text, tk_tokens *out, td_error *err)
{
    spm_output o = { .m = (const spm_model *)self, .ctx = ctx, .text = text, .out = out };
    while (o.at < text.len) {
        td_str rest = td_str_from_offset(text, o.at);
        size_t len = o.m->user != NULL ? tk_spm_longest(o.m->user, rest) : 0;
        if (len == 0) {
            const char *p = rest.ptr;
            td_utf8_next(&p, rest.ptr + rest.len);
            len = (size_t)(p - rest.ptr);
        }
        TD_TRY(put(&o, (td_str){ rest.ptr, len }, err));
    }
    return TD_OK;
}

/* A word begins at each mark. */
static td_code words(const tk_model *self, tk_ctx *ctx, td_str text, tk_tokens *out, td_error *err)
{
    spm_output o = { .m = (const spm_model *)self, .ctx = ctx, .text = text, .out = out };
    while (o.at < text.len) {
        size_t next = td_str_find(text, TD_STR(MARK), o.at + 1);
        size_t end = next != TD_NOT_FOUND ? next : text.len;
        TD_TRY(put(&o, (td_str){ text.ptr + o.at, end - o.at }, err));
    }
    return TD_OK;
}

void tk_spm_set_words(spm_model *m, spm_kind kind)
{
    m->base.type = kind == SPM_WORD ? "Word" : "Char";
    m->base.tokenize = kind == SPM_WORD ? words : chars;
}

/* spm_pieces.c - what all kinds of SentencePiece models share: the pieces and their types, and the
 * last step from pieces to ids. */
#include <stdio.h>

#include "tokenizer/formats/spm.h"

td_code tk_spm_put(spm_output *o, td_id id, uint32_t len, td_error *err)
{
    const spm_model *m = o->m;
    uint32_t start = o->at, end = o->at + len;
    td_str text = { o->text.ptr + start, len };
    bool unknown = m->items[id].type != SPM_NORMAL && m->items[id].type != SPM_USER_DEFINED;
    o->at = end;
    if (unknown && m->byte_fallback) {
        /* The last byte has the place of the character, the others stand empty before it. */
        for (uint32_t i = 0; i < len; i++) {
            tk_token t = { .id = m->bytes[(unsigned char)text.ptr[i]],
                           .start = start,
                           .end = i + 1 == len ? end : start };
            TD_TRY(tk_tokens_add(o->ctx, o->out, t, err));
        }
    } else if (unknown && o->after_unknown) {
        o->out->items[o->out->count - 1].end = end;
    } else {
        tk_token t = { .id = unknown ? m->unk : id,
                       .start = start,
                       .end = end,
                       .value = unknown ? TK_VALUE_SPAN : TK_VALUE_ENTRY };
        TD_TRY(tk_tokens_add(o->ctx, o->out, t, err));
    }
    o->after_unknown = unknown;
    return TD_OK;
}

/* ---- the model's part of the vocabulary ---- */

static bool token_to_id(const tk_model *self, td_str text, td_id *ret)
{
    const spm_model *m = (const spm_model *)self;
    return tk_vocab_find(m->vocab, text, ret) && *ret < m->count;
}

static td_str id_to_token(const tk_model *self, td_id id)
{
    const spm_model *m = (const spm_model *)self;
    return id < m->count ? m->items[id].text : (td_str){ NULL, 0 };
}

static size_t vocab_size(const tk_model *self)
{
    return ((const spm_model *)self)->count;
}

static td_id id_end(const tk_model *self)
{
    return ((const spm_model *)self)->count;
}

static td_code describe(const tk_model *self, td_buf *out)
{
    const spm_model *m = (const spm_model *)self;
    return td_buf_printf(out, ", \"byte_fallback\": %s", m->byte_fallback ? "true" : "false");
}

static td_code keep_items(tk_load *load, const spm_file *file, spm_model *m)
{
    spm_piece *items = tk_new(load, ((size_t)file->count + 1) * sizeof *items);
    if (items == NULL)
        return TD_E_INTERNAL;
    for (uint32_t i = 0; i < file->count; i++) {
        items[i] = file->items[i];
        items[i].text = tk_keep(load, file->items[i].text);
        if (items[i].text.ptr == NULL)
            return TD_E_INTERNAL;
        if (items[i].type == SPM_UNKNOWN)
            m->unk = i;
    }
    m->items = items;
    m->count = file->count;
    return TD_OK;
}

td_code tk_spm_make_model(tk_load *load, const spm_file *file, const tk_prefix_trie *user,
                          spm_model **ret)
{
    spm_model *m = TK_NEW(load, spm_model);
    if (m == NULL)
        return TD_E_INTERNAL;
    m->base = (tk_model){ .token_to_id = token_to_id,
                          .id_to_token = id_to_token,
                          .vocab_size = vocab_size,
                          .id_end = id_end,
                          .describe = describe,
                          .empty_at_start = true };
    m->user = user;
    m->byte_fallback = file->byte_fallback;
    TD_TRY(keep_items(load, file, m));
    for (uint32_t i = 0; i < m->count; i++) {
        unsigned byte;
        if (m->items[i].type == SPM_BYTE && sscanf(m->items[i].text.ptr, "<0x%2X>", &byte) == 1)
            m->bytes[byte & 0xFF] = i;
    }
    *ret = m;
    return TD_OK;
}

/* bpe.h - byte pair encoding: the model's tables and its merging.
 *
 * A word starts as one symbol a character (or byte token, or unknown token); then, again and
 * again, the adjacent pair with the lowest rank is merged, leftmost first, until none is left. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_H
#define TD_SRC_TOKENIZER_MODEL_BPE_H

#include "base/alloc.h"
#include "tokenizer/load/load.h"
#include "tokenizer/model/merges.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/vocab/vocab.h"

enum { TK_BPE_DIRECT = 0x400 };

typedef struct tk_bpe {
    tk_model base;
    tk_vocab *vocab;
    tk_merges merges;
    td_id direct[TK_BPE_DIRECT]; /* code point -> id of that one character, or TK_NO_ID */
    td_id bytes[256];            /* id of <0xXX>, or TK_NO_ID */
    bool has_unk, unk_known;
    td_str unk_token;
    td_id unk;
    td_str prefix, suffix; /* of subwords behind the first; of the last */
    bool fuse_unk, byte_fallback, ignore_merges;
} tk_bpe;

/* Symbols of one word: ids and the bytes of the word that each covers. */
typedef struct tk_symbols {
    td_id *ids;
    uint32_t *lens;
    uint32_t count;
} tk_symbols;

/* The model as BPE; NULL when it is another kind. */
const tk_bpe *tk_as_bpe(const tk_model *model);

/* TD_E_TIMEOUT when the context's flag is set or its time is up. */
td_code tk_look_around(const tk_ctx *ctx, td_error *err);

/* Merges in place, as far as it goes. Scratch comes from the context's arena. TD_E_TIMEOUT when the
 * context's flag is set or its time is up. */
td_code tk_bpe_merge(const tk_bpe *bpe, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* bpe_runs.c: the same for long words, where tk_bpe_can_run. */
bool tk_bpe_can_run(const tk_bpe *bpe);
td_code tk_bpe_merge_runs(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* bpe_periods.c: the same, faster for words that mostly repeat themselves. */
td_code tk_bpe_merge_periods(const tk_merges *m, tk_ctx *ctx, tk_symbols *s, td_error *err);

/* A model without merges and options over vocab, which is the tokenizer's from now on, also after
 * a failure. */
td_code tk_bpe_new(tk_load *load, tk_vocab *vocab, tk_bpe **ret);

/* bpe_proof.c: fills the table of merges and sets merges.proven. What is in merges is lost.
 * TD_E_LIMIT when a rank is not below TK_RANK_END. */
td_code tk_bpe_fill(tk_load *load, tk_bpe *bpe, tk_merge *merges, uint32_t count);

/* ---- bpe_load.c ---- */

/* Reads the merges of load->merges_json. */
td_code tk_bpe_load_merges(const tk_at *at, tk_bpe *bpe);

/* Takes merges from elsewhere; of equal pairs the last one counts. Pairs may share a rank: of these
 * the leftmost is merged first. What is in merges is lost. TD_E_LIMIT when a rank is not below
 * TK_RANK_END. */
td_code tk_bpe_set_merges(tk_load *load, tk_bpe *bpe, tk_merge *merges, uint32_t count);

#endif

/* convert_spm.h - a SentencePiece model as what transformers makes of it for a model directory
 * without a tokenizer.json (SentencePieceExtractor, build_tokenizer_from_spm_proto). */
#ifndef TD_SRC_TOKENIZER_FORMATS_CONVERT_SPM_H
#define TD_SRC_TOKENIZER_FORMATS_CONVERT_SPM_H

#include "base/arena.h"
#include "base/buf.h"
#include "tokdrain/base.h"

typedef struct tk_spm_rename {
    uint32_t id;
    td_str text;
} tk_spm_rename;

/* A piece that is an added token. */
typedef struct tk_spm_added {
    td_str text;
    bool special; /* a control piece, else a user-defined one */
} tk_spm_added;

/* An entry that a class has beside the pieces. */
typedef struct tk_spm_entry {
    td_str text;
    double score;
} tk_spm_entry;

/* What the class that it is for needs to know. Texts are views into the file. */
typedef struct tk_spm_facts {
    bool dummy_prefix;
    bool unigram;         /* the model that was written, else BPE */
    int32_t unk_id;       /* as the file has it */
    td_str charsmap;      /* empty: none */
    td_str bos, eos, unk; /* ptr NULL: none */
    const tk_spm_added *added;
    uint32_t added_count;
} tk_spm_facts;

typedef struct tk_spm_options {
    bool whole;  /* the pipeline, too, for the generic class; else only the model */
    bool legacy; /* of the pipeline */
    enum {
        TK_SPM_BY_KIND, /* Unigram if the file's model is, else BPE */
        TK_SPM_BPE,
        TK_SPM_UNIGRAM
    } model;
    const tk_spm_rename *renames; /* of pieces, for the generic class */
    uint32_t rename_count;
    /* What stands around the pieces from number `skip` on: in a list of a Unigram model just so; in
     * BPE, which has no back and skips nothing, as `ids` tells. */
    const tk_spm_entry *front, *back;
    uint32_t front_count, back_count, skip;
    enum {
        TK_SPM_KEPT,   /* there is no front */
        TK_SPM_FILLED, /* pieces that are not in front have the ids behind it, in order */
        TK_SPM_MOVED   /* each piece has the next id; what is in front and no piece, its own */
    } ids;
} tk_spm_options;

/* Appends a tokenizer.json; scores of a Unigram model are in it to the nearest double. a: what
 * ret_facts holds, and scratch. TD_E_TOKENIZER: not a SentencePiece model, or one that is not
 * converted. */
td_code tk_convert_sentencepiece(td_arena *a, td_str bytes, const tk_spm_options *options,
                                 td_buf *out, tk_spm_facts *ret_facts, td_error *err);

#endif

/* convert_spm.h - a SentencePiece model of BPE as what transformers makes of it for a model
 * directory without a tokenizer.json (SentencePieceExtractor, build_tokenizer_from_spm_proto). */
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

/* What the class that it is for needs to know. Texts are views into the file. */
typedef struct tk_spm_facts {
    bool dummy_prefix;
    td_str bos, eos, unk; /* ptr NULL: none */
    const tk_spm_added *added;
    uint32_t added_count;
} tk_spm_facts;

typedef struct tk_spm_options {
    bool whole; /* the pipeline, too, for the generic class; else only vocabulary and merges */
    bool legacy;
    const tk_spm_rename *renames; /* of pieces, for the generic class */
    uint32_t rename_count;
} tk_spm_options;

/* Appends a tokenizer.json. a: what ret_facts holds, and scratch. TD_E_TOKENIZER: not a
 * SentencePiece model, or one that is not converted. */
td_code tk_convert_sentencepiece(td_arena *a, td_str bytes, const tk_spm_options *options,
                                 td_buf *out, tk_spm_facts *ret_facts, td_error *err);

#endif

/* unigram.h - the Unigram model: each text has a score; a piece becomes the texts with the highest
 * sum. */
#ifndef TD_SRC_TOKENIZER_MODEL_UNIGRAM_H
#define TD_SRC_TOKENIZER_MODEL_UNIGRAM_H

#include "tokenizer/load/load.h"
#include "tokenizer/model/automaton.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/vocab/vocab.h"

/* An entry whose text is in the vocabulary again: the last such entry's id is the text's. */
typedef struct tk_twin {
    td_id id, later;
} tk_twin;

typedef struct tk_unigram {
    tk_model base;
    tk_vocab *vocab;
    double *scores; /* by id */
    uint32_t count; /* of entries */
    uint32_t longest; /* of their texts, bytes */
    tk_automaton *texts;
    double unk_score;
    bool unknowns_join; /* characters that are passed over one by one may be a text together */
    bool has_unk;
    td_id unk;
    bool byte_fallback;
    td_id bytes[256]; /* of <0xXX>, or TK_NO_ID */
    tk_twin *twins;   /* sorted by id */
    uint32_t twin_count, twin_cap;
} tk_unigram;

/* The model as Unigram; NULL when it is another kind. */
const tk_unigram *tk_as_unigram(const tk_model *model);

/* unigram_load.c: reads load->vocab_json, builds the tables. */
td_code tk_unigram_load(const tk_at *at, tk_unigram *u);

#endif

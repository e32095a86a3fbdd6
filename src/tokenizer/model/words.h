/* words.h - models that look whole words or parts of them up. */
#ifndef TD_SRC_TOKENIZER_MODEL_WORDS_H
#define TD_SRC_TOKENIZER_MODEL_WORDS_H

#include "tokenizer/model/prefix_trie.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/vocab/vocab.h"

typedef struct tk_words {
    tk_model base;
    tk_vocab *vocab;
    td_id unk;
    bool unk_known;
    td_str prefix;      /* WordPiece: of parts behind the first */
    uint64_t max_chars; /* WordPiece: of a word */
    tk_prefix_trie *trie; /* WordPiece: of all entries */
    uint32_t parts[256];  /* WordPiece: the node behind the prefix and a byte; 0: none */
} tk_words;

/* The model as WordPiece; NULL when it is another kind. */
const tk_words *tk_as_wordpiece(const tk_model *model);

#endif

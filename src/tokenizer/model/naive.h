/* naive.h - the models again, by the letter of their definition: for builds that check
 * themselves. */
#ifndef TD_SRC_TOKENIZER_MODEL_NAIVE_H
#define TD_SRC_TOKENIZER_MODEL_NAIVE_H

#include "tokenizer/pipeline.h"

enum {
    TK_NAIVE_BYTES = 256, /* of a piece: time grows with the square or worse */
    TK_NAIVE_AROUND = 16, /* of the model's prefix and suffix together */
};

typedef struct tk_naive_tokens {
    tk_token items[TK_NAIVE_BYTES * (TK_NAIVE_AROUND + 1)]; /* without values */
    uint32_t count;
} tk_naive_tokens;

/* The tokens of piece, which model does not refuse. false: there is no naive form for this model
 * or a piece this long, or no memory. */
bool tk_naive_tokenize(const tk_model *model, td_str piece, tk_naive_tokens *ret);

#endif

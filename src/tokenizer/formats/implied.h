/* implied.h - merges that a file does not list: every split of a token's text into two others. */
#ifndef TD_SRC_TOKENIZER_FORMATS_IMPLIED_H
#define TD_SRC_TOKENIZER_FORMATS_IMPLIED_H

#include "tokenizer/model/bpe.h"

typedef struct tk_product {
    td_str text; /* valid until the next call */
    uint32_t rank;
    td_id id;
} tk_product;

/* Number i of a list; false: nothing is merged into it. */
typedef bool (*tk_product_fn)(const void *user, uint32_t i, tk_product *ret);

/* Gives bpe the merges of all products: one for each place between two characters of a text where
 * both sides are in the vocabulary, with the product's rank. TD_E_LIMIT: texts are so long, and so
 * many, that this would take minutes. */
td_code tk_imply_merges(tk_load *load, tk_bpe *bpe, tk_product_fn get, const void *user,
                        uint32_t count);

#endif

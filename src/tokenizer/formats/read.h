/* read.h - what is in a file of ranks or of tekken, before anything is made of it. All of it lives
 * in the temporary arena of the load, kept texts in the other. */
#ifndef TD_SRC_TOKENIZER_FORMATS_READ_H
#define TD_SRC_TOKENIZER_FORMATS_READ_H

#include "tokenizer/added.h"
#include "tokenizer/formats/ranks.h"

typedef struct tk_tekken {
    td_str pattern;
    const tk_rank *items;
    uint32_t count;
    const tk_added_token *specials; /* with the ids 0, 1, ... */
    uint32_t special_count;
    bool names_specials; /* the file does, they are not the built-in ones */
} tk_tekken;

td_code tk_tekken_read(tk_load *load, td_str bytes, tk_tekken *ret);

/* Lines of tokens and ranks, in order of rank. */
td_code tk_ranks_read(tk_load *load, td_str bytes, const tk_rank **ret, uint32_t *ret_count);

#endif

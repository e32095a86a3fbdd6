/* ranks.h - BPE by ranks of byte strings: merges are implied, a pair has the rank of the bytes that
 * it makes. */
#ifndef TD_SRC_TOKENIZER_FORMATS_RANKS_H
#define TD_SRC_TOKENIZER_FORMATS_RANKS_H

#include "tokenizer/load/load.h"
#include "tokenizer/model/bpe.h"

typedef struct tk_rank {
    td_str bytes; /* not empty */
    uint32_t rank;
} tk_rank;

enum { TK_RANKS_MAX = 1 << 24, TK_RANK_BYTES_MAX = 1024 };

/* A byte-level model whose ids are first_id + rank; a piece that has a rank is one token. Ranks are
 * distinct and below TK_RANKS_MAX. Equal tokens and missing single bytes are refused. */
td_code tk_make_ranked_bpe(tk_load *load, const tk_rank *items, uint32_t count, td_id first_id,
                           const tk_bpe **ret);

#endif

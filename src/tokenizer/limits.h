/* limits.h - truncation and padding, two sections of a tokenizer.json.
 *
 * What encoding gives is the first window: other windows (the reference's "overflowing") are not
 * made, so the stride only decides what is refused. */
#ifndef TD_SRC_TOKENIZER_LIMITS_H
#define TD_SRC_TOKENIZER_LIMITS_H

#include "tokenizer/load/load.h"

typedef struct tk_truncation {
    uint64_t max_length, stride;
    bool left;        /* what is cut off stands at the start */
    bool only_second; /* the strategy cuts second texts, of which there are none here */
} tk_truncation;

typedef struct tk_padding {
    uint64_t length;   /* 0: that of the longest text of a batch */
    uint64_t multiple; /* 0: any length */
    bool longest, left;
    td_id id;
    td_str text;
} tk_padding;

/* Sections "truncation" and "padding"; *ret stays NULL where the section is null or absent. */
td_code tk_truncation_load(const tk_at *at, const tk_truncation **ret);
td_code tk_padding_load(const tk_at *at, const tk_padding **ret);

/* Before post-processing; special is how many tokens that will add. */
td_code tk_truncate(const tk_truncation *t, uint32_t special, tk_encoding *enc, td_error *err);
/* After it. */
td_code tk_pad(const tk_padding *p, tk_ctx *ctx, tk_encoding *enc, td_error *err);

#endif

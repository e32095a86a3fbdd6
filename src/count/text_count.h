/* text_count.h - how many tokens a text has, from segments counted before where possible. */
#ifndef TD_SRC_COUNT_TEXT_COUNT_H
#define TD_SRC_COUNT_TEXT_COUNT_H

#include <stdatomic.h>

#include "count/memo.h"
#include "tokenizer/segments.h"

typedef struct td_text_count_job {
    td_encoder *encoder;
    td_cutter *cutter;         /* of that encoder */
    td_memo *memo;             /* NULL: count everything */
    unsigned flags;            /* TD_ENCODE_ */
    bool verify;               /* count again without the memo; TD_E_VERIFY when it differs */
    uint64_t deadline_ns;      /* 0: none; TD_E_TIMEOUT */
    const atomic_bool *cancel; /* true: TD_E_TIMEOUT */
} td_text_count_job;

/* *ret_reused: how many of the tokens came from the memo. */
td_code td_text_count(const td_text_count_job *job, td_str text, uint64_t *ret_tokens,
                      uint64_t *ret_reused, td_error *err);

/* Adds the tokens of one segment of such a text; job->memo must not be NULL. */
td_code td_text_count_segment(const td_text_count_job *job, const td_segment *s, uint64_t *tokens,
                              uint64_t *reused, td_error *err);

#endif

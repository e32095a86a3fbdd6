/* owned_count.h - the tokens of a rendered conversation by the messages that they came from. */
#ifndef TD_SRC_COUNT_OWNED_COUNT_H
#define TD_SRC_COUNT_OWNED_COUNT_H

#include "count/text_count.h"
#include "jinja/jinja.h"
#include "tokdrain/request.h"

typedef struct td_owned_list {
    td_owned *items; /* td_free */
    size_t count, cap;
    uint64_t tokens, reused; /* of all of them */
} td_owned_list;

/* The owners of ids that were encoded from text with offsets in code points. */
td_code td_owned_of_ids(const jj_marks *marks, td_str text, td_ids ids, td_owned_list *ret,
                        td_error *err);

/* The same without ids: counts by segments, which the memo may know. a is scratch. */
td_code td_owned_count(const td_text_count_job *job, const jj_marks *marks, td_str text,
                       td_arena *a, td_owned_list *ret, td_error *err);

#endif

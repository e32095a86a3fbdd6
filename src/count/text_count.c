/* text_count.c - a text's count as the sum of its segments' counts. */
#include "count/text_count.h"

#include "base/error.h"
#include "base/thread.h"

td_code td_text_count(const td_text_count_job *job, td_str text, uint64_t *ret_tokens,
                      uint64_t *ret_reused, td_error *err)
{
    size_t count;
    if (atomic_load_explicit(job->cancel, memory_order_relaxed))
        return td_fail(err, TD_E_TIMEOUT, "interrupted");
    TD_TRY(td_count(job->encoder, text, job->flags, &count, err));
    *ret_tokens = count;
    *ret_reused = 0;
    return TD_OK;
}

#include "count/selfcheck.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/selfcheck.h"

void td_check_memo(const td_text_count_job *job, const td_segment *s, uint64_t known)
{
    td_error err = TD_ERROR_INIT;
    size_t count, fail_at = td_alloc_fail_at;
    td_alloc_fail_at = 0;
    td_code code = td_segment_count(job->encoder, s, &count, &err);
    td_alloc_fail_at = fail_at;
    bool stopped = code == TD_E_TIMEOUT || code == TD_E_LIMIT || code == TD_E_INTERNAL;
    if (code != TD_OK && !stopped)
        td_selfcheck_fail("memo: %llu tokens known of a text that is refused: %s",
                          (unsigned long long)known, err.message);
    if (code == TD_OK && count != known)
        td_selfcheck_fail("memo: %llu tokens known, %zu counted (state %u): '%.*s'",
                          (unsigned long long)known, count, (unsigned)s->state,
                          s->text.len < 200 ? (int)s->text.len : 200, s->text.ptr);
    td_error_clear(&err);
}

void td_check_kept(const td_kept *kept)
{
    td_error err = TD_ERROR_INIT;
    size_t fail_at = td_alloc_fail_at;
    td_alloc_fail_at = 0;
    td_code code = kept != NULL ? td_kept_check(kept, &err) : TD_OK;
    td_alloc_fail_at = fail_at;
    if (code != TD_OK && code != TD_E_INTERNAL)
        td_selfcheck_fail("kept: %s", err.message);
    td_error_clear(&err);
}

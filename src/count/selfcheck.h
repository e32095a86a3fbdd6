/* selfcheck.h - double checks of reused counts (base/selfcheck.h). */
#ifndef TD_SRC_COUNT_SELFCHECK_H
#define TD_SRC_COUNT_SELFCHECK_H

#include "count/text_count.h"

#ifdef TD_SELFCHECK
/* Counts a segment or stretch again that the memo knew. */
void td_check_memo(const td_text_count_job *job, const td_segment *s, uint64_t known);
#else
static inline void td_check_memo(const td_text_count_job *job, const td_segment *s, uint64_t known)
{
    (void)job;
    (void)s;
    (void)known;
}
#endif

#endif

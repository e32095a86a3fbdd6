/* selfcheck.h - double checks of what is reused (base/selfcheck.h). */
#ifndef TD_SRC_COUNT_SELFCHECK_H
#define TD_SRC_COUNT_SELFCHECK_H

#include "count/text_count.h"
#include "value/kept.h"

#ifdef TD_SELFCHECK
/* Counts a segment or stretch again that the memo knew. */
void td_check_memo(const td_text_count_job *job, const td_segment *s, uint64_t known);
/* A kept value (NULL is fine) is still what its source says. */
void td_check_kept(const td_kept *kept);
#else
static inline void td_check_memo(const td_text_count_job *job, const td_segment *s, uint64_t known)
{
    (void)job;
    (void)s;
    (void)known;
}
static inline void td_check_kept(const td_kept *kept)
{
    (void)kept;
}
#endif

#endif

/* shared.h - what all who count with one model share, made from the options of a counter. */
#ifndef TD_SRC_COUNT_SHARED_H
#define TD_SRC_COUNT_SHARED_H

#include "count/process.h"

/* Fills a zeroed *sh but for pool and interrupt; takes a reference to model (may be NULL). Texts of
 * the options move to texts. Whatever the outcome, td_shared_done follows. */
td_code td_shared_init(td_shared *sh, td_model *model, const td_counter_options *options,
                       td_arena *texts, td_error *err);
/* Memory of what is remembered for reuse. */
uint64_t td_shared_reuse_bytes(const td_shared *sh);
void td_shared_done(td_shared *sh, td_arena *texts);

#endif

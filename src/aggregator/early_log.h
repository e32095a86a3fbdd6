/* early_log.h - the early-stopping estimates in words. */
#ifndef TD_SRC_AGGREGATOR_EARLY_LOG_H
#define TD_SRC_AGGREGATOR_EARLY_LOG_H

#include "metrics/snapshot.h"

/* One line for each series of a finished snapshot that has estimates. */
void td_log_early(const td_snapshot *snap);

#endif

/* log.h - lines for people on standard output, in the layout of Python's logging. */
#ifndef TD_SRC_AGGREGATOR_LOG_H
#define TD_SRC_AGGREGATOR_LOG_H

#include "tokdrain/base.h"

typedef enum td_log_level { TD_LOG_INFO, TD_LOG_WARNING, TD_LOG_ERROR } td_log_level;

/* The part of the service that speaks; each has a name in the lines. */
typedef enum td_log_source {
    TD_FROM_MAIN,
    TD_FROM_SERVICE,
    TD_FROM_TABLE,
    TD_FROM_TOKENS,
    TD_FROM_REGISTRY,
    TD_FROM_PUBLISHER,
    TD_FROM_SOCKETS,
} td_log_source;

/* Writes one line at once; failures to write are ignored. One thread at a time. */
void td_log(td_log_source source, td_log_level level, const char *fmt, ...) TD_PRINTF(3, 4);

#endif

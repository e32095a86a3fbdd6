/* signals.h - SIGTERM and SIGINT as something that the service loop can wait for.
 *
 * Handlers belong to the process: one service at a time. */
#ifndef TD_SRC_AGGREGATOR_SIGNALS_H
#define TD_SRC_AGGREGATOR_SIGNALS_H

#include "tokdrain/base.h"

/* Installs the handlers; *ret_fd becomes readable when a signal came. Until then signals have
 * their default effect. */
TD_NODISCARD td_code td_signals_install(int *ret_fd, td_error *err);

typedef struct td_signals {
    bool terminate, interrupt;
} td_signals;

/* The signals since the last call. */
td_signals td_signals_take(void);

#endif

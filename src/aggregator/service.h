/* service.h - one run of the aggregator: from the sockets to the final snapshot. */
#ifndef TD_SRC_AGGREGATOR_SERVICE_H
#define TD_SRC_AGGREGATOR_SERVICE_H

#include "aggregator/http.h"
#include "aggregator/options.h"
#include "aggregator/session.h"
#include "aggregator/transport.h"
#include "base/arena.h"
#include "base/buf.h"

typedef struct td_service {
    const td_service_options *options;
    td_registry *registry;
    td_tokens *tokens; /* NULL: none */
    td_transport *transport;
    td_http *http; /* NULL: none */
    int wake_fd;   /* readable when a signal came */
    td_session session;

    uint64_t interval_ns, next_tick_ns; /* next_tick_ns 0: no ticks yet */
    bool draining;
    bool has_deadline;
    uint64_t deadline_ns; /* of the drain */

    uint64_t passed_bytes; /* received since freed memory was given back */

    td_arena arena; /* of one snapshot */
    td_buf text;    /* its written form */
} td_service;

/* Everything is borrowed and set up: sockets are open, handlers installed. */
void td_service_init(td_service *s, const td_service_options *options, td_registry *registry,
                     td_tokens *tokens, td_transport *transport, td_http *http, int wake_fd);
void td_service_done(td_service *s);

/* Runs until the session ended or the process is asked to stop, and writes the final snapshot. */
void td_service_run(td_service *s);

#endif

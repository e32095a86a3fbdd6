/* prometheus.h - a snapshot in the text format that Prometheus scrapes. */
#ifndef TD_SRC_AGGREGATOR_PROMETHEUS_H
#define TD_SRC_AGGREGATOR_PROMETHEUS_H

#include "base/buf.h"
#include "metrics/snapshot.h"

/* Appends it; docs/aggregator.md lists the names. Codes of td_buf appends. */
TD_NODISCARD td_code td_prometheus_write(const td_snapshot *snap, td_buf *out);

#endif

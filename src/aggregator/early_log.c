#include "aggregator/early_log.h"

#include <stdio.h>

#include "aggregator/log.h"
#include "base/buf.h"
#include "metrics/early_stopping.h"
#include "value/number.h"

enum { NUMBER_MAX = 64 };

/* An integer series' values are integers, whatever carries them. */
static void print_value(char out[NUMBER_MAX], const td_summary *sum, bool known, double value)
{
    if (!known)
        snprintf(out, NUMBER_MAX, "None");
    else if (sum->is_real)
        out[td_float_repr(value, out)] = '\0';
    else
        snprintf(out, NUMBER_MAX, "%.0f", value);
}

void td_log_early(const td_snapshot *snap)
{
    for (size_t i = 0; i < snap->series_count; i++) {
        const td_summary *sum = &snap->series[i];
        if (!sum->has_early)
            continue;
        td_buf line = { 0 };
        for (size_t k = 0; k < TD_EARLY_PERCENTILES; k++) {
            const td_early_estimate *e = &sum->early[k];
            char estimate[NUMBER_MAX], empirical[NUMBER_MAX];
            print_value(estimate, sum, e->known, e->value);
            print_value(empirical, sum, sum->count != 0, sum->percentiles[k]);
            unsigned long long least = td_early_min_count(td_percentiles[k] / 100);
            (void)td_buf_printf(
                &line, "%sp%s: estimate=%s empirical=%s n=%llu min_queries=%llu discarded=%llu",
                k != 0 ? "; " : "", td_percentile_names[k], estimate, empirical,
                (unsigned long long)sum->count, least, (unsigned long long)e->discarded);
        }
        td_log(TD_FROM_REGISTRY, TD_LOG_INFO, "%s early-stopping detail (confidence %.2f): %.*s",
               sum->name, TD_EARLY_CONFIDENCE, (int)line.len, line.ptr);
        td_buf_done(&line);
    }
}

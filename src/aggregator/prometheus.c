#include "aggregator/prometheus.h"

#include "base/error.h"
#include "base/str.h"
#include "value/number.h"

static td_code put_real(td_buf *out, double value)
{
    char digits[TD_FLOAT_TEXT_MAX];
    return td_buf_append(out, digits, td_float_repr(value, digits));
}

static td_code put_integer(td_buf *out, td_wide value)
{
    char digits[TD_WIDE_TEXT_MAX];
    return td_buf_append(out, digits, td_wide_print(value, digits));
}

static td_code put_type(td_buf *out, const char *name, const char *suffix, const char *type)
{
    return td_buf_printf(out, "# TYPE tokdrain_%s%s %s\n", name, suffix, type);
}

static td_code put_number(td_buf *out, const td_summary *sum, td_wide integer, double real)
{
    return sum->is_real ? put_real(out, real) : put_integer(out, integer);
}

static td_code put_gauge(td_buf *out, const td_summary *sum, const char *suffix, int64_t integer,
                         double real)
{
    TD_TRY(put_type(out, sum->name, suffix, "gauge"));
    TD_TRY(td_buf_printf(out, "tokdrain_%s%s ", sum->name, suffix));
    TD_TRY(put_number(out, sum, integer, real));
    return td_buf_byte(out, '\n');
}

/* A summary: the percentiles as quantiles, sum and count; smallest and largest as gauges. */
static td_code put_series(td_buf *out, const td_summary *sum)
{
    TD_TRY(put_type(out, sum->name, "", "summary"));
    for (size_t i = TD_PERCENTILES; i-- > 0;) {
        TD_TRY(td_buf_printf(out, "tokdrain_%s{quantile=\"%g\"} ", sum->name,
                             td_percentiles[i] / 100));
        TD_TRY(put_real(out, sum->percentiles[i]));
        TD_TRY(td_buf_byte(out, '\n'));
    }
    TD_TRY(td_buf_printf(out, "tokdrain_%s_sum ", sum->name));
    TD_TRY(put_number(out, sum, sum->total, sum->total_real));
    TD_TRY(td_buf_printf(out, "\ntokdrain_%s_count %llu\n", sum->name,
                         (unsigned long long)sum->count));
    TD_TRY(put_gauge(out, sum, "_min", sum->min, sum->min_real));
    return put_gauge(out, sum, "_max", sum->max, sum->max_real);
}

td_code td_prometheus_write(const td_snapshot *snap, td_buf *out)
{
    TD_TRY(put_type(out, "state", "", "gauge"));
    for (td_run_state state = TD_RUN_LIVE; state <= TD_RUN_INTERRUPTED; state++)
        TD_TRY(td_buf_printf(out, "tokdrain_state{state=\"%s\"} %d\n", td_run_state_name(state),
                             state == snap->state));
    TD_TRY(put_type(out, "pending_tokenizations", "", "gauge"));
    TD_TRY(td_buf_printf(out, "tokdrain_pending_tokenizations %llu\n",
                         (unsigned long long)snap->pending));
    for (size_t i = 0; i < TD_COUNTERS; i++) {
        const char *name = td_counter_name((td_counter_id)i);
        bool is_duration = td_str_ends(td_str_from(name), TD_STR("_ns"));
        TD_TRY(put_type(out, name, "", is_duration ? "gauge" : "counter"));
        TD_TRY(td_buf_printf(out, "tokdrain_%s ", name));
        TD_TRY(put_integer(out, snap->counters[i]));
        TD_TRY(td_buf_byte(out, '\n'));
    }
    for (size_t i = 0; i < snap->series_count; i++)
        TD_TRY(put_series(out, &snap->series[i]));
    return TD_OK;
}

/* snapshot_json.c - a snapshot as Python's json.dumps(indent=2) would lay it out.
 *
 * A small writer keeps the nesting and the commas; every name is plain ASCII, so strings need no
 * escapes. Its first failure sticks and is reported once at the end. */
#include <math.h>

#include "base/str.h"
#include "metrics/snapshot.h"
#include "value/number.h"

const char *td_run_state_name(td_run_state state)
{
    static const char *const names[] = { "live", "draining", "complete", "interrupted" };
    return names[state];
}

typedef struct writer {
    td_buf *out;
    td_code code;
    unsigned depth;
    bool first; /* nothing written yet at this depth */
} writer;

static void put(writer *w, td_str text)
{
    if (w->code == TD_OK)
        w->code = td_buf_put(w->out, text);
}

static void new_line(writer *w)
{
    put(w, TD_STR("\n"));
    for (unsigned i = 0; i < w->depth; i++)
        put(w, TD_STR("  "));
}

/* Before each element: the comma, the line, and the key (empty in arrays). */
static void item(writer *w, const char *key)
{
    if (!w->first)
        put(w, TD_STR(","));
    w->first = false;
    new_line(w);
    if (*key != '\0') {
        put(w, TD_STR("\""));
        put(w, td_str_from(key));
        put(w, TD_STR("\": "));
    }
}

static void open(writer *w, td_str bracket)
{
    put(w, bracket);
    w->depth++;
    w->first = true;
}

static void close(writer *w, td_str bracket)
{
    w->depth--;
    if (!w->first)
        new_line(w);
    w->first = false;
    put(w, bracket);
}

static void text(writer *w, const char *key, const char *value)
{
    item(w, key);
    put(w, TD_STR("\""));
    put(w, td_str_from(value));
    put(w, TD_STR("\""));
}

static void integer(writer *w, const char *key, td_wide value)
{
    char digits[TD_WIDE_TEXT_MAX];
    value = value > UINT64_MAX ? UINT64_MAX : value < INT64_MIN ? INT64_MIN : value;
    item(w, key);
    put(w, (td_str){ digits, td_wide_print(value, digits) });
}

static void real(writer *w, const char *key, double value)
{
    item(w, key);
    if (!isfinite(value)) {
        put(w, TD_STR("null"));
        return;
    }
    char digits[TD_FLOAT_TEXT_MAX];
    put(w, (td_str){ digits, td_float_repr(value, digits) });
}

static void number(writer *w, const char *key, bool is_real, td_wide i, double d)
{
    if (is_real)
        real(w, key, d);
    else
        integer(w, key, i);
}

static void early(writer *w, const td_summary *sum)
{
    item(w, "early_stopping_percentiles");
    open(w, TD_STR("{"));
    for (size_t i = 0; i < TD_EARLY_PERCENTILES; i++)
        real(w, td_percentile_names[i], sum->early[i].known ? sum->early[i].value : (double)NAN);
    close(w, TD_STR("}"));
}

static void histogram(writer *w, const td_summary *sum)
{
    item(w, "histogram");
    open(w, TD_STR("["));
    for (uint32_t i = 0; i < sum->bucket_count; i++) {
        item(w, "");
        open(w, TD_STR("["));
        item(w, "");
        open(w, TD_STR("["));
        real(w, "", sum->buckets[i].low);
        real(w, "", sum->buckets[i].high);
        close(w, TD_STR("]"));
        integer(w, "", (td_wide)sum->buckets[i].count);
        close(w, TD_STR("]"));
    }
    close(w, TD_STR("]"));
}

static void series(writer *w, const td_summary *sum)
{
    bool is_real = sum->is_real, has_any = sum->count != 0;
    item(w, "");
    open(w, TD_STR("{"));
    text(w, "type", "series");
    text(w, "name", sum->name);
    integer(w, "count", (td_wide)sum->count);
    number(w, "total", is_real, sum->total, sum->total_real);
    number(w, "min", is_real && has_any, sum->min, sum->min_real);
    number(w, "max", is_real && has_any, sum->max, sum->max_real);
    number(w, "sum_sq", is_real || has_any, 0, sum->square_sum);
    item(w, "percentiles");
    open(w, TD_STR("{"));
    for (size_t i = 0; i < TD_PERCENTILES; i++)
        real(w, td_percentile_names[i], sum->percentiles[i]);
    close(w, TD_STR("}"));
    if (sum->has_early)
        early(w, sum);
    histogram(w, sum);
    close(w, TD_STR("}"));
}

td_code td_snapshot_json(const td_snapshot *snap, td_buf *out)
{
    writer w = { .out = out };
    open(&w, TD_STR("{"));
    integer(&w, "counter", (td_wide)snap->counter);
    integer(&w, "timestamp_ns", snap->timestamp_ns);
    text(&w, "state", td_run_state_name(snap->state));
    integer(&w, "n_pending_tasks", (td_wide)snap->pending);
    item(&w, "metrics");
    open(&w, TD_STR("["));
    for (size_t i = 0; i < TD_COUNTERS; i++) {
        item(&w, "");
        open(&w, TD_STR("{"));
        text(&w, "type", "counter");
        text(&w, "name", td_counter_name((td_counter_id)i));
        integer(&w, "value", snap->counters[i]);
        close(&w, TD_STR("}"));
    }
    for (size_t i = 0; i < snap->series_count; i++)
        series(&w, &snap->series[i]);
    close(&w, TD_STR("]"));
    close(&w, TD_STR("}"));
    return w.code;
}

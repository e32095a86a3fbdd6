#include "aggregator/top_view.h"

#include <stdio.h>

#include "aggregator/frame.h"
#include "base/error.h"
#include "base/str.h"
#include "value/msgpack.h"

enum { BAR_MAX = 50 };

/* ---- reading ---- */

static bool set(td_arena *a, td_dict *d, const char *key, td_value v)
{
    return td_dict_set(a, d, td_key(td_str_from(key)), v);
}

/* [type, name, ...] as an object; none when it is of no known shape. */
static td_value metric_object(td_arena *a, td_value m, bool *ok)
{
    static const char *const counter_keys[] = { "type", "name", "value" };
    static const char *const series_keys[] = { "type",        "name",      "count",
                                               "total",       "min",       "max",
                                               "sum_sq",      "percentiles", "histogram",
                                               "early_stopping_percentiles" };
    bool is_counter = m.tag == TD_V_LIST && m.len == 3;
    bool is_series = m.tag == TD_V_LIST && m.len >= 9;
    td_dict *d = td_dict_new(a, 10);
    *ok = *ok && d != NULL;
    if (!*ok || (!is_counter && !is_series))
        return td_none();
    const char *const *keys = is_counter ? counter_keys : series_keys;
    for (uint32_t i = 0; i < m.len && i < 10; i++)
        if (i < 9 || !td_is_none(m.as.items[i]))
            *ok = *ok && set(a, d, keys[i], m.as.items[i]);
    return td_dict_of(d);
}

static bool is_snapshot(td_value v)
{
    return v.tag == TD_V_LIST && v.len == 5 && v.as.items[0].tag == TD_V_INT &&
           v.as.items[1].tag == TD_V_INT && td_is_str(v.as.items[2]) &&
           v.as.items[3].tag == TD_V_INT && v.as.items[4].tag == TD_V_LIST;
}

td_code td_top_read(td_arena *a, td_str frame, td_value *ret, td_error *err)
{
    static const char topic[TD_TOPIC_BYTES] = "MET";
    static const char *const keys[] = { "counter", "timestamp_ns", "state", "n_pending_tasks" };
    if (frame.len < sizeof topic || memcmp(frame.ptr, topic, sizeof topic) != 0)
        return td_fail(err, TD_E_INPUT, "a frame that is no snapshot");
    td_value v;
    TD_TRY(td_msgpack_read(a, td_str_from_offset(frame, sizeof topic), &v, err));
    if (!is_snapshot(v))
        return td_fail(err, TD_E_INPUT, "a snapshot of another layout");
    td_value list = v.as.items[4];
    td_dict *d = td_dict_new(a, 5);
    td_value *metrics = td_arena_array(a, td_value, list.len + 1);
    bool ok = d != NULL && metrics != NULL;
    for (uint32_t i = 0; ok && i < 4; i++)
        ok = set(a, d, keys[i], v.as.items[i]);
    uint32_t count = 0;
    for (uint32_t i = 0; ok && i < list.len; i++) {
        metrics[count] = metric_object(a, list.as.items[i], &ok);
        count += !td_is_none(metrics[count]);
    }
    if (!ok || !set(a, d, "metrics", td_list_of(metrics, count)))
        return td_arena_fail(a, err);
    *ret = td_dict_of(d);
    return TD_OK;
}

/* ---- picking ---- */

static td_value field(td_value object, const char *key)
{
    const td_value *v =
        object.tag == TD_V_DICT ? td_dict_find(object.as.dict, td_str_from(key)) : NULL;
    return v != NULL ? *v : td_none();
}

static td_value metric(td_value snapshot, const char *name)
{
    td_value list = field(snapshot, "metrics");
    for (uint32_t i = 0; list.tag == TD_V_LIST && i < list.len; i++) {
        td_value found = field(list.as.items[i], "name");
        if (td_is_str(found) && td_str_eq(td_as_str(found), td_str_from(name)))
            return list.as.items[i];
    }
    return td_none();
}

static double number(td_value v)
{
    return v.tag == TD_V_INT ? (double)v.as.integer : v.tag == TD_V_FLOAT ? v.as.real : 0;
}

static double counter(td_value snapshot, const char *name)
{
    return number(field(metric(snapshot, name), "value"));
}

td_str td_top_state(td_value snapshot)
{
    td_value state = field(snapshot, "state");
    return td_is_str(state) ? td_as_str(state) : TD_STR("");
}

/* ---- printing ---- */

enum { NUMBER_MAX = 32 };

/* A duration in the unit that suits it. */
static void print_ns(char out[NUMBER_MAX], double ns)
{
    double size = ns < 0 ? -ns : ns;
    if (size >= 1e9)
        snprintf(out, NUMBER_MAX, "%.2f s", ns / 1e9);
    else if (size >= 1e6)
        snprintf(out, NUMBER_MAX, "%.2f ms", ns / 1e6);
    else
        snprintf(out, NUMBER_MAX, "%.1f us", ns / 1e3);
}

static void print_value(char out[NUMBER_MAX], bool is_ns, double v)
{
    if (is_ns)
        print_ns(out, v);
    else
        snprintf(out, NUMBER_MAX, "%.0f", v);
}

static td_code print_series(td_buf *out, td_value m)
{
    static const char *const columns[] = { "50.0", "90.0", "99.0", "99.9" };
    td_str name = td_as_str(field(m, "name"));
    bool is_ns = td_str_ends(name, TD_STR("_ns"));
    double count = number(field(m, "count"));
    char text[NUMBER_MAX];
    TD_TRY(td_buf_printf(out, "%-18.*s %10.0f", (int)name.len, name.ptr, count));
    print_value(text, is_ns, count != 0 ? number(field(m, "total")) / count : 0);
    TD_TRY(td_buf_printf(out, " %12s", text));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        print_value(text, is_ns, number(field(field(m, "percentiles"), columns[i])));
        TD_TRY(td_buf_printf(out, " %12s", text));
    }
    print_value(text, is_ns, number(field(m, "max")));
    return td_buf_printf(out, " %12s\n", text);
}

static td_code print_bar(td_buf *out, td_value bucket, double largest)
{
    if (bucket.tag != TD_V_LIST || bucket.len != 2 || bucket.as.items[0].tag != TD_V_LIST ||
        bucket.as.items[0].len != 2)
        return TD_OK;
    double count = number(bucket.as.items[1]);
    char low[NUMBER_MAX];
    print_ns(low, number(bucket.as.items[0].as.items[0]));
    TD_TRY(td_buf_printf(out, "%12s %8.0f ", low, count));
    for (int i = 0; i < (int)(count / largest * BAR_MAX + 0.5); i++)
        TD_TRY(td_buf_byte(out, '#'));
    return td_buf_byte(out, '\n');
}

/* The buckets from the first to the last that hold something. */
static td_code print_histogram(td_buf *out, td_value m)
{
    td_value buckets = field(m, "histogram");
    double largest = 0;
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; buckets.tag == TD_V_LIST && i < buckets.len; i++) {
        td_value b = buckets.as.items[i];
        double count = b.tag == TD_V_LIST && b.len == 2 ? number(b.as.items[1]) : 0;
        largest = count > largest ? count : largest;
        first = count > 0 && first == UINT32_MAX ? i : first;
        last = count > 0 ? i : last;
    }
    if (largest <= 0)
        return TD_OK;
    td_str name = td_as_str(field(m, "name"));
    TD_TRY(td_buf_printf(out, "\n%.*s from\n", (int)name.len, name.ptr));
    for (uint32_t i = first; i <= last; i++)
        TD_TRY(print_bar(out, buckets.as.items[i], largest));
    return TD_OK;
}

static td_code print_head(td_buf *out, td_value s, const char *endpoint, const td_top_past *past,
                          const td_top_past *now)
{
    double passed_ns = (double)(now->timestamp_ns - past->timestamp_ns);
    double per = past->timestamp_ns != 0 && passed_ns > 0 ? 1e9 / passed_ns : 0;
    td_str state = td_top_state(s);
    char tracked[NUMBER_MAX], total[NUMBER_MAX];
    print_ns(tracked, counter(s, "tracked_duration_ns"));
    print_ns(total, counter(s, "total_duration_ns"));
    double issued = counter(s, "total_samples_issued");
    double done = counter(s, "total_samples_completed");
    TD_TRY(td_buf_printf(out, "%s  state %.*s  snapshot %.0f\n\n", endpoint, (int)state.len,
                         state.ptr, number(field(s, "counter"))));
    TD_TRY(td_buf_printf(out, "samples   issued %.0f  completed %.0f  failed %.0f", issued, done,
                         counter(s, "total_samples_failed")));
    TD_TRY(td_buf_printf(out, "  in flight %.0f\n", issued > done ? issued - done : 0));
    TD_TRY(td_buf_printf(out, "tracked   issued %.0f  completed %.0f  failed %.0f\n",
                         counter(s, "tracked_samples_issued"),
                         counter(s, "tracked_samples_completed"),
                         counter(s, "tracked_samples_failed")));
    TD_TRY(td_buf_printf(out, "pending   %.0f tokenizations\n",
                         number(field(s, "n_pending_tasks"))));
    TD_TRY(td_buf_printf(out, "time      total %s  tracked %s\n", total, tracked));
    return td_buf_printf(out,
                         "rates     %.1f samples/s  %.1f output tokens/s  %.1f chunks/s\n\n",
                         per * (double)(now->completed - past->completed),
                         per * (now->tokens_out - past->tokens_out),
                         per * (now->chunks - past->chunks));
}

td_code td_top_print(td_buf *out, td_value s, const char *endpoint, td_top_past *past)
{
    td_top_past now = {
        .timestamp_ns = (int64_t)number(field(s, "timestamp_ns")),
        .completed = (int64_t)counter(s, "total_samples_completed"),
        .tokens_out = number(field(metric(s, "osl"), "total")),
        .chunks = number(field(metric(s, "chunk_delta_ns"), "count")),
    };
    TD_TRY(print_head(out, s, endpoint, past, &now));
    *past = now;
    TD_TRY(td_buf_printf(out, "%-18s %10s %12s %12s %12s %12s %12s %12s\n", "", "count", "mean",
                         "p50", "p90", "p99", "p99.9", "max"));
    td_value list = field(s, "metrics");
    for (uint32_t i = 0; list.tag == TD_V_LIST && i < list.len; i++)
        if (!td_is_none(field(list.as.items[i], "count")) &&
            td_is_str(field(list.as.items[i], "name")))
            TD_TRY(print_series(out, list.as.items[i]));
    return print_histogram(out, metric(s, "sample_latency_ns"));
}

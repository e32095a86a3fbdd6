#include "aggregator/top_view.h"

#include <stdio.h>

#include "aggregator/frame.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/msgpack.h"


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

/* The columns of the table; those that only a wide screen has room for are marked. */
static const struct {
    const char *title, *percentile; /* percentile NULL: of its own */
    bool is_wide;
} columns[] = {
    { "mean", NULL, false },   { "p50", "50.0", false },   { "p90", "90.0", false },
    { "p99", "99.0", false },  { "p99.9", "99.9", true },  { "max", NULL, false },
};
enum { COLUMNS = sizeof columns / sizeof *columns, WIDE_SCREEN = 88 };

static bool is_shown(size_t column, const td_top_screen *screen)
{
    return !columns[column].is_wide || screen->columns == 0 || screen->columns >= WIDE_SCREEN;
}

static double column_value(td_value m, size_t column)
{
    if (columns[column].percentile != NULL)
        return number(field(field(m, "percentiles"), columns[column].percentile));
    if (column + 1 == COLUMNS)
        return number(field(m, "max"));
    double count = number(field(m, "count"));
    return count != 0 ? number(field(m, "total")) / count : 0;
}

static td_code print_titles(td_buf *out, const td_top_screen *screen)
{
    TD_TRY(td_buf_printf(out, "%-18s %9s", "", "count"));
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_shown(i, screen))
            TD_TRY(td_buf_printf(out, " %9s", columns[i].title));
    return td_buf_byte(out, '\n');
}

static td_code print_series(td_buf *out, td_value m, const td_top_screen *screen)
{
    td_str name = td_as_str(field(m, "name"));
    bool is_ns = td_str_ends(name, TD_STR("_ns"));
    TD_TRY(td_buf_printf(out, "%-18.*s %9.0f", (int)name.len, name.ptr,
                         number(field(m, "count"))));
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!is_shown(i, screen))
            continue;
        char text[NUMBER_MAX];
        print_value(text, is_ns, column_value(m, i));
        TD_TRY(td_buf_printf(out, " %9s", text));
    }
    return td_buf_byte(out, '\n');
}

/* ---- the histogram ---- */

enum { BAR_MAX = 50, BAR_INDENT = 22, BARS_LEAST = 3 };

/* A bucket's count; its lower edge in *ret_low. 0 for what is of another shape. */
static double bucket_count(td_value buckets, uint32_t i, double *ret_low)
{
    *ret_low = 0;
    if (buckets.tag != TD_V_LIST || i >= buckets.len)
        return 0;
    td_value b = buckets.as.items[i];
    if (b.tag != TD_V_LIST || b.len != 2 || b.as.items[0].tag != TD_V_LIST ||
        b.as.items[0].len != 2)
        return 0;
    *ret_low = number(b.as.items[0].as.items[0]);
    return number(b.as.items[1]);
}

/* Of step buckets from i on, together. */
static double bar_count(td_value buckets, uint32_t i, uint32_t step)
{
    double sum = 0, low;
    for (uint32_t k = 0; k < step; k++)
        sum += bucket_count(buckets, i + k, &low);
    return sum;
}

static td_code print_bar(td_buf *out, double low, double count, double largest, uint32_t width)
{
    char text[NUMBER_MAX];
    print_ns(text, low);
    TD_TRY(td_buf_printf(out, "%12s %8.0f ", text, count));
    for (uint32_t i = 0; i < (uint32_t)(count / largest * width + 0.5); i++)
        TD_TRY(td_buf_byte(out, '#'));
    return td_buf_byte(out, '\n');
}

static uint32_t lines_of(const td_buf *out)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < out->len; i++)
        lines += out->ptr[i] == '\n';
    return lines;
}

/* How many lines are left for bars, behind a blank one and the title. */
static uint32_t room_for_bars(const td_buf *out, const td_top_screen *screen)
{
    if (screen->rows == 0)
        return UINT32_MAX;
    uint32_t used = lines_of(out) + 3;
    return used < screen->rows ? screen->rows - used : 0;
}

/* The buckets from the first to the last that hold something; so many in one bar that they fit. */
static td_code print_histogram(td_buf *out, td_value m, const td_top_screen *screen)
{
    td_value buckets = field(m, "histogram");
    uint32_t count = buckets.tag == TD_V_LIST ? buckets.len : 0, first = count, last = 0;
    double low, largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (bucket_count(buckets, i, &low) <= 0)
            continue;
        first = first < i ? first : i;
        last = i;
    }
    uint32_t room = room_for_bars(out, screen);
    if (first == count || room < BARS_LEAST)
        return TD_OK;
    uint32_t step = (last - first) / room + 1, width = BAR_MAX;
    if (screen->columns != 0 && screen->columns < BAR_INDENT + BAR_MAX)
        width = screen->columns > BAR_INDENT ? screen->columns - BAR_INDENT : 0;
    for (uint32_t i = first; i <= last; i += step) {
        double sum = bar_count(buckets, i, step);
        largest = sum > largest ? sum : largest;
    }
    td_str name = td_as_str(field(m, "name"));
    TD_TRY(td_buf_printf(out, "\n%.*s from\n", (int)name.len, name.ptr));
    for (uint32_t i = first; i <= last; i += step) {
        (void)bucket_count(buckets, i, &low);
        TD_TRY(print_bar(out, low, bar_count(buckets, i, step), largest, width));
    }
    return TD_OK;
}

/* ---- all of it ---- */

/* Rates over a second at least, so that they can be read. */
static void take_rates(td_value s, td_top_past *past)
{
    td_top_past now = {
        .timestamp_ns = (int64_t)number(field(s, "timestamp_ns")),
        .completed = counter(s, "total_samples_completed"),
        .tokens_out = number(field(metric(s, "osl"), "total")),
        .chunks = number(field(metric(s, "chunk_delta_ns"), "count")),
    };
    double passed = (double)(now.timestamp_ns - past->timestamp_ns) / 1e9;
    if (past->timestamp_ns == 0) {
        *past = now;
    } else if (passed >= 1 || (!past->has_rates && passed > 0)) {
        now.has_rates = true;
        now.samples_per_s = (now.completed - past->completed) / passed;
        now.tokens_per_s = (now.tokens_out - past->tokens_out) / passed;
        now.chunks_per_s = (now.chunks - past->chunks) / passed;
        *past = now;
    }
}

static td_code print_head(td_buf *out, td_value s, const char *endpoint, const td_top_past *past)
{
    td_str state = td_top_state(s);
    char tracked[NUMBER_MAX], total[NUMBER_MAX];
    print_ns(tracked, counter(s, "tracked_duration_ns"));
    print_ns(total, counter(s, "total_duration_ns"));
    double issued = counter(s, "total_samples_issued");
    double done = counter(s, "total_samples_completed");
    TD_TRY(td_buf_printf(out, "state %.*s  snapshot %.0f  %s\n\n", (int)state.len, state.ptr,
                         number(field(s, "counter")), endpoint));
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
                         past->samples_per_s, past->tokens_per_s, past->chunks_per_s);
}

td_code td_top_print(td_buf *out, td_value s, const char *endpoint, const td_top_screen *screen,
                     td_top_past *past)
{
    take_rates(s, past);
    TD_TRY(print_head(out, s, endpoint, past));
    TD_TRY(print_titles(out, screen));
    td_value list = field(s, "metrics");
    for (uint32_t i = 0; list.tag == TD_V_LIST && i < list.len; i++)
        if (!td_is_none(field(list.as.items[i], "count")) &&
            td_is_str(field(list.as.items[i], "name")))
            TD_TRY(print_series(out, list.as.items[i], screen));
    return print_histogram(out, metric(s, "sample_latency_ns"), screen);
}

/* ---- a screen ---- */

/* The beginning of a line that takes no more than so many columns. */
static td_str cut_line(td_str line, uint32_t width)
{
    size_t at = 0;
    for (uint32_t used = 0; at < line.len && used < width; used++) {
        at++;
        while (at < line.len && td_utf8_is_cont(line.ptr[at]))
            at++;
    }
    return (td_str){ line.ptr, at };
}

td_code td_top_draw(td_buf *out, td_str text, const td_top_screen *screen)
{
    TD_TRY(td_buf_put(out, TD_STR("\033[H")));
    for (uint32_t row = 1; text.len != 0 && row < screen->rows; row++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
        TD_TRY(td_buf_put(out, cut_line((td_str){ text.ptr, len }, screen->columns)));
        TD_TRY(td_buf_put(out, TD_STR("\033[K\n")));
        text = td_str_from_offset(text, end != NULL ? len + 1 : len);
    }
    return td_buf_put(out, TD_STR("\033[J"));
}

#include "metrics/series.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "value/number.h"

td_code td_series_init(td_series *s, const char *name, bool is_real, int64_t high, int digits,
                       td_error *err)
{
    *s = (td_series){ .name = name, .is_real = is_real };
    return td_hdr_init(&s->hdr, high, digits, err);
}

void td_series_done(td_series *s)
{
    td_free(s->values.integers);
    td_hdr_done(&s->hdr);
    s->values.integers = NULL;
    s->count = s->cap = 0;
}

/* Room for one raw value. Growing by a quarter keeps the slack small; large blocks move by
 * remapping pages, so the copies cost little. */
static bool reserve(td_series *s)
{
    _Static_assert(sizeof(int64_t) == sizeof(double), "values share one array");
    if (s->count < s->cap)
        return true;
    size_t cap = s->cap + s->cap / 4 + 512;
    int64_t *values =
        s->has_lost ? NULL : td_realloc(s->values.integers, cap * sizeof *s->values.integers);
    if (values != NULL) {
        s->values.integers = values;
        s->cap = cap;
        return true;
    }
    if (!s->has_lost && s->warn != NULL) {
        char text[160];
        snprintf(text, sizeof text,
                 "%s: out of memory for raw values; final statistics come from the histogram",
                 s->name);
        s->warn(s->warn_user, text);
    }
    s->has_lost = true;
    return false;
}

static void warn_clamped(td_series *s, const char *value, size_t len)
{
    if (s->warned)
        return;
    s->warned = true;
    char text[200];
    snprintf(text, sizeof text,
             "%s: value %.*s outside HDR bounds [1, %lld]; clamped (warn-once)", s->name, (int)len,
             value, (long long)s->hdr.high);
    if (s->warn != NULL)
        s->warn(s->warn_user, text);
}

void td_series_add(td_series *s, int64_t value)
{
    assert(!s->is_real);
    int64_t cell_value = value;
    if (value < 1 || value > s->hdr.high) {
        char text[TD_WIDE_TEXT_MAX];
        warn_clamped(s, text, td_wide_print(value, text));
        cell_value = value < 1 ? 1 : s->hdr.high;
    }
    if (s->hdr.total == 0 || value < s->min)
        s->min = value;
    if (s->hdr.total == 0 || value > s->max)
        s->max = value;
    td_hdr_add(&s->hdr, cell_value);
    s->total += value;
    td_square_sum_add(&s->squares, value);
    if (reserve(s))
        s->values.integers[s->count] = value;
    s->count++;
}

void td_series_add_real(td_series *s, double value)
{
    assert(s->is_real);
    double cell_value = value;
    if (value < 1 || value > (double)s->hdr.high) {
        char text[TD_FLOAT_TEXT_MAX];
        warn_clamped(s, text, td_float_repr(value, text));
        cell_value = value < 1 ? 1 : (double)s->hdr.high;
    }
    if (s->hdr.total == 0 || value < s->min_real)
        s->min_real = value;
    if (s->hdr.total == 0 || value > s->max_real)
        s->max_real = value;
    td_hdr_add(&s->hdr, (int64_t)cell_value);
    s->total_real += value;
    s->squares_real += value * value;
    if (reserve(s))
        s->values.reals[s->count] = value;
    s->count++;
}

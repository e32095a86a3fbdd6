#include "test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "metrics/early_stopping.h"
#include "metrics/registry.h"
#include "metrics/sort.h"
#include "metrics/windows.h"

static void wide_prints_and_narrows(void **state)
{
    (void)state;
    char text[TD_WIDE_TEXT_MAX];
    td_wide huge = (td_wide)INT64_MAX * 1000;
    assert_str(((td_str){ text, td_wide_print(huge, text) }), "9223372036854775807000");
    assert_str(((td_str){ text, td_wide_print(-huge, text) }), "-9223372036854775807000");
    assert_str(((td_str){ text, td_wide_print(0, text) }), "0");
    assert_true(td_wide_to_i64(huge) == INT64_MAX);
    assert_true(td_wide_to_i64(-huge) == INT64_MIN);
    assert_true(td_wide_to_i64(-5) == -5);
}

static void square_sums_stay_exact_beyond_128_bits(void **state)
{
    (void)state;
    td_square_sum s = { 0 };
    td_square_sum_add(&s, -3);
    td_square_sum_add(&s, 4);
    assert_true(td_square_sum_double(&s) == 25.0);
    /* Each square is 2^126, so 2^12 of them make 2^138; the 25 is far below its last bit. */
    for (int i = 0; i < 4096; i++)
        td_square_sum_add(&s, INT64_MIN);
    assert_true(td_square_sum_double(&s) == 0x1p138);
}

static void hdr_cells_partition_the_range(void **state)
{
    (void)state;
    for (int digits = 1; digits <= 4; digits++) {
        td_error err = TD_ERROR_INIT;
        td_hdr h;
        assert_int_equal(td_hdr_init(&h, 10000000, digits, &err), TD_OK);
        int64_t next = 0;
        for (uint32_t cell = 0; cell < h.cell_count; cell++) {
            int64_t high = td_hdr_cell_high(&h, cell);
            assert_int_equal(td_hdr_cell(&h, next), cell);
            assert_int_equal(td_hdr_cell(&h, high), cell);
            assert_true((double)(high - next) <= (double)next / 10);
            next = high + 1;
        }
        assert_true(next > 10000000);
        td_hdr_done(&h);
    }
}

static void hdr_refuses_impossible_precision(void **state)
{
    (void)state;
    for (int digits = 0; digits <= 6; digits += 6) {
        td_error err = TD_ERROR_INIT;
        td_hdr h;
        assert_int_equal(td_hdr_init(&h, 1000, digits, &err), TD_E_INPUT);
        td_error_clear(&err);
    }
}

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void sort_agrees_with_and_without_memory(void **state)
{
    (void)state;
    for (size_t count = 0; count < 700; count += 1 + count / 5) {
        int64_t a[700], b[700];
        double c[700];
        for (size_t i = 0; i < count; i++) {
            a[i] = b[i] = (int64_t)(next_random() >> (next_random() & 63)) - 1000;
            c[i] = (double)a[i] / 3;
        }
        td_sort_i64(a, count);
        td_alloc_fail_at = 1;
        td_sort_i64(b, count);
        td_alloc_fail_at = 0;
        td_sort_double(c, count);
        assert_memory_equal(a, b, count * sizeof *a);
        for (size_t i = 1; i < count; i++)
            assert_true(a[i - 1] <= a[i] && c[i - 1] <= c[i]);
    }
}

static void early_stopping_needs_what_the_reference_needs(void **state)
{
    (void)state;
    static const struct {
        double percentile;
        uint64_t least, of_5403, of_100000;
    } rows[] = {
        { 99.9, 6636, 0, 77 },      { 99, 662, 37, 927 },      { 97, 219, 133, 2874 },
        { 95, 130, 233, 4839 },     { 90, 64, 489, 9779 },     { 80, 31, 1012, 19705 },
        { 75, 24, 1276, 24681 },    { 50, 11, 2615, 49631 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double q = rows[i].percentile / 100;
        assert_int_equal(td_early_min_count(q), rows[i].least);
        assert_int_equal(td_early_discarded(rows[i].least - 1, q), 0);
        assert_int_equal(td_early_discarded(rows[i].least, q), 1);
        assert_int_equal(td_early_discarded(5403, q), rows[i].of_5403);
        assert_int_equal(td_early_discarded(100000, q), rows[i].of_100000);
    }
}

static void windows_sum_and_ignore_a_second_start(void **state)
{
    (void)state;
    td_windows w = { 0 };
    assert_true(td_windows_open(&w, 100));
    assert_true(td_windows_open(&w, 150));
    assert_int_equal(w.count, 1);
    td_windows_complete(&w, 0, 130);
    td_windows_complete(&w, 0, 120);
    td_windows_close(&w);
    assert_true(td_windows_open(&w, 1000));
    td_windows_complete(&w, 0, 1100); /* issued in the first window */
    assert_true(td_windows_duration(&w) == 1000);
    td_windows_done(&w);
}

static void finish_reasons_have_counters(void **state)
{
    (void)state;
    assert_int_equal(td_finish_counter(TD_STR("stop")), TD_COUNT_FINISH_STOP);
    assert_int_equal(td_finish_counter(TD_STR("function_call")), TD_COUNT_FINISH_FUNCTION_CALL);
    assert_int_equal(td_finish_counter(TD_STR("")), TD_COUNT_FINISH_OTHER);
    assert_int_equal(td_finish_counter(TD_STR("Stop")), TD_COUNT_FINISH_OTHER);
}

static void ignore_warning(void *user, const char *text)
{
    assert_string_equal(text, "isl: value 0 outside HDR bounds [1, 10000000]; clamped (warn-once)");
    ++*(int *)user;
}

static void registry_warns_once_for_each_series(void **state)
{
    (void)state;
    int warnings = 0;
    td_error err = TD_ERROR_INIT;
    td_registry r;
    assert_int_equal(td_registry_init(&r, false, 3, 30, ignore_warning, &warnings, &err), TD_OK);
    td_registry_add(&r, TD_SERIES_ISL, 0);
    td_registry_add(&r, TD_SERIES_ISL, 0);
    td_registry_add(&r, TD_SERIES_TTFT, -1); /* no such series without streaming */
    assert_int_equal(warnings, 1);
    assert_int_equal(r.series[TD_SERIES_ISL].count, 2);
    td_registry_done(&r);
}

static void losing_raw_values_falls_back_to_the_histogram(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    td_registry r;
    assert_int_equal(td_registry_init(&r, false, 3, 5, NULL, NULL, &err), TD_OK);
    td_alloc_fail_at = 1;
    td_registry_add(&r, TD_SERIES_ISL, 5000001);
    td_alloc_fail_at = 0;
    td_registry_add(&r, TD_SERIES_ISL, 7);
    td_arena a = { 0 };
    td_snapshot snap;
    assert_true(td_registry_finish(&r, &snap, 0, 1, false, &a));
    assert_int_equal(snap.series[TD_SERIES_ISL].count, 2);
    assert_true(snap.series[TD_SERIES_ISL].percentiles[0] > 5000001); /* a cell's upper end */
    td_arena_done(&a);
    td_registry_done(&r);
}

static void snapshot_writers_survive_every_failed_allocation(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    td_registry r;
    assert_int_equal(td_registry_init(&r, true, 2, 30, NULL, NULL, &err), TD_OK);
    for (int i = 0; i < 100; i++)
        td_registry_add(&r, TD_SERIES_LATENCY, 1000 + i);
    for (size_t nth = 1;; nth++) {
        td_arena a = { 0 };
        td_buf out = { 0 };
        td_snapshot snap;
        td_alloc_fail_at = nth;
        bool ok = td_registry_snapshot(&r, &snap, TD_RUN_LIVE, 0, 1, &a) &&
                  td_snapshot_json(&snap, &out) == TD_OK &&
                  td_snapshot_msgpack(&snap, &out) == TD_OK;
        bool failed = td_alloc_fail_at == 0;
        td_alloc_fail_at = 0;
        td_arena_done(&a);
        td_buf_done(&out);
        assert_true(ok != failed);
        if (ok)
            break;
    }
    td_registry_done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_prints_and_narrows),
        cmocka_unit_test(square_sums_stay_exact_beyond_128_bits),
        cmocka_unit_test(hdr_cells_partition_the_range),
        cmocka_unit_test(hdr_refuses_impossible_precision),
        cmocka_unit_test(sort_agrees_with_and_without_memory),
        cmocka_unit_test(early_stopping_needs_what_the_reference_needs),
        cmocka_unit_test(windows_sum_and_ignore_a_second_start),
        cmocka_unit_test(finish_reasons_have_counters),
        cmocka_unit_test(registry_warns_once_for_each_series),
        cmocka_unit_test(losing_raw_values_falls_back_to_the_histogram),
        cmocka_unit_test(snapshot_writers_survive_every_failed_allocation),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}

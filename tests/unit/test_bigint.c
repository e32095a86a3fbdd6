#include "test.h"

#include <math.h>

#include "base/error.h"
#include "value/bigint.h"

static td_arena arena;

static td_value parse(const char *digits, unsigned base)
{
    td_value v = td_none();
    assert_true(td_bigint_parse(&arena, td_str_from(digits), base, &v));
    return v;
}

static void assert_int(td_value v, const char *expected)
{
    td_buf b = { 0 };
    if (v.tag == TD_V_INT)
        assert_int_equal(td_buf_printf(&b, "%lld", (long long)v.as.integer), TD_OK);
    else
        assert_int_equal(td_bigint_print(&b, v.as.bigint), TD_OK);
    if (!td_str_eq(td_buf_view(&b), td_str_from(expected)))
        fail_msg("expected %s, got %.*s", expected, (int)b.len, b.ptr);
    td_buf_done(&b);
}

static void small_results_are_plain_integers(void **state)
{
    (void)state;
    td_value v, max = td_int(INT64_MAX), min = td_int(INT64_MIN);
    assert_true(td_bigint_add(&arena, max, td_int(1), &v));
    assert_int_equal(v.tag, TD_V_BIGINT);
    assert_int(v, "9223372036854775808");
    assert_true(td_bigint_sub(&arena, v, td_int(1), &v));
    assert_int_equal(v.tag, TD_V_INT);
    assert_true(v.as.integer == INT64_MAX);
    assert_true(td_bigint_neg(&arena, min, &v));
    assert_int(v, "9223372036854775808");
    assert_true(td_bigint_neg(&arena, v, &v));
    assert_int_equal(v.tag, TD_V_INT);
    assert_true(v.as.integer == INT64_MIN);
    assert_true(td_bigint_add(&arena, td_bool(true), td_bool(true), &v));
    assert_int(v, "2");
}

static void division_floors(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        { "100000000000000000000", "7", "14285714285714285714", "2" },
        { "-100000000000000000000", "7", "-14285714285714285715", "5" },
        { "100000000000000000000", "-7", "-14285714285714285715", "-5" },
        { "-100000000000000000000", "-7", "14285714285714285714", "-2" },
        { "-1", "100000000000000000000", "-1", "99999999999999999999" },
        { "5", "100000000000000000000", "0", "5" },
        { "340282366920938463463374607431768211455", "18446744073709551615", "18446744073709551617",
          "0" },
        /* the estimated digit is too large */
        { "170141183420855150474555134919112130560", "39614081257132168796771975169", "4294967294",
          "39614081257132168792477007874" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_value q, r;
        td_value x = parse(cases[i][0], 10), y = parse(cases[i][1], 10);
        assert_true(td_bigint_divmod(&arena, x, y, &q, &r));
        assert_int(q, cases[i][2]);
        assert_int(r, cases[i][3]);
    }
}

static void parses_every_base(void **state)
{
    (void)state;
    assert_int(parse("0", 10), "0");
    assert_int(parse("-000", 10), "0");
    assert_int(parse("+12", 10), "12");
    assert_int(parse("ffffFFFFffffFFFF1", 16), "295147905179352825841");
    assert_int(parse("-1000000000000000000000000000000000000000000000000000000000000000000", 2),
               "-73786976294838206464");
    assert_int(parse("zzzzzzzzzzzzzzzzzzzz", 36), "13367494538843734067838845976575");
    td_value v = td_none();
    char zeros[70000];
    memset(zeros, '0', sizeof zeros);
    zeros[sizeof zeros - 1] = '9'; /* leading zeros cost nothing and count for no limit */
    assert_true(td_bigint_parse(&arena, (td_str){ zeros, sizeof zeros }, 10, &v));
    assert_int(v, "9");
}

static void limits_are_errors(void **state)
{
    (void)state;
    td_arena a = { .limit = 1 << 20 };
    td_value v = td_none();
    td_error err = TD_ERROR_INIT;
    assert_false(td_bigint_pow(&a, td_int(10), td_int(1000000000), &v));
    assert_int_equal(td_arena_fail(&a, &err), TD_E_LIMIT);
    td_error_clear(&err);
    assert_true(td_bigint_pow(&a, td_int(2), td_int(TD_BIGINT_BITS_MAX - 1), &v));
    assert_false(td_bigint_add(&a, v, v, &v));
    assert_int_equal(td_arena_fail(&a, &err), TD_E_LIMIT);
    td_error_clear(&err);
    td_arena_done(&a);
}

static void print_stops_where_cpython_does(void **state)
{
    (void)state;
    td_value v = td_none();
    td_buf b = { 0 };
    assert_true(td_bigint_pow(&arena, td_int(10), td_int(TD_INT_DIGITS_MAX), &v));
    assert_int_equal(td_bigint_print(&b, v.as.bigint), TD_E_TEMPLATE);
    assert_int_equal(b.len, 0);
    assert_true(td_bigint_sub(&arena, v, td_int(1), &v));
    assert_int_equal(td_bigint_print(&b, v.as.bigint), TD_OK);
    assert_int_equal(b.len, TD_INT_DIGITS_MAX);
    for (size_t i = 0; i < b.len; i++)
        assert_int_equal(b.ptr[i], '9');
    td_buf_done(&b);
    assert_true(td_bigint_pow(&arena, td_int(2), td_int(200000), &v));
    assert_int_equal(td_bigint_print(&b, v.as.bigint), TD_E_TEMPLATE);
    td_buf_done(&b);
}

static void doubles_compare_exactly(void **state)
{
    (void)state;
    td_value v = parse("18446744073709551617", 10); /* 2^64 + 1 */
    assert_true(td_bigint_cmp_double(v.as.bigint, 18446744073709551616.0) > 0);
    assert_true(td_bigint_cmp_double(v.as.bigint, 18446744073709555712.0) < 0);
    assert_int_equal(td_bigint_cmp_double(v.as.bigint, (double)NAN), 2);
    assert_true(td_bigint_cmp_double(v.as.bigint, (double)INFINITY) < 0);
    assert_true(td_bigint_cmp_double(v.as.bigint, (double)-INFINITY) > 0);
    assert_true(td_bigint_cmp_double(v.as.bigint, -1e300) > 0);
    assert_true(td_bigint_to_double(v.as.bigint) == 18446744073709551616.0);
    assert_true(td_bigint_from_double(&arena, -1e300, &v));
    assert_true(td_bigint_to_double(v.as.bigint) == -1e300);
    assert_int_equal(td_bigint_cmp_double(v.as.bigint, -1e300), 0);
    assert_true(td_bigint_from_double(&arena, -9223372036854775808.0, &v));
    assert_int_equal(v.tag, TD_V_INT);
    assert_true(td_bigint_from_double(&arena, -2.75, &v));
    assert_int_equal(v.as.integer, -2);
    assert_true(td_bigint_pow(&arena, td_int(-2), td_int(1025), &v));
    assert_true(td_bigint_to_double(v.as.bigint) == (double)-INFINITY);
    td_value w;
    assert_true(td_bigint_sub(&arena, v, td_int(1), &w));
    assert_true(td_bigint_cmp(w.as.bigint, v.as.bigint) < 0);
    assert_int_equal(td_bigint_cmp(v.as.bigint, v.as.bigint), 0);
}

static int done(void **state)
{
    (void)state;
    td_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_results_are_plain_integers),
        cmocka_unit_test(division_floors),
        cmocka_unit_test(parses_every_base),
        cmocka_unit_test(limits_are_errors),
        cmocka_unit_test(print_stops_where_cpython_does),
        cmocka_unit_test(doubles_compare_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}

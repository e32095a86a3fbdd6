#include "test.h"

#include <math.h>

#include "value/number.h"

static void assert_repr(double d, const char *expected)
{
    char text[TD_FLOAT_TEXT_MAX];
    td_str got = { text, td_float_repr(d, text) };
    if (!td_str_eq(got, td_str_from(expected)))
        fail_msg("expected %s, got %.*s", expected, (int)got.len, got.ptr);
}

static void repr_is_pythons(void **state)
{
    (void)state;
    assert_repr(0.0, "0.0");
    assert_repr(-0.0, "-0.0");
    assert_repr(1.0, "1.0");
    assert_repr(-123.456, "-123.456");
    assert_repr(0.1, "0.1");
    assert_repr(0.1 + 0.2, "0.30000000000000004");
    assert_repr(1e15, "1000000000000000.0");
    assert_repr(1e16, "1e+16");
    assert_repr(123456789012345680.0, "1.2345678901234568e+17");
    assert_repr(0.0001, "0.0001");
    assert_repr(0.00001, "1e-05");
    assert_repr(1e22, "1e+22");
    assert_repr(1e23, "1e+23");
    assert_repr(9007199254740993.0, "9007199254740992.0");
    assert_repr(5e-324, "5e-324");
    assert_repr(2.2250738585072014e-308, "2.2250738585072014e-308");
    assert_repr(-1.7976931348623157e308, "-1.7976931348623157e+308");
    assert_repr((double)INFINITY, "inf");
    assert_repr((double)-INFINITY, "-inf");
    assert_repr((double)NAN, "nan");
    assert_repr(-(double)NAN, "nan");
}

static void parse_rounds_correctly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double d;
    } cases[] = {
        { "0", 0.0 },
        { "+1.5", 1.5 },
        { "-.5e1", -5.0 },
        { "5.", 5.0 },
        { "9007199254740993", 9007199254740992.0 },
        { "9007199254740993.0000000000000000000000000001", 9007199254740994.0 },
        { "2.4703282292062327208e-324", 0.0 },
        { "2.4703282292062327209e-324", 5e-324 },
        { "179769313486231580793e288", 1.7976931348623157e308 },
        { "1.7976931348623159e308", (double)INFINITY },
        { "1e400", (double)INFINITY },
        { "1e-400", 0.0 },
        { "0e999999999999999999999", 0.0 },
        { "1e-999999999999999999999", 0.0 },
        { "-1e999999999999999999999", (double)-INFINITY },
        { "0.000000000000000000000000000001e30", 1.0 },
        { "100000000000000000000000000000e-29", 1.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double d = -1;
        assert_true(td_float_parse(td_str_from(cases[i].text), &d));
        if (memcmp(&d, &cases[i].d, sizeof d) != 0)
            fail_msg("%s gave %a", cases[i].text, d);
    }
    double d;
    assert_true(td_float_parse(TD_STR("-0.0"), &d) && signbit(d));
    const char *bad[] = { "",    "+",   ".",   "1e", "1e+", "e1", "1.5.",
                          "0x1", "nan", "inf", "1 ", " 1",  "1_0" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(td_float_parse(td_str_from(bad[i]), &d));
}

static void assert_print(bool exponent, double d, unsigned precision, const char *expected)
{
    td_buf b = { 0 };
    assert_int_equal(exponent ? td_float_print_exp(&b, d, precision)
                              : td_float_print_fixed(&b, d, precision),
                     TD_OK);
    if (!td_str_eq(td_buf_view(&b), td_str_from(expected)))
        fail_msg("expected %s, got %.*s", expected, (int)b.len, b.ptr);
    td_buf_done(&b);
}

static void print_is_exact(void **state)
{
    (void)state;
    assert_print(false, 0.5, 0, "0");
    assert_print(false, 1.5, 0, "2");
    assert_print(false, 2.5, 0, "2");
    assert_print(false, 9.995, 2, "9.99");
    assert_print(false, 99.95, 1, "100.0");
    assert_print(false, 0.1, 30, "0.100000000000000005551115123126");
    assert_print(false, -0.0, 2, "-0.00");
    assert_print(false, -0.001, 2, "-0.00");
    assert_print(false, 1e22, 0, "10000000000000000000000");
    assert_print(true, 0.0, 3, "0.000e+00");
    assert_print(true, 12345.0, 0, "1e+04");
    assert_print(true, 9.5, 0, "1e+01");
    assert_print(true, 5e-324, 5, "4.94066e-324");
    assert_print(true, 1.7976931348623157e308, 10, "1.7976931349e+308");
    assert_print(true, (double)INFINITY, 2, "inf");
    assert_print(false, (double)-INFINITY, 2, "-inf");
    assert_print(false, (double)NAN, 2, "nan");
}

static void print_respects_the_buffers_limit(void **state)
{
    (void)state;
    for (size_t limit = 1; limit < 20; limit++) {
        td_buf b = { .limit = limit };
        td_code code = td_float_print_fixed(&b, -123.25, 3); /* 8 bytes */
        assert_int_equal(code, limit < 8 ? TD_E_LIMIT : TD_OK);
        assert_int_equal(b.len, limit < 8 ? 0 : 8);
        b.len = 0;
        code = td_float_print_exp(&b, -123.25, 3); /* 10 bytes */
        assert_int_equal(code, limit < 10 ? TD_E_LIMIT : TD_OK);
        assert_int_equal(b.len, limit < 10 ? 0 : 10);
        td_buf_done(&b);
    }
    td_buf b = { .limit = 100 };
    assert_int_equal(td_float_print_fixed(&b, 1.0, 4000000000u), TD_E_LIMIT);
    td_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repr_is_pythons),
        cmocka_unit_test(parse_rounds_correctly),
        cmocka_unit_test(print_is_exact),
        cmocka_unit_test(print_respects_the_buffers_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

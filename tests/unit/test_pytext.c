#include "test.h"

#include "value/bigint.h"
#include "value/pytext.h"

static td_code repr_object(void *user, td_buf *out, const td_object *o)
{
    (void)o;
    return td_buf_put(out, td_str_from(user));
}

static void assert_text(bool repr, td_value v, const char *expected)
{
    char name[] = "<thing>";
    td_pytext how = { repr_object, name };
    td_buf b = { 0 };
    assert_int_equal(repr ? td_py_repr(&b, v, &how) : td_py_str(&b, v, &how), TD_OK);
    if (!td_str_eq(td_buf_view(&b), td_str_from(expected)))
        fail_msg("expected %s, got %.*s", expected, (int)b.len, b.ptr);
    td_buf_done(&b);
}

static void kinds_print_as_in_python(void **state)
{
    (void)state;
    td_value text = td_string(TD_STR("it's")), markup = text;
    markup.flags |= TD_VF_MARKUP;
    td_object object = { NULL };
    td_value items[] = { td_none(), td_bool(true),        td_float(1e22),       text,
                         markup,    td_undefined_value(), td_object_of(&object) };
    assert_text(true, td_list_of(items, 7),
                "[None, True, 1e+22, \"it's\", Markup(\"it's\"), Undefined, <thing>]");
    assert_text(true, td_tuple_of(items, 0), "()");
    assert_text(true, td_tuple_of(items, 1), "(None,)");
    assert_text(true, td_tuple_of(items, 2), "(None, True)");
    assert_text(false, text, "it's");
    assert_text(false, markup, "it's");
    assert_text(false, td_undefined_value(), "");
    assert_text(false, td_int(INT64_MIN), "-9223372036854775808");
    assert_text(false, td_object_of(&object), "<thing>");
    td_arena a = { 0 };
    td_dict *d = td_dict_new(&a, 0);
    assert_text(false, td_dict_of(d), "{}");
    assert_true(td_dict_set(&a, d, td_int(1), td_tuple_of(items, 1)));
    assert_true(td_dict_set(&a, d, text, td_bool(false)));
    assert_text(false, td_dict_of(d), "{1: (None,), \"it's\": False}");
    td_arena_done(&a);
}

static void refusals_leave_the_buffer_alone(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_object object = { NULL };
    td_value nest[1002], items[] = { td_int(1), td_object_of(&object) }, huge = td_none();
    nest[0] = td_int(1);
    for (size_t i = 1; i < sizeof nest / sizeof *nest; i++)
        nest[i] = td_list_of(&nest[i - 1], 1);
    assert_true(td_bigint_pow(&a, td_int(7), td_int(6000), &huge));
    td_value bad[] = { nest[1001], td_list_of(items, 2), huge };
    td_code codes[] = { TD_E_INPUT, TD_E_TEMPLATE, TD_E_TEMPLATE };
    td_buf b = { 0 };
    assert_int_equal(td_buf_put(&b, TD_STR("kept")), TD_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(td_py_repr(&b, bad[i], NULL), codes[i]);
        assert_str(td_buf_view(&b), "kept");
    }
    assert_int_equal(td_py_repr(&b, nest[1000], NULL), TD_OK);
    td_buf_done(&b);
    td_buf small = { .limit = 5 };
    assert_int_equal(td_py_repr(&small, td_string(TD_STR("abcd")), NULL), TD_E_LIMIT);
    assert_int_equal(small.len, 0);
    td_buf_done(&small);
    td_arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_print_as_in_python),
        cmocka_unit_test(refusals_leave_the_buffer_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

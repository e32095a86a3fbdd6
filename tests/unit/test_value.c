#include "test.h"

#include <math.h>
#include <stdio.h>

#include "value/bigint.h"
#include "value/value.h"

static td_value str(const char *s)
{
    return td_string(td_str_from(s));
}

static void dict_keeps_order_and_place(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_dict *d = td_dict_new(&a, 0);
    char names[100][8];
    for (int i = 0; i < 100; i++) {
        snprintf(names[i], sizeof names[i], "key%d", i);
        assert_true(td_dict_set(&a, d, str(names[i]), td_int(i)));
    }
    assert_true(td_dict_set(&a, d, str("key3"), td_int(-3)));
    assert_true(td_dict_set(&a, d, str("key50"), td_int(-50)));
    assert_int_equal(d->count, 100);
    for (int i = 0; i < 100; i++) {
        int want = i == 3 || i == 50 ? -i : i;
        assert_true(td_str_eq(td_as_str(d->entries[i].key), td_str_from(names[i])));
        assert_int_equal(d->entries[i].val.as.integer, want);
        assert_int_equal(td_dict_find(d, td_str_from(names[i]))->as.integer, want);
    }
    assert_null(td_dict_find(d, TD_STR("key100")));
    assert_null(td_dict_find(d, TD_STR("")));
    td_arena_done(&a);
}

static void dict_copy_is_independent(void **state)
{
    (void)state;
    td_arena a = { 0 };
    for (int n = 0; n <= 12; n++) {
        td_dict *d = td_dict_new(&a, 2);
        for (int i = 0; i < n; i++)
            assert_true(td_dict_set(&a, d, td_int(i), td_int(i)));
        td_dict *copy = td_dict_copy(&a, d, 1);
        assert_true(td_dict_set(&a, copy, str("new"), td_none()));
        assert_true(td_dict_set(&a, copy, td_int(0), str("changed")));
        assert_int_equal(d->count, n);
        assert_null(td_dict_find(d, TD_STR("new")));
        assert_non_null(td_dict_find(copy, TD_STR("new")));
        if (n > 0)
            assert_int_equal(td_dict_get(d, td_int(0))->tag, TD_V_INT);
        assert_int_equal(td_dict_get(copy, td_int(0))->tag, TD_V_STR);
    }
    td_arena_done(&a);
}

/* The same in a small dict, which is searched, and in a large one, which has an index. */
static void equal_numbers_are_one_key(void **state)
{
    (void)state;
    for (int extra = 0; extra <= 20; extra += 20) {
        td_arena a = { 0 };
        td_dict *d = td_dict_new(&a, 0);
        for (int i = 0; i < extra; i++)
            assert_true(td_dict_set(&a, d, td_int(1000 + i), td_none()));
        td_value big = td_none();
        assert_true(td_bigint_parse(&a, TD_STR("36893488147419103232"), 10, &big)); /* 2^65 */
        assert_true(td_dict_set(&a, d, td_int(1), str("int")));
        assert_true(td_dict_set(&a, d, td_float(1.0), str("float")));
        assert_true(td_dict_set(&a, d, td_bool(true), str("bool")));
        assert_true(td_dict_set(&a, d, big, str("big")));
        assert_true(td_dict_set(&a, d, td_float(ldexp(1.0, 65)), str("same")));
        assert_true(td_dict_set(&a, d, str("1"), str("text")));
        assert_int_equal(d->count, extra + 3);
        assert_int_equal(d->entries[extra].key.tag, TD_V_INT);
        assert_str(td_as_str(*td_dict_get(d, td_int(1))), "bool");
        assert_str(td_as_str(*td_dict_get(d, big)), "same");
        assert_str(td_as_str(*td_dict_find(d, TD_STR("1"))), "text");
        assert_null(td_dict_get(d, td_none()));
        td_arena_done(&a);
    }
}

static void equality_follows_python(void **state)
{
    (void)state;
    td_value one[] = { td_int(1), str("a") }, other[] = { td_float(1.0), str("a") };
    assert_true(td_value_eq(td_list_of(one, 2), td_list_of(other, 2)));
    assert_false(td_value_eq(td_list_of(one, 2), td_tuple_of(one, 2)));
    assert_false(td_value_eq(td_list_of(one, 2), td_list_of(one, 1)));
    assert_true(td_value_eq(td_none(), td_none()));
    assert_false(td_value_eq(td_none(), td_bool(false)));
    assert_true(td_value_eq(td_int(0), td_bool(false)));
    assert_false(td_value_eq(str("1"), td_int(1)));
    assert_false(td_value_eq(td_float((double)NAN), td_float((double)NAN)));
    assert_false(td_value_eq(td_int(INT64_MAX), td_float(9223372036854775808.0)));
    assert_true(td_value_eq(td_int(INT64_MIN), td_float(-9223372036854775808.0)));
    assert_false(td_value_eq(td_int(9007199254740993), td_float(9007199254740992.0)));
    td_arena a = { 0 };
    td_dict *d = td_dict_new(&a, 0), *e = td_dict_new(&a, 0);
    assert_true(td_dict_set(&a, d, str("x"), td_int(1)) && td_dict_set(&a, d, str("y"), td_none()));
    assert_true(td_dict_set(&a, e, str("y"), td_none()) && td_dict_set(&a, e, str("x"), td_int(1)));
    assert_true(td_value_eq(td_dict_of(d), td_dict_of(e))); /* order does not matter */
    assert_true(td_dict_set(&a, e, str("x"), td_int(2)));
    assert_false(td_value_eq(td_dict_of(d), td_dict_of(e)));
    td_arena_done(&a);
}

static void equal_values_have_equal_hashes(void **state)
{
    (void)state;
    bool ok;
    td_arena a = { 0 };
    td_value big = td_none(), items[] = { td_int(1), str("a") },
             same[] = { td_float(1.0), str("a") };
    assert_true(td_bigint_parse(&a, TD_STR("-18446744073709551616"), 10, &big));
    td_value pairs[][2] = { { td_int(1), td_bool(true) },
                            { td_int(-7), td_float(-7.0) },
                            { td_int(0), td_float(-0.0) },
                            { big, td_float(-ldexp(1.0, 64)) },
                            { td_tuple_of(items, 2), td_tuple_of(same, 2) } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(td_value_eq(pairs[i][0], pairs[i][1]));
        assert_true(td_value_hash(pairs[i][0], &ok) == td_value_hash(pairs[i][1], &ok));
        assert_true(ok);
    }
    td_value list = td_list_of(items, 2);
    td_value_hash(list, &ok);
    assert_false(ok);
    td_value_hash(td_tuple_of(&list, 1), &ok);
    assert_false(ok);
    td_arena_done(&a);
}

/* NaN equals nothing, so each is a key of its own; that must not make the index a list. */
static void nan_keys_do_not_collide(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_dict *d = td_dict_new(&a, 0);
    enum { N = 200000 };
    for (int i = 0; i < N; i++) {
        td_value *item = td_arena_new(&a, td_value);
        *item = td_float((double)NAN);
        assert_true(td_dict_set(&a, d, *item, td_int(i)));
        assert_true(td_dict_set(&a, d, td_tuple_of(item, 1), td_int(i)));
    }
    assert_int_equal(d->count, 2 * N);
    assert_null(td_dict_get(d, td_float((double)NAN)));
    td_arena_done(&a);
}

static void full_arena_is_no_crash(void **state)
{
    (void)state;
    td_arena a = { .limit = 70000 };
    td_dict *d = td_dict_new(&a, 0);
    int64_t n = 0;
    while (td_dict_set(&a, d, td_int(n), td_none()))
        n++;
    assert_true(n > 100 && a.over_limit);
    for (int64_t i = 0; i < n; i++)
        assert_non_null(td_dict_get(d, td_int(i)));
    td_arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dict_keeps_order_and_place),
        cmocka_unit_test(dict_copy_is_independent),
        cmocka_unit_test(equal_numbers_are_one_key),
        cmocka_unit_test(equality_follows_python),
        cmocka_unit_test(equal_values_have_equal_hashes),
        cmocka_unit_test(full_arena_is_no_crash),
        cmocka_unit_test(nan_keys_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

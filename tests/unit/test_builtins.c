/* The table of built-ins: sorted, complete, and found by name. */
#include "test.h"

#include "jinja/builtins/util.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct line {
    const char *table, *name;
    int min, max;
} line;

#define FILTER(name, id, min, max, flags, kw, doc) { "filter", name, min, max },
#define TEST(name, id, min, max, flags, kw, doc) { "test", name, min, max },
#define GLOBAL(name, id, min, max, flags, kw, doc) { "global", name, min, max },
#define METHOD(type, name, min, max, flags, kw, doc) { #type, #name, min, max },
#define REFUSED(type, name) { #type, #name, 0, 0 },
static const line lines[] = {
#include "jinja/builtins.def"
};

static void tables_are_sorted(void **state)
{
    (void)state;
    for (size_t i = 1; i < COUNT_OF(lines); i++)
        if (strcmp(lines[i].table, lines[i - 1].table) == 0 &&
            strcmp(lines[i].name, lines[i - 1].name) <= 0)
            fail_msg("%s stands behind %s", lines[i].name, lines[i - 1].name);
}

static void each_name_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        td_str name = td_str_from(lines[i].name);
        const jj_builtin *b = NULL;
        if (strcmp(lines[i].table, "filter") == 0) {
            b = jj_find_filter(name);
        } else if (strcmp(lines[i].table, "test") == 0) {
            b = jj_find_test(name);
        } else if (strcmp(lines[i].table, "global") == 0) {
            assert_non_null(jj_find_global(name));
            continue;
        } else if (strcmp(lines[i].table, "str") == 0) {
            b = jj_find_method(td_string(TD_STR("")), name);
        } else if (strcmp(lines[i].table, "list") == 0) {
            b = jj_find_method(td_list_of(NULL, 0), name);
        } else if (strcmp(lines[i].table, "dict") == 0) {
            b = jj_find_method((td_value){ .tag = TD_V_DICT }, name);
        } else {
            continue;
        }
        if (b == NULL)
            fail_msg("%s %s is not found", lines[i].table, lines[i].name);
        assert_string_equal(b->name, lines[i].name);
        assert_true(b->fn != NULL || (b->flags & JJ_B_REFUSED) != 0);
        assert_true(b->min <= b->max || (b->flags & JJ_B_VARARGS) != 0);
    }
}

static void unknown_names_are_not(void **state)
{
    (void)state;
    assert_null(jj_find_filter(TD_STR("from_json")));
    assert_null(jj_find_filter(TD_STR("")));
    assert_null(jj_find_test(TD_STR("upperx")));
    assert_null(jj_find_global(TD_STR("open")));
    assert_null(jj_find_method(td_none(), TD_STR("upper")));
    assert_null(jj_find_method(td_string(TD_STR("")), TD_STR("striptags")));
    td_value markup = td_string(TD_STR(""));
    markup.flags = TD_VF_MARKUP;
    assert_non_null(jj_find_method(markup, TD_STR("striptags")));
    assert_non_null(jj_find_method(markup, TD_STR("upper")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sorted),
        cmocka_unit_test(each_name_is_found),
        cmocka_unit_test(unknown_names_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

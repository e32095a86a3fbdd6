/* The table of built-ins: sorted, complete, and found by name. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "jinja/builtins/util.h"
#include "value/json.h"

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

/* ---- tests/data/builtins.case ---- */

/* The answer to one case: true if it is the expected one. */
static bool answers(jj_workspace *ws, td_value vars, td_value expected)
{
    td_error err = TD_ERROR_INIT;
    td_template *t = NULL;
    td_buf out = { 0 };
    jj_now now = { .fixed = true };
    const td_value *item = expected.as.items;
    td_code code = td_template_new(td_as_str(item[0]), "case", &t, &err);
    if (code == TD_OK)
        code = jj_render(t, vars.as.dict, &(jj_limits){ 0 }, &now, ws, &out, NULL, &err);
    bool good = item[1].tag == TD_V_STR
                    ? code == TD_OK && td_str_eq(td_buf_view(&out), td_as_str(item[1]))
                    : code == TD_E_TEMPLATE;
    if (expected.len == 3)
        good = good && td_str_eq(td_str_from(err.message), td_as_str(item[2]));
    if (!good)
        print_error("%.*s: %s\n  got %.*s\n", (int)item[0].len, item[0].as.str,
                    code == TD_OK ? "text" : err.message, (int)out.len,
                    out.len != 0 ? out.ptr : "");
    td_error_clear(&err);
    td_template_free(t);
    td_buf_done(&out);
    return good;
}

static void case_file(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/builtins.case", getenv("TD_TEST_DATA"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    jj_workspace *ws = jj_workspace_new();
    td_arena arena = { 0 };
    td_value vars = td_none(), one;
    char *input = NULL;
    size_t cap = 0, count = 0, failed = 0;
    ssize_t n;
    while ((n = getline(&input, &cap, f)) > 0) {
        td_error err = TD_ERROR_INIT;
        if (input[0] == '#')
            continue;
        td_str text = td_arena_copy(&arena, (td_str){ input, (size_t)n });
        assert_int_equal(td_json_read(&arena, text, &one, &err), TD_OK);
        if (one.tag == TD_V_DICT) {
            vars = one;
            continue;
        }
        count++;
        failed += !answers(ws, vars, one);
    }
    assert_true(count > 400);
    assert_int_equal(failed, 0);
    free(input);
    fclose(f);
    td_arena_done(&arena);
    jj_workspace_free(ws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sorted),
        cmocka_unit_test(each_name_is_found),
        cmocka_unit_test(unknown_names_are_not),
        cmocka_unit_test(case_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

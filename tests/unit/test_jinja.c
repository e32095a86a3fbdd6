/* The template engine: cases from tests/data/jinja, and what needs code: limits, spans, threads,
 * memory that runs out.
 *
 * A .case file is a row of cases: a line "=== name", the template, a line "--- KIND" and what is
 * expected. Kinds: out (rendered text), error (its message, and LINE:COLUMN behind "@"), tokens,
 * ast, code (dumps). One newline at the end of each part is not part of it. */
#include "test.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "jinja/jinja.h"
#include "tokdrain/template.h"
#include "value/json.h"

static const char vars_text[] =
    "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}, {\"role\": \"assistant\", "
    "\"content\": \"yo\"}], \"n\": 5, \"s\": \"Hello\", \"u\": \"na\\u00efve\", \"l\": [3, 1, 2], "
    "\"d\": {\"a\": 1, \"items\": 2}, \"no\": null, \"e\": \"\"}";

static td_value make_vars(td_arena *a)
{
    td_value v;
    td_error err = TD_ERROR_INIT;
    td_str text = { vars_text, sizeof vars_text - 1 };
    assert_int_equal(td_json_read(a, text, &v, &err), TD_OK);
    return v;
}

static td_code render(td_str source, const jj_limits *limits, td_buf *out, jj_spans *spans,
                      td_error *err)
{
    td_template *t = NULL;
    td_arena a = { 0 };
    td_value vars = make_vars(&a);
    jj_now now = { .fixed = true };
    jj_workspace *ws = jj_workspace_new();
    assert_non_null(ws);
    td_code code = td_template_new(source, "case", &t, err);
    if (code == TD_OK)
        code = jj_render(t, vars.as.dict, limits, &now, ws, out, spans, err);
    td_template_free(t);
    jj_workspace_free(ws);
    td_arena_done(&a);
    return code;
}

/* ---- case files ---- */

static void check_text(const char *name, td_str actual, td_str expected)
{
    if (!td_str_eq(actual, expected))
        fail_msg("%s: expected\n%.*s\ngot\n%.*s", name, (int)expected.len, expected.ptr,
                 (int)actual.len, actual.ptr);
}

static void check_case(const char *name, td_str source, td_str kind, td_str expected)
{
    td_buf out = { 0 };
    td_error err = TD_ERROR_INIT;
    char *text = NULL;
    td_code code;
    if (td_str_eq(kind, TD_STR("out")) || td_str_eq(kind, TD_STR("error"))) {
        code = render(source, NULL, &out, NULL, &err);
        if (td_str_eq(kind, TD_STR("error"))) {
            assert_int_not_equal(code, TD_OK);
            assert_int_equal(td_buf_printf(&out, "%s @%u:%u", err.message, err.line, err.column),
                             TD_OK);
        } else if (code != TD_OK) {
            fail_msg("%s: %s", name, err.message);
        }
        check_text(name, td_buf_view(&out), expected);
    } else {
        td_dump stage = td_str_eq(kind, TD_STR("tokens")) ? TD_DUMP_TOKENS
                        : td_str_eq(kind, TD_STR("ast"))  ? TD_DUMP_AST
                                                          : TD_DUMP_CODE;
        code = td_template_dump(source, "case", stage, &text, &err);
        if (code != TD_OK)
            fail_msg("%s: %s", name, err.message);
        td_str got = td_str_from(text);
        got.len -= got.len != 0; /* the last newline */
        check_text(name, got, expected);
        td_text_free(text);
    }
    td_error_clear(&err);
    td_buf_done(&out);
}

static td_str without_newline(td_str s)
{
    if (s.len != 0 && s.ptr[s.len - 1] == '\n')
        s.len--;
    return s;
}

/* The text from at up to the next line that starts with mark; at moves to that line. */
static td_str part(td_str all, size_t *at, td_str mark)
{
    size_t begin = *at;
    while (*at < all.len && !td_str_starts(td_str_from_offset(all, *at), mark)) {
        size_t end = td_str_find(all, TD_STR("\n"), *at);
        *at = end == TD_NOT_FOUND ? all.len : end + 1;
    }
    return without_newline((td_str){ all.ptr + begin, *at - begin });
}

static td_str line(td_str all, size_t *at)
{
    size_t begin = *at, end = td_str_find(all, TD_STR("\n"), begin);
    *at = end == TD_NOT_FOUND ? all.len : end + 1;
    return (td_str){ all.ptr + begin, (end == TD_NOT_FOUND ? all.len : end) - begin };
}

static size_t check_file(td_str all)
{
    size_t at = 0, count = 0;
    part(all, &at, TD_STR("=== "));
    while (at < all.len) {
        char name[120];
        td_str head = line(all, &at);
        snprintf(name, sizeof name, "%.*s", (int)(head.len - 4), head.ptr + 4);
        td_str source = part(all, &at, TD_STR("--- "));
        assert_true(at < all.len);
        td_str kind = td_str_from_offset(line(all, &at), 4);
        td_str expected = part(all, &at, TD_STR("=== "));
        check_case(name, source, kind, expected);
        count++;
    }
    return count;
}

static void case_files_hold(void **state)
{
    (void)state;
    char path[1024];
    size_t count = 0;
    const char *data = getenv("TD_TEST_DATA");
    assert_non_null(data);
    snprintf(path, sizeof path, "%s/jinja", data);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!td_str_ends(td_str_from(e->d_name), TD_STR(".case")))
            continue;
        snprintf(path, sizeof path, "%s/jinja/%s", data, e->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        static char text[1 << 18];
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        count += check_file((td_str){ text, n });
    }
    closedir(dir);
    assert_true(count > 40);
}

/* ---- limits ---- */

static td_code with_limits(const char *source, const jj_limits *limits)
{
    td_buf out = { 0 };
    td_error err = TD_ERROR_INIT;
    td_code code = render(td_str_from(source), limits, &out, NULL, &err);
    assert_int_equal(code, err.code);
    assert_true(code == TD_OK || out.len == 0);
    td_error_clear(&err);
    td_buf_done(&out);
    return code;
}

static void output_is_bounded(void **state)
{
    (void)state;
    jj_limits ten = { .output_bytes_max = 10 };
    assert_int_equal(with_limits("{{ 'x' * 10 }}", &ten), TD_OK);
    assert_int_equal(with_limits("{{ 'x' * 11 }}", &ten), TD_E_LIMIT);
    assert_int_equal(with_limits("{% for x in range(10) %}y{% endfor %}", &ten), TD_OK);
    assert_int_equal(with_limits("{% for x in range(11) %}y{% endfor %}", &ten), TD_E_LIMIT);
}

static void steps_are_bounded(void **state)
{
    (void)state;
    const char *loop = "{% for x in range(50) %}{% for y in range(50) %}{% endfor %}{% endfor %}";
    uint64_t low = 1, high = 1000000;
    while (low + 1 < high) { /* the exact number of steps it takes */
        jj_limits l = { .steps_max = (low + high) / 2 };
        if (with_limits(loop, &l) == TD_OK)
            high = l.steps_max;
        else
            low = l.steps_max;
    }
    assert_true(high > 2500 && high < 100000);
    jj_limits enough = { .steps_max = high }, few = { .steps_max = high - 1 };
    assert_int_equal(with_limits(loop, &enough), TD_OK);
    assert_int_equal(with_limits(loop, &few), TD_E_LIMIT);
    const char *endless = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
    assert_int_equal(with_limits(endless, NULL), TD_E_LIMIT);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    jj_limits l = { .memory_bytes_max = 1 << 20 };
    assert_int_equal(with_limits("{% set x = 'ab' * (n * 60000) %}{{ x|length }}", &l), TD_OK);
    assert_int_equal(with_limits("{% set x = 'ab' * (n * 120000) %}{{ x }}", &l), TD_E_LIMIT);
    assert_int_equal(with_limits("{{ 10 ** 100000000 }}", &l), TD_E_LIMIT);
}

static void rendering_can_be_stopped(void **state)
{
    (void)state;
    atomic_bool cancel = true;
    jj_limits cancelled = { .cancel = &cancel }, late = { .deadline_ns = 1 };
    const char *work = "{% for x in range(100000) %}{% for y in l %}{% endfor %}{% endfor %}";
    assert_int_equal(with_limits(work, &cancelled), TD_E_TIMEOUT);
    assert_int_equal(with_limits(work, &late), TD_E_TIMEOUT);
}

/* Instructions that go over much and make nothing new look at the clock, too. */
static void long_texts_do_not_escape_the_clock(void **state)
{
    (void)state;
    static const char *const works[] = {
        "d[a]", "{a: 1}", "d[(a, a)]", "a in d", "d.get(a)", "u|length", "u[-1]", "u[:9]",
        "b|trim", "b.isspace()", "a|wordcount", "a is upper", "a.find('y')", "a.count('y')",
        "a.startswith(a ~ '')", "'' is eq(a)", "b.strip()", "k == k[:]", "k in d",
        "'y'.encode() in k",
        "l == l2", "[l] < [l2]", "l.count(2)", "2 in l", "m[a]",
    };
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        char text[600];
        jj_limits limits = { .steps_max = 300000 };
        snprintf(text, sizeof text,
                 "{%% set a = 'x' * 100000 %%}{%% set b = ' ' * 100000 %%}"
                 "{%% set u = 'é' * 50000 %%}"
                 "{%% set k = a.encode() %%}{%% set l = [1] * 10000 %%}"
                 "{%% set l2 = [1] * 10000 %%}{%% set d = {a: 1, (a, a): 2, k: 3} %%}"
                 "{%% set m = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, a: 1} %%}"
                 "{%% for x in range(2000) %%}{%% set y = %s %%}{%% endfor %%}",
                 works[i]);
        if (with_limits(text, &limits) != TD_E_LIMIT)
            fail_msg("%s takes no steps", works[i]);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    const char *deep = "{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{% endmacro %}";
    char text[200];
    snprintf(text, sizeof text, "%s{{ m(150) }}", deep);
    assert_int_equal(with_limits(text, NULL), TD_OK);
    snprintf(text, sizeof text, "%s{{ m(1000) }}", deep);
    assert_int_equal(with_limits(text, NULL), TD_E_LIMIT);
    static char nested[100000];
    for (size_t n = 100; n <= 20000; n = n == 100 ? 20000 : n + 1) {
        memset(nested, 0, sizeof nested);
        memcpy(nested, "{{ ", 3);
        memset(nested + 3, '(', n);
        nested[3 + n] = '1';
        memset(nested + 4 + n, ')', n);
        memcpy(nested + 4 + 2 * n, " }}", 3);
        assert_int_equal(with_limits(nested, NULL),
                         n == 100 ? TD_OK : TD_E_LIMIT);
    }
}

static void long_chains_do_not_recurse_without_end(void **state)
{
    (void)state;
    static char chain[200100];
    size_t n = 0;
    memcpy(chain, "{{ 1", 4);
    for (n = 4; n < 200000; n += 2)
        memcpy(chain + n, "+1", 2);
    memcpy(chain + n, " }}", 4);
    assert_int_equal(with_limits(chain, NULL), TD_E_LIMIT);
}

/* ---- the rest ---- */

static void generation_blocks_are_noted(void **state)
{
    (void)state;
    td_buf out = { 0 };
    td_error err = TD_ERROR_INIT;
    jj_spans spans = { 0 };
    td_str source = TD_STR("\xC3\xA9{% generation %}{{ u }}{% endgeneration %}x");
    assert_int_equal(td_buf_put(&out, TD_STR("before ")), TD_OK);
    assert_int_equal(render(source, NULL, &out, &spans, &err), TD_OK);
    assert_str(td_buf_view(&out), "before \xC3\xA9na\xC3\xAFvex");
    assert_int_equal(spans.count, 1);
    assert_int_equal(spans.items[0].start, 2);
    assert_int_equal(spans.items[0].end, 8);
    assert_int_equal(spans.items[0].start_code_points, 1);
    assert_int_equal(spans.items[0].end_code_points, 6);
    td_free(spans.items);
    td_buf_done(&out);
}

static void errors_name_the_message(void **state)
{
    (void)state;
    td_buf out = { 0 };
    td_error err = TD_ERROR_INIT;
    td_str source = TD_STR("{% for m in messages[1:] %}\n  {{ m.nope.x }}{% endfor %}");
    assert_int_equal(render(source, NULL, &out, NULL, &err), TD_E_TEMPLATE);
    assert_int_equal(err.message_index, 1);
    assert_int_equal(err.line, 2);
    assert_string_equal(err.file, "case");
    assert_non_null(strchr(err.excerpt, '^'));
    td_error_clear(&err);
    td_buf_done(&out);
}

static void count_literal(void *user, td_str text)
{
    *(size_t *)user += text.len;
}

static void count_warning(void *user, const td_error *warning)
{
    (void)user;
    assert_string_equal(warning->message, "there is no filter 'nope'");
    assert_int_equal(warning->column, 16);
}

static void templates_can_be_looked_into(void **state)
{
    (void)state;
    td_template *t = NULL;
    td_error err = TD_ERROR_INIT;
    size_t bytes = 0;
    td_str source = TD_STR("{% if n %}{{ n|nope }}{% endif %}abc{{ 'de' }}\r\n");
    assert_int_equal(td_template_new(source, "case", &t, &err), TD_OK);
    assert_true(td_str_eq(jj_source(t), source));
    jj_each_literal(t, count_literal, &bytes);
    assert_int_equal(bytes, 5);
    assert_int_equal(td_template_warnings(t, count_warning, NULL), 1);
    td_template_free(t);
}

static void *render_many(void *arg)
{
    const td_template *t = arg;
    td_arena a = { 0 };
    td_value vars = make_vars(&a);
    jj_workspace *ws = jj_workspace_new();
    td_buf out = { 0 };
    td_error err = TD_ERROR_INIT;
    bool ok = ws != NULL;
    for (int i = 0; ok && i < 200; i++) {
        out.len = 0;
        ok = jj_render(t, vars.as.dict, NULL, NULL, ws, &out, NULL, &err) == TD_OK &&
             td_str_eq(td_buf_view(&out), TD_STR("user: hi;assistant: yo;6"));
    }
    td_buf_done(&out);
    jj_workspace_free(ws);
    td_arena_done(&a);
    return ok ? arg : NULL;
}

static void threads_share_a_template(void **state)
{
    (void)state;
    td_template *t = NULL;
    td_error err = TD_ERROR_INIT;
    td_str source = TD_STR("{% set ns = namespace(x=0) %}{% for m in messages %}{{ m.role + ': ' + "
                           "m['content'] }};{% endfor %}{% for i in l %}{% set ns.x = ns.x + i %}"
                           "{% endfor %}{{ ns.x }}");
    assert_int_equal(td_template_new(source, "case", &t, &err), TD_OK);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, render_many, t), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, t);
    }
    td_template_free(t);
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    td_str source = TD_STR("{% macro m(a, b=[1]) %}{{ a ~ b }}{% endmacro %}{% for x in l %}"
                           "{{ m(x)|upper }}{{ {'k': x}|tojson }}{% set s = s + 'x' %}{{ s }}"
                           "{% endfor %}{{ 10 ** 50 }}{{ (l|sort)[1:] }}");
    td_arena a = { 0 };
    td_value vars = make_vars(&a);
    for (size_t n = 1;; n++) {
        td_template *t = NULL;
        td_error err = TD_ERROR_INIT;
        td_buf out = { 0 };
        td_alloc_fail_at = n;
        jj_workspace *ws = jj_workspace_new();
        td_code code = ws == NULL ? TD_E_INTERNAL : td_template_new(source, "case", &t, &err);
        if (code == TD_OK)
            code = jj_render(t, vars.as.dict, NULL, NULL, ws, &out, NULL, &err);
        bool done = td_alloc_fail_at != 0;
        td_alloc_fail_at = 0;
        assert_true(code == TD_OK || code == TD_E_INTERNAL);
        td_error_clear(&err);
        td_buf_done(&out);
        td_template_free(t);
        jj_workspace_free(ws);
        if (done) {
            assert_int_equal(code, TD_OK);
            break;
        }
        assert_true(n < 10000);
    }
    td_arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_files_hold),
        cmocka_unit_test(output_is_bounded),
        cmocka_unit_test(steps_are_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(rendering_can_be_stopped),
        cmocka_unit_test(long_texts_do_not_escape_the_clock),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(long_chains_do_not_recurse_without_end),
        cmocka_unit_test(generation_blocks_are_noted),
        cmocka_unit_test(errors_name_the_message),
        cmocka_unit_test(templates_can_be_looked_into),
        cmocka_unit_test(threads_share_a_template),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Requests from bytes to keys, results to lines. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "chat/request.h"

static td_request *request(const char *json)
{
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_request_new(td_str_from(json), NULL, NULL, &r, &err), TD_OK);
    td_request_decode(r);
    return r;
}

static void test_the_first_input_that_is_given_wins(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        td_via via;
    } cases[] = {
        { "{\"text\": \"a\", \"messages\": []}", TD_VIA_TEXT },
        { "{\"ids\": [1], \"text\": \"a\"}", TD_VIA_TOKEN_IDS },
        { "{\"token_ids\": null, \"ids\": [1]}", TD_VIA_TOKEN_IDS },
        { "{\"text\": null, \"message\": {}}", TD_VIA_MESSAGE },
        { "{\"messages\": []}", TD_VIA_MESSAGES },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_request *r = request(cases[i].json);
        assert_int_equal(r->failure.code, TD_OK);
        assert_int_equal(r->via, cases[i].via);
        td_request_free(r);
    }
}

static void test_failures_point_into_the_file(void **state)
{
    (void)state;
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_request_new(TD_STR("{\"text\": }"), NULL, NULL, &r, &err), TD_OK);
    td_request_set_origin(r, "in.jsonl", 7, 1000);
    td_request_decode(r);
    assert_int_equal(r->failure.code, TD_E_INPUT);
    assert_int_equal(r->failure.line, 7);
    assert_int_equal(r->failure.column, 10);
    assert_int_equal(r->failure.offset, 1009);
    assert_string_equal(r->failure.file, "in.jsonl");
    td_request_free(r);
}

static void test_wrong_shapes(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", "[]", "3", "{}", "{\"text\": 1}", "{\"messages\": {}}", "{\"token_ids\": \"1\"}",
        "{\"message\": []}", "{\"text\": \"a\", \"chat_template\": 1}",
        "{\"text\": \"a\", \"chat_template_kwargs\": []}", "{\"text\": \"a\"",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_request *r = request(cases[i]);
        assert_int_equal(r->failure.code, TD_E_INPUT);
        td_request_free(r);
    }
}

static int released;

static void count_release(void *user, const char *bytes)
{
    assert_ptr_equal(user, &released);
    assert_true(bytes[0] == '{');
    released++;
}

static void test_borrowed_bytes_are_given_back_once(void **state)
{
    (void)state;
    static const char json[] = "{\"text\": \"borrowed\"}";
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    td_str text = { json, sizeof json - 1 };
    assert_int_equal(td_request_new(text, count_release, &released, &r, &err), TD_OK);
    td_request_decode(r);
    assert_ptr_equal(r->keys.text.as.str, json + 10); /* a view, no copy */
    assert_int_equal(released, 0);
    td_request_free(r);
    assert_int_equal(released, 1);
}

static void test_a_failure_keeps_its_place(void **state)
{
    (void)state;
    td_error failure = TD_ERROR_INIT, err = TD_ERROR_INIT;
    td_fail(&failure, TD_E_LIMIT, "too long");
    td_request *r = NULL;
    assert_int_equal(td_request_new_failed(&failure, &r, &err), TD_OK);
    assert_int_equal(failure.code, TD_OK);
    td_request_decode(r);
    assert_int_equal(r->failure.code, TD_E_LIMIT);
    assert_string_equal(r->failure.message, "too long");
    td_request_free(r);
}

static td_str line_of(td_result_box *box)
{
    td_str line = { NULL, 0 };
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_result_json(&box->pub, &line, &err), TD_OK);
    return line;
}

static void test_lines(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    td_result_box *box = td_result_new();
    box->pub.index = 12;
    box->pub.counted = true;
    box->pub.tokens = 18446744073709551615U;
    box->pub.via = TD_VIA_TEXT;
    assert_int_equal(td_result_set_id(box, td_string(TD_STR("a\"b")), &err), TD_OK);
    assert_str(line_of(box),
               "{\"index\": 12, \"id\": \"a\\\"b\", \"tokens\": 18446744073709551615, "
                             "\"via\": \"text\", \"reused\": 0}");
    td_result_clear(box);
    td_fail_at(&box->pub.error, TD_E_INPUT, 5, "bad \"thing\"\n");
    box->pub.error.line = 2;
    assert_str(line_of(box),
               "{\"index\": 0, \"id\": null, \"tokens\": null, \"via\": null, \"error\": "
               "{\"kind\": \"input\", \"message\": \"bad \\\"thing\\\"\\n\", \"line\": 2, "
               "\"offset\": 5}}");
    td_result_free(&box->pub);
}

static void test_lone_surrogates_are_escaped(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    td_result_box *box = td_result_new();
    box->form = TD_LINE_TEXT;
    box->pub.text = TD_STR("a\xED\xA0\x80\xC3\xA9\xED\xBF\xBF");
    assert_int_equal(td_result_set_id(box, td_string(TD_STR("\xED\xA0\x80")), &err), TD_OK);
    assert_str(line_of(box), "{\"index\": 0, \"id\": \"\\ud800\", "
                             "\"text\": \"a\\ud800\xC3\xA9\\udfff\"}");
    td_result_free(&box->pub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_input_that_is_given_wins),
        cmocka_unit_test(test_failures_point_into_the_file),
        cmocka_unit_test(test_wrong_shapes),
        cmocka_unit_test(test_borrowed_bytes_are_given_back_once),
        cmocka_unit_test(test_a_failure_keeps_its_place),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_lone_surrogates_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

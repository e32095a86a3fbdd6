/* Requests made of values, counting on the caller's thread, models made of parts. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "chat/default_model.h"
#include "tokdrain/tokdrain.h"

static td_model *model;

static int set_up(void **state)
{
    (void)state;
    return td_model_new(NULL, NULL, &model, NULL) == TD_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    td_model_free(model);
    return 0;
}

static td_direct *new_direct(const td_counter_options *options)
{
    td_direct *d = NULL;
    assert_int_equal(td_direct_new(model, options, &d, NULL), TD_OK);
    return d;
}

static bool put_text(td_build *b, const char *text)
{
    return td_build_text(b, td_str_from(text), false);
}

/* {"messages": [{"role": "user", "content": content}]} */
static bool put_chat(td_build *b, const char *content)
{
    return td_build_map(b) && put_text(b, "messages") && td_build_list(b) && td_build_map(b) &&
           put_text(b, "role") && put_text(b, "user") && put_text(b, "content") &&
           put_text(b, content) && td_build_end(b) && td_build_end(b) && td_build_end(b);
}

static td_request *chat(td_build *b, const char *content)
{
    td_request *r = NULL;
    assert_true(put_chat(b, content));
    assert_int_equal(td_build_request(b, &r, NULL), TD_OK);
    return r;
}

static td_request *of_json(const char *json)
{
    td_request *r = NULL;
    assert_int_equal(td_request_new(td_str_from(json), NULL, NULL, &r, NULL), TD_OK);
    return r;
}

static void test_values_and_json_count_the_same(void **state)
{
    (void)state;
    td_build *b = td_build_new();
    td_direct *d = new_direct(NULL);
    td_direct_call call = { .operation = TD_DO_COUNT };
    for (int i = 0; i < 3; i++) {
        td_result *x = td_direct_run(d, chat(b, "How many tokens is this?"), &call);
        td_result *y = td_direct_run(d,
                                     of_json("{\"messages\": [{\"role\": \"user\", \"content\": "
                                             "\"How many tokens is this?\"}]}"),
                                     &call);
        assert_true(x->counted && y->counted);
        assert_int_equal(x->tokens, y->tokens);
        assert_true(y->reused > 0);
        td_result_free(x);
        td_result_free(y);
    }
    assert_true(td_direct_bytes(d) > 0);
    td_direct_free(d);
    td_build_free(b);
}

static void test_all_kinds_of_values(void **state)
{
    (void)state;
    td_build *b = td_build_new();
    td_request *r = NULL;
    assert_true(td_build_map(b) && put_text(b, "messages") && td_build_list(b) && td_build_map(b));
    assert_true(put_text(b, "v") && td_build_tuple(b) && td_build_null(b) &&
                td_build_bool(b, true) && td_build_int(b, INT64_MIN) && td_build_float(b, 0.5) &&
                td_build_hex(b, TD_STR("-1fffffffffffffffff")) && td_build_hex(b, TD_STR("7F")) &&
                td_build_map(b) && td_build_int(b, 1) && put_text(b, "a") &&
                td_build_float(b, 1.0) && put_text(b, "b") && td_build_end(b) && td_build_end(b));
    assert_true(td_build_end(b) && td_build_end(b) && put_text(b, "chat_template") &&
                put_text(b, "{{ messages[0].v }}") && td_build_end(b));
    assert_int_equal(td_build_request(b, &r, NULL), TD_OK);
    td_direct *d = new_direct(NULL);
    td_result *x = td_direct_run(d, r, &(td_direct_call){ .operation = TD_DO_RENDER });
    assert_int_equal(x->error.code, TD_OK);
    assert_str(x->text, "(None, True, -9223372036854775808, 0.5, -590295810358705651711, 127, "
                        "{1: 'b'})");
    td_result_free(x);
    td_direct_free(d);
    td_build_free(b);
}

static void expect_refused(td_build *b, td_code code)
{
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_build_request(b, &r, &err), code);
    assert_null(r);
    assert_int_equal(err.code, code);
    td_error_clear(&err);
    td_request *again = chat(b, "x"); /* the builder is as new */
    td_request_free(again);
}

static void test_values_that_are_no_request(void **state)
{
    (void)state;
    td_build *b = td_build_new();
    expect_refused(b, TD_E_INPUT); /* nothing */
    assert_true(td_build_int(b, 1));
    expect_refused(b, TD_E_INPUT);
    assert_true(td_build_map(b));
    expect_refused(b, TD_E_INPUT); /* not complete */
    assert_true(td_build_list(b) && td_build_end(b));
    assert_false(td_build_int(b, 1)); /* a second value */
    assert_false(td_build_list(b));
    expect_refused(b, TD_E_INPUT);
    assert_false(td_build_end(b));
    expect_refused(b, TD_E_INPUT);
    assert_true(td_build_map(b) && td_build_int(b, 1));
    assert_false(td_build_end(b)); /* a key without a value */
    expect_refused(b, TD_E_INPUT);
    assert_true(td_build_map(b) && td_build_list(b) && td_build_end(b) && td_build_int(b, 1));
    assert_false(td_build_end(b)); /* a list as a key */
    expect_refused(b, TD_E_INPUT);
    static const char *const digits[] = { "", "-", "+", "0x1", "g", " 1" };
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++) {
        assert_false(td_build_hex(b, td_str_from(digits[i])));
        expect_refused(b, TD_E_INPUT);
    }
    bool deeper = true;
    for (int i = 0; i < 1000; i++)
        deeper = deeper && td_build_list(b);
    assert_true(deeper);
    assert_false(td_build_list(b));
    expect_refused(b, TD_E_LIMIT);
    td_build_free(b);
}

static void test_what_is_wrong_with_a_request_is_its_own(void **state)
{
    (void)state;
    td_build *b = td_build_new();
    td_direct *d = new_direct(NULL);
    td_request *r = NULL;
    assert_true(td_build_map(b) && put_text(b, "text") && td_build_int(b, 3) && td_build_end(b));
    assert_int_equal(td_build_request(b, &r, NULL), TD_OK);
    td_result *x = td_direct_run(d, r, &(td_direct_call){ .operation = TD_DO_COUNT });
    assert_int_equal(x->error.code, TD_E_INPUT);
    assert_false(x->counted);
    td_result_free(x);
    td_direct_free(d);
    td_build_free(b);
}

/* Whatever allocation fails while a request is built and run: an error or the right count. */
static void test_without_memory(void **state)
{
    (void)state;
    td_build *b = td_build_new();
    td_direct *d = new_direct(NULL);
    td_direct_call call = { .operation = TD_DO_ENCODE, .owners = true };
    bool survived = false;
    for (size_t n = 1; n < 200 && !survived; n++) {
        td_request *r = NULL;
        td_error err = TD_ERROR_INIT;
        td_alloc_fail_at = n;
        bool built = put_chat(b, "hello") && td_build_request(b, &r, &err) == TD_OK;
        td_result *x = built ? td_direct_run(d, r, &call) : NULL;
        survived = td_alloc_fail_at != 0 && x != NULL;
        td_alloc_fail_at = 0;
        if (!built)
            td_build_reset(b);
        if (survived)
            assert_int_equal(x->error.code, TD_OK);
        else if (x != NULL && x->error.code != TD_OK)
            assert_int_equal(x->error.code, TD_E_INTERNAL);
        td_result_free(x);
        td_error_clear(&err);
    }
    assert_true(survived);
    td_direct_free(d);
    td_build_free(b);
}

typedef struct racer {
    td_direct *direct;
    uint64_t tokens;
} racer;

static void *race(void *user)
{
    racer *r = user;
    td_build *b = td_build_new();
    td_direct_call call = { .operation = TD_DO_COUNT };
    for (int i = 0; b != NULL && i < 200; i++) {
        td_request *request = NULL;
        td_result *x = NULL;
        if (put_chat(b, "shared by threads") && td_build_request(b, &request, NULL) == TD_OK)
            x = td_direct_run(r->direct, request, &call);
        r->tokens += x != NULL ? x->tokens : 0;
        td_result_free(x);
    }
    td_build_free(b);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    racer racers[4];
    td_thread threads[4];
    td_direct *d = new_direct(NULL);
    for (int i = 0; i < 4; i++) {
        racers[i] = (racer){ d, 0 };
        assert_true(td_thread_start(&threads[i], race, &racers[i]));
    }
    for (int i = 0; i < 4; i++)
        td_thread_join(&threads[i]);
    assert_true(racers[0].tokens > 0);
    for (int i = 1; i < 4; i++)
        assert_int_equal(racers[i].tokens, racers[0].tokens);
    td_direct_free(d);
}

static void test_owners_and_offsets(void **state)
{
    (void)state;
    static const char json[] =
        "{\"messages\": [{\"content\": \"\xc3\xa9 one\"}, {\"content\": \"two\"}], "
        "\"chat_template\": \"\xc3\xa4{% for m in messages %}[{{ m.content }}]{% endfor %}!\"}";
    td_direct *d = new_direct(NULL);
    td_direct_call call = { .operation = TD_DO_ENCODE, .owners = true, .offsets = true };
    td_result *x = td_direct_run(d, of_json(json), &call);
    assert_int_equal(x->error.code, TD_OK);
    assert_int_equal(x->owned_count, 4);
    static const int64_t want[] = { -1, 0, 1, -1 };
    static const uint32_t points[] = { 0, 1, 8, 13 }; /* ä [é one] [two] ! in code points */
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(x->owned[i].message, want[i]);
        assert_int_equal(x->owned[i].start, i != 0 ? x->owned[i - 1].end : 0);
        assert_true(x->starts[x->owned[i].start] >= points[i]);
        assert_true(x->starts[x->owned[i].start] < points[i] + 2);
    }
    assert_int_equal(x->owned[3].end, x->ids_count);
    td_result_free(x);
    td_direct_free(d);
}

static void test_a_batch_may_hold_an_empty_conversation(void **state)
{
    (void)state;
    td_direct *d = new_direct(NULL);
    for (int of_batch = 0; of_batch < 2; of_batch++) {
        td_direct_call call = { .operation = TD_DO_RENDER, .of_batch = of_batch == 1 };
        td_result *x = td_direct_run(
            d, of_json("{\"messages\": [], \"chat_template\": \"{{ messages }}\"}"), &call);
        assert_int_equal(x->error.code, of_batch ? TD_OK : TD_E_INPUT);
        td_result_free(x);
    }
    td_direct_free(d);
}

static void test_a_direct_needs_a_model(void **state)
{
    (void)state;
    td_direct *d = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_direct_new(NULL, NULL, &d, &err), TD_E_INPUT);
    td_error_clear(&err);
    td_counter_options bad = { .chat_template_kwargs = TD_STR("[") };
    assert_int_equal(td_direct_new(model, &bad, &d, &err), TD_E_INPUT);
    td_error_clear(&err);
    assert_null(d);
}

static void test_a_model_of_parts(void **state)
{
    (void)state;
    td_named_text templates[] = { { TD_STR("default"), TD_STR("{{ eos_token }}{{ messages }}") },
                                  { TD_STR("b"), TD_STR("{% if %}") } };
    td_named_text special[] = { { TD_STR("eos_token"), TD_STR("<e>") } };
    td_model_parts parts = { .name = "parts",
                             .tokenizer_json = td_default_tokenizer_json(),
                             .templates = templates,
                             .template_count = 2,
                             .templates_by_name = true,
                             .special = special,
                             .special_count = 1,
                             .class_name = TD_STR("Own") };
    td_model *made = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_model_new_from_parts(&parts, &made, &err), TD_OK);
    assert_int_equal(td_model_template_count(made), 2);
    assert_str(td_model_special_text(made, 0), "<e>");
    assert_int_equal(td_tokenizer_vocab_size(td_model_tokenizer(made)),
                     td_tokenizer_vocab_size(td_model_tokenizer(model)));
    td_model_free(made);
    static const char *const broken[] = { "", "{", "[]", "{\"model\": 3}", "{}" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        parts.tokenizer_json = td_str_from(broken[i]);
        assert_int_not_equal(td_model_new_from_parts(&parts, &made, &err), TD_OK);
        assert_true(err.message_len != 0);
        td_error_clear(&err);
    }
}

static void test_errors_of_the_callers_own(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    td_error err = TD_ERROR_INIT;
    for (size_t len = 0; len <= sizeof text; len += 250) {
        td_error_set(&err, TD_E_WORKER, (td_str){ text, len });
        assert_int_equal(err.code, TD_E_WORKER);
        assert_int_equal(err.message_len, len);
    }
    td_error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_and_json_count_the_same),
        cmocka_unit_test(test_all_kinds_of_values),
        cmocka_unit_test(test_values_that_are_no_request),
        cmocka_unit_test(test_what_is_wrong_with_a_request_is_its_own),
        cmocka_unit_test(test_without_memory),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_owners_and_offsets),
        cmocka_unit_test(test_a_batch_may_hold_an_empty_conversation),
        cmocka_unit_test(test_a_direct_needs_a_model),
        cmocka_unit_test(test_a_model_of_parts),
        cmocka_unit_test(test_errors_of_the_callers_own),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

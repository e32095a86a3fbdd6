/* One item through one worker, with every allocation on its way failing once. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "count/process.h"

static td_model *model;
static atomic_bool interrupt;

static int load(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    return td_model_new(NULL, NULL, &model, &err) == TD_OK ? 0 : -1;
}

static int unload(void **state)
{
    (void)state;
    td_model_free(model);
    return 0;
}

typedef struct bench {
    td_shared shared;
    td_worker_scratch scratch;
} bench;

static void init_bench(bench *b, td_counter_options options)
{
    *b = (bench){ .shared = { .model = model, .options = options, .interrupt = &interrupt } };
    b->shared.env.model = model;
    b->shared.env.templates = td_template_cache_new();
    b->shared.memo = td_memo_new(1 << 20);
    assert_non_null(b->shared.env.templates);
    assert_non_null(b->shared.memo);
    assert_true(td_scratch_init(&b->scratch, model, &options.limits));
}

static void done_bench(bench *b)
{
    td_scratch_done(&b->scratch);
    td_memo_free(b->shared.memo);
    td_template_cache_free(b->shared.env.templates);
}

/* The code of the item; *ret_tokens and the line when it was counted. */
static td_code process(bench *b, const char *json, size_t fail_at, uint64_t *ret_tokens)
{
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_request_new(td_str_from(json), NULL, NULL, &r, &err), TD_OK);
    td_alloc_fail_at = fail_at;
    assert_true(td_process(&b->shared, &b->scratch, r));
    td_alloc_fail_at = 0;
    td_code code = r->box->pub.error.code;
    if (code == TD_OK)
        *ret_tokens = r->box->pub.tokens;
    td_request_free(r);
    return code;
}

static const char *const items[] = {
    "{\"id\": [1, \"x\"], \"messages\": [{\"role\": \"user\", \"content\": \"a \\\"quoted\\\" "
    "text\"}, "
    "{\"role\": \"assistant\", \"content\": null, \"reasoning\": \"why\", \"tool_calls\": "
    "[{\"function\": {\"name\": \"f\", \"arguments\": \"{\\\"a\\\": 1}\"}}]}], "
    "\"parse_arguments\": true, \"tools\": [{\"type\": \"function\", \"function\": {\"name\": "
    "\"f\"}}], \"chat_template_kwargs\": {\"enable_thinking\": true}}",
    "{\"messages\": [{\"role\": \"user\", \"content\": \"x<|im_end|>y\"}], "
    "\"sanitize_control_tokens\": true}",
    "{\"message\": {\"content\": \"c\", \"reasoning\": \"r\"}}",
    "{\"text\": \"e\\u0301 text\", \"add_special_tokens\": true}",
    "{\"messages\": [{\"role\": \"assistant\", \"content\": [{\"text\": \"open\"}]}], "
    "\"continue_final_message\": true, \"chat_template\": "
    "\"{{ messages[0].content[0].text }}{% generation %}x{% endgeneration %}\"}",
};
enum { ITEMS = sizeof items / sizeof *items };

static void each_allocation_fails_once(td_operation operation)
{
    for (size_t i = 0; i < ITEMS; i++) {
        td_counter_options options = {
            .operation = operation, .lines = true, .offsets = true, .pieces = true
        };
        bench b;
        init_bench(&b, options);
        uint64_t expected = 0;
        td_code good = process(&b, items[i], 0, &expected);
        done_bench(&b);
        if (good != TD_OK)
            continue; /* not an item for this operation */
        for (size_t n = 1; n < 5000; n++) {
            uint64_t tokens = 0;
            init_bench(&b, options); /* cold: what was kept would not be allocated again */
            td_code code = process(&b, items[i], n, &tokens);
            assert_true(code == TD_OK || code == TD_E_INTERNAL);
            bool all_passed = code == TD_OK;
            if (code == TD_OK)
                assert_int_equal(tokens, expected);
            assert_int_equal(process(&b, items[i], 0, &tokens), TD_OK); /* and it goes on */
            assert_int_equal(tokens, expected);
            done_bench(&b);
            if (all_passed && n > 200)
                break;
        }
    }
}

static void test_count_survives(void **state)
{
    (void)state;
    each_allocation_fails_once(TD_DO_COUNT);
}

static void test_render_survives(void **state)
{
    (void)state;
    each_allocation_fails_once(TD_DO_RENDER);
}

static void test_encode_survives(void **state)
{
    (void)state;
    each_allocation_fails_once(TD_DO_ENCODE);
}

static void test_models_and_counters_survive(void **state)
{
    (void)state;
    for (size_t n = 1; n < 400; n += n < 60 ? 1 : 17) {
        td_model *m = NULL;
        td_counter *c = NULL;
        td_error err = TD_ERROR_INIT;
        td_alloc_fail_at = n;
        td_code code = td_model_new(NULL, NULL, &m, &err);
        td_alloc_fail_at = 0;
        assert_true(code == TD_OK || code == TD_E_INTERNAL || code == TD_E_TOKENIZER);
        td_error_clear(&err);
        td_model_free(m);
        td_alloc_fail_at = n;
        code = td_counter_new(model, &(td_counter_options){ .jobs = 1 }, &c, &err);
        td_alloc_fail_at = 0;
        assert_true(code == TD_OK || code == TD_E_INTERNAL);
        td_error_clear(&err);
        td_counter_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count_survives),
        cmocka_unit_test(test_render_survives),
        cmocka_unit_test(test_encode_survives),
        cmocka_unit_test(test_models_and_counters_survive),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

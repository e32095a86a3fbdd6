/* External workers from below: the protocol's bytes, and the pool with processes that are a few
 * lines of shell. What a real worker does is tested through the program. */
#include "test.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "count/worker_pool.h"
#include "count/worker_process.h"
#include "value/msgpack.h"

/* ---- protocol ---- */

static void test_an_item_is_a_frame(void **state)
{
    (void)state;
    td_buf b = { 0 };
    td_worker_item item = { .via = TD_VIA_TEXT, .text = TD_STR("hi"), .add_special_tokens = true };
    assert_int_equal(td_worker_put_item(&b, &item, 7), TD_OK);
    assert_int_equal(td_worker_frame_length(b.ptr), b.len - TD_WORKER_HEAD_BYTES);
    assert_str(((td_str){ b.ptr + 4, b.len - 4 }),
               "\x84\xa3seq\x07\xa3via\xa4text\xa4text\xc4\x02hi\xb2"
               "add_special_tokens\xc3");
    item = (td_worker_item){ .via = TD_VIA_MESSAGES, .text = TD_STR("{}") };
    assert_int_equal(td_worker_put_item(&b, &item, 300), TD_OK);
    assert_str(((td_str){ b.ptr + 4, b.len - 4 }),
               "\x83\xa3seq\xcd\x01\x2c\xa3via\xa8messages\xa7request\xc4\x02{}");
    char packed[8];
    td_id ids[2] = { 1, 0x01020304 }, back[2];
    td_worker_pack_ids(ids, 2, packed);
    item = (td_worker_item){ .operation = TD_DO_DECODE,
                             .via = TD_VIA_TOKEN_IDS,
                             .text = { packed, 8 },
                             .skip_special_tokens = true };
    assert_int_equal(td_worker_put_item(&b, &item, 1), TD_OK);
    static const char frame[] =
        "\x85\xa3seq\x01\xa3via\xa9token_ids\xa3ids\xc4\x08\0\0\0\x01\x01\x02"
        "\x03\x04\xb3skip_special_tokens\xc3\xa2"
        "do\xa6"
        "decode";
    assert_int_equal(b.len - 4, sizeof frame - 1);
    assert_memory_equal(b.ptr + 4, frame, sizeof frame - 1);
    td_worker_unpack_ids(item.text, back);
    assert_memory_equal(back, ids, sizeof ids);
    td_buf_done(&b);
}

static void test_what_a_worker_is_told_first(void **state)
{
    (void)state;
    td_buf b = { 0 };
    td_worker_hello hello = { .model = TD_STR("m"), .parse_arguments = true };
    assert_int_equal(td_worker_put_hello(&b, &hello), TD_OK);
    assert_str(((td_str){ b.ptr + 4, b.len - 4 }),
               "\x86\xa8protocol\x01\xa5model\xc4\x01m\xa8revision\xc0\xad"
               "chat_template\xc0\xb4"
               "chat_template_kwargs\xc0\xafparse_arguments\xc3");
    td_buf_done(&b);
}

#define BYTES(literal)                                                                             \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static void test_good_answers(void **state)
{
    (void)state;
    td_worker_answer a;
    td_error err = TD_ERROR_INIT;
    td_str tokens = BYTES("\x83\xa3seq\x05\xa5other\x91\xc0\xa6tokens\xcd\x01\x00");
    assert_int_equal(td_worker_read_answer(tokens, TD_DO_COUNT, &a, &err), TD_OK);
    assert_true(!a.failed && a.seq == 5 && a.tokens == 256);
    td_str failed = BYTES("\x82\xa3seq\x05\xa5"
                          "error\x82\xa4kind\xa5input\xa7message\xa2no");
    assert_int_equal(td_worker_read_answer(failed, TD_DO_COUNT, &a, &err), TD_OK);
    assert_true(a.failed && a.code == TD_E_INPUT);
    assert_str(a.message, "no");
    td_str hello = BYTES("\x82\xa8protocol\x01\xa5model\xa1m");
    assert_int_equal(td_worker_read_hello(hello, &a, &err), TD_OK);
    assert_true(!a.failed && a.protocol == 1);
    assert_str(a.model, "m");
}

/* What an answer must hold depends on what was asked. */
static void test_answers_to_other_questions(void **state)
{
    (void)state;
    static const struct {
        td_operation operation;
        td_str payload;
        bool good;
    } cases[] = {
        { TD_DO_ENCODE, BYTES("\x82\xa3seq\x05\xa3ids\xc4\x04\0\0\1\0"), true },
        { TD_DO_ENCODE, BYTES("\x82\xa3seq\x05\xa3ids\xc4\0"), true },
        { TD_DO_ENCODE, BYTES("\x82\xa3seq\x05\xa3ids\xc4\x03\0\0\1"), false },
        { TD_DO_ENCODE, BYTES("\x82\xa3seq\x05\xa3ids\x91\x01"), false },
        { TD_DO_ENCODE, BYTES("\x82\xa3seq\x05\xa6tokens\x01"), false },
        { TD_DO_RENDER, BYTES("\x82\xa3seq\x05\xa4text\xc4\x01x"), true },
        { TD_DO_DECODE, BYTES("\x82\xa3seq\x05\xa4text\xc4\x03\xed\xa0\x80"), true },
        { TD_DO_DECODE, BYTES("\x82\xa3seq\x05\xa4text\xc4\x01\xff"), false },
        { TD_DO_DECODE, BYTES("\x82\xa3seq\x05\xa4text\xa1x"), false },
        { TD_DO_RENDER, BYTES("\x82\xa3seq\x05\xa3ids\xc4\0"), false },
        { TD_DO_COUNT, BYTES("\x82\xa3seq\x05\xa4text\xc4\x01x"), false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        td_worker_answer a;
        td_error err = TD_ERROR_INIT;
        td_code code = td_worker_read_answer(cases[i].payload, cases[i].operation, &a, &err);
        if (code != (cases[i].good ? TD_OK : TD_E_INPUT))
            fail_msg("answer %zu: %d", i, code);
        td_error_clear(&err);
    }
}

static void test_garbage_is_refused(void **state)
{
    (void)state;
    static const td_str answers[] = {
        BYTES(""),
        BYTES("\xc1"),
        BYTES("\x05"),
        BYTES("\x80"),
        BYTES("\x81\xa3seq\x05"),
        BYTES("\x81\xa6tokens\x05"),
        BYTES("\x82\xa3seq\x05\xa6tokens\xff"),
        BYTES("\x82\xa3seq\x05\xa6tokens\xa1"
              "5"),
        BYTES("\x82\xa3seq\x05\xa6tokens\xcb\x40\x14\0\0\0\0\0\0"),
        BYTES("\x82\xa3seq\x05\xa6tokens\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
        BYTES("\x82\xa3seq\x05\xa6tokens\x05\xc0"),
        BYTES("\x83\xa3seq\x05\xa6tokens\x05\xa6tokens\x06"),
        BYTES("\x83\xa3seq\x05\xa6tokens\x05\xa3seq\x05"),
        BYTES("\x82\xa3seq\x05\x01\x05"),
        BYTES("\x82\xa3seq\x05\xa5"
              "error\xa2no"),
        BYTES("\x82\xa3seq\x05\xa5"
              "error\x80"),
        BYTES("\x82\xa3seq\x05\xa5"
              "error\x82\xa4kind\xa2ok\xa7message\xa2no"),
        BYTES("\x82\xa3seq\x05\xa5"
              "error\x82\xa4kind\xa7timeout\xa7message\xa2no"),
        BYTES("\x83\xa3seq\x05\xa6tokens\x05\xa5"
              "error\x82\xa4kind\xa5input\xa7message\xa2no"),
    };
    td_worker_answer a;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        td_error err = TD_ERROR_INIT;
        if (td_worker_read_answer(answers[i], TD_DO_COUNT, &a, &err) != TD_E_INPUT)
            fail_msg("answer %zu was taken", i);
        td_error_clear(&err);
    }
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_worker_read_hello((td_str)BYTES("\x81\xa5model\xa1m"), &a, &err),
                     TD_E_INPUT);
    td_error_clear(&err);
    assert_int_equal(td_worker_read_hello((td_str)BYTES("\x81\xa8protocol\x01"), &a, &err),
                     TD_E_INPUT);
    td_error_clear(&err);
}

/* Every cut of a good answer is garbage, and none is read past its end. */
static void test_answers_cut_short(void **state)
{
    (void)state;
    static const char whole[] = "\x82\xa3seq\x05\xa5"
                                "error\x82\xa4kind\xa5input\xa7message\xa2no";
    for (size_t len = 0; len < sizeof whole - 1; len++) {
        char *bytes = malloc(len + 1);
        assert_non_null(bytes);
        memcpy(bytes, whole, len);
        td_worker_answer a;
        td_error err = TD_ERROR_INIT;
        assert_int_not_equal(td_worker_read_answer((td_str){ bytes, len }, TD_DO_COUNT, &a, &err),
                             TD_OK);
        td_error_clear(&err);
        free(bytes);
    }
}

/* ---- pool ---- */

/* A worker in shell: says hello, then answers 1, 2, 3, ... whatever it is asked. It reads nothing,
 * so its answers lie ready; the socket's buffer takes the few requests of a test. */
#define HELLO "printf '\\000\\000\\000\\023\\202\\250protocol\\001\\245model\\241m' >&3; "
#define ANSWERS                                                                                    \
    "for i in 1 2 3 4 5 6 7; do "                                                                  \
    "printf '\\000\\000\\000\\016\\202\\243seq\\00'\\$i'\\246tokens\\00'\\$i >&3; done; "
#define SHELL(text) "sh -c \"" text "\""

static atomic_bool interrupt;

static td_worker_pool *pool(const char *command, unsigned jobs, uint64_t timeout_ns)
{
    td_counter_options o = { .jobs = jobs,
                             .worker_command = command,
                             .worker_start_ns = 20000000000U,
                             .limits.timeout_ns = timeout_ns };
    td_error err = TD_ERROR_INIT;
    td_worker_pool *p = td_pool_new(&o, &interrupt, &err);
    assert_non_null(p);
    return p;
}

static const td_worker_item item = { .via = TD_VIA_TEXT, .text = { "x", 1 } };

static td_code count(td_pool_worker *w, uint64_t *ret_tokens, td_error *err)
{
    td_worker_answer a = { 0 };
    td_code code = td_pool_ask(w, &item, &a, err);
    *ret_tokens = a.tokens;
    td_pool_rest(w);
    return code;
}

static unsigned open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    unsigned n = 0;
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

static void test_a_pool_counts(void **state)
{
    (void)state;
    unsigned before = open_descriptors();
    td_worker_pool *p = pool(SHELL(HELLO ANSWERS "sleep 100"), 2, 0);
    td_error err = TD_ERROR_INIT;
    for (unsigned i = 0; i < 2; i++) {
        td_pool_worker *w = td_pool_worker_at(p, i);
        assert_int_equal(td_pool_start(w, &err), TD_OK);
        for (uint64_t n = 1; n <= 3; n++) {
            uint64_t tokens = 0;
            assert_int_equal(count(w, &tokens, &err), TD_OK);
            assert_int_equal(tokens, n);
        }
    }
    td_pool_stats s = td_pool_get_stats(p);
    assert_true(s.started == 2 && s.running == 2 && s.memory_bytes > 0 && s.load_ns > 0);
    td_pool_free(p);
    assert_int_equal(open_descriptors(), before);
}

static void test_a_process_that_ends_is_replaced(void **state)
{
    (void)state;
    /* says hello and goes: each item finds its process gone, twice */
    td_worker_pool *p = pool(SHELL(HELLO "exit 5"), 1, 0);
    td_pool_worker *w = td_pool_worker_at(p, 0);
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_pool_start(w, &err), TD_OK);
    uint64_t tokens = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count(w, &tokens, &err), TD_E_WORKER);
        assert_string_equal(err.message, "tried twice: the worker ended with exit status 5");
        td_error_clear(&err);
    }
    td_pool_stats s = td_pool_get_stats(p);
    assert_true(s.started == 6 && s.running == 0);
    td_pool_free(p);
}

static void test_hanging_and_being_interrupted(void **state)
{
    (void)state;
    td_worker_pool *p = pool(SHELL(HELLO "sleep 100"), 1, 100000000);
    td_pool_worker *w = td_pool_worker_at(p, 0);
    td_error err = TD_ERROR_INIT;
    uint64_t tokens = 0;
    assert_int_equal(count(w, &tokens, &err), TD_E_WORKER);
    assert_string_equal(err.message, "tried twice: the worker gave no answer within 0.1 s");
    td_error_clear(&err);
    atomic_store(&interrupt, true);
    assert_int_equal(count(w, &tokens, &err), TD_E_TIMEOUT);
    td_error_clear(&err);
    atomic_store(&interrupt, false);
    assert_int_equal(td_pool_get_stats(p).running, 0);
    td_pool_free(p);
}

static void test_allocations_that_fail(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40; n++) {
        td_counter_options o = { .jobs = 2,
                                 .worker_command = SHELL(HELLO ANSWERS "sleep 100"),
                                 .worker_model = "m" };
        td_error err = TD_ERROR_INIT;
        td_alloc_fail_at = n;
        td_worker_pool *p = td_pool_new(&o, &interrupt, &err);
        td_code code = p != NULL ? TD_OK : err.code;
        uint64_t tokens = 0;
        if (p != NULL)
            code = count(td_pool_worker_at(p, 0), &tokens, &err);
        bool reached = td_alloc_fail_at == 0;
        td_alloc_fail_at = 0;
        td_pool_free(p);
        td_error_clear(&err);
        if (!reached) {
            assert_int_equal(code, TD_OK);
            assert_int_equal(tokens, 1);
            return;
        }
        assert_int_equal(code, TD_E_INTERNAL);
    }
    fail_msg("too many allocations");
}

/* ---- counter ---- */

typedef struct order {
    uint64_t next, failed, counted;
} order;

static void take(order *o, td_result *r)
{
    assert_int_equal(r->index, o->next++);
    o->counted += r->counted;
    o->failed += r->error.code == TD_E_WORKER;
    td_result_free(r);
}

/* Processes that end after seven answers, on four threads: all results come, in order. */
static void test_a_counter_over_processes(void **state)
{
    (void)state;
    td_counter_options o = { .jobs = 4, .worker_command = SHELL(HELLO ANSWERS "sleep 0.05") };
    td_counter *c = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_counter_new(NULL, &o, &c, &err), TD_OK);
    order seen = { 0 };
    for (uint64_t i = 0; i < 60; i++) {
        td_request *r = NULL;
        assert_int_equal(td_request_new_text(TD_STR("x"), false, &r, &err), TD_OK);
        assert_int_equal(td_counter_submit(c, r, i, &err), TD_OK);
        if (i == 30) { /* interrupts what runs, which stays pending */
            td_counter_pause(c);
            td_counter_resume(c);
        }
    }
    td_result *r;
    while ((r = td_counter_next(c, -1)) != NULL)
        take(&seen, r);
    assert_int_equal(seen.next, 60);
    assert_int_equal(seen.counted + seen.failed, 60);
    assert_true(seen.counted > 0);
    td_counter_stats s = td_counter_get_stats(c);
    assert_true(s.jobs == 4 && s.workers_running <= 4 && s.workers_started >= 4);
    td_counter_free(c);
}

static void test_counters_that_cannot_be(void **state)
{
    (void)state;
    td_counter_options o = { .jobs = 2, .worker_command = "/nonexistent/program" };
    td_counter *c = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_counter_new(NULL, &o, &c, &err), TD_E_WORKER);
    assert_string_equal(err.message, "the worker ended with exit status 127");
    td_error_clear(&err);
    o.operation = TD_DO_ENCODE;
    o.offsets = true;
    assert_int_equal(td_counter_new(NULL, &o, &c, &err), TD_E_INPUT);
    td_error_clear(&err);
    assert_int_equal(td_counter_new(NULL, NULL, &c, &err), TD_E_INPUT);
    td_error_clear(&err);
    assert_null(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_item_is_a_frame),
        cmocka_unit_test(test_what_a_worker_is_told_first),
        cmocka_unit_test(test_good_answers),
        cmocka_unit_test(test_answers_to_other_questions),
        cmocka_unit_test(test_garbage_is_refused),
        cmocka_unit_test(test_answers_cut_short),
        cmocka_unit_test(test_a_pool_counts),
        cmocka_unit_test(test_a_process_that_ends_is_replaced),
        cmocka_unit_test(test_hanging_and_being_interrupted),
        cmocka_unit_test(test_allocations_that_fail),
        cmocka_unit_test(test_a_counter_over_processes),
        cmocka_unit_test(test_counters_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

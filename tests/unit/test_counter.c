/* The pool: order, isolation, back-pressure, pausing, draining; and the memo behind it. */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "count/counter.h"
#include "count/memo.h"

static td_model *model;

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

static td_counter *counter(td_counter_options options)
{
    td_counter *c = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_counter_new(model, &options, &c, &err), TD_OK);
    return c;
}

static td_request *request(const char *json)
{
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_request_new(td_str_from(json), NULL, NULL, &r, &err), TD_OK);
    return r;
}

static void submit(td_counter *c, const char *json, uint64_t index)
{
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_counter_submit(c, request(json), index, &err), TD_OK);
}

#define ENDLESS                                                                                    \
    "{\"messages\": [{\"role\": \"user\"}], \"chat_template\": \"{% for i in range(99999) %}"      \
    "{% for j in range(99999) %}{% endfor %}{% endfor %}\"}"

/* ids of n tokens, so that a result tells which item it belongs to */
static void ids_request(char *out, size_t size, unsigned n)
{
    size_t at = (size_t)snprintf(out, size, "{\"token_ids\": [");
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, size - at, i != 0 ? ",1" : "1");
    snprintf(out + at, size - at, "]}");
}

static void test_results_come_in_order_of_submission(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 4, .queue_items = 64 });
    char json[1024];
    uint64_t next = 0;
    for (unsigned i = 0; i < 2000; i++) {
        ids_request(json, sizeof json, i % 100);
        td_request *r = request(json);
        while (!td_counter_try_submit(c, r, i)) {
            td_result *result = td_counter_next(c, -1);
            assert_non_null(result);
            assert_int_equal(result->index, next);
            assert_int_equal(result->tokens, next++ % 100);
            td_result_free(result);
        }
    }
    td_result *result;
    while ((result = td_counter_next(c, -1)) != NULL) {
        assert_int_equal(result->index, next);
        assert_int_equal(result->tokens, next++ % 100);
        td_result_free(result);
    }
    assert_int_equal(next, 2000);
    td_counter_stats s = td_counter_get_stats(c);
    assert_int_equal(s.done, 2000);
    assert_int_equal(s.failed + s.queued + s.running, 0);
    td_counter_free(c);
}

static void test_a_failure_touches_no_neighbour(void **state)
{
    (void)state;
    static const char *const items[] = {
        "{\"text\": \"one\"}",
        "{\"text\": ",
        "{\"messages\": [{\"role\": \"user\"}], \"chat_template\": \"{{ nope.a }}\"}",
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}",
        "{\"text\": \"one\"}",
    };
    static const td_code codes[] = { TD_OK, TD_E_INPUT, TD_E_TEMPLATE, TD_OK, TD_OK };
    td_counter *c = counter((td_counter_options){ .jobs = 2 });
    for (unsigned i = 0; i < 5; i++)
        submit(c, items[i], i);
    uint64_t tokens[5];
    for (unsigned i = 0; i < 5; i++) {
        td_result *r = td_counter_next(c, -1);
        assert_int_equal(r->error.code, codes[i]);
        assert_int_equal(r->counted, codes[i] == TD_OK);
        tokens[i] = r->tokens;
        td_result_free(r);
    }
    assert_int_equal(tokens[0], tokens[4]);
    assert_int_equal(td_counter_get_stats(c).failed, 2);
    td_counter_free(c);
}

static void test_a_full_queue_refuses_and_then_blocks(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 1, .queue_items = 2, .paused = true });
    submit(c, "{\"token_ids\": []}", 0);
    submit(c, "{\"token_ids\": []}", 1);
    td_request *r = request("{\"token_ids\": []}");
    assert_false(td_counter_try_submit(c, r, 2));
    td_counter_resume(c);
    td_result_free(td_counter_next(c, -1));
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_counter_submit(c, r, 2, &err), TD_OK);
    td_counter_free(c);
    /* bytes bound it as well, but one item always fits */
    c = counter((td_counter_options){ .jobs = 1, .queue_bytes = 10, .paused = true });
    submit(c, "{\"token_ids\": [1, 2, 3, 4, 5]}", 0);
    r = request("{\"token_ids\": []}");
    assert_false(td_counter_try_submit(c, r, 1));
    td_request_free(r);
    td_counter_free(c);
}

static void test_nothing_outstanding_gives_nothing(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 1 });
    assert_null(td_counter_next(c, -1));
    submit(c, ENDLESS, 0);
    assert_null(td_counter_next(c, 1000000));
    td_counter_free(c); /* interrupts */
}

/* Each render waits until another one is active, too: passes only when two are at once. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    unsigned inside, most;
} meeting;

static void meet(void *user, uint64_t index, bool begins)
{
    (void)index;
    meeting *m = user;
    pthread_mutex_lock(&m->lock);
    if (begins) {
        m->inside++;
        if (m->inside > m->most)
            m->most = m->inside;
        pthread_cond_broadcast(&m->arrived);
        while (m->most < 2)
            pthread_cond_wait(&m->arrived, &m->lock);
    } else {
        m->inside--;
    }
    pthread_mutex_unlock(&m->lock);
}

static void test_more_than_one_render_is_active_at_once(void **state)
{
    (void)state;
    meeting m = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
    td_counter *c = counter((td_counter_options){ .jobs = 2 });
    td_counter_set_probe(c, meet, &m);
    for (unsigned i = 0; i < 8; i++)
        submit(c, "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}", i);
    td_result *r;
    unsigned done = 0;
    for (; (r = td_counter_next(c, -1)) != NULL; done++)
        td_result_free(r);
    assert_int_equal(done, 8);
    assert_int_equal(m.most, 2);
    td_counter_free(c);
}

static void test_pausing_leaves_items_pending_and_countable(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 2, .paused = true });
    char json[256];
    for (unsigned i = 0; i < 20; i++) {
        ids_request(json, sizeof json, i);
        submit(c, json, i);
    }
    assert_null(td_counter_next(c, -1));
    assert_null(td_counter_next_done(c));
    assert_int_equal(td_counter_get_stats(c).queued, 20);
    td_counter_resume(c);
    for (unsigned i = 0; i < 20; i++) {
        td_result *r = td_counter_next(c, -1);
        assert_int_equal(r->tokens, i);
        td_result_free(r);
    }
    td_counter_free(c);
}

static void test_an_interrupted_item_is_counted_later(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 1, .limits.steps_max = 300000 });
    submit(c, "{\"token_ids\": [1]}", 0);
    submit(c, ENDLESS, 1); /* fails by its steps when it may run long enough */
    submit(c, "{\"token_ids\": [1, 2]}", 2);
    td_result *r = td_counter_next(c, -1);
    assert_int_equal(r->index, 0);
    td_result_free(r);
    td_counter_pause(c);
    td_counter_resume(c);
    r = td_counter_next(c, -1);
    assert_int_equal(r->index, 1);
    assert_int_equal(r->error.code, TD_E_LIMIT);
    td_result_free(r);
    r = td_counter_next(c, -1);
    assert_int_equal(r->tokens, 2);
    td_result_free(r);
    td_counter_free(c);
}

static bool is_odd(void *user, uint64_t index)
{
    (void)user;
    return index % 2 != 0;
}

static const struct timespec MOMENT = { .tv_nsec = 100000 };

static void wait_until_running(td_counter *c, unsigned running)
{
    while (td_counter_get_stats(c).running != running)
        nanosleep(&MOMENT, NULL);
}

static void test_dropped_items_give_no_result(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 2, .queue_items = 8 });
    submit(c, ENDLESS, 1);
    submit(c, ENDLESS, 3);
    wait_until_running(c, 2);
    for (unsigned i = 4; i < 8; i++)
        submit(c, "{\"text\": \"some words\"}", i);
    assert_int_equal(td_counter_drop(c, is_odd, NULL), 4);
    assert_int_equal(td_counter_drop(c, is_odd, NULL), 0);
    submit(c, "{\"token_ids\": [1]}", 8);
    for (unsigned i = 4; i <= 8; i += 2) {
        td_result *r = td_counter_next(c, -1);
        assert_int_equal(r->index, i);
        assert_int_equal(r->error.code, TD_OK);
        td_result_free(r);
    }
    assert_null(td_counter_next(c, -1));
    wait_until_running(c, 0);
    td_counter_stats s = td_counter_get_stats(c);
    assert_int_equal(s.done, 3);
    assert_int_equal(s.queued, 0);

    /* finished ones, and one that is dropped while the counter pauses and goes on */
    submit(c, "{\"token_ids\": [1]}", 9);
    submit(c, ENDLESS, 11);
    while (td_counter_get_stats(c).done != 4)
        nanosleep(&MOMENT, NULL);
    td_counter_pause(c);
    assert_int_equal(td_counter_drop(c, is_odd, NULL), 2);
    td_counter_resume(c);
    for (unsigned i = 0; i < 20; i++) { /* all of the queue is free again */
        submit(c, i % 3 != 0 ? "{\"token_ids\": [1]}" : ENDLESS, i % 3 != 0 ? 0 : 1);
        td_counter_drop(c, is_odd, NULL);
        td_result *r = td_counter_next(c, -1);
        assert_int_equal(r != NULL, i % 3 != 0);
        td_result_free(r);
    }
    td_counter_free(c);
}

typedef struct drained_items {
    uint64_t indices[64];
    size_t count;
} drained_items;

static void note(void *user, td_result *r)
{
    drained_items *d = user;
    d->indices[d->count++] = r->index;
    td_result_free(r);
}

static void test_drain_takes_everything(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){ .jobs = 2, .paused = true });
    for (int turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < 30; i++)
            submit(c, "{\"text\": \"some words\"}", i);
        drained_items got = { .count = 0 };
        td_drained d = td_counter_drain(c, 0, note, &got);
        assert_int_equal(d.counted, 30);
        assert_int_equal(d.pending, 0);
        for (unsigned i = 0; i < 30; i++)
            assert_int_equal(got.indices[i], i);
    }
    td_counter_free(c);
}

static void test_drain_timeout_keeps_what_is_done(void **state)
{
    (void)state;
    td_counter *c =
        counter((td_counter_options){ .jobs = 2, .paused = true, .limits.steps_max = UINT64_MAX });
    submit(c, "{\"token_ids\": [1]}", 0);
    submit(c, ENDLESS, 1);
    for (unsigned i = 2; i < 20; i++)
        submit(c, "{\"token_ids\": [1]}", i);
    drained_items got = { .count = 0 };
    td_drained d = td_counter_drain(c, 200000000, note, &got);
    assert_int_equal(d.counted + d.pending, 20);
    assert_int_equal(d.counted, got.count);
    assert_int_equal(d.pending, 1);
    for (size_t i = 0; i < got.count; i++)
        assert_true(got.indices[i] != 1 && (i == 0 || got.indices[i] > got.indices[i - 1]));
    assert_int_equal(td_counter_get_stats(c).queued, 1);
    assert_int_equal(td_counter_drop_pending(c), 1);
    /* and it goes on after that */
    submit(c, "{\"token_ids\": [1, 2, 3]}", 20);
    got.count = 0;
    assert_int_equal(td_counter_drain(c, 0, note, &got).counted, 1);
    assert_int_equal(got.indices[0], 20);
    td_counter_free(c);
}

static void test_the_time_of_an_item_is_bounded(void **state)
{
    (void)state;
    td_counter *c = counter((td_counter_options){
        .jobs = 1, .limits = { .steps_max = UINT64_MAX, .timeout_ns = 50000000 } });
    submit(c, ENDLESS, 0);
    submit(c, "{\"token_ids\": [1]}", 1);
    td_result *r = td_counter_next(c, -1);
    assert_int_equal(r->error.code, TD_E_TIMEOUT);
    td_result_free(r);
    r = td_counter_next(c, -1);
    assert_int_equal(r->error.code, TD_OK);
    td_result_free(r);
    td_counter_free(c);
}

/* ---- memo ---- */

static void test_memo_remembers(void **state)
{
    (void)state;
    td_memo *m = td_memo_new(1 << 20);
    char text[16];
    for (unsigned i = 0; i < 5000; i++) {
        int len = snprintf(text, sizeof text, "t%u", i);
        td_memo_put(m, td_memo_hash(m, (td_str){ text, (size_t)len }, 0), i);
    }
    unsigned found = 0;
    for (unsigned i = 0; i < 5000; i++) {
        int len = snprintf(text, sizeof text, "t%u", i);
        td_str s = { text, (size_t)len };
        uint32_t count = UINT32_MAX;
        if (td_memo_find(m, td_memo_hash(m, s, 0), &count)) {
            assert_int_equal(count, i);
            found++;
        }
        assert_false(td_memo_find(m, td_memo_hash(m, s, 1), &count)); /* the salt is in the key */
    }
    assert_true(found > 4900); /* growing may lose a few, never confuse them */
    td_memo_stats s = td_memo_get_stats(m);
    assert_int_equal(s.hits, found);
    assert_int_equal(s.entries, found);
    td_memo_free(m);
}

static void test_memo_is_bounded_and_spares_what_is_used(void **state)
{
    (void)state;
    enum { BYTES = 1 << 18 };
    td_memo *m = td_memo_new(BYTES);
    td_memo_key hot = td_memo_hash(m, TD_STR("hot"), 0);
    td_memo_put(m, hot, 7);
    char text[16];
    uint32_t count = 0;
    for (unsigned i = 0; i < 200000; i++) {
        int len = snprintf(text, sizeof text, "t%u", i);
        td_memo_put(m, td_memo_hash(m, (td_str){ text, (size_t)len }, 0), i);
        assert_true(td_memo_find(m, hot, &count));
    }
    assert_int_equal(count, 7);
    td_memo_stats s = td_memo_get_stats(m);
    assert_true(s.bytes <= BYTES && s.evictions > 100000);
    td_memo_free(m);
}

static void test_memos_have_seeds_of_their_own(void **state)
{
    (void)state;
    td_memo *a = td_memo_new(1 << 16), *b = td_memo_new(1 << 16);
    td_memo_key x = td_memo_hash(a, TD_STR("same"), 0), y = td_memo_hash(b, TD_STR("same"), 0);
    assert_true(x.low != y.low && x.high != y.high);
    td_memo_free(a);
    td_memo_free(b);
}

static void test_reuse_changes_no_count(void **state)
{
    (void)state;
    td_counter *with = counter((td_counter_options){ .jobs = 2, .verify = true });
    td_counter *without = counter((td_counter_options){ .jobs = 2, .no_reuse = true });
    char json[512];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(json, sizeof json,
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"turn %u of %u\\nline\"}, "
                 "{\"role\": \"assistant\", \"content\": \"answer %u<|im_end|>x\"}]}",
                 i % 7, i % 11, i % 5);
        submit(with, json, i);
        submit(without, json, i);
    }
    uint64_t reused = 0;
    for (unsigned i = 0; i < 300; i++) {
        td_result *x = td_counter_next(with, -1), *y = td_counter_next(without, -1);
        assert_int_equal(x->error.code, TD_OK);
        assert_int_equal(x->tokens, y->tokens);
        assert_int_equal(y->reused, 0);
        reused += x->reused;
        td_result_free(x);
        td_result_free(y);
    }
    assert_true(reused > 1000);
    assert_true(td_counter_get_stats(with).memo_hits > 0);
    td_counter_free(with);
    td_counter_free(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_come_in_order_of_submission),
        cmocka_unit_test(test_a_failure_touches_no_neighbour),
        cmocka_unit_test(test_a_full_queue_refuses_and_then_blocks),
        cmocka_unit_test(test_nothing_outstanding_gives_nothing),
        cmocka_unit_test(test_more_than_one_render_is_active_at_once),
        cmocka_unit_test(test_pausing_leaves_items_pending_and_countable),
        cmocka_unit_test(test_an_interrupted_item_is_counted_later),
        cmocka_unit_test(test_dropped_items_give_no_result),
        cmocka_unit_test(test_drain_takes_everything),
        cmocka_unit_test(test_drain_timeout_keeps_what_is_done),
        cmocka_unit_test(test_the_time_of_an_item_is_bounded),
        cmocka_unit_test(test_memo_remembers),
        cmocka_unit_test(test_memo_is_bounded_and_spares_what_is_used),
        cmocka_unit_test(test_memos_have_seeds_of_their_own),
        cmocka_unit_test(test_reuse_changes_no_count),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

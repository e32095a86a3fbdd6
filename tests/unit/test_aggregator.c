#include "test.h"

#include <math.h>
#include <stdio.h>

#include "aggregator/event.h"
#include "aggregator/frame.h"
#include "aggregator/options.h"
#include "aggregator/parse_number.h"
#include "aggregator/table.h"
#include "aggregator/tool_calls.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "metrics/registry.h"
#include "value/json.h"
#include "value/msgpack.h"

/* msgpack of a JSON text; td_buf_done it. */
static td_buf packed(td_str json)
{
    td_arena a = { 0 };
    td_value v;
    td_error err = TD_ERROR_INIT;
    td_buf out = { 0 };
    if (td_json_read(&a, json, &v, &err) != TD_OK || td_msgpack_write(&out, v, &err) != TD_OK)
        fail_msg("%s", err.message);
    td_arena_done(&a);
    return out;
}

/* ---- events ---- */

static td_code read_json(td_str json, td_event *e)
{
    static td_buf record;
    td_buf_done(&record);
    record = packed(json);
    td_error err = TD_ERROR_INIT;
    td_code code = td_event_read(td_buf_view(&record), 77, e, &err);
    td_error_clear(&err);
    return code;
}

static void event_reads_every_topic(void **state)
{
    (void)state;
    static const struct {
        const char *topic;
        td_event_kind kind;
    } rows[] = {
        { "session.started", TD_EV_STARTED },
        { "session.ended", TD_EV_ENDED },
        { "session.stop_loadgen", TD_EV_STOP_LOADGEN },
        { "session.start_performance_tracking", TD_EV_START_TRACKING },
        { "session.stop_performance_tracking", TD_EV_STOP_TRACKING },
        { "error.generic", TD_EV_ERROR },
        { "error.loadgen", TD_EV_ERROR },
        { "error.session", TD_EV_ERROR },
        { "error.client", TD_EV_ERROR },
        { "sample.issued", TD_EV_ISSUED },
        { "sample.complete", TD_EV_COMPLETE },
        { "sample.recv_first", TD_EV_RECV_FIRST },
        { "sample.recv_non_first", TD_EV_RECV_NON_FIRST },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[100];
        snprintf(json, sizeof json, "{\"event_type\": \"%s\"}", rows[i].topic);
        td_event e;
        assert_int_equal(read_json(td_str_from(json), &e), TD_OK);
        assert_int_equal(e.kind, rows[i].kind);
        assert_true(e.timestamp_ns == 77);
        assert_str(e.sample, "");
        assert_null(e.finish_reason.ptr);
        assert_int_equal(e.data, TD_DATA_NONE);
    }
}

#define HEAD "{\"event_type\": \"sample.complete\", "

static void event_reads_an_answer(void **state)
{
    (void)state;
    td_event e;
    td_str json = TD_STR(HEAD "\"data\": [\"TextModelOutput\", [\"a\", \"\xC3\xA4\"], null, "
                              "[[{\"x\": 1}], {}], \"surplus\"], \"timestamp_ns\": "
                              "18446744073709551615, \"sample_uuid\": \"u\", \"turn\": null, "
                              "\"worker_id\": 3, \"finish_reason\": \"\", \"other\": {\"1\": []}}");
    assert_int_equal(read_json(json, &e), TD_OK);
    assert_int_equal(e.output.text.kind, TD_PIECES_MANY);
    assert_int_equal(e.output.text.count, 2);
    assert_int_equal(e.output.reasoning.kind, TD_PIECES_NIL);
    assert_int_equal(e.output.call_count, 2);
    assert_true(e.timestamp_ns == (td_wide)UINT64_MAX);
    assert_str(e.sample, "u");
    assert_non_null(e.finish_reason.ptr);
}

static void event_takes_defaults_for_missing_parts(void **state)
{
    (void)state;
    td_event e;
    assert_int_equal(read_json(TD_STR(HEAD "\"data\": [\"TextModelOutput\"]}"), &e), TD_OK);
    assert_int_equal(e.output.text.kind, TD_PIECES_ONE);
    assert_true(td_pieces_empty(&e.output.text) && td_pieces_empty(&e.output.reasoning));
    assert_null(e.output.calls.ptr);
    assert_int_equal(read_json(TD_STR(HEAD "\"data\": [\"PromptData\"]}"), &e), TD_OK);
    assert_null(e.prompt.text.ptr);
    assert_false(e.prompt.has_ids);
    assert_null(e.prompt.messages.ptr);
    assert_int_equal(read_json(TD_STR(HEAD "\"data\": [\"PromptData\", null, [], [], [], {}, \"\", "
                                           "{\"type\": \"x\"}]}"), &e), TD_OK);
    assert_true(e.prompt.has_ids);
    assert_int_equal(e.prompt.id_count, 0);
    assert_int_equal(e.prompt.messages.len, 1);
    assert_non_null(e.prompt.chat_template.ptr);
    assert_non_null(e.prompt.tool_choice.ptr);
}

static void event_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "[]", "1", "null", "{}", "{\"event_type\": 1}", "{\"event_type\": \"sample.other\"}",
        "{\"event_type\": null}",
        HEAD "\"timestamp_ns\": 1.0}", HEAD "\"timestamp_ns\": true}",
        HEAD "\"timestamp_ns\": null}", HEAD "\"timestamp_ns\": \"1\"}",
        HEAD "\"sample_uuid\": null}", HEAD "\"sample_uuid\": 5}", HEAD "\"conversation_id\": 5}",
        HEAD "\"turn\": 1.5}", HEAD "\"turn\": \"1\"}", HEAD "\"finish_reason\": null}",
        HEAD "\"finish_reason\": 1}", HEAD "\"worker_id\": null}", HEAD "\"worker_id\": false}",
        HEAD "\"data\": {}}", HEAD "\"data\": []}", HEAD "\"data\": [1]}",
        HEAD "\"data\": [\"Other\"]}", HEAD "\"data\": \"x\"}",
        HEAD "\"data\": [\"TextModelOutput\", null]}",
        HEAD "\"data\": [\"TextModelOutput\", [1]]}",
        HEAD "\"data\": [\"TextModelOutput\", \"\", 1]}",
        HEAD "\"data\": [\"TextModelOutput\", \"\", null, {}]}",
        HEAD "\"data\": [\"PromptData\", 1]}", HEAD "\"data\": [\"PromptData\", [\"a\"]]}",
        HEAD "\"data\": [\"PromptData\", null, [1.0]]}",
        HEAD "\"data\": [\"PromptData\", null, [true]]}",
        HEAD "\"data\": [\"PromptData\", null, null, [1]]}",
        HEAD "\"data\": [\"PromptData\", null, null, {}]}",
        HEAD "\"data\": [\"PromptData\", null, null, null, [[]]]}",
        HEAD "\"data\": [\"PromptData\", null, null, null, null, []]}",
        HEAD "\"data\": [\"PromptData\", null, null, null, null, null, 1]}",
        HEAD "\"data\": [\"PromptData\", null, null, null, null, null, null, []]}",
        HEAD "\"data\": [\"ErrorData\"]}", HEAD "\"data\": [\"ErrorData\", 1]}",
        HEAD "\"data\": [\"ErrorData\", \"x\", null]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        td_event e;
        if (read_json(td_str_from(bad[i]), &e) != TD_E_INPUT)
            fail_msg("accepted %s", bad[i]);
    }
}

static td_code read_raw(td_str record)
{
    td_event e;
    td_error err = TD_ERROR_INIT;
    td_code code = td_event_read(record, 1, &e, &err);
    td_error_clear(&err);
    return code;
}

#define RAW_HEAD "\xAA" "event_type" "\xAD" "session.ended"

static void event_checks_bytes(void **state)
{
    (void)state;
    assert_int_equal(read_raw(TD_STR("\x81" RAW_HEAD)), TD_OK);
    assert_int_equal(read_raw(TD_STR("\x81" RAW_HEAD "\xC0")), TD_E_INPUT); /* trailing */
    assert_int_equal(read_raw(TD_STR("\x82" RAW_HEAD)), TD_E_INPUT);        /* cut short */
    assert_int_equal(read_raw(TD_STR("")), TD_E_INPUT);
    assert_int_equal(read_raw(TD_STR("\xC1")), TD_E_INPUT);
    /* a key that is not a string; bytes in an unknown key and its value that are not UTF-8 */
    assert_int_equal(read_raw(TD_STR("\x82" RAW_HEAD "\x01\x01")), TD_E_INPUT);
    assert_int_equal(read_raw(TD_STR("\x82" RAW_HEAD "\xA1\xFF\xA1\xFF")), TD_OK);
    /* but not in a known one */
    assert_int_equal(read_raw(TD_STR("\x82" RAW_HEAD "\xABsample_uuid\xA1\xFF")), TD_E_INPUT);
    assert_int_equal(read_raw(TD_STR("\x82" RAW_HEAD "\xABsample_uuid\xC4\x01x")), TD_E_INPUT);
    /* the last of two equal keys wins */
    assert_int_equal(read_raw(TD_STR("\x83" RAW_HEAD RAW_HEAD RAW_HEAD)), TD_OK);
}

static void event_refuses_deep_nesting(void **state)
{
    (void)state;
    for (int depth = 900; depth <= 1200; depth += 300) {
        td_buf b = { 0 };
        assert_int_equal(td_buf_put(&b, TD_STR("\x82" RAW_HEAD "\xA4" "data\x94\xAF"
                                               "TextModelOutput\xA0\xC0\x91")), TD_OK);
        for (int i = 0; i < depth; i++)
            assert_int_equal(td_buf_byte(&b, (char)0x91), TD_OK);
        assert_int_equal(td_buf_byte(&b, (char)0xC0), TD_OK);
        td_code code = read_raw(td_buf_view(&b));
        assert_int_equal(code, depth < 1000 ? TD_OK : TD_E_LIMIT);
        td_buf_done(&b);
    }
}

static void event_survives_every_cut_and_flip(void **state)
{
    (void)state;
    td_buf good = packed(TD_STR(HEAD "\"data\": [\"PromptData\", null, [1, 300], [{\"role\": "
                                     "\"user\", \"content\": [{\"a\": 1.5}]}], [], {\"k\": true}, "
                                     "\"t\", \"auto\"], \"sample_uuid\": \"abc\"}"));
    char *copy = td_malloc(good.len);
    assert_non_null(copy);
    for (size_t len = 0; len < good.len; len++) {
        char *exact = td_malloc(len); /* so that a checker sees any byte read behind it */
        assert_non_null(exact);
        memcpy(exact, good.ptr, len);
        assert_int_not_equal(read_raw((td_str){ exact, len }), TD_OK);
        td_free(exact);
    }
    for (size_t i = 0; i < good.len * 256; i++) {
        memcpy(copy, good.ptr, good.len);
        copy[i / 256] = (char)i;
        (void)read_raw((td_str){ copy, good.len });
    }
    td_free(copy);
    td_buf_done(&good);
}

/* ---- frames ---- */

#define TOPIC_REST                                                                                 \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" /* 35 */

static size_t count_records(td_str frame, td_str *last)
{
    td_records r;
    td_error err = TD_ERROR_INIT;
    if (td_frame_read(frame, &r, &err) != TD_OK) {
        td_error_clear(&err);
        return 999;
    }
    size_t n = 0;
    while (td_frame_next(&r, last))
        n++;
    return n;
}

static void frames_hold_one_record_or_a_batch(void **state)
{
    (void)state;
    td_str last = { 0 };
    assert_int_equal(count_records(TD_STR(""), &last), 0);
    assert_int_equal(count_records(TD_STR("short"), &last), 0);
    assert_int_equal(count_records(TD_STR("other" TOPIC_REST), &last), 0);
    assert_int_equal(count_records(TD_STR("other" TOPIC_REST "x"), &last), 1);
    assert_str(last, "x");
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x90"), &last), 0);
    assert_int_equal(
        count_records(TD_STR("batch" TOPIC_REST "\x93\xC4\x01" "a\xC4\x00\xC4\x01" "b"), &last), 2);
    assert_str(last, "b");
}

static void a_bad_batch_is_refused_as_a_whole(void **state)
{
    (void)state;
    td_str last = { 0 };
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST), &last), 999);
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x92\xC4\x01" "a\xA1x"), &last), 999);
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x92\xC4\x01" "a\xC0"), &last), 999);
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x92\xC4\x01" "a"), &last), 999);
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x91\xC4\x01" "a\x00"), &last), 999);
    assert_int_equal(count_records(TD_STR("batch" TOPIC_REST "\x80"), &last), 999);
}

/* ---- the table ---- */

static void table_agrees_with_a_plain_list(void **state)
{
    (void)state;
    enum { NAMES = 500, STEPS = 20000 };
    td_table t = { .seed = 5 };
    bool present[NAMES] = { false };
    uint32_t random = 12345;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        uint32_t n = random >> 8 & 0xFFFFFF;
        n %= NAMES;
        char name[16];
        int len = snprintf(name, sizeof name, "sample-%u", (unsigned)n);
        td_str view = { name, (size_t)len };
        td_row *row = td_table_find(&t, view);
        assert_int_equal(row != NULL, present[n]);
        if (row == NULL) {
            row = td_table_add(&t, view);
            assert_non_null(row);
            row->window = n;
        } else {
            assert_int_equal(row->window, n);
            td_table_remove(&t, row);
        }
        present[n] = !present[n];
    }
    td_table_done(&t);
}

/* ---- tool calls ---- */

static void check_merge(td_str calls, const char *expected)
{
    td_arena a = { 0 };
    td_error err = TD_ERROR_INIT;
    td_value v;
    td_buf out = { 0 };
    td_json_style style = { 0 };
    assert_int_equal(td_json_read(&a, calls, &v, &err), TD_OK);
    td_code code = td_calls_merge(&a, v, &v, &err);
    if (expected == NULL) {
        assert_int_equal(code, TD_E_INPUT);
    } else {
        assert_int_equal(code, TD_OK);
        assert_int_equal(td_json_write(&out, v, &style, &err), TD_OK);
        assert_int_equal(td_buf_byte(&out, '\0'), TD_OK);
        assert_string_equal(out.ptr, expected);
    }
    td_buf_done(&out);
    td_error_clear(&err);
    td_arena_done(&a);
}

static void tool_calls_merge_by_index(void **state)
{
    (void)state;
    check_merge(TD_STR("[{\"a\": 1}, 5]"), "[{\"a\": 1}, 5]"); /* whole already */
    check_merge(TD_STR("[[]]"), "[]");
    check_merge(TD_STR("[[{\"index\": 1, \"id\": \"b\", \"function\": {\"name\": \"g\"}}, "
                       "{\"id\": \"a\", \"type\": \"other\", \"function\": {\"name\": \"f\", "
                       "\"arguments\": \"{\\\"x\\\"\"}}], [{\"index\": 0, \"id\": \"\", "
                       "\"function\": {\"arguments\": \": 1}\", \"name\": null}}, "
                       "{\"index\": 1, \"function\": null}]]"),
                "[{\"type\": \"other\", \"function\": {\"arguments\": \"{\\\"x\\\": 1}\", "
                "\"name\": \"f\"}, \"id\": \"a\"}, {\"type\": \"function\", \"function\": "
                "{\"arguments\": \"\", \"name\": \"g\"}, \"id\": \"b\"}]");
    check_merge(TD_STR("[[1]]"), NULL);
    check_merge(TD_STR("[[], 1]"), NULL);
    check_merge(TD_STR("[[{\"index\": \"0\"}]]"), NULL);
    check_merge(TD_STR("[[{\"function\": {\"arguments\": {\"x\": 1}}}]]"), NULL);
}

/* ---- options ---- */

static void numbers_read_as_in_python(void **state)
{
    (void)state;
    int64_t i;
    double d;
    size_t size;
    assert_true(td_parse_int(" +1_000 ", &i) && i == 1000);
    assert_true(td_parse_int("-9223372036854775808", &i) && i == INT64_MIN);
    assert_true(td_parse_int("99999999999999999999", &i) && i == INT64_MAX);
    static const char *const bad_ints[] = { "", " ", "+", "1.0", "0x1", "_1", "1_", "1__0", "1 2" };
    for (size_t k = 0; k < sizeof bad_ints / sizeof *bad_ints; k++)
        assert_false(td_parse_int(bad_ints[k], &i));
    assert_true(td_parse_float(" 1_0.5e-1 ", &d) && d == 1.05);
    assert_true(td_parse_float("-Infinity", &d) && isinf(d) && d < 0);
    assert_true(td_parse_float("NaN", &d) && isnan(d));
    assert_true(td_parse_float("-0.25", &d) && d == -0.25);
    assert_false(td_parse_float("1e", &d));
    assert_false(td_parse_float("", &d));
    assert_true(td_parse_size("256MiB", &size) && size == (size_t)256 << 20);
    assert_true(td_parse_size("5", &size) && size == 5);
    assert_false(td_parse_size("MiB", &size));
    assert_false(td_parse_size("1XB", &size));
}

#define REQUIRED                                                                                   \
    "", "--socket-dir", "d", "--socket-name", "n", "--metrics-socket", "m", "--metrics-output", "o"

static td_parsed parse(const char **argv, td_service_options *o)
{
    int argc = 0;
    while (argv[argc] != NULL)
        argc++;
    return td_service_parse(argc, (char **)argv, o);
}

static void flags_have_defaults_and_beginnings(void **state)
{
    (void)state;
    td_service_options o;
    const char *plain[] = { REQUIRED, NULL };
    assert_int_equal(parse(plain, &o), TD_PARSED_OK);
    assert_true(o.publish_interval == 0.25 && o.drain_timeout == 0);
    assert_true(o.hdr_digits == 3 && o.buckets == 30 && o.workers == 4 && o.readiness_id == 0);
    assert_true(o.tokenizer == NULL && o.readiness_path == NULL && !o.streaming);
    assert_string_equal(o.output_dir, "o");

    const char *full[] = { REQUIRED, "--drain=5", "--drain-timeout", "-1", "--str", "--tokenizer=",
                     "--tokenizer-w", "0", "--e", "--n-hist=7", "--readiness-i", "-3",
                     "--series", "osl,isl", "--memory=1G", NULL };
    assert_int_equal(parse(full, &o), TD_PARSED_OK);
    assert_true(o.drain_timeout == -1 && o.streaming && o.early_stopping && o.workers == 0);
    assert_true(o.buckets == 7 && o.readiness_id == -3 && o.tokenizer == NULL);
    assert_true(o.series == (1u << TD_SERIES_ISL | 1u << TD_SERIES_OSL));
    assert_true(o.memo_bytes == (size_t)1 << 30);
}

static void wrong_flags_are_refused(void **state)
{
    (void)state;
    const char *rows[][12] = {
        { "", NULL },
        { REQUIRED, "--socket", NULL },       /* ambiguous */
        { REQUIRED, "--tok", "x", NULL },     /* tokenizer or tokenizer-workers */
        { REQUIRED, "--streaming=1", NULL },
        { REQUIRED, "--hdr-sig-figs", NULL },
        { REQUIRED, "--hdr-sig-figs", "x", NULL },
        { REQUIRED, "--drain-timeout", "--streaming", NULL },
        { REQUIRED, "file", NULL },
        { REQUIRED, "--serie", "isl", NULL }, /* extensions have no beginnings */
        { REQUIRED, "--series", "ttft", NULL },
        { REQUIRED, "--publish-interval", "0", NULL },
        { REQUIRED, "--n-histogram-buckets", "0", NULL },
        { REQUIRED, "--memory", "much", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_service_options o;
        if (parse(rows[i], &o) != TD_PARSED_WRONG)
            fail_msg("row %zu was accepted", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_reads_every_topic),
        cmocka_unit_test(event_reads_an_answer),
        cmocka_unit_test(event_takes_defaults_for_missing_parts),
        cmocka_unit_test(event_is_strict),
        cmocka_unit_test(event_checks_bytes),
        cmocka_unit_test(event_refuses_deep_nesting),
        cmocka_unit_test(event_survives_every_cut_and_flip),
        cmocka_unit_test(frames_hold_one_record_or_a_batch),
        cmocka_unit_test(a_bad_batch_is_refused_as_a_whole),
        cmocka_unit_test(table_agrees_with_a_plain_list),
        cmocka_unit_test(tool_calls_merge_by_index),
        cmocka_unit_test(numbers_read_as_in_python),
        cmocka_unit_test(flags_have_defaults_and_beginnings),
        cmocka_unit_test(wrong_flags_are_refused),
    };
    return cmocka_run_group_tests_name("aggregator", tests, NULL, NULL);
}

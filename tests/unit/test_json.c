#include "test.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/json.h"

static td_arena arena;

static td_value read_ok(td_str text)
{
    td_value v = td_none();
    td_error err = TD_ERROR_INIT;
    if (td_json_read(&arena, text, &v, &err) != TD_OK)
        fail_msg("%.*s: %s", (int)text.len, text.ptr, err.message);
    return v;
}

static void assert_error(td_str text, td_code code, uint64_t offset, unsigned line, unsigned column)
{
    td_value v;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_json_read(&arena, text, &v, &err), code);
    assert_int_equal(err.code, code);
    assert_int_equal(err.offset, offset);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    td_error_clear(&err);
}

static void plain_strings_are_views(void **state)
{
    (void)state;
    td_str text = TD_STR(" [\"plain\", \"gr\xC3\xBC\xC3\x9F\", \"\"] ");
    td_value v = read_ok(text);
    assert_int_equal(v.len, 3);
    assert_ptr_equal(v.as.items[0].as.str, text.ptr + 3);
    assert_int_equal(v.as.items[0].flags, TD_VF_ASCII | TD_VF_JSON_RAW);
    assert_int_equal(v.as.items[1].flags, TD_VF_NONASCII | TD_VF_JSON_RAW);
    assert_str(td_as_str(v.as.items[1]), "gr\xC3\xBC\xC3\x9F");
    assert_int_equal(v.as.items[2].len, 0);
}

static void assert_span(const char *quoted, const char *decoded, unsigned flags)
{
    td_str text = td_str_from(quoted);
    td_value v = read_ok(text);
    if (!td_str_eq(td_as_str(v), td_str_from(decoded)))
        fail_msg("%s became %.*s", quoted, (int)v.len, v.as.str);
    if (v.flags != flags)
        fail_msg("%s has flags %x, not %x", quoted, v.flags, flags);
    if ((flags & TD_VF_JSON_SPAN) != 0) {
        td_json_span span;
        memcpy(&span, v.as.str - sizeof span, sizeof span);
        assert_ptr_equal(span.source, text.ptr + 1);
        assert_int_equal(span.source_len, text.len - 2);
    }
}

static void flags_say_what_json_dumps_would_do(void **state)
{
    (void)state;
    enum { A = TD_VF_ASCII, N = TD_VF_NONASCII, SPAN = TD_VF_JSON_SPAN, RAW = TD_VF_JSON_RAW };
    assert_span("\"a\\nb\"", "a\nb", A | SPAN);
    assert_span("\"\\\"\\\\\\b\\f\\n\\r\\t\"", "\"\\\b\f\n\r\t", A | SPAN);
    assert_span("\"\\u001f\\u000b\"", "\x1f\x0b", A | SPAN);
    assert_span("\"\\u001F\"", "\x1f", A);       /* upper case */
    assert_span("\"\\u000a\"", "\n", A);         /* has a letter of its own */
    assert_span("\"\\u007f\"", "\x7f", A | RAW); /* is not escaped at all */
    assert_span("\"\\/\"", "/", A | RAW);
    assert_span("\"\\u0022\"", "\"", A);
    assert_span("\"\\u00e9\"", "\xC3\xA9", N | RAW);
    assert_span("\"\xC3\xA9\\n\"", "\xC3\xA9\n", N | SPAN);
    assert_span("\"\\n\xC3\xA9\"", "\n\xC3\xA9", N | SPAN);
    assert_span("\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80", N | RAW);
    assert_span("\"\\ud83d\"", "\xED\xA0\xBD", N | RAW);
    assert_span("\"\\ude00\\ud83d\"", "\xED\xB8\x80\xED\xA0\xBD", N | RAW);
}

static void duplicates_keep_place_and_last_value(void **state)
{
    (void)state;
    td_value v = read_ok(TD_STR("{\"a\": 1, \"b\": 2, \"\\u0061\": 3}"));
    const td_dict *d = v.as.dict;
    assert_int_equal(d->count, 2);
    assert_str(td_as_str(d->entries[0].key), "a");
    assert_int_equal(d->entries[0].val.as.integer, 3);
    td_str large =
        TD_STR("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,"
               "\"j\":1,\"c\":7}");
    v = read_ok(large);
    assert_int_equal(v.as.dict->count, 10);
    assert_int_equal(td_dict_find(v.as.dict, TD_STR("c"))->as.integer, 7);
    assert_int_equal(v.as.dict->entries[2].val.as.integer, 7);
    assert_int_equal(v.as.dict->entries[2].key.hash, td_key_hash(TD_STR("c")));
}

static void numbers_have_their_kind(void **state)
{
    (void)state;
    td_value v = read_ok(TD_STR("[-0, -0.0, 9223372036854775807, -9223372036854775808,"
                                " 9223372036854775808, 1e999, NaN, 1E2]"));
    const td_value *i = v.as.items;
    assert_true(i[0].tag == TD_V_INT && i[0].as.integer == 0);
    assert_true(i[1].tag == TD_V_FLOAT && signbit(i[1].as.real));
    assert_true(i[2].tag == TD_V_INT && i[2].as.integer == INT64_MAX);
    assert_true(i[3].tag == TD_V_INT && i[3].as.integer == INT64_MIN);
    assert_int_equal(i[4].tag, TD_V_BIGINT);
    assert_true(i[5].tag == TD_V_FLOAT && isinf(i[5].as.real));
    assert_true(i[6].tag == TD_V_FLOAT && isnan(i[6].as.real));
    assert_true(i[7].tag == TD_V_FLOAT && i[7].as.real == 100);
}

static void errors_tell_where(void **state)
{
    (void)state;
    assert_error(TD_STR(""), TD_E_INPUT, 0, 1, 1);
    assert_error((td_str){ NULL, 0 }, TD_E_INPUT, 0, 1, 1);
    assert_error(TD_STR("{\"a\":\n  \"\xC3\xBC\", x}"), TD_E_INPUT, 14, 2, 8);
    assert_error(TD_STR("[1, 2"), TD_E_INPUT, 5, 1, 6);
    assert_error(TD_STR("[1] 2"), TD_E_INPUT, 4, 1, 5);
    assert_error(TD_STR("\xEF\xBB\xBF[]"), TD_E_INPUT, 0, 1, 1);
    assert_error(TD_STR("[\"a\x80\"]"), TD_E_INPUT, 3, 1, 4);
    assert_error(TD_STR("oops \xFF"), TD_E_INPUT, 5, 1, 6); /* bad bytes come first */
    char deep[3000];
    memset(deep, '[', sizeof deep);
    assert_error((td_str){ deep, sizeof deep }, TD_E_LIMIT, TD_JSON_DEPTH_MAX, 1, 1001);
}

/* Whatever allocation fails, reading fails cleanly; sanitizers watch for leaks. */
static void failed_allocations_are_errors(void **state)
{
    (void)state;
    td_buf text = { 0 };
    assert_int_equal(td_buf_byte(&text, '['), TD_OK);
    for (int i = 0; i < 3000; i++)
        if (td_buf_printf(&text, "{\"k\\n%d\": [1, \"\\u00e9\", 123456789012345678901]},", i) !=
            TD_OK)
            fail_msg("out of memory");
    assert_int_equal(td_buf_put(&text, TD_STR("null]")), TD_OK);
    int failures = 0;
    for (size_t n = 1; n < 100; n++) {
        td_arena a = { 0 };
        td_error err = TD_ERROR_INIT;
        td_value v;
        td_alloc_fail_at = n;
        td_code code = td_json_read(&a, td_buf_view(&text), &v, &err);
        bool unused = td_alloc_fail_at != 0;
        td_alloc_fail_at = 0;
        if (code != TD_OK) {
            assert_int_equal(code, TD_E_INTERNAL);
            failures++;
        } else {
            assert_true(unused);
        }
        td_error_clear(&err);
        td_arena_done(&a);
    }
    assert_true(failures > 5);
#ifndef TD_SELFCHECK /* where there are as many as things allocated */
    assert_true(failures < 90);
#endif
    td_arena small = { .limit = 200000 };
    td_error err = TD_ERROR_INIT;
    td_value v;
    assert_int_equal(td_json_read(&small, td_buf_view(&text), &v, &err), TD_E_LIMIT);
    td_error_clear(&err);
    td_arena_done(&small);
    td_buf_done(&text);
}

/* Decoded strings take what they need from the arena, not what the rest of the text could need. */
static void memory_is_linear_in_the_text(void **state)
{
    (void)state;
    td_buf text = { 0 };
    assert_int_equal(td_buf_byte(&text, '['), TD_OK);
    for (int i = 0; i < 600000; i++)
        assert_int_equal(td_buf_put(&text, TD_STR("\"some\\ntext\",{\"k\": \"\\n\"},[1,2],")),
                         TD_OK);
    for (int n = 0; n < 2; n++) { /* strings that outgrow the blocks */
        assert_int_equal(td_buf_byte(&text, '"'), TD_OK);
        for (int i = 0; i < 400000; i++)
            assert_int_equal(td_buf_put(&text, TD_STR("\\n a \\u00e9")), TD_OK);
        assert_int_equal(td_buf_put(&text, TD_STR("\",")), TD_OK);
    }
    assert_int_equal(td_buf_put(&text, TD_STR("0]")), TD_OK);
#ifdef TD_SELFCHECK /* each string has a block of its own */
    td_arena a = { 0 };
#else
    td_arena a = { .limit = 12 * text.len };
#endif
    td_error err = TD_ERROR_INIT;
    td_value v = td_none();
    if (td_json_read(&a, td_buf_view(&text), &v, &err) != TD_OK)
        fail_msg("%s", err.message);
    assert_str(td_as_str(v.as.items[0]), "some\ntext");
    assert_int_equal(v.len, 600000 * 3 + 3);
    td_value last = v.as.items[v.len - 2];
    assert_int_equal(last.len, 400000 * 6);
    for (size_t i = 0; i < last.len; i += 6)
        assert_memory_equal(last.as.str + i, "\n a \xC3\xA9", 6);
    td_arena_done(&a);
    td_buf_done(&text);
}

static void assert_written(td_value v, const td_json_style *style, const char *expected)
{
    td_buf b = { 0 };
    td_error err = TD_ERROR_INIT;
    if (td_json_write(&b, v, style, &err) != TD_OK)
        fail_msg("%s", err.message);
    if (!td_str_eq(td_buf_view(&b), td_str_from(expected)))
        fail_msg("expected %s, got %.*s", expected, (int)b.len, b.ptr);
    td_buf_done(&b);
}

static void styles_are_json_dumps_arguments(void **state)
{
    (void)state;
    td_value v = read_ok(TD_STR("{\"b\": [1, {}, [], \"\xC3\xA9\x7F\"], \"a\": {\"x\": -1.5}}"));
    td_json_style style = { 0 };
    assert_written(v, &style, "{\"b\": [1, {}, [], \"\xC3\xA9\x7F\"], \"a\": {\"x\": -1.5}}");
    style.ensure_ascii = style.sort_keys = true;
    assert_written(v, &style, "{\"a\": {\"x\": -1.5}, \"b\": [1, {}, [], \"\\u00e9\\u007f\"]}");
    style = (td_json_style){ .has_indent = true, .indent = TD_STR("\t") };
    assert_written(v, &style,
                   "{\n\t\"b\": [\n\t\t1,\n\t\t{},\n\t\t[],\n\t\t\"\xC3\xA9\x7F\"\n\t],\n"
                   "\t\"a\": {\n\t\t\"x\": -1.5\n\t}\n}");
    style = (td_json_style){ .has_separators = true,
                             .item_separator = TD_STR(","),
                             .key_separator = TD_STR(":") };
    assert_written(v, &style, "{\"b\":[1,{},[],\"\xC3\xA9\x7F\"],\"a\":{\"x\":-1.5}}");
    style = (td_json_style){ .has_indent = true };
    assert_written(read_ok(TD_STR("[1]")), &style, "[\n1\n]");
    td_value item = td_none();
    assert_written(td_tuple_of(&item, 1), &style, "[\nnull\n]");
}

static void keys_become_text(void **state)
{
    (void)state;
    td_dict *d = td_dict_new(&arena, 0);
    td_value one = td_int(1), big = td_none();
    assert_true(td_bigint_parse(&arena, TD_STR("100000000000000000000"), 10, &big));
    td_value keys[] = { td_float(2.5), big, td_int(-3), td_bool(false), td_float(1e30) };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(td_dict_set(&arena, d, keys[i], one));
    td_json_style style = { .sort_keys = true };
    assert_written(td_dict_of(d), &style,
                   "{\"-3\": 1, \"false\": 1, \"2.5\": 1, \"100000000000000000000\": 1, "
                   "\"1e+30\": 1}");
}

static void assert_refused(td_value v, const td_json_style *style, td_code code,
                           const char *message)
{
    td_buf b = { 0 };
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_buf_put(&b, TD_STR("kept")), TD_OK);
    assert_int_equal(td_json_write(&b, v, style, &err), code);
    if (strstr(err.message, message) == NULL)
        fail_msg("%s", err.message);
    assert_str(td_buf_view(&b), "kept");
    td_error_clear(&err);
    td_buf_done(&b);
}

static void what_json_dumps_refuses(void **state)
{
    (void)state;
    td_json_style style = { 0 };
    td_value undefined = td_undefined_value();
    assert_refused(td_list_of(&undefined, 1), &style, TD_E_TEMPLATE,
                   "Object of type Undefined is not JSON serializable");
    td_dict *d = td_dict_new(&arena, 0);
    td_value one = td_int(1);
    assert_true(td_dict_set(&arena, d, td_tuple_of(&one, 1), one));
    assert_refused(td_dict_of(d), &style, TD_E_TEMPLATE, "not tuple");
    d = td_dict_new(&arena, 0);
    assert_true(td_dict_set(&arena, d, one, one) &&
                td_dict_set(&arena, d, td_key(TD_STR("a")), one));
    style.sort_keys = true;
    assert_refused(td_dict_of(d), &style, TD_E_TEMPLATE, "keys of different types");
    td_value nest[TD_JSON_DEPTH_MAX + 2];
    nest[0] = one;
    for (size_t i = 1; i < sizeof nest / sizeof *nest; i++)
        nest[i] = td_list_of(&nest[i - 1], 1);
    assert_refused(nest[TD_JSON_DEPTH_MAX + 1], &style, TD_E_LIMIT, "nesting");
    td_value huge = td_none();
    assert_true(td_bigint_pow(&arena, td_int(10), td_int(5000), &huge));
    assert_refused(huge, &style, TD_E_TEMPLATE, "digits");
}

/* The writer reserves for the worst case; that must not make a fitting text fail. */
static void output_fills_the_buffer_to_the_last_byte(void **state)
{
    (void)state;
    char text[500];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 7 == 0 ? '\n' : i % 11 == 0 ? '\x01' : 'a';
    td_str s = { text, sizeof text };
    for (int ensure_ascii = 0; ensure_ascii < 2; ensure_ascii++) {
        td_buf whole = { 0 };
        assert_int_equal(td_json_write_string(&whole, s, ensure_ascii), TD_OK);
        td_buf exact = { .limit = whole.len }, less = { .limit = whole.len - 1 };
        assert_int_equal(td_json_write_string(&exact, s, ensure_ascii), TD_OK);
        assert_true(td_str_eq(td_buf_view(&whole), td_buf_view(&exact)));
        assert_int_equal(td_json_write_string(&less, s, ensure_ascii), TD_E_LIMIT);
        assert_int_equal(less.len, 0);
        td_buf_done(&whole);
        td_buf_done(&exact);
        td_buf_done(&less);
    }
}

static int done(void **state)
{
    (void)state;
    td_arena_done(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_strings_are_views),
        cmocka_unit_test(flags_say_what_json_dumps_would_do),
        cmocka_unit_test(duplicates_keep_place_and_last_value),
        cmocka_unit_test(numbers_have_their_kind),
        cmocka_unit_test(errors_tell_where),
        cmocka_unit_test(failed_allocations_are_errors),
        cmocka_unit_test(memory_is_linear_in_the_text),
        cmocka_unit_test(styles_are_json_dumps_arguments),
        cmocka_unit_test(keys_become_text),
        cmocka_unit_test(what_json_dumps_refuses),
        cmocka_unit_test(output_fills_the_buffer_to_the_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}

/* Values that are kept, and the JSON texts of them. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/thread.h"
#include "tokdrain/tokdrain.h"
#include "value/kept.h"
#include "value/msgpack.h"

enum { SIGHTS = 4, ROOM = 4096 };

static uint64_t same_hash(td_str bytes)
{
    (void)bytes;
    return 42;
}

/* A list of more than TD_KEEP_SOURCE_MIN bytes, with room behind it. */
static td_str source_of(char *room, const char *name, int number)
{
    int n = snprintf(room, ROOM,
                     "[{\"type\": \"function\", \"function\": {\"name\": \"%s\", \"description\": "
                     "\"%d %0300d\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}}]",
                     name, number, number);
    assert_true(n > TD_KEEP_SOURCE_MIN && n < ROOM - 64);
    return (td_str){ room, (size_t)n };
}

/* Shows source until it is kept; how often that took, 0: it never was. */
static unsigned show(td_keep *k, td_keep_form form, td_str source)
{
    for (unsigned i = 1; i <= 2 * SIGHTS; i++) {
        td_kept *v = td_keep_seen(k, form, source);
        if (v != NULL) {
            assert_true(td_str_eq(td_kept_source(v), source));
            td_kept_release(v);
            return i;
        }
    }
    return 0;
}

static bool known(td_keep *k, td_keep_form form, td_str text)
{
    td_kept *v = td_keep_find(k, form, text);
    bool found = v != NULL;
    td_kept_release(v);
    return found;
}

static void what_comes_again_is_kept(void **state)
{
    (void)state;
    char room[ROOM], other[ROOM];
    td_keep *k = td_keep_new(1 << 20);
    td_str source = source_of(room, "a", 1);
    assert_false(known(k, TD_KEEP_JSON, source));
    assert_int_equal(show(k, TD_KEEP_JSON, source), SIGHTS);
    assert_int_equal(show(k, TD_KEEP_JSON, source), 1);
    /* the same bytes elsewhere, with anything behind them */
    memcpy(other, source.ptr, source.len);
    snprintf(other + source.len, ROOM - source.len, ", \"id\": 1}");
    td_kept *v = td_keep_find(k, TD_KEEP_JSON, td_str_from(other));
    assert_non_null(v);
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_kept_check(v, &err), TD_OK);
    assert_int_equal(td_kept_value(v).tag, TD_V_LIST);
    assert_ptr_not_equal(td_kept_source(v).ptr, source.ptr);
    /* it stays what it is when the table is full of others */
    for (int i = 0; i < 2000; i++)
        show(k, TD_KEEP_JSON, source_of(other, "b", i));
    assert_false(known(k, TD_KEEP_JSON, source));
    assert_int_equal(td_kept_check(v, &err), TD_OK);
    td_kept_release(v);
    td_keep_free(k);
}

static void every_byte_counts(void **state)
{
    (void)state;
    char room[ROOM];
    for (int adversary = 0; adversary < 2; adversary++) {
        td_keep *k = td_keep_new(1 << 20);
        if (adversary)
            td_keep_set_hash(k, same_hash);
        td_str source = source_of(room, "name", 7);
        assert_int_equal(show(k, TD_KEEP_JSON, source), SIGHTS);
        for (size_t i = 0; i < source.len; i++) {
            char was = room[i];
            room[i] ^= 1;
            assert_false(known(k, TD_KEEP_JSON, source));
            room[i] = was;
        }
        assert_false(known(k, TD_KEEP_JSON, (td_str){ room, source.len - 1 }));
        assert_false(known(k, TD_KEEP_MSGPACK, source));
        assert_true(known(k, TD_KEEP_JSON, source));
        td_keep_free(k);
    }
}

/* Sources that differ in the middle alone, all with one hash. */
static void equal_hashes_are_told_apart(void **state)
{
    (void)state;
    char room[ROOM];
    td_keep *k = td_keep_new(16 << 20);
    td_keep_set_hash(k, same_hash);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) {
            td_str source = source_of(room, "x", i);
            for (int sight = 0; sight < SIGHTS; sight++) {
                td_kept *v = td_keep_seen(k, TD_KEEP_JSON, source);
                assert_true(v == NULL || td_str_eq(td_kept_source(v), source));
                td_kept_release(v);
            }
        }
    }
    td_keep_stats s = td_keep_get_stats(k);
    assert_true(s.entries <= 64 && s.evictions > 0);
    td_keep_free(k);
}

static void bounds_hold(void **state)
{
    (void)state;
    char room[ROOM];
    static const size_t limits[] = { 0, 1, 4096, 20000, 100000, 8 << 20 };
    for (size_t l = 0; l < sizeof limits / sizeof *limits; l++) {
        td_keep *k = td_keep_new(limits[l]);
        uint64_t most = 0;
        for (int i = 0; i < 3000; i++) {
            show(k, TD_KEEP_JSON, source_of(room, "x", i));
            td_keep_stats s = td_keep_get_stats(k);
            assert_true(s.bytes <= limits[l] && s.entries <= 1024);
            most = s.entries > most ? s.entries : most;
        }
        assert_true(limits[l] < 20000 || most > 0);
        assert_true(limits[l] < 8 << 20 || most == 1024);
        td_keep_free(k);
    }
    td_keep *k = td_keep_new(1 << 20);
    td_str small = TD_STR("[{\"type\": \"function\"}]");
    assert_int_equal(show(k, TD_KEEP_JSON, small), 0);
    /* a value that takes far more than its text */
    char *deep = malloc(20000);
    memset(deep, '[', 10000);
    assert_int_equal(show(k, TD_KEEP_JSON, (td_str){ deep, 10000 }), 0);
    for (size_t i = 0; i < 10000; i += 2)
        memcpy(deep + i, "0,", 2);
    deep[0] = '[';
    deep[1] = '0';
    memcpy(deep + 9998, "0]", 2);
    assert_true(show(k, TD_KEEP_JSON, (td_str){ deep, 10000 }) <= SIGHTS);
    free(deep);
    td_keep_free(k);
}

static void messagepack_is_kept(void **state)
{
    (void)state;
    char room[ROOM];
    td_error err = TD_ERROR_INIT;
    td_arena a = { 0 };
    td_buf packed = { 0 };
    td_value v;
    assert_int_equal(td_json_read(&a, source_of(room, "x", 1), &v, &err), TD_OK);
    assert_int_equal(td_msgpack_write(&packed, v, &err), TD_OK);
    td_keep *k = td_keep_new(1 << 20);
    assert_int_equal(show(k, TD_KEEP_MSGPACK, td_buf_view(&packed)), SIGHTS);
    td_kept *kept = td_keep_seen(k, TD_KEEP_MSGPACK, td_buf_view(&packed));
    assert_true(td_value_eq(td_kept_value(kept), v));
    assert_int_equal(td_kept_check(kept, &err), TD_OK);
    td_kept_release(kept);
    td_keep_free(k);
    td_buf_done(&packed);
    td_arena_done(&a);
}

/* ---- texts ---- */

static const td_json_style styles[] = {
    { 0 },
    { .ensure_ascii = true },
    { .sort_keys = true },
    { .has_indent = true, .indent = { "  ", 2 } },
    { .has_indent = true, .indent = { " ", 1 } },
    { .has_indent = true, .indent = { "", 0 } },
    { .has_separators = true, .item_separator = { ",", 1 }, .key_separator = { ":", 1 } },
    { .has_separators = true, .item_separator = { ",", 1 }, .key_separator = { ": ", 2 } },
    { .has_separators = true, .item_separator = { ", ", 2 }, .key_separator = { ":", 1 } },
    { .ensure_ascii = true, .sort_keys = true, .has_indent = true, .indent = { "\t", 1 } },
};
enum { STYLES = sizeof styles / sizeof *styles };

static void each_input_of_a_text_counts(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_value root;
    td_error err = TD_ERROR_INIT;
    td_str json = TD_STR("[{\"b\": \"\xC3\xA4\", \"a\": [1, 2.5, null]}, {\"b\": {\"c\": []}}, 3]");
    assert_int_equal(td_json_read(&a, json, &root, &err), TD_OK);
    td_value parts[] = { root, root.as.items[0], root.as.items[1],
                         *td_dict_find(root.as.items[0].as.dict, TD_STR("a")),
                         td_list_of(root.as.items, 1), td_list_of(root.as.items, 2),
                         td_tuple_of(root.as.items, 3) };
    enum { PARTS = sizeof parts / sizeof *parts };
    for (size_t first = 0; first < STYLES * PARTS; first++) {
        td_json_texts *t = td_json_texts_new(&a, root, 1 << 20);
        td_buf text = { 0 };
        td_str found;
        td_value v = parts[first % PARTS];
        assert_int_equal(td_json_write(&text, v, &styles[first / PARTS], &err), TD_OK);
        td_json_texts_put(t, v, &styles[first / PARTS], td_buf_view(&text));
        td_json_texts_put(t, v, &styles[first / PARTS], td_buf_view(&text));
        for (size_t other = 0; other < STYLES * PARTS; other++) {
            bool there =
                td_json_texts_find(t, parts[other % PARTS], &styles[other / PARTS], &found);
            assert_int_equal(there, other == first);
            if (there)
                assert_true(td_str_eq(found, td_buf_view(&text)));
        }
        assert_true(td_json_texts_bytes(t) > text.len &&
                    td_json_texts_bytes(t) < text.len + 512); /* not twice */
        td_json_texts_done(t);
        td_buf_done(&text);
    }
    td_arena_done(&a);
}

static void texts_are_bounded(void **state)
{
    (void)state;
    td_arena a = { 0 };
    td_value root, other;
    td_error err = TD_ERROR_INIT;
    td_str found, json = TD_STR("[[1], {\"a\": [[[[2]]]]}, [], {}]");
    assert_int_equal(td_json_read(&a, json, &root, &err), TD_OK);
    assert_int_equal(td_json_read(&a, json, &other, &err), TD_OK);
    td_json_texts *t = td_json_texts_new(&a, root, 1000);
    char indent[64];
    memset(indent, ' ', sizeof indent);
    unsigned kept = 0;
    for (size_t i = 0; i < sizeof indent; i++) {
        td_json_style style = { .has_indent = true, .indent = { indent, i } };
        for (uint32_t k = 0; k < root.len; k++) {
            td_json_texts_put(t, root.as.items[k], &style, TD_STR("[ 1 ]"));
            kept += td_json_texts_find(t, root.as.items[k], &style, &found);
            /* not one of the containers: nothing, or of another value */
            td_json_texts_put(t, other.as.items[k], &style, TD_STR("[]"));
            assert_false(td_json_texts_find(t, other.as.items[k], &style, &found));
        }
        assert_true(td_json_texts_bytes(t) <= 1000);
    }
    assert_true(kept > 0 && kept < 10);
    td_json_texts_put(t, td_int(1), &styles[0], TD_STR("1"));
    assert_false(td_json_texts_find(t, td_int(1), &styles[0], &found));
    td_json_texts_done(t);
    td_arena_done(&a);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 3000, SOURCES = 24 };

static void *use(void *user)
{
    td_keep *k = user;
    char room[ROOM];
    td_buf text = { 0 };
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned n = (i * 7919u + i / 3) % SOURCES;
        td_str source = source_of(room, n % 2 ? "odd" : "even", (int)n);
        td_kept *v = td_keep_find(k, TD_KEEP_JSON, source);
        if (v == NULL)
            v = td_keep_seen(k, TD_KEEP_JSON, source);
        if (v == NULL)
            continue;
        td_error err = TD_ERROR_INIT;
        td_str found;
        td_value root = td_kept_value(v);
        for (size_t s = 0; s < STYLES; s++) {
            td_value part = s % 2 ? root : root.as.items[0];
            text.len = 0;
            bool ok = td_json_write(&text, part, &styles[s], &err) == TD_OK;
            if (ok && td_json_texts_find(td_kept_texts(v), part, &styles[s], &found))
                ok = td_str_eq(found, td_buf_view(&text));
            else
                td_json_texts_put(td_kept_texts(v), part, &styles[s], td_buf_view(&text));
            if (!ok || !td_str_eq(td_kept_source(v), source))
                return user;
        }
        td_kept_release(v);
    }
    td_buf_done(&text);
    return NULL;
}

static void *use_and_tell(void *user)
{
    void **slot = user;
    *slot = use(*slot);
    return NULL;
}

static void threads_share(void **state)
{
    (void)state;
    static const size_t limits[] = { 8 << 20, 24000 }; /* of all, and of some: they push out */
    for (size_t l = 0; l < 2; l++) {
        td_keep *k = td_keep_new(limits[l]);
        td_thread threads[THREADS];
        void *slots[THREADS];
        for (int i = 0; i < THREADS; i++) {
            slots[i] = k;
            assert_true(td_thread_start(&threads[i], use_and_tell, &slots[i]));
        }
        for (int i = 0; i < THREADS; i++) {
            td_thread_join(&threads[i]);
            assert_null(slots[i]);
        }
        td_keep_stats s = td_keep_get_stats(k);
        assert_true(s.hits > 0 && s.entries > 0 && s.bytes <= limits[l]);
        assert_true(l == 0 ? s.evictions == 0 : s.evictions > 0);
        td_keep_free(k);
    }
}

/* ---- through requests ---- */

/* Templates and what they do with tools; each is rendered with and without reuse. */
static const char *const templates[] = {
    "{{ tools|tojson }}",
    "{% for t in tools %}{{ t|tojson }}\n{{ t|tojson(indent=4) }}{{ t.function|tojson }}"
    "{% endfor %}",
    "{{ tools|tojson(indent=2) }}{{ tools|tojson(indent='--') }}{{ tools|tojson(indent=true) }}",
    "{{ tools|tojson(ensure_ascii=true) }}{{ tools|tojson(true) }}",
    "{{ tools|tojson(sort_keys=true) }}{{ tools[0]|tojson(sort_keys=true, indent=1) }}",
    "{{ tools|tojson(separators=(',', ':')) }}{{ tools|tojson(separators=[', ', ':']) }}",
    "{{ tools[:1]|tojson }}{{ tools[1:]|tojson }}{{ (tools + tools)|tojson }}",
    "{{ tools|list|tojson }}{{ tools|tojson }}{{ tools[::-1]|tojson }}",
    "{{ (tools|tojson) is sameas (tools|tojson) }}{{ tools is sameas tools }}",
    "{% for k in tools[0] %}{% for m in messages[0] %}{{ k is sameas m }}{% endfor %}{% endfor %}",
    "{% set t = tools|map(attribute='function')|list %}{{ t|tojson }}{{ t[0]|tojson }}",
    "{% autoescape true %}{{ tools|tojson }}{{ tools[0]|tojson }}{% endautoescape %}",
    "{% set x = tools|tojson %}{{ x|length }}{{ x|upper }}{{ x ~ x }}{{ x[1:9] }}{{ x|e }}",
    "{% set _ = tools.append(1) %}{{ tools|tojson }}",
    "{% set _ = tools[0].update({'a': 1}) %}{{ tools|tojson }}",
    "{% set _ = tools[0].pop('type') %}{{ tools|tojson }}",
    "{% set tools = tools + [tools[0]] %}{{ tools|tojson }}",
    "{% set ns = namespace(t=tools[0]) %}{% set ns.t = 1 %}{{ tools|tojson }}",
    "{% set d = dict(tools[0], type='x') %}{{ d|tojson }}{{ tools[0]|tojson }}",
    "{{ tools|tojson|fromjson }}",
    "{{ tools|tojson(indent=messages) }}",
    "{{ tools|sort(attribute='function.name')|tojson }}{{ tools|reverse|list|tojson }}",
    "{{ [tools, tools]|tojson }}{{ {'tools': tools}|tojson(indent=1) }}",
    "{% set p = tools[1].function.parameters %}{{ p|tojson }}{{ p.properties|tojson }}",
    "{% macro m(t) %}{{ t|tojson }}{% endmacro %}{{ m(tools) }}{{ m(tools[0])|length }}",
    "{% set c %}{{ tools|tojson }}{% endset %}{{ c|length }}{{ c }}",
    "{% filter upper %}{{ tools|tojson }}{% endfilter %}",
};

static const char tools_text[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"search\",\"description\":\"Suche \\u00fcber "
    "\xC3\xA4lle \\\"Dateien\\\" <b> & 'more' \\/ \\ud83d\\ude42 1 2 3 4 5 6 7 8 9 10 11 12 13\","
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"string\",\"enum\":[]},"
    "\"n\":{\"type\":\"integer\",\"default\":1.50,\"maximum\":123456789012345678901234567890}}}}},"
    "{\"function\":{\"parameters\":{\"properties\":{},\"required\":[null,true,-0.0,1e400,NaN]},"
    "\"name\":\"a\"},\"type\":\"function\"}]";

static void put_request(td_buf *out, const char *template, const char *tools, const char *more)
{
    out->len = 0;
    assert_int_equal(td_buf_printf(out, "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\", "
                                        "\"type\": \"function\"}], \"tools\": %s, "
                                        "\"chat_template\": ",
                                   tools),
                     TD_OK);
    assert_int_equal(td_json_write_string(out, td_str_from(template), false), TD_OK);
    assert_int_equal(td_buf_printf(out, "%s}", more), TD_OK);
}

/* What rendering gives: the text, or the error. */
static char *rendered(td_direct *d, td_str json, bool early)
{
    td_request *r = NULL;
    assert_int_equal(td_request_new(json, NULL, NULL, &r, NULL), TD_OK);
    if (early)
        td_request_decode(r);
    td_result *x = td_direct_run(d, r, &(td_direct_call){ .operation = TD_DO_RENDER });
    assert_int_not_equal(x->error.code, TD_E_VERIFY);
    td_str text = x->error.code == TD_OK ? x->text
                                         : (td_str){ x->error.message, x->error.message_len };
    char *copy = malloc(text.len + 32);
    snprintf(copy, text.len + 32, "%d %u %.*s", (int)x->error.code, x->error.line, (int)text.len,
             text.ptr);
    td_result_free(x);
    return copy;
}

static void templates_give_the_same(void **state)
{
    (void)state;
    td_model *model = NULL;
    td_direct *with[2], *without;
    assert_int_equal(td_model_new(NULL, NULL, &model, NULL), TD_OK);
    for (int verify = 0; verify < 2; verify++)
        assert_int_equal(td_direct_new(model, &(td_counter_options){ .verify = verify },
                                       &with[verify], NULL),
                         TD_OK);
    assert_int_equal(td_direct_new(model, &(td_counter_options){ .no_reuse = true }, &without,
                                   NULL),
                     TD_OK);
    td_buf json = { 0 };
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
            put_request(&json, templates[i], tools_text, "");
            char *expected = rendered(without, td_buf_view(&json), false);
            for (int k = 0; k < 4; k++) {
                char *got = rendered(with[k & 1], td_buf_view(&json), k >= 2);
                if (strcmp(got, expected) != 0)
                    fail_msg("%s\ngives %s\nnot %s", templates[i], got, expected);
                free(got);
            }
            free(expected);
        }
    }
    td_buf_done(&json);
    td_direct_free(with[0]);
    td_direct_free(with[1]);
    td_direct_free(without);
    td_model_free(model);
}

/* The key in other places, twice, escaped, of other types, and lines that are broken behind it. */
static void tools_are_found_where_they_are(void **state)
{
    (void)state;
    static const char *const more[] = {
        "",
        ", \"tools\": null",
        ", \"tools\": []",
        ", \"tools\": [{\"type\": \"other\"}]",
        ", \"t\\u006fols\": [{\"type\": \"escaped\"}]",
        ", \"x\": {\"tools\": [1]}",
        ", \"tools\": {\"a\": 1}",
        ", \"tools\": \"text\"",
        ", \"tools\": [1]",
        ", \"x\": }",
        ", \"x\": \"\xFF\"",
        ", \"documents\": {\"tools\": 1}",
        ", \"chat_template_kwargs\": {\"tools\": [{\"a\": 1}], \"b\": 1}",
        "}",
    };
    td_model *model = NULL;
    td_direct *with, *without;
    assert_int_equal(td_model_new(NULL, NULL, &model, NULL), TD_OK);
    assert_int_equal(td_direct_new(model, NULL, &with, NULL), TD_OK);
    assert_int_equal(td_direct_new(model, &(td_counter_options){ .no_reuse = true }, &without,
                                   NULL),
                     TD_OK);
    td_buf json = { 0 };
    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
            put_request(&json, "{{ tools|tojson }}", tools_text, more[i]);
            for (int early = 0; early < 2; early++) {
                char *expected = rendered(without, td_buf_view(&json), early);
                char *got = rendered(with, td_buf_view(&json), early);
                assert_string_equal(got, expected);
                free(got);
                free(expected);
            }
        }
    }
    td_buf_done(&json);
    td_direct_free(with);
    td_direct_free(without);
    td_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_again_is_kept),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(equal_hashes_are_told_apart),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(messagepack_is_kept),
        cmocka_unit_test(each_input_of_a_text_counts),
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(threads_share),
        cmocka_unit_test(templates_give_the_same),
        cmocka_unit_test(tools_are_found_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

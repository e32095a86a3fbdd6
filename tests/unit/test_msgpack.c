#include "test.h"

#include "base/error.h"
#include "value/bigint.h"
#include "value/msgpack.h"

#define BYTES(lit) ((td_str){ lit, sizeof(lit) - 1 })

static td_arena arena;

static void assert_bytes(td_buf *b, td_str expected)
{
    if (!td_str_eq(td_buf_view(b), expected))
        fail_msg("%zu bytes differ from the %zu expected", b->len, expected.len);
    b->len = 0;
}

static void numbers_take_their_shortest_form(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        td_str bytes;
    } cases[] = {
        { 0, { "\x00", 1 } },
        { 127, { "\x7F", 1 } },
        { 128, { "\xCC\x80", 2 } },
        { 255, { "\xCC\xFF", 2 } },
        { 256, { "\xCD\x01\x00", 3 } },
        { 65536, { "\xCE\x00\x01\x00\x00", 5 } },
        { 4294967296, { "\xCF\x00\x00\x00\x01\x00\x00\x00\x00", 9 } },
        { INT64_MAX, { "\xCF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9 } },
        { -1, { "\xFF", 1 } },
        { -32, { "\xE0", 1 } },
        { -33, { "\xD0\xDF", 2 } },
        { -128, { "\xD0\x80", 2 } },
        { -129, { "\xD1\xFF\x7F", 3 } },
        { -32769, { "\xD2\xFF\xFF\x7F\xFF", 5 } },
        { INT64_MIN, { "\xD3\x80\x00\x00\x00\x00\x00\x00\x00", 9 } },
    };
    td_buf b = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(td_mp_put_int(&b, cases[i].value), TD_OK);
        td_value v;
        td_error err = TD_ERROR_INIT;
        assert_int_equal(td_msgpack_read(&arena, td_buf_view(&b), &v, &err), TD_OK);
        assert_true(v.tag == TD_V_INT && v.as.integer == cases[i].value);
        assert_bytes(&b, cases[i].bytes);
    }
    assert_int_equal(td_mp_put_uint(&b, UINT64_MAX), TD_OK);
    assert_bytes(&b, BYTES("\xCF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"));
    assert_int_equal(td_mp_put_float(&b, 1.5), TD_OK);
    assert_bytes(&b, BYTES("\xCB\x3F\xF8\0\0\0\0\0\0"));
    td_buf_done(&b);
}

static void heads_take_their_shortest_form(void **state)
{
    (void)state;
    td_buf b = { 0 };
    assert_int_equal(td_mp_put_array(&b, 15), TD_OK);
    assert_int_equal(td_mp_put_array(&b, 16), TD_OK);
    assert_int_equal(td_mp_put_array(&b, 65536), TD_OK);
    assert_bytes(&b, BYTES("\x9F\xDC\x00\x10\xDD\x00\x01\x00\x00"));
    assert_int_equal(td_mp_put_map(&b, 15), TD_OK);
    assert_int_equal(td_mp_put_map(&b, 16), TD_OK);
    assert_int_equal(td_mp_put_map(&b, 65536), TD_OK);
    assert_bytes(&b, BYTES("\x8F\xDE\x00\x10\xDF\x00\x01\x00\x00"));
    assert_int_equal(td_mp_put_nil(&b), TD_OK);
    assert_int_equal(td_mp_put_bool(&b, true), TD_OK);
    assert_int_equal(td_mp_put_bool(&b, false), TD_OK);
    assert_int_equal(td_mp_put_str(&b, TD_STR("ab")), TD_OK);
    assert_int_equal(td_mp_put_bin(&b, TD_STR("ab")), TD_OK);
    assert_bytes(&b, BYTES("\xC0\xC3\xC2\xA2"
                           "ab\xC4\x02"
                           "ab"));
    td_buf_done(&b);
}

/* A record as the wire has it, read field by field. */
static void cursor_walks_a_record(void **state)
{
    (void)state;
    td_str record = BYTES("\x83\xA1k\xC4\x02\xFF\xFE\xA3skp\x92\x01\x81\xA1x\xC7\x01\x05z\xA1n\xCF"
                          "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    td_mp_cursor c = td_mp_cursor_of(record);
    td_mp_item item;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_mp_next(&c, &item, &err), TD_OK);
    assert_true(item.kind == TD_MP_MAP && item.count == 3);
    assert_int_equal(td_mp_next(&c, &item, &err), TD_OK);
    assert_int_equal(item.kind, TD_MP_STR);
    assert_str(item.as.bytes, "k");
    assert_int_equal(td_mp_next(&c, &item, &err), TD_OK);
    assert_int_equal(item.kind, TD_MP_BIN);
    assert_true(td_str_eq(item.as.bytes, BYTES("\xFF\xFE")));
    assert_int_equal(td_mp_skip(&c, &err), TD_OK);
    assert_int_equal(td_mp_skip(&c, &err), TD_OK); /* with an extension type inside */
    assert_int_equal(td_mp_skip(&c, &err), TD_OK);
    assert_int_equal(td_mp_next(&c, &item, &err), TD_OK);
    assert_true(item.kind == TD_MP_UINT && item.as.unsigned_integer == UINT64_MAX);
    assert_ptr_equal(c.at, c.end);
    assert_int_equal(td_mp_next(&c, &item, &err), TD_E_INPUT);
    assert_int_equal(err.offset, record.len);
    td_error_clear(&err);
}

static void assert_error(td_str bytes, td_code code, uint64_t offset)
{
    td_value v;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_msgpack_read(&arena, bytes, &v, &err), code);
    assert_int_equal(err.offset, offset);
    td_error_clear(&err);
}

static void errors_tell_where(void **state)
{
    (void)state;
    assert_error((td_str){ NULL, 0 }, TD_E_INPUT, 0);
    assert_error(BYTES("\xC1"), TD_E_INPUT, 0);
    assert_error(BYTES("\x92\x01"), TD_E_INPUT, 0); /* cannot hold two */
    assert_error(BYTES("\x92\x01\xA5"
                       "abcd"),
                 TD_E_INPUT, 2);                            /* text cut short */
    assert_error(BYTES("\x92\x01\xCD\x01"), TD_E_INPUT, 2); /* number cut short */
    assert_error(BYTES("\x91\xC4\x01x"), TD_E_INPUT, 1);    /* bin */
    assert_error(BYTES("\x91\xD4\x05x"), TD_E_INPUT, 1);    /* extension type */
    assert_error(BYTES("\x91\xA3"
                       "ab\x80"),
                 TD_E_INPUT, 4);                                /* UTF-8 */
    assert_error(BYTES("\x91\xA3\xED\xA0\x80"), TD_E_INPUT, 2); /* surrogate */
    assert_error(BYTES("\x81\x80\x01"), TD_E_INPUT, 1);         /* map as key */
    assert_error(BYTES("\x81\x91\x80\x01"), TD_E_INPUT, 2);     /* map in a key */
    assert_error(BYTES("\x01\x02"), TD_E_INPUT, 1);             /* trailing byte */
    assert_error(BYTES("\xDD\xFF\xFF\xFF\xFF\x01"), TD_E_INPUT, 0);
    char deep[2000];
    memset(deep, '\x91', sizeof deep);
    assert_error((td_str){ deep, sizeof deep }, TD_E_LIMIT, TD_MSGPACK_DEPTH_MAX);
}

static void values_borrow_and_keep_order(void **state)
{
    (void)state;
    td_str bytes = BYTES("\x84\xA1"
                         "b\x01\xA1"
                         "a\xA4text\x92\x01\xA1t\xC0\xA1"
                         "b\xCF\x80\0\0\0\0\0\0\0");
    td_value v = td_none();
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_msgpack_read(&arena, bytes, &v, &err), TD_OK);
    const td_dict *d = v.as.dict;
    assert_int_equal(d->count, 3);
    assert_str(td_as_str(d->entries[0].key), "b");
    assert_int_equal(d->entries[0].val.tag, TD_V_BIGINT);
    assert_true(td_bigint_to_double(d->entries[0].val.as.bigint) == 9223372036854775808.0);
    assert_ptr_equal(d->entries[1].val.as.str, bytes.ptr + 7);
    assert_int_equal(d->entries[1].val.flags, TD_VF_ASCII);
    assert_int_equal(d->entries[2].key.tag, TD_V_TUPLE);
    td_buf b = { 0 };
    assert_int_equal(td_msgpack_write(&b, v, &err), TD_OK);
    assert_bytes(&b, BYTES("\x83\xA1"
                           "b\xCF\x80\0\0\0\0\0\0\0\xA1"
                           "a\xA4text\x92\x01\xA1t\xC0"));
    td_buf_done(&b);
}

static void what_has_no_form_is_refused(void **state)
{
    (void)state;
    td_buf b = { 0 };
    td_error err = TD_ERROR_INIT;
    td_value big = td_none();
    assert_true(td_bigint_parse(&arena, TD_STR("18446744073709551616"), 10, &big));
    td_value items[] = { td_int(1), big };
    assert_int_equal(td_msgpack_write(&b, td_list_of(items, 2), &err), TD_E_INPUT);
    assert_int_equal(b.len, 0);
    td_error_clear(&err);
    assert_int_equal(td_msgpack_write(&b, td_undefined_value(), &err), TD_E_INPUT);
    td_error_clear(&err);
    td_buf_done(&b);
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
        cmocka_unit_test(numbers_take_their_shortest_form),
        cmocka_unit_test(heads_take_their_shortest_form),
        cmocka_unit_test(cursor_walks_a_record),
        cmocka_unit_test(errors_tell_where),
        cmocka_unit_test(values_borrow_and_keep_order),
        cmocka_unit_test(what_has_no_form_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, done);
}

/* fuzz_json.c - JSON, MessagePack and number text from strangers.
 *
 * Beyond not crashing: what is read as JSON and written must read back as an equal value and be
 * written the same again, with and without the reader's flags; MessagePack likewise. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "fuzz.h"
#include "value/json.h"
#include "value/msgpack.h"
#include "value/number.h"
#include "value/pytext.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static bool write(td_buf *out, td_value v, bool ensure_ascii)
{
    td_error err = TD_ERROR_INIT;
    td_json_style style = { .ensure_ascii = ensure_ascii };
    bool ok = td_json_write(out, v, &style, &err) == TD_OK;
    td_error_clear(&err);
    return ok;
}

static void check_round_trip(td_value v, bool ensure_ascii)
{
    td_arena arena = { .limit = (size_t)1 << 28 };
    td_error err = TD_ERROR_INIT;
    td_buf first = { 0 }, second = { 0 };
    td_value again;
    CHECK(write(&first, v, ensure_ascii));
    /* A lone surrogate is written as its three bytes, which no JSON text may contain. */
    if (td_json_read(&arena, td_buf_view(&first), &again, &err) == TD_OK) {
        CHECK(write(&second, again, ensure_ascii));
        CHECK(td_str_eq(td_buf_view(&first), td_buf_view(&second)));
    } else {
        CHECK(!ensure_ascii && strstr(err.message, "UTF-8") != NULL);
    }
    td_error_clear(&err);
    td_buf_done(&first);
    td_buf_done(&second);
    td_arena_done(&arena);
}

static void check_json(td_arena *arena, td_str text)
{
    td_error err = TD_ERROR_INIT;
    td_buf out = { 0 };
    td_value v;
    if (td_json_read(arena, text, &v, &err) == TD_OK) {
        check_round_trip(v, false);
        check_round_trip(v, true);
        CHECK(td_py_repr(&out, v, NULL) == TD_OK);
        out.len = 0;
        if (td_msgpack_write(&out, v, &err) != TD_OK)
            CHECK(err.code == TD_E_INPUT);
    } else {
        CHECK(err.offset <= text.len && err.line > 0 && err.column > 0);
    }
    td_error_clear(&err);
    td_buf_done(&out);
}

static void check_msgpack(td_arena *arena, td_str bytes)
{
    td_error err = TD_ERROR_INIT;
    td_buf first = { 0 }, second = { 0 };
    td_value v, again;
    td_mp_cursor c = td_mp_cursor_of(bytes);
    bool skips = td_mp_skip(&c, &err) == TD_OK && c.at == c.end;
    td_error_clear(&err);
    if (td_msgpack_read(arena, bytes, &v, &err) == TD_OK) {
        CHECK(skips);
        CHECK(td_msgpack_write(&first, v, &err) == TD_OK);
        CHECK(td_msgpack_read(arena, td_buf_view(&first), &again, &err) == TD_OK);
        CHECK(td_msgpack_write(&second, again, &err) == TD_OK);
        CHECK(td_str_eq(td_buf_view(&first), td_buf_view(&second)));
    }
    td_error_clear(&err);
    td_buf_done(&first);
    td_buf_done(&second);
}

static void check_number(td_str text)
{
    double d, again;
    char repr[TD_FLOAT_TEXT_MAX];
    if (!td_float_parse(text, &d))
        return;
    size_t n = td_float_repr(d, repr);
    if (td_float_parse((td_str){ repr, n }, &again)) /* all but inf */
        CHECK(memcmp(&d, &again, sizeof d) == 0);
    td_buf out = { 0 };
    CHECK(td_float_print_exp(&out, d, 16) == TD_OK);
    if (td_float_parse(td_buf_view(&out), &again)) /* 17 digits always suffice */
        CHECK(memcmp(&d, &again, sizeof d) == 0);
    td_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    td_arena arena = { .limit = (size_t)1 << 28 };
    td_str text = { (const char *)data, size };
    check_json(&arena, text);
    td_arena_reset(&arena);
    check_msgpack(&arena, text);
    check_number(text);
    td_arena_done(&arena);
    return 0;
}

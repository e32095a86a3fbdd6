#include "test.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bit_places.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"

static void error_keeps_long_messages_whole(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_fail(&err, TD_E_TEMPLATE, "%s", text), TD_E_TEMPLATE);
    assert_string_equal(err.message, text);
    td_while(&err, "loading %s", "a");
    assert_memory_equal(err.message, "loading a: xxx", 14);
    td_error moved = TD_ERROR_INIT;
    td_error_move(&moved, &err);
    assert_int_equal(err.code, TD_OK);
    assert_int_equal(strlen(moved.message), strlen(text) + strlen("loading a: "));
    assert_int_equal(moved.message_len, strlen(moved.message));
    td_error_clear(&moved);
    td_fail_text(&err, TD_E_TEMPLATE, TD_NO_OFFSET, TD_STR("a\0b"));
    td_while(&err, "in %s", "c");
    assert_int_equal(err.message_len, 9);
    assert_memory_equal(err.message, "in c: a\0b", 10);
    td_error_clear(&err);
}

static void error_survives_a_failed_allocation(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'y', sizeof text);
    td_error err = TD_ERROR_INIT;
    td_alloc_fail_at = 1;
    td_fail_text(&err, TD_E_INPUT, TD_NO_OFFSET, (td_str){ text, sizeof text });
    td_alloc_fail_at = 0;
    assert_int_equal(strlen(err.message), sizeof err.text - 1);
    td_error_clear(&err);
}

static void locate_counts_code_points_and_draws_a_caret(void **state)
{
    (void)state;
    td_error err = TD_ERROR_INIT;
    td_str source = TD_STR("one\ntw\xC3\xB6 {{ x }}");
    td_fail_at(&err, TD_E_TEMPLATE, 12, "unexpected");
    td_error_locate(&err, source);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 8);
    assert_string_equal(err.excerpt, "tw\xC3\xB6 {{ x }}\n       ^");
    td_error_clear(&err);
}

static void arena_stops_at_its_limit(void **state)
{
    (void)state;
    td_arena a = { .limit = 100000 };
    size_t got = 0;
    while (td_arena_alloc(&a, 1000, 8) != NULL)
        got += 1000;
    assert_true(a.over_limit);
    assert_true(got >= 90000 && a.total <= a.limit);
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_arena_fail(&a, &err), TD_E_LIMIT);
    td_error_clear(&err);
    td_arena_done(&a);
}

static void arena_rewinds_to_a_mark(void **state)
{
    (void)state;
    td_arena a = { 0 };
    char *first = td_arena_alloc(&a, 10, 1);
    assert_non_null(first);
    td_arena_mark m = td_arena_save(&a);
    assert_non_null(td_arena_alloc(&a, 1 << 20, 16));
    td_arena_rewind(&a, m);
    assert_true(td_arena_holds(&a, first) && td_arena_holds(&a, first + 9));
    assert_false(td_arena_holds(&a, &a));
#ifndef TD_SELFCHECK /* where each allocation has a block of its own, which is not kept */
    assert_ptr_equal(td_arena_alloc(&a, 1, 1), first + 10);
    td_arena_reset(&a);
    assert_true(a.total > 0);
#endif
    td_arena_done(&a);
    assert_int_equal(a.total, 0);
}

static void buf_refuses_what_exceeds_its_limit(void **state)
{
    (void)state;
    td_buf b = { .limit = 10 };
    assert_int_equal(td_buf_put(&b, TD_STR("0123456789")), TD_OK);
    assert_int_equal(td_buf_byte(&b, 'x'), TD_E_LIMIT);
    assert_str(td_buf_view(&b), "0123456789");
    td_buf_done(&b);
}

static void utf8_check_finds_the_first_bad_byte(void **state)
{
    (void)state;
    assert_int_equal(td_utf8_check_strict(TD_STR("abcdefgh\xC3\xA9")), 10);
    assert_int_equal(td_utf8_check_strict(TD_STR("abcdefgh\xC3")), 8);
    assert_int_equal(td_utf8_check_strict(TD_STR("\xED\xA0\x80")), 0);
    assert_int_equal(td_utf8_check(TD_STR("\xED\xA0\x80")), 3);
    assert_int_equal(td_utf8_check(TD_STR("\xF4\x90\x80\x80")), 0);
    assert_int_equal(td_utf8_check(TD_STR("\xC0\x80")), 0);
}

static void ascii_runs_end_at_the_first_other_byte(void **state)
{
    (void)state;
    for (size_t len = 1; len <= 200; len++) {
        char *exact = malloc(len); /* so that reading beyond the end shows */
        assert_non_null(exact);
        memset(exact, 'a', len);
        assert_int_equal(td_utf8_ascii_run((td_str){ exact, len }), len);
        for (size_t at = len; at-- > 0;) { /* others behind the first one change nothing */
            exact[at] = (char)0x80;
            assert_int_equal(td_utf8_ascii_run((td_str){ exact, len }), at);
        }
        free(exact);
    }
    assert_int_equal(td_utf8_ascii_run((td_str){ NULL, 0 }), 0);
}

static void str_finds_forward_and_backward(void **state)
{
    (void)state;
    td_str s = TD_STR("a</t>b</t>c");
    assert_int_equal(td_str_find(s, TD_STR("</t>"), 0), 1);
    assert_int_equal(td_str_find(s, TD_STR("</t>"), 2), 6);
    assert_int_equal(td_str_rfind(s, TD_STR("</t>")), 6);
    assert_true(td_str_find(s, TD_STR("x"), 0) == TD_NOT_FOUND);
    assert_true(td_str_rfind(s, TD_STR("x")) == TD_NOT_FOUND);
    assert_int_equal(td_str_rfind(s, TD_STR("")), s.len);
}

/* Offset of the first bad byte, by the table of well-formed sequences, one byte after the other. */
static size_t slow_check(const unsigned char *s, size_t n, bool surrogates)
{
    static const unsigned char rows[][4] = {
        /* lead bytes from, to; second byte from, to */
        { 0xC2, 0xDF, 0x80, 0xBF }, { 0xE0, 0xE0, 0xA0, 0xBF }, { 0xE1, 0xEC, 0x80, 0xBF },
        { 0xED, 0xED, 0x80, 0x9F }, { 0xEE, 0xEF, 0x80, 0xBF }, { 0xF0, 0xF0, 0x90, 0xBF },
        { 0xF1, 0xF3, 0x80, 0xBF }, { 0xF4, 0xF4, 0x80, 0x8F },
    };
    size_t i = 0;
    while (i < n) {
        size_t len = s[i] < 0x80 ? 1 : s[i] < 0xE0 ? 2 : s[i] < 0xF0 ? 3 : 4;
        bool good = len == 1;
        for (size_t r = 0; r < sizeof rows / sizeof *rows && len > 1 && i + len <= n; r++)
            if (s[i] >= rows[r][0] && s[i] <= rows[r][1]) {
                unsigned char last = surrogates && s[i] == 0xED ? 0xBF : rows[r][3];
                good = s[i + 1] >= rows[r][2] && s[i + 1] <= last;
            }
        for (size_t k = 2; k < len && good; k++)
            good = s[i + k] >= 0x80 && s[i + k] <= 0xBF;
        if (!good)
            return i;
        i += len;
    }
    return n;
}

static void utf8_check_agrees_with_the_table(void **state)
{
    (void)state;
    static const unsigned char edges[] = { 0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                           0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                           0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF };
    static const char *const fillers[] = { "a", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80" };
    uint32_t random = 12345;
    for (int n = 0; n < 400000; n++) {
        unsigned char s[80];
        size_t len = 0;
        while (len < 76) { /* mostly good text */
            const char *f = fillers[(random = random * 1664525 + 1013904223) >> 30];
            memcpy(s + len, f, strlen(f));
            len += strlen(f);
        }
        for (int k = 0; k < 1 + n % 4; k++) { /* spoiled, mostly side by side */
            random = random * 1664525 + 1013904223;
            size_t at = k > 0 && n % 3 ? (size_t)(n % 70) + (size_t)k : (random >> 8) % len;
            s[at] = edges[(random >> 20) % sizeof edges];
        }
        td_str text = { (const char *)s, len - (size_t)n % 5 };
        assert_int_equal(td_utf8_check(text), slow_check(s, text.len, true));
        assert_int_equal(td_utf8_check_strict(text), slow_check(s, text.len, false));
    }
}

static void places_of_bits_are_in_order(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        uint64_t places = td_bit_places[byte];
        for (unsigned rest = byte; rest != 0; rest &= rest - 1, places >>= 8)
            assert_int_equal(places & 255, __builtin_ctz(rest));
        for (int i = __builtin_popcount(byte); i < 8; i++, places >>= 8)
            assert_true((places & 255) < 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_keeps_long_messages_whole),
        cmocka_unit_test(error_survives_a_failed_allocation),
        cmocka_unit_test(locate_counts_code_points_and_draws_a_caret),
        cmocka_unit_test(arena_stops_at_its_limit),
        cmocka_unit_test(arena_rewinds_to_a_mark),
        cmocka_unit_test(buf_refuses_what_exceeds_its_limit),
        cmocka_unit_test(utf8_check_finds_the_first_bad_byte),
        cmocka_unit_test(str_finds_forward_and_backward),
        cmocka_unit_test(utf8_check_agrees_with_the_table),
        cmocka_unit_test(ascii_runs_end_at_the_first_other_byte),
        cmocka_unit_test(places_of_bits_are_in_order),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}

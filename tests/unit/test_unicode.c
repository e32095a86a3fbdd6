/* Points of src/unicode that a reader should know; conformance tests compare every code point with
 * the references. */
#include "test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cpu.h"
#include "base/utf8.h"
#include "unicode/generated/norm.h"
#include "unicode/norm.h"
#include "unicode/unicode.h"
#include "unicode/unicode_ref.h"

typedef td_code (*method)(td_buf *out, td_str s);

static void check_method(method run, td_str s, td_str expected)
{
    td_buf out = { 0 };
    assert_int_equal(td_buf_append(&out, ">", 1), TD_OK);
    assert_int_equal(run(&out, s), TD_OK);
    assert_int_equal(out.len, expected.len + 1);
    assert_memory_equal(out.ptr + 1, expected.ptr, expected.len);
    td_buf_done(&out);
}

#define CHECK(run, text, expected) check_method(run, TD_STR(text), TD_STR(expected))

static td_code nfc(td_buf *out, td_str s)
{
    return td_norm(TD_NFC, out, s);
}

static td_code nfd(td_buf *out, td_str s)
{
    return td_norm(TD_NFD, out, s);
}

static td_code nfkc(td_buf *out, td_str s)
{
    return td_norm(TD_NFKC, out, s);
}

static void test_predicates(void **state)
{
    (void)state;
    assert_true(td_py_isspace(0x1C)); /* Python's own set is wider than White_Space */
    assert_true(td_py_isspace(0x3000));
    assert_false(td_py_isspace(0x200B));
    assert_true(td_py_isdecimal(0x664));
    assert_int_equal(td_py_decimal_value(0x664), 4);
    assert_int_equal(td_py_decimal_value('x'), -1);
    assert_true(td_py_isdigit(0xB2) && !td_py_isdecimal(0xB2));
    assert_true(td_py_isnumeric(0xBD) && !td_py_isdigit(0xBD));
    assert_true(td_py_istitle(0x1C5) && !td_py_istitle('A'));
    assert_true(td_py_is_id_start('_') && !td_py_is_id_start('1') && td_py_is_id_continue('1'));
    assert_false(td_py_isprintable(0xA0) || td_py_isprintable(0xD800));
    /* Nothing is known of what is no code point, and nothing changes it. */
    uint32_t out[3];
    assert_false(td_py_isalnum(0x110000) || td_py_isprintable(UINT32_MAX));
    assert_int_equal(td_py_to_upper(UINT32_MAX, out), 1);
    assert_true(out[0] == UINT32_MAX);
    assert_int_equal(td_re_bits(UINT32_MAX), 0);
}

static void test_case(void **state)
{
    (void)state;
    CHECK(td_py_upper, "", "");
    CHECK(td_py_upper,
          "stra\xC3\x9F"
          "e {z}",
          "STRASSE {Z}");
    CHECK(td_py_lower, "\xC3\x84[AZ]@`", "\xC3\xA4[az]@`");
    CHECK(td_py_title, "o'neill's 3rd \xC7\x86", "O'Neill'S 3Rd \xC7\x85");
    CHECK(td_py_capitalize, "\xEF\xAC\x81N", "Fin");
    CHECK(td_py_swapcase, "aB\xC3\x9F", "AbSS");
    CHECK(td_py_casefold, "\xC3\x9F\xE1\xBA\x9E", "ssss");
    /* A surrogate is text like any other. */
    CHECK(td_py_upper,
          "a\xED\xA0\x80"
          "b",
          "A\xED\xA0\x80"
          "B");
}

static void test_final_sigma(void **state)
{
    (void)state;
    CHECK(td_py_lower, "\xCE\xA3", "\xCF\x83");
    CHECK(td_py_lower, "A\xCE\xA3", "a\xCF\x82");
    CHECK(td_py_lower,
          "A\xCE\xA3"
          "B",
          "a\xCF\x83"
          "b");
    CHECK(td_py_lower, "A.\xCC\x81\xCE\xA3'\xCC\x81 B", "a.\xCC\x81\xCF\x82'\xCC\x81 b");
    CHECK(td_py_title, "a\xCE\xA3 \xCE\xA3", "A\xCF\x82 \xCE\xA3");
    CHECK(td_py_swapcase, "a\xCE\xA3", "A\xCF\x82");
}

static void test_strip(void **state)
{
    (void)state;
    assert_str(td_py_strip(TD_STR(" \t\x1F\xC2\x85\xE3\x80\x80x y\xE2\x80\xA8\n")), "x y");
    assert_str(td_py_lstrip(TD_STR("\xC3\xA9 ")), "\xC3\xA9 ");
    assert_str(td_py_rstrip(TD_STR(" \xC3\xA9 ")), " \xC3\xA9");
    assert_str(td_py_strip(TD_STR(" \r\n\v\f ")), "");
    assert_str(td_py_strip((td_str){ NULL, 0 }), "");
}

static void test_classes(void **state)
{
    (void)state;
    size_t count = 0, again = 0;
    const td_range *han = td_re_class(TD_STR("Han"), &count);
    assert_non_null(han);
    assert_true(td_re_in_class(han, count, 0x4E00));
    assert_false(td_re_in_class(han, count, 0x3042));
    assert_false(td_re_in_class(han, count, UINT32_MAX));
    assert_ptr_equal(td_re_class(TD_STR(" h-A_n"), &again), han);
    assert_int_equal(again, count);
    assert_null(td_re_class(TD_STR("Klingon"), &count));
    assert_null(td_re_class(TD_STR(""), &count));
    const td_range *space = td_re_class(TD_STR("space"), &count);
    for (uint32_t c = 0; c < 0x3100; c++)
        assert_int_equal(td_re_in_class(space, count, c), (td_re_bits(c) & TD_RE_S) != 0);
    assert_int_equal(td_re_bits('A'), TD_RE_L | TD_RE_LU);
    assert_int_equal(td_re_bits('+'), TD_RE_SYM);
    assert_int_equal(td_re_bits(0x301), TD_RE_M);
}

static void test_components(void **state)
{
    (void)state;
    uint32_t out[3];
    assert_true(td_tk_is_whitespace(0x85) && !td_tk_is_whitespace(0x1C));
    assert_true(td_tk_is_control(0x85) && td_tk_is_cleaned_to_space('\n'));
    assert_true(td_tk_is_punctuation('$') && !td_tk_is_punctuation(0xA3));
    assert_true(td_tk_is_chinese(0x4E00) && !td_tk_is_chinese(0x3042));
    assert_int_equal(td_tk_to_lower(0x130, out), 2); /* i and a dot */
    assert_true(out[0] == 'i' && out[1] == 0x307);
    assert_int_equal(td_tk_script(0x3042), td_tk_script(0x4E00));
    assert_string_equal(td_tk_script_name(td_tk_script(0x4E00)), "Han");
    assert_int_equal(td_tk_script(' '), TD_TK_ANY);
    assert_null(td_tk_script_name(1000));
    assert_false(td_tk_is_word(UINT32_MAX) || td_tk_is_numeric(UINT32_MAX));
    /* k, K and the sign for kelvin. */
    assert_int_equal(td_re_case_variants('k', out), 2);
    assert_true(out[0] == 'K' && out[1] == 0x212A);
    assert_int_equal(td_re_case_variants('1', out), 0);
    assert_int_equal(td_re_new_case_variant('k'), 0);
    assert_int_equal(td_re_new_case_variant(0x10D50), 0x10D70);
}

static void test_norm(void **state)
{
    (void)state;
    CHECK(nfc, "", "");
    CHECK(nfc, "e\xCC\x81 A\xCC\x8A", "\xC3\xA9 \xC3\x85");
    CHECK(nfc, "\xE2\x84\xAB", "\xC3\x85");
    CHECK(nfd, "\xC3\xA9t", "e\xCC\x81t");
    CHECK(nfkc, "\xEF\xAC\x81\xC2\xBD",
          "fi1\xE2\x81\x84"
          "2");
    /* Hangul: two letters and a tail; the one in front of the first tail is none. */
    CHECK(nfc, "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", "\xEA\xB0\x81");
    CHECK(nfc, "\xEA\xB0\x80\xE1\x86\xA7", "\xEA\xB0\x80\xE1\x86\xA7");
    CHECK(nfd, "\xEA\xB0\x81", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8");
    /* Marks are sorted; one of the same class in between blocks composition. */
    CHECK(nfc, "a\xCC\x81\xCC\xA3", "\xE1\xBA\xA1\xCC\x81");
    CHECK(nfc, "a\xCC\x94\xCC\x81", "a\xCC\x94\xCC\x81");
    /* Of Unicode 14: composes there, not in the reference. */
    CHECK(nfc, "\xF0\x91\xA4\xB5\xF0\x91\xA4\xB0", "\xF0\x91\xA4\xB5\xF0\x91\xA4\xB0");
}

static void test_quick(void **state)
{
    (void)state;
    assert_true(td_norm_is_quick(TD_NFC, TD_STR("")));
    assert_true(td_norm_is_quick(TD_NFC, TD_STR("plain ASCII \xC3\xA9 \xE6\xBC\xA2\xEA\xB0\x81")));
    assert_false(td_norm_is_quick(TD_NFD, TD_STR("\xC3\xA9")));
    assert_false(td_norm_is_quick(TD_NFC, TD_STR("e\xCC\x81")));
    assert_true(td_norm_is_quick(TD_NFD, TD_STR("e\xCC\xA3\xCC\x81")));
    assert_false(td_norm_is_quick(TD_NFD, TD_STR("e\xCC\x81\xCC\xA3")));
}

/* The quick check by its definition. */
static norm_span span_of(td_norm_form form, td_str s)
{
    norm_span span = { 0, s.len };
    unsigned last = 0;
    for (const char *p = s.ptr, *end = p + s.len; p < end;) {
        size_t here = (size_t)(p - s.ptr);
        unsigned flags = norm_flags(td_utf8_next(&p, end)), ccc = flags & 0xFF;
        if ((flags & 256u << form) != 0 || (ccc != 0 && ccc < last)) {
            span.stop = here;
            break;
        }
        if (ccc == 0)
            span.safe = here;
        last = ccc;
    }
    return span;
}

/* Each character at each place of a run, and in front of it and behind it. */
static void test_quick_runs(void **state)
{
    (void)state;
    static const char han[] = "\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA\xE6\xB0\x91\xE5\x92\x8C"
                              "\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA\xE6\xB0\x91\xE5\x92\x8C"
                              "\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA\xE6\xB0\x91\xE5\x92\x8C"
                              "\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA\xE6\xB0\x91\xE5\x92\x8C";
    static const char *const ends[] = { "", " ", "\xC3\xA9", "\xCC\x81", "\xF0\x9F\x98\x80" };
    for (uint32_t c = 1; c < 0x110000; c += c == 0xD7FF ? 0x801 : 1) {
        char text[160];
        size_t run = 3 * (c % 20), n = 0, rest = 3 * (c / 20 % 20);
        const char *front = ends[c % 5], *back = ends[c / 5 % 5];
        memcpy(text, front, strlen(front));
        n += strlen(front);
        memcpy(text + n, han, run);
        n += run;
        n += td_utf8_put(text + n, c);
        memcpy(text + n, han, rest);
        n += rest;
        memcpy(text + n, back, strlen(back));
        td_str s = { text, n + strlen(back) };
        for (int form = 0; form < 4; form++) {
            norm_span want = span_of((td_norm_form)form, s);
            norm_span got = norm_quick_span((td_norm_form)form, s, 0);
            assert_int_equal(got.stop, want.stop);
            assert_int_equal(got.safe, want.safe);
        }
    }
}

/* A character among others that are certain: they are passed, it is not if it is in doubt. */
static void check_doubt(const td_doubts *doubts, uint32_t c, bool doubtful)
{
    char text[100];
    memset(text, c == 'a' ? 'b' : 'a', sizeof text);
    char *at = text + c % 60;
    size_t n = td_utf8_put(at, c);
    const char *p = td_doubts_skip(doubts, text, text + sizeof text);
    if (td_cpu_best() < TD_CPU_AVX2)
        assert_ptr_equal(p, text);
    else
        assert_true(p == at || (!doubtful && p >= at + n));
}

static void test_doubts(void **state)
{
    (void)state;
    td_doubts made[4] = { 0 };
    for (uint32_t c = 1; c < 0x110000; c += c == 0xD7FF ? 0x801 : 1) {
        td_doubts only = { 0 };
        if (c < 0x10000)
            td_doubts_add(&only, c);
        check_doubt(&only, c, true);
        for (int form = 0; form < 4; form++) {
            bool doubtful = (norm_flags(c) & (256u << form | 0xFF)) != 0;
            check_doubt(&norm_doubts[form], c, doubtful || c >= 0x10000);
            if (doubtful && c < 0x10000)
                td_doubts_add(&made[form], c);
        }
    }
    assert_memory_equal(made, norm_doubts, sizeof made);
}

/* What vectors skip is certain by the tables. */
static void test_skip(void **state)
{
    (void)state;
    if (!norm_can_skip())
        return;
    for (uint32_t c = 1; c < 0x110000; c += c == 0xD7FF ? 0x801 : 1) {
        char text[100];
        memset(text, 'a', sizeof text);
        size_t at = c % 60, n = td_utf8_put(text + at, c);
        bool certain = (norm_flags(c) & (256u << TD_NFC | 0xFF)) == 0;
        const char *p = norm_skip_nfc(text, text + sizeof text);
        assert_true(p == text + at || (certain && p >= text + at + n));
        assert_true(c >= 0x80 || p > text + at);
    }
}

enum { MARKS = 100000 };

/* A window that needs the heap, sorted by counting; n marks of each of two classes. */
static void test_many_marks(void **state)
{
    (void)state;
    td_buf in = { 0 }, out = { 0 };
    assert_int_equal(td_buf_byte(&in, 'o'), TD_OK);
    for (int i = 0; i < MARKS; i++)
        assert_int_equal(td_buf_put(&in, TD_STR("\xCC\x95\xCC\xA2")), TD_OK);
    assert_int_equal(td_norm(TD_NFD, &out, td_buf_view(&in)), TD_OK);
    assert_int_equal(out.len, in.len);
    for (size_t i = 0; i < MARKS; i++) {
        assert_memory_equal(out.ptr + 1 + 2 * i, "\xCC\xA2", 2);
        assert_memory_equal(out.ptr + 1 + 2 * (MARKS + i), "\xCC\x95", 2);
    }
    td_buf_done(&in);
    td_buf_done(&out);
}

/* After a failure the output is what it was; the nth allocation fails until none is left to. */
static void test_failures(void **state)
{
    (void)state;
    td_buf in = { 0 };
    for (int i = 0; i < 300; i++)
        assert_int_equal(td_buf_put(&in, TD_STR("\xCC\x81\xCC\xA3")), TD_OK);
    for (size_t n = 1;; n++) {
        td_buf out = { 0 };
        td_alloc_fail_at = n;
        td_code code = td_norm(TD_NFC, &out, td_buf_view(&in));
        td_alloc_fail_at = 0;
        if (code != TD_OK)
            assert_int_equal(out.len, 0);
        td_buf_done(&out);
        if (code == TD_OK) {
            assert_true(n > 2);
            break;
        }
        assert_int_equal(code, TD_E_INTERNAL);
    }
    td_buf out = { .limit = 8 };
    assert_int_equal(td_buf_byte(&out, 'x'), TD_OK);
    assert_int_equal(td_norm(TD_NFC, &out, td_buf_view(&in)), TD_E_LIMIT);
    assert_int_equal(td_py_upper(&out, TD_STR("0123\xC3\xA9\xC3\xA9")), TD_E_LIMIT);
    assert_int_equal(td_py_title(&out, TD_STR("0123\xC3\xA9\xC3\xA9")), TD_E_LIMIT);
    assert_int_equal(out.len, 1);
    td_buf_done(&out);
    td_buf_done(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_predicates),  cmocka_unit_test(test_case),
        cmocka_unit_test(test_final_sigma), cmocka_unit_test(test_strip),
        cmocka_unit_test(test_classes),     cmocka_unit_test(test_components),
        cmocka_unit_test(test_norm),        cmocka_unit_test(test_quick),
        cmocka_unit_test(test_quick_runs),  cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_many_marks),  cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

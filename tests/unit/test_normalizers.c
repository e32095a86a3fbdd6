/* The short way through normalizers, which passes and copies stretches, gives what they make of
 * the same text character by character: for each character between others, with and without
 * alignments. */
#include "tokenizers.h"

#include "base/utf8.h"
#include "tokenizer/norm/norm.h"

#define HAN \
    "\xE4\xB8\xAD\xE5\x9B\xBD\xE4\xBA\xBA\xE6\xB0\x91 \xE5\x85\xB1\xE5\x92\x8C\xED\x95\x9C"

/* What stands around: kept, changed or dropped by some normalizer, of each length, and runs that
 * are longer than what is taken at once. */
static const char *const around[] = {
    "", "a", "A", " ", "\n", "\x01", "\xC3\xA9", "\xC3\x89", "\xC2\x8F", "\xCC\x81",
    "\xE4\xB8\xAD", "\xE3\x81\x8B", "\xE3\x81\x8C", "\xE3\x82\x99", "\xED\x95\x9C",
    "\xE2\x80\x8B", "\xEF\xBC\x8C", "\xF0\x9F\x98\x80",
    HAN, HAN HAN HAN HAN HAN,
    "plain ASCII, and more of it than goes into a vector",
};
enum { AROUND = sizeof around / sizeof *around, LONGEST = 120, AT_ONCE = 8 /* characters */ };

/* to: where the original ends; characters behind it, which only alignments know, are not edited. */
static void check(const tk_norm *norm, td_str s, bool track, uint32_t to)
{
    tk_ctx plain = { .input = s, .track = track, .plainly = true }, fast = plain;
    fast.plainly = false;
    tk_text want = { .ptr = s.ptr, .len = (uint32_t)s.len, .to = to }, got;
    td_error err = TD_ERROR_INIT;
    if (track)
        assert_int_equal(tk_text_track(&plain, &want, &err), TD_OK);
    got = want;
    assert_int_equal(tk_norm_apply(norm, &plain, &want, &err), TD_OK);
    assert_int_equal(tk_norm_apply(norm, &fast, &got, &err), TD_OK);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
    assert_int_equal(got.align != NULL, track);
    if (track)
        assert_memory_equal(got.align, want.align, want.len * sizeof *want.align);
    td_arena_done(&plain.arena);
    td_arena_done(&fast.arena);
}

/* Few of those that are treated as all others that far up. */
static uint32_t after(uint32_t c)
{
    return c == 0xD7FF ? 0xE000 : c < 0x20000 ? c + 1 : c + 61;
}

static void check_all(const char *normalizer)
{
    char json[512], text[AT_ONCE * (LONGEST + 4)];
    snprintf(json, sizeof json,
             "{\"normalizer\":%s,\"model\":"
             "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}",
             normalizer);
    td_tokenizer *tok = load(json);
    for (uint32_t c = 0; c < 0x110000;) {
        size_t n = 0;
        for (int i = 0; i < AT_ONCE && c < 0x110000; i++, c = after(c)) {
            const char *front = around[pick(AROUND)];
            memcpy(text + n, front, strlen(front));
            n += strlen(front);
            n += td_utf8_put(text + n, c);
        }
        check(tok->norm, (td_str){ text, n }, /* track= */ false, (uint32_t)n);
        check(tok->norm, (td_str){ text, n }, /* track= */ true, (uint32_t)n - (pick(4) == 0));
    }
    td_tokenizer_free(tok);
}

static void test_nmt(void **unused)
{
    (void)unused;
    check_all("{\"type\":\"Nmt\"}");
}

static void test_lowercase(void **unused)
{
    (void)unused;
    check_all("{\"type\":\"Lowercase\"}");
}

static void test_strip_accents(void **unused)
{
    (void)unused;
    check_all("{\"type\":\"StripAccents\"}");
}

static void test_bert(void **unused)
{
    (void)unused;
    check_all("{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
              "\"strip_accents\":null,\"lowercase\":true}");
    check_all("{\"type\":\"BertNormalizer\",\"clean_text\":false,\"handle_chinese_chars\":false,"
              "\"strip_accents\":true,\"lowercase\":false}");
}

/* A text that stays is not copied. */
static void test_stays(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{\"normalizer\":{\"type\":\"Nmt\"},\"model\":"
                             "{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"}}");
    td_str s = TD_STR("plain \xE4\xB8\xAD\xE5\x9B\xBD, \xED\x95\x9C \xC3\xA9");
    tk_ctx ctx = { .input = s };
    tk_text text = { .ptr = s.ptr, .len = (uint32_t)s.len, .to = (uint32_t)s.len };
    td_error err = TD_ERROR_INIT;
    assert_int_equal(tk_norm_apply(tok->norm, &ctx, &text, &err), TD_OK);
    assert_ptr_equal(text.ptr, s.ptr);
    assert_int_equal(text.len, s.len);
    td_arena_done(&ctx.arena);
    td_tokenizer_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nmt),           cmocka_unit_test(test_lowercase),
        cmocka_unit_test(test_strip_accents), cmocka_unit_test(test_bert),
        cmocka_unit_test(test_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

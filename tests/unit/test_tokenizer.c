/* The fast ways of encoding against the general one, on real tokenizers where they are present
 * (TD_MODELS or the user's cache), and the rules of loading on small ones. */
#include "tokenizers.h"

#include "base/utf8.h"
#include "tokenizer/segments.h"

/* ---- small tokenizers ---- */

static void refused(const char *json, const char *message)
{
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_not_equal(td_tokenizer_new_from_json(td_str_from(json), &tok, &err), TD_OK);
    assert_null(tok);
    assert_string_equal(err.message, message);
    td_error_clear(&err);
}

#define MODEL                                                                                      \
    "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, "               \
    "\"merges\": [\"a b\"]}"

static void test_unknown_components(void **unused)
{
    (void)unused;
    refused("{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
            "\"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true}, "
            "{\"type\": \"Wordy\"}]}, " MODEL "}",
            "pre_tokenizer.pretokenizers[1].type: unsupported pre-tokenizer 'Wordy'");
    refused("{\"normalizer\": {\"type\": \"NFX\"}, " MODEL "}",
            "normalizer.type: unsupported normalizer 'NFX'");
    refused("{\"decoder\": {\"type\": \"X\"}, " MODEL "}", "decoder.type: unsupported decoder 'X'");
    refused("{\"post_processor\": {\"type\": \"X\"}, " MODEL "}",
            "post_processor.type: unsupported post-processor 'X'");
    refused("{\"model\": {\"type\": \"Huge\", \"vocab\": {}}}",
            "model.type: unsupported model 'Huge'");
    refused("{}", "model: missing");
    refused("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}}",
            "model.merges: merge 0: 'b' is not in the vocabulary");
    refused("{\"model\": {\"type\": \"BPE\", \"dropout\": 0.1, \"vocab\": {}, \"merges\": []}}",
            "model.dropout: unsupported: dropout makes encoding random");
}

/* What one call gave is good enough for the next one: to ids and back, again and again. */
static void test_own_results(void **unused)
{
    (void)unused;
    static const char *const files[] = {
        "{" MODEL "}",
        "{\"model\": {\"type\": \"WordLevel\", \"unk_token\": \"u\", \"vocab\": {\"u\": 0, "
        "\"ab\": 1, \"b\": 2}}, \"pre_tokenizer\": {\"type\": \"WhitespaceSplit\"}, "
        "\"normalizer\": {\"type\": \"NFC\"}}",
    };
    enum { WORDS = 3000 };
    char *text = malloc(3 * WORDS);
    assert_non_null(text);
    size_t len = 0;
    for (int i = 0; i < WORDS; i++) {
        const char *word = i % 3 != 0 ? "ab " : "b ";
        memcpy(text + len, word, strlen(word));
        len += strlen(word);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        td_tokenizer *tok = load(files[i]);
        td_encoder *enc = td_encoder_new(tok);
        td_error err = TD_ERROR_INIT;
        td_str s = { text, len - 1 };
        for (int round = 0; round < 3; round++) {
            td_ids ids;
            assert_int_equal(td_encode(enc, s, TD_ENCODE_OFFSETS, &ids, &err), TD_OK);
            assert_int_equal(td_decode(enc, ids.ids, ids.count, 0, &s, &err), TD_OK);
            assert_int_equal(s.len, len - 1);
            assert_memory_equal(s.ptr, text, len - 1);
        }
        td_encoder_free(enc);
        td_tokenizer_free(tok);
    }
    free(text);
}

static void test_small(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{" MODEL ", \"added_tokens\": [{\"id\": 9, \"content\": \"<x>\", "
                             "\"single_word\": false, \"lstrip\": true, \"rstrip\": false, "
                             "\"normalized\": false, \"special\": true}]}");
    td_encoder *enc = td_encoder_new(tok);
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    assert_int_equal(td_encode(enc, TD_STR("abb  <x>zaab"), TD_ENCODE_OFFSETS, &ids, &err), TD_OK);
    static const td_id want[] = { 2, 1, 3, 0, 2 }; /* unknown characters vanish */
    assert_int_equal(ids.count, 5);
    assert_memory_equal(ids.ids, want, sizeof want);
    assert_int_equal(ids.starts[2], 3);
    assert_int_equal(ids.ends[2], 8);
    td_str text;
    assert_int_equal(td_decode(enc, ids.ids, 5, TD_DECODE_SKIP_SPECIAL, &text, &err), TD_OK);
    assert_str(text, "ab b a ab");
    assert_int_equal(td_encode(enc, TD_STR("a\xED\xA0\x80"), 0, &ids, &err), TD_E_TOKENIZER);
    assert_int_equal(err.offset, 1);
    td_error_clear(&err);
    assert_int_equal(td_tokenizer_vocab_size(tok), 4);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

/* ---- real ones ---- */

enum { TEXT_MAX = 1 << 16 };

/* Random characters, and tokens of the vocabulary one after the other, which reach most merges. */
static size_t random_text(td_encoder *enc, char *out, uint32_t parts)
{
    const td_tokenizer *tok = enc->tok;
    size_t len = 0;
    bool one_script = pick(3) == 0;
    for (uint32_t i = 0; i < parts && len < TEXT_MAX - 1024; i++) {
        uint32_t kind = one_script ? 2 : pick(4);
        if (kind == 0) {
            uint32_t c = pick(pick(2) ? 0x80 : 0x20000);
            len += td_utf8_put(out + len, c >= 0xD800 && c < 0xE000 ? ' ' : c);
            continue;
        }
        td_id id = pick((uint32_t)td_tokenizer_vocab_size(tok));
        td_str text;
        td_error err = TD_ERROR_INIT;
        assert_int_equal(td_decode(enc, &id, 1, 0, &text, &err), TD_OK);
        if (text.len > 200 || (one_script && (text.len == 0 || (unsigned char)text.ptr[0] < 0xE0)))
            continue;
        if (text.len != 0)
            memcpy(out + len, text.ptr, text.len);
        len += text.len;
    }
    return len;
}

static size_t sum_segments(td_encoder *enc, td_cutter *c, td_str text, unsigned flags)
{
    td_error err = TD_ERROR_INIT;
    td_segment s;
    size_t total = 0, n;
    assert_int_equal(td_cutter_start(c, text, flags, &err), TD_OK);
    while (td_cutter_next(c, &s)) {
        assert_int_equal(td_segment_count(enc, &s, &n, &err), TD_OK);
        total += n;
    }
    return total;
}

static void compare(td_encoder *fast, td_encoder *general, td_cutter *cutter, td_str text,
                    unsigned flags)
{
    td_error err = TD_ERROR_INIT;
    td_ids a, b;
    size_t count;
    assert_int_equal(td_encode(fast, text, flags, &a, &err), TD_OK);
    assert_int_equal(td_encode(general, text, flags, &b, &err), TD_OK);
    if (a.count != b.count ||
        (a.count != 0 && memcmp(a.ids, b.ids, a.count * sizeof *a.ids) != 0)) {
        print_error("text: %.*s\nhex:", (int)text.len, text.ptr);
        for (size_t i = 0; i < text.len; i++)
            print_error(" %02x", (unsigned char)text.ptr[i]);
        fail_msg("fast %zu ids, general %zu", a.count, b.count);
    }
    size_t want = b.count;
    assert_int_equal(td_count(fast, text, flags, &count, &err), TD_OK);
    assert_int_equal(count, want);
    assert_int_equal(sum_segments(fast, cutter, text, flags), want);
    assert_int_equal(td_encode(fast, text, flags | TD_ENCODE_OFFSETS, &a, &err), TD_OK);
    assert_int_equal(td_encode(general, text, flags | TD_ENCODE_OFFSETS, &b, &err), TD_OK);
    for (size_t i = 0; i < want; i++)
        if (a.ids[i] != b.ids[i] || a.starts[i] != b.starts[i] || a.ends[i] != b.ends[i])
            fail_msg("id %zu: %u to %u, general %u to %u", i, a.starts[i], a.ends[i], b.starts[i],
                     b.ends[i]);
}

static void run_model(const char *name, int rounds)
{
    td_tokenizer *tok = load_real(name);
    assert_non_null(tok->fast);
    td_encoder *fast = td_encoder_new(tok), *general = td_encoder_new(tok);
    td_encoder *uncached = td_encoder_new(tok);
    td_cutter *cutter = td_cutter_new(fast);
    char *text = malloc(TEXT_MAX);
    assert_non_null(text);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    tk_encoder_force(uncached, TK_FORCE_UNCACHED);
    for (int i = 0; i < rounds; i++) {
        size_t len = random_text(fast, text, i % 100 == 0 ? 4000 : 1 + pick(40));
        char *exact = malloc(len);
        assert_non_null(exact);
        memcpy(exact, text, len);
        unsigned flags = i % 3 == 0 ? TD_ENCODE_ADD_SPECIAL : i % 3 == 1 ? TD_ENCODE_PLAIN_TEXT : 0;
        compare(fast, general, cutter, (td_str){ exact, len }, flags);
        if (i % 8 == 0)
            compare(uncached, general, cutter, (td_str){ exact, len }, flags);
        free(exact);
    }
    free(text);
    td_cutter_free(cutter);
    td_encoder_free(uncached);
    td_encoder_free(general);
    td_encoder_free(fast);
    td_tokenizer_free(tok);
}

#define REAL(NAME)                                                                                 \
    static void test_##NAME(void **unused)                                                         \
    {                                                                                              \
        (void)unused;                                                                              \
        run_model(#NAME, 3000);                                                                    \
    }

REAL(qwen3)
REAL(llama3_1)
REAL(gptoss)
REAL(gpt35turbo)
REAL(deepseek_v3)
REAL(claude)
REAL(llama2)
REAL(gemma3)

/* Runs of one character: nothing may be quadratic. */
static void test_runs(void **unused)
{
    (void)unused;
    static const char *const units[] = {
        "a", " ", "\n", "1", "!", "é", "中", "\xCC\x81", "😀", " \n",
    };
    td_tokenizer *tok = load_real("qwen3");
    td_encoder *enc = td_encoder_new(tok);
    size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        size_t n = strlen(units[k]), len = 0, count = 0;
        td_error err = TD_ERROR_INIT;
        for (; len + n <= size; len += n)
            memcpy(text + len, units[k], n);
        assert_int_equal(td_count(enc, (td_str){ text, len }, 0, &count, &err), TD_OK);
        assert_true(count > 0);
    }
    free(text);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

/* One long word needs many times its length to be merged: that memory is bounded, and a text that
 * failed leaves the encoder as it was. */
static void test_memory(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"aa\": 1}, "
                             "\"merges\": [\"a a\"]}}");
    enum { LONG = 200000 };
    char *text = malloc(LONG);
    assert_non_null(text);
    memset(text, 'a', LONG);
    static const size_t bounds[] = { 1 << 20, 1 << 26, 0 };
    for (int i = 0; i < 6; i++) {
        td_encoder *enc = td_encoder_new(tok);
        tk_encoder_force(enc, i % 2 == 0 ? 0 : TK_FORCE_GENERAL);
        td_encoder_set_memory(enc, bounds[i / 2]);
        td_error err = TD_ERROR_INIT;
        size_t count = 0;
        td_code code = td_count(enc, (td_str){ text, LONG }, 0, &count, &err);
        if (i < 2) {
            assert_int_equal(code, TD_E_LIMIT);
            assert_string_equal(err.message, "more than 1048576 bytes of memory needed");
            assert_true(enc->ctx.arena.total <= 1 << 20);
            td_error_clear(&err);
        } else {
            assert_int_equal(code, TD_OK);
            assert_int_equal(count, LONG / 2);
        }
        assert_int_equal(td_count(enc, TD_STR("aaa"), 0, &count, &err), TD_OK);
        assert_int_equal(count, 2);
        td_encoder_free(enc);
    }
    free(text);
    td_tokenizer_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_components), cmocka_unit_test(test_small),
        cmocka_unit_test(test_own_results),
        cmocka_unit_test(test_qwen3),              cmocka_unit_test(test_llama3_1),
        cmocka_unit_test(test_gptoss),             cmocka_unit_test(test_gpt35turbo),
        cmocka_unit_test(test_deepseek_v3),        cmocka_unit_test(test_claude),
        cmocka_unit_test(test_llama2),             cmocka_unit_test(test_gemma3),
        cmocka_unit_test(test_runs),               cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

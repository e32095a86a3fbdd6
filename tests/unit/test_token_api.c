/* The calls around encoding: batches, offsets in code points, streams, lengths that a file sets. */
#include "tokenizers.h"

#include "base/str.h"

#define VOCAB                                                                                      \
    "\"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2, \"é\": 3, \"<0xC3>\": 4, \"<0xA9>\": 5, "         \
    "\"<s>\": 6}, \"merges\": [\"a b\"]"
#define MODEL "\"model\": {\"type\": \"BPE\", " VOCAB "}"
#define SPECIAL                                                                                    \
    "\"added_tokens\": [{\"id\": 6, \"content\": \"<s>\", \"single_word\": false, \"lstrip\": "    \
    "false, \"rstrip\": false, \"normalized\": false, \"special\": true}]"
#define BYTES                                                                                      \
    "\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": \"ByteFallback\"}, "          \
    "{\"type\": \"Fuse\"}]}"
#define TRUNCATION(side, length)                                                                   \
    "\"truncation\": {\"direction\": \"" side "\", \"max_length\": " length                        \
    ", \"strategy\": \"LongestFirst\", \"stride\": 0}"
#define PADDING(side, strategy)                                                                    \
    "\"padding\": {\"strategy\": " strategy ", \"direction\": \"" side                             \
    "\", \"pad_to_multiple_of\": 2, \"pad_id\": 9, \"pad_type_id\": 0, \"pad_token\": \"p\"}"

static void assert_ids(const td_id *got, size_t count, const td_id *want, size_t want_count)
{
    assert_int_equal(count, want_count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(got[i], want[i]);
}
#define IDS(got, count, ...)                                                                       \
    assert_ids(got, count, (const td_id[]){ __VA_ARGS__ },                                         \
               sizeof((const td_id[]){ __VA_ARGS__ }) / sizeof(td_id))

static void test_code_points(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{" SPECIAL ", " MODEL "}");
    td_encoder *enc = td_encoder_new(tok);
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    td_str text = TD_STR("éab<s>é");
    assert_int_equal(td_encode(enc, text, TD_ENCODE_OFFSETS, &ids, &err), TD_OK);
    IDS(ids.ids, ids.count, 3, 2, 6, 3);
    IDS(ids.starts, ids.count, 0, 2, 4, 7);
    unsigned flags = TD_ENCODE_OFFSETS | TD_ENCODE_CODE_POINTS;
    assert_int_equal(td_encode(enc, text, flags, &ids, &err), TD_OK);
    IDS(ids.starts, ids.count, 0, 1, 3, 6);
    IDS(ids.ends, ids.count, 1, 3, 6, 7);
    assert_int_equal(td_encode(enc, text, TD_ENCODE_CODE_POINTS, &ids, &err), TD_OK);
    assert_null(ids.starts);
    assert_true(td_token_is_special(tok, 6));
    assert_false(td_token_is_special(tok, 2));
    assert_false(td_token_is_special(tok, 600));
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

/* Byte tokens of a prefix push later tokens behind the text, where trimming must not look. */
static void test_places_behind_the_text(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{\"post_processor\": {\"type\": \"ByteLevel\", \"add_prefix_space\": "
                             "false, \"trim_offsets\": true}, \"model\": {\"type\": \"BPE\", "
                             "\"byte_fallback\": true, \"continuing_subword_prefix\": \" \", "
                             "\"vocab\": {\"a\": 0, \" x\": 1, \"<0x20>\": 2, \"<0xC3>\": 3, "
                             "\"<0xA9>\": 4}, \"merges\": []}}");
    td_encoder *enc = td_encoder_new(tok);
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    char *text = malloc(4); /* so that reading beyond it shows */
    assert_non_null(text);
    memcpy(text, "a\xC3\xA9x", 4);
    unsigned flags = TD_ENCODE_OFFSETS | TD_ENCODE_CODE_POINTS;
    assert_int_equal(td_encode(enc, (td_str){ text, 4 }, TD_ENCODE_OFFSETS, &ids, &err), TD_OK);
    IDS(ids.ids, ids.count, 0, 2, 3, 4, 1);
    assert_int_equal(td_encode(enc, (td_str){ text, 4 }, flags, &ids, &err), TD_OK);
    IDS(ids.starts, ids.count, 0, 1, 1, 2, 5);
    IDS(ids.ends, ids.count, 1, 2, 2, 3, 5);
    free(text);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

static void test_batch(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{" MODEL "}");
    td_encoder *enc = td_encoder_new(tok);
    td_error err = TD_ERROR_INIT;
    td_batch batch;
    assert_int_equal(td_encode_batch(enc, NULL, 0, 0, &batch, &err), TD_OK);
    assert_int_equal(batch.first[0], 0);
    const td_str texts[] = { TD_STR("aba"), TD_STR(""), TD_STR("éb") };
    assert_int_equal(td_encode_batch(enc, texts, 3, TD_ENCODE_OFFSETS, &batch, &err), TD_OK);
    assert_int_equal(batch.text_count, 3);
    IDS(batch.ids, batch.first[3], 2, 0, 3, 1);
    IDS(batch.ends, batch.first[3], 2, 3, 2, 3);
    assert_int_equal(batch.first[1], 2);
    assert_int_equal(batch.first[2], 2);
    assert_int_equal(td_encode_batch(enc, texts, 3, 0, &batch, &err), TD_OK);
    assert_null(batch.starts);
    const td_str bad[] = { TD_STR("a"), TD_STR("b\xFF") };
    assert_int_equal(td_encode_batch(enc, bad, 2, 0, &batch, &err), TD_E_TOKENIZER);
    assert_string_equal(err.message, "text 1: text is not valid UTF-8 at byte 1");
    td_error_clear(&err);
    assert_int_equal(td_encode_batch(enc, bad, 2, 0, &batch, NULL), TD_E_TOKENIZER);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

static void expect_step(td_decode_stream *s, td_id id, const char *want)
{
    td_error err = TD_ERROR_INIT;
    td_str text;
    assert_int_equal(td_decode_stream_step(s, &id, 1, &text, &err), TD_OK);
    if (want == NULL) {
        assert_null(text.ptr);
    } else {
        assert_non_null(text.ptr);
        assert_true(td_str_eq(text, td_str_from(want)));
    }
}

static void test_stream(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{" SPECIAL ", " BYTES ", " MODEL "}");
    td_decode_stream *s = td_decode_stream_new(tok, NULL, 0, TD_DECODE_SKIP_SPECIAL);
    expect_step(s, 0, "a");
    expect_step(s, 4, NULL); /* half of a character */
    expect_step(s, 5, "é");
    expect_step(s, 6, NULL); /* special */
    expect_step(s, 2, "ab");
    expect_step(s, 777, NULL); /* no token */
    td_error err = TD_ERROR_INIT;
    td_str text;
    static const td_id many[] = { 1, 4, 5, 3 };
    assert_int_equal(td_decode_stream_step(s, many, 4, &text, &err), TD_OK);
    assert_true(td_str_eq(text, TD_STR("béé")));
    assert_int_equal(td_decode_stream_step(s, many, 0, &text, &err), TD_OK);
    assert_null(text.ptr);
    td_decode_stream_free(s);
    static const td_id prompt[] = { 1, 4 };
    s = td_decode_stream_new(tok, prompt, 1, 0);
    expect_step(s, 3, "é");
    td_decode_stream_free(s);
    s = td_decode_stream_new(tok, prompt, 2, 0); /* an incomplete prompt is given out */
    expect_step(s, 5, "bé");
    td_decode_stream_free(s);
    td_tokenizer_free(tok);
}

/* A decoder that looks at what stands behind changes what was given out. */
static void test_stream_that_changes(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load("{\"decoder\": {\"type\": \"Sequence\", \"decoders\": [{\"type\": "
                             "\"Fuse\"}, {\"type\": \"Replace\", \"pattern\": {\"String\": "
                             "\"ba\"}, \"content\": \"xyz\"}]}, " MODEL "}");
    td_decode_stream *s = td_decode_stream_new(tok, NULL, 0, 0);
    expect_step(s, 1, "b");
    td_error err = TD_ERROR_INIT;
    td_str text;
    static const td_id a = 0;
    assert_int_equal(td_decode_stream_step(s, &a, 1, &text, &err), TD_E_TOKENIZER);
    assert_string_equal(err.message, "the decoder changes text that the stream has given out");
    td_error_clear(&err);
    td_decode_stream_free(s);
    td_tokenizer_free(tok);
}

static void test_limits(void **unused)
{
    (void)unused;
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    size_t count;
    td_tokenizer *tok =
        load("{" TRUNCATION("Left", "3") ", " PADDING("Left", "{\"Fixed\": 5}") ", " MODEL "}");
    td_encoder *enc = td_encoder_new(tok);
    assert_int_equal(td_encode(enc, TD_STR("abbaa"), 0, &ids, &err), TD_OK);
    IDS(ids.ids, ids.count, 9, 9, 9, 1, 0, 0);
    assert_int_equal(td_encode(enc, TD_STR("ab"), TD_ENCODE_OFFSETS, &ids, &err), TD_OK);
    IDS(ids.ids, ids.count, 9, 9, 9, 9, 9, 2);
    IDS(ids.ends, ids.count, 0, 0, 0, 0, 0, 2);
    assert_int_equal(td_count(enc, TD_STR(""), 0, &count, &err), TD_OK);
    assert_int_equal(count, 6);
    td_encoder_free(enc);
    td_tokenizer_free(tok);

    tok = load("{" PADDING("Right", "\"BatchLongest\"") ", " MODEL "}");
    enc = td_encoder_new(tok);
    const td_str texts[] = { TD_STR("a"), TD_STR("aaa"), TD_STR("") };
    td_batch batch;
    assert_int_equal(td_encode_batch(enc, texts, 3, TD_ENCODE_OFFSETS, &batch, &err), TD_OK);
    IDS(batch.ids, batch.first[3], 0, 9, 9, 9, 0, 0, 0, 9, 9, 9, 9, 9);
    IDS(batch.ends, batch.first[3], 1, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0);
    td_encoder_free(enc);
    td_tokenizer_free(tok);

    tok = load("{" PADDING("Right", "{\"Fixed\": 18446744073709551614}") ", " MODEL "}");
    enc = td_encoder_new(tok);
    assert_int_equal(td_count(enc, TD_STR("a"), 0, &count, &err), TD_E_LIMIT);
    td_error_clear(&err);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_points),
        cmocka_unit_test(test_places_behind_the_text),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_stream_that_changes),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Cutting texts: at every place that is said to be safe the ids of both sides are those of the
 * whole; segments add up; texts that start alike have the same segments. */
#include "tokenizers.h"

#include "base/utf8.h"
#include "tokenizer/chunks.h"
#include "tokenizer/segments.h"

enum { TEXT_MAX = 1 << 16 };

/* What stands around places to cut: letters of the lists and beside them, marks, and characters
 * that compose, fold or look like others. */
static const char *const bits[] = {
    "a",
    "Z",
    "s",
    "re",
    "word",
    "Word",
    "WORD",
    "\xC3\xA9",
    "e\xCC\x81",
    "\xD0\x94\xD0\xB0",
    "\xD0\xB8",
    "\xCC\x86",
    "\xE4\xB8\xAD",
    "\xE6\x96\x87",
    "\xE3\x81\x8B",
    "\xE3\x82\x99",
    "\xE3\x82\xAB",
    "\xED\x95\x9C",
    "\xE1\x86\xA8",
    "\xE1\x84\x80",
    "\xEA\xB0\x80",
    "1",
    "42",
    "1234",
    "\xC2\xB2",
    "\xE2\x85\xAB",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    " \n",
    "\n\n",
    "   ",
    "\xC2\xA0",
    "\xE3\x80\x80",
    "\xC2\x85",
    "'",
    "'s",
    "'LL",
    "'\xC5\xBF",
    ".",
    ",",
    ", ",
    "://",
    "{\"",
    "\": ",
    "();",
    "<",
    "=",
    ">",
    "\xCC\xB8",
    "_",
    "`",
    "^",
    "|",
    "<|",
    "|>",
    "EOT",
    "<|EOT|>",
    "\xEF\xBC\x8C",
    "\xE3\x80\x82",
    "\xE3\x80\x81",
    "\xEF\xBD\x9C",
    "\xE2\x96\x81",
    "User",
    "\xF0\x9F\x98\x80",
    "\xEF\xBC\xA1",
    "\xC5\xBF",
    "\xE2\x84\xAA",
    "\x01",
    "<s>",
    "</s>",
};

static td_str random_text(td_encoder *enc, char *out, size_t want)
{
    size_t len = 0;
    uint32_t own = pick(3), run = 0;
    const char *again = "";
    while (len < want) {
        td_error err = TD_ERROR_INIT;
        td_id id = pick((uint32_t)td_tokenizer_vocab_size(enc->tok));
        td_str text = { NULL, 0 };
        if (run != 0) {
            run--;
            text = td_str_from(again);
        } else if (pick(3) < own) {
            text = td_str_from(again = bits[pick(sizeof bits / sizeof *bits)]);
            run = pick(50) == 0 ? pick(30) : 0;
        } else if (enc->tok->added.count != 0 && pick(8) == 0) {
            text = enc->tok->added.tokens[pick(enc->tok->added.count)].content;
        } else {
            assert_int_equal(td_decode(enc, &id, 1, 0, &text, &err), TD_OK);
        }
        if (text.len > 200 || td_utf8_check_strict(text) != text.len)
            continue;
        if (text.len != 0)
            memcpy(out + len, text.ptr, text.len);
        len += text.len;
    }
    return (td_str){ out, len };
}

static size_t encode(td_encoder *enc, td_str text, unsigned flags, td_id *out)
{
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    if (td_encode(enc, text, flags, &ids, &err) != TD_OK)
        fail_msg("%s", err.message);
    if (ids.count != 0)
        memcpy(out, ids.ids, ids.count * sizeof *out);
    return ids.count;
}

static void show(td_str text, size_t at)
{
    print_error("cut at %zu of %.*s\nhex:", at, (int)text.len, text.ptr);
    for (size_t i = 0; i < text.len; i++)
        print_error(" %02x", (unsigned char)text.ptr[i]);
    print_error("\n");
}

/* Every place of a short text. Returns how many were safe. */
static size_t check_places(const tk_chunks *c, td_encoder *enc, td_str text, unsigned how)
{
    unsigned flags = how | TK_ENCODE_NO_RAW | TK_ENCODE_NO_POST;
    static td_id want[TEXT_MAX], got[TEXT_MAX];
    size_t n = encode(enc, text, flags, want), places = 0;
    for (size_t at = 1; at < text.len; at++) {
        if (td_utf8_is_cont(text.ptr[at]) || !tk_chunks_can_cut(c, text, 0, at, text.len))
            continue;
        td_str a = { text.ptr, at }, b = { text.ptr + at, text.len - at };
        size_t m = encode(enc, a, flags, got);
        m += encode(enc, b, flags | TK_ENCODE_JOINED, got + m);
        if (m != n || memcmp(want, got, n * sizeof *want) != 0) {
            show(text, at);
            fail_msg("%zu ids, in two parts %zu", n, m);
        }
        places++;
    }
    return places;
}

typedef struct cut_list {
    size_t count, ends[TEXT_MAX];
} cut_list;

static void cut(td_encoder *enc, td_cutter *c, td_str text, unsigned flags, cut_list *ret)
{
    td_error err = TD_ERROR_INIT;
    size_t sum = 0, want, n, at = 0;
    ret->count = 0;
    assert_int_equal(td_cutter_start(c, text, flags, &err), TD_OK);
    for (td_segment s; td_cutter_next(c, &s);) {
        assert_int_equal(td_segment_count(enc, &s, &n, &err), TD_OK);
        assert_ptr_equal(s.text.ptr, text.ptr + at); /* no gaps */
        at += s.text.len;
        ret->ends[ret->count++] = at;
        sum += n;
    }
    assert_int_equal(at, text.len);
    assert_int_equal(td_count(enc, text, flags, &want, &err), TD_OK);
    if (sum != want) {
        show(text, 0);
        fail_msg("%zu ids, in segments %zu", want, sum);
    }
}

/* The same by stretches. Returns how many there are. */
static size_t cut_stretches(td_encoder *enc, td_cutter *c, td_str text, unsigned flags)
{
    td_error err = TD_ERROR_INIT;
    size_t sum = 0, want, n, at = 0, stretches = 0;
    assert_int_equal(td_cutter_begin(c, text, flags, &err), TD_OK);
    for (td_segment stretch; td_cutter_stretch(c, &stretch); stretches++) {
        assert_ptr_equal(stretch.text.ptr, text.ptr + at);
        assert_int_equal(td_cutter_enter(c, &stretch, &err), TD_OK);
        for (td_segment s; td_cutter_next(c, &s);) {
            assert_int_equal(td_segment_count(enc, &s, &n, &err), TD_OK);
            assert_ptr_equal(s.text.ptr, text.ptr + at);
            at += s.text.len;
            sum += n;
        }
        assert_ptr_equal(stretch.text.ptr + stretch.text.len, text.ptr + at);
    }
    assert_int_equal(at, text.len);
    assert_int_equal(td_count(enc, text, flags, &want, &err), TD_OK);
    if (sum != want) {
        show(text, 0);
        fail_msg("%zu ids, in stretches %zu", want, sum);
    }
    return stretches;
}

/* Segments of text[0, a) and text[0, b) are the same but for the last two of the shorter one. */
static void check_prefix(td_encoder *enc, td_cutter *c, td_str text, unsigned flags)
{
    static cut_list all, part;
    size_t len = text.len == 0 ? 0 : pick((uint32_t)text.len);
    while (len != 0 && td_utf8_is_cont(text.ptr[len]))
        len--;
    cut(enc, c, text, flags, &all);
    cut(enc, c, (td_str){ text.ptr, len }, flags, &part);
    for (size_t i = 0; i + 2 < part.count; i++)
        assert_int_equal(part.ends[i], all.ends[i]);
}

static void check_fast(td_encoder *enc, td_encoder *general, td_str text, unsigned flags)
{
    static td_id want[TEXT_MAX], got[TEXT_MAX];
    size_t n = encode(general, text, flags, want), m = encode(enc, text, flags, got);
    if (m != n || memcmp(want, got, n * sizeof *want) != 0) {
        show(text, 0);
        fail_msg("%zu ids, the fast way %zu", n, m);
    }
}

/* How many places are safe in segments, and how many whatever added tokens there are. */
typedef struct place_counts {
    size_t places, open;
} place_counts;

static place_counts run(td_tokenizer *tok, int rounds)
{
    static const unsigned hows[] = { 0, TD_ENCODE_PLAIN_TEXT, TD_ENCODE_ADD_SPECIAL };
    td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    td_cutter *cutter = td_cutter_new(enc), *often = td_cutter_new(enc);
    tk_cutter_force_short(often);
    tk_chunks chunks;
    tk_chunks_init(&chunks, tok);
    static char text[TEXT_MAX + 256];
    place_counts found = { 0, 0 };
    for (int i = 0; i < rounds; i++) {
        td_str t = random_text(enc, text, 1 + pick(120));
        found.places += check_places(&chunks, i % 4 == 0 ? general : enc, t,
                                     i % 3 == 0 ? TD_ENCODE_PLAIN_TEXT : 0);
        size_t stretches = i % 2 == 0 ? cut_stretches(enc, often, t, hows[i % 3]) : 0;
        found.open += stretches != 0 ? stretches - 1 : 0;
        check_fast(enc, general, t, i % 5 == 0 ? TK_ENCODE_JOINED : 0);
        if (i % 100 == 25)
            cut_stretches(enc, cutter, random_text(enc, text, pick(60000)), hows[i % 3]);
        if (i % 50 == 0)
            check_prefix(enc, cutter, random_text(enc, text, pick(40000)),
                         i % 100 == 0 ? TD_ENCODE_ADD_SPECIAL : TD_ENCODE_PLAIN_TEXT);
    }
    td_cutter_free(often);
    td_cutter_free(cutter);
    td_encoder_free(general);
    td_encoder_free(enc);
    return found;
}

#define REAL(NAME)                                                                                 \
    static void test_##NAME(void **unused)                                                         \
    {                                                                                              \
        (void)unused;                                                                              \
        td_tokenizer *tok = load_real(#NAME);                                                      \
        place_counts found = run(tok, 3000);                                                       \
        if (found.places < 1000 || found.open < 1000) /* there are places at all */                \
            fail_msg("%zu places, %zu open", found.places, found.open);                            \
        td_tokenizer_free(tok);                                                                    \
    }

REAL(qwen3)
REAL(llama3)
REAL(llama3_1)
REAL(gptoss)
REAL(gpt4o)
REAL(gpt35turbo)
REAL(deepseek_v3)
REAL(claude)
REAL(llama2)
REAL(gemma3)

/* ---- small ones ---- */

static void make_small(char *out, size_t size, const char *norm, const char *pretok,
                       const char *added, const char *options)
{
    size_t n = (size_t)snprintf(out, size,
                                "{\"normalizer\": %s, \"pre_tokenizer\": %s, \"added_tokens\": "
                                "[%s], \"model\": {\"type\": \"BPE\", %s \"vocab\": {",
                                norm, pretok, added, options);
    for (int b = 0; b < 256; b++)
        n += (size_t)snprintf(out + n, size - n, "\"<0x%02X>\": %d, ", b, b);
    snprintf(out + n, size - n,
             "\"\\u2581\": 256, \"a\": 257, \"b\": 258, \"c\": 259, \"\\u4e2d\": 260, "
             "\"\\u2581a\": 261, \"ab\": 262, \"b\\u4e2d\": 263, \"_\": 264, \"a_\": 265, "
             "\"\\u2581\\u2581\": 266, \"_a\": 267}, \"merges\": [[\"\\u2581\", \"a\"], "
             "[\"a\", \"b\"], [\"b\", \"\\u4e2d\"], [\"a\", \"_\"], [\"\\u2581\", \"\\u2581\"], "
             "[\"_\", \"a\"]]}}");
}

#define SPACES(TO)                                                                                 \
    "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"" TO "\"}"
#define HEAD "{\"type\": \"Prepend\", \"prepend\": \"\\u2581\"}"
#define LIST(A, B) "{\"type\": \"Sequence\", \"normalizers\": [" A ", " B "]}"
#define MARKS(SCHEME, SPLIT)                                                                       \
    "{\"type\": \"Metaspace\", \"replacement\": \"\\u2581\", \"prepend_scheme\": \"" SCHEME        \
    "\", \"split\": " SPLIT "}"
#define ADDED(TEXT, WORD, LEFT)                                                                    \
    "{\"id\": 300, \"content\": \"" TEXT "\", \"single_word\": " WORD ", \"lstrip\": " LEFT        \
    ", \"rstrip\": false, \"normalized\": true, \"special\": false}"
#define RAW(TEXT, WORD, LEFT, RIGHT)                                                               \
    "{\"id\": 300, \"content\": \"" TEXT "\", \"single_word\": " WORD ", \"lstrip\": " LEFT        \
    ", \"rstrip\": " RIGHT ", \"normalized\": false, \"special\": false}"

static void test_characters(void **unused)
{
    (void)unused;
    static const struct {
        const char *norm, *pretok, *added;
        int cuts; /* 2: only where added tokens are known */
    } cases[] = {
        { "null", "null", "", 1 },
        { "null", MARKS("never", "false"), "", 1 },
        { "null", MARKS("first", "false"), "", 1 },
        { "null", MARKS("always", "false"), "", 1 },
        { "null", MARKS("always", "false"), ADDED("b c", "false", "false"), 0 },
        { "null", MARKS("first", "true"), "", 0 },
        { SPACES("_"), MARKS("first", "false"), "", 0 },
        { SPACES("\\u2581"), "null", "", 1 },
        { LIST(HEAD, SPACES("\\u2581")), "null", "", 1 },
        { LIST(SPACES("\\u2581"), HEAD), "null", "", 1 },
        { LIST(SPACES("_"), HEAD), "null", "", 1 },
        { SPACES("a_"), "null", "", 1 },
        { LIST(HEAD, SPACES("\\u2581")), "null", ADDED("b c", "false", "false"), 1 },
        { LIST(HEAD, SPACES("\\u2581")), "null", ADDED("a", "true", "false"), 0 },
        { LIST(HEAD, SPACES("\\u2581")), "null", ADDED("ca", "false", "true"), 0 },
        { SPACES(""), "null", "", 0 },
        { "{\"type\": \"Lowercase\"}", "null", "", 0 },
        { "{\"type\": \"Replace\", \"pattern\": {\"String\": \"ab\"}, \"content\": \"c\"}", "null",
          "", 0 },
        { "{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": false}", "null", "", 0 },
        { LIST(HEAD, SPACES("\\u2581")), "null", RAW("b a", "false", "false", "false"), 1 },
        { "null", MARKS("first", "false"), RAW("a\\n", "false", "false", "false"), 1 },
        { "null", "null", RAW("b a", "true", "false", "false"), 2 },
        { "null", "null", RAW("b a", "false", "true", "false"), 2 },
        { "null", MARKS("always", "false"), RAW("b", "false", "false", "true"), 2 },
    };
    static char json[1 << 14];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_small(json, sizeof json, cases[i].norm, cases[i].pretok, cases[i].added,
                   "\"byte_fallback\": true,");
        td_tokenizer *tok = load(json);
        place_counts found = run(tok, 2000);
        if ((found.places > 0) != (cases[i].cuts != 0) || (found.open > 0) != (cases[i].cuts == 1))
            fail_msg("%zu: %zu places, %zu open", i, found.places, found.open);
        td_tokenizer_free(tok);
    }
    make_small(json, sizeof json, "null", "null", "", ""); /* unknown characters vanish */
    td_tokenizer *tok = load(json);
    assert_int_equal(run(tok, 100).places, 0);
    td_tokenizer_free(tok);
}

/* A pattern that nobody has proven anything about. */
static void test_unknown_pattern(void **unused)
{
    (void)unused;
    td_tokenizer *tok =
        load("{\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": "
             "\"Split\", \"pattern\": {\"Regex\": \"\\\\p{L}+\\\\s?\"}, \"behavior\": "
             "\"Isolated\", \"invert\": false}, {\"type\": \"ByteLevel\", \"add_prefix_space\": "
             "false, \"trim_offsets\": true, \"use_regex\": false}]}, \"model\": {\"type\": "
             "\"BPE\", \"vocab\": {\"a\": 0, \"\xC4\xA0\": 1, \"a\xC4\xA0\": 2}, \"merges\": "
             "[[\"a\", \"\xC4\xA0\"]]}}");
    assert_int_equal(run(tok, 200).places, 0);
    td_tokenizer_free(tok);
}

/* Chunks of long texts have the sizes that they should have. */
static void test_sizes(void **unused)
{
    (void)unused;
    td_tokenizer *tok = load_real("qwen3");
    td_encoder *enc = td_encoder_new(tok);
    td_cutter *cutter = td_cutter_new(enc);
    static cut_list list;
    static char text[60000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(pick(6) == 0 ? ' ' : 'a' + pick(26));
    cut(enc, cutter, (td_str){ text, sizeof text }, 0, &list);
    assert_true(list.count > sizeof text / TK_CHUNK_MAX);
    for (size_t i = 0; i + 1 < list.count; i++) {
        size_t len = list.ends[i] - (i == 0 ? 0 : list.ends[i - 1]);
        assert_true(len >= TK_CHUNK_MIN && len <= TK_CHUNK_MAX);
    }
    memset(text, '7', sizeof text); /* nowhere to cut */
    cut(enc, cutter, (td_str){ text, sizeof text }, 0, &list);
    assert_int_equal(list.count, 1);
    td_cutter_free(cutter);
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters), cmocka_unit_test(test_unknown_pattern),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_qwen3),
        cmocka_unit_test(test_llama3),     cmocka_unit_test(test_llama3_1),
        cmocka_unit_test(test_gptoss),     cmocka_unit_test(test_gpt4o),
        cmocka_unit_test(test_gpt35turbo), cmocka_unit_test(test_deepseek_v3),
        cmocka_unit_test(test_claude),     cmocka_unit_test(test_llama2),
        cmocka_unit_test(test_gemma3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

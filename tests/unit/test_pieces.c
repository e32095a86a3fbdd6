/* From pieces to tokens where there is no fast way: models of words and of scores against their
 * definitions, pieces that come again, encoding with offsets beside encoding without, and the
 * memory that a text of one character takes. */
#include "tokenizers.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "tokenizer/model/unigram.h"
#include "tokenizer/model/words.h"
#include "tokenizer/regex.h"
#include "tokenizer/segments.h"

enum { ENTRIES = 60, ENTRY_CHARS = 40, TEXT_BYTES = 4096 };

static const char *const letters[] = { "a", "b", "é", "中", " " };

/* Up to most letters out of the first count; returns the bytes. */
static size_t random_word(char *out, uint32_t most, uint32_t count)
{
    size_t len = 0;
    for (uint32_t n = 1 + pick(most); n != 0; n--) {
        const char *s = letters[pick(2) ? 0 : pick(count)];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

/* ---- models against their definitions ---- */

static td_tokenizer *random_wordpiece(void)
{
    td_buf b = { 0 };
    td_buf_put(&b, TD_STR("{\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"?\", "
                          "\"continuing_subword_prefix\": \"##\", "
                          "\"max_input_chars_per_word\": 90, \"vocab\": {\"?\": 0, \"##\": 1"));
    for (uint32_t i = 2; i < ENTRIES; i++) {
        char word[4 * ENTRY_CHARS];
        size_t len = random_word(word, pick(6) ? 4 : ENTRY_CHARS, 4);
        td_buf_printf(&b, ", \"%s%.*s\": %u", pick(3) ? "##" : "", (int)len, word, i);
    }
    td_buf_put(&b, TD_STR("}}}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

/* The longest entry at the front of what is left, again and again; ret has room. Returns how many
 * tokens there are. */
static size_t words_plainly(const td_tokenizer *tok, td_str word, td_id *ret)
{
    size_t n = 0;
    bool good = td_utf8_count(word) <= tk_as_wordpiece(tok->model)->max_chars;
    for (size_t at = 0, end; good && at < word.len; at = end) {
        char entry[TEXT_BYTES + 2] = "##";
        size_t head = at != 0 ? 2 : 0;
        good = false;
        memcpy(entry + head, word.ptr + at, word.len - at);
        for (end = word.len; end > at && !good; end -= !good)
            good = tok->model->token_to_id(tok->model, (td_str){ entry, head + end - at }, &ret[n]);
        n += good;
    }
    if (!good)
        ret[0] = 0;
    return good ? n : 1;
}

static td_tokenizer *random_unigram(void)
{
    td_buf b = { 0 };
    td_buf_put(&b, TD_STR("{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, "
                          "\"vocab\": [[\"?\", 0]"));
    for (uint32_t i = 1; i < ENTRIES; i++) {
        char word[4 * ENTRY_CHARS];
        size_t len = random_word(word, pick(6) ? 4 : ENTRY_CHARS, 5);
        td_buf_printf(&b, ", [\"%.*s\", -%u.%u]", (int)len, word, 1 + pick(9), pick(4));
    }
    td_buf_put(&b, TD_STR("]}}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

/* Every text that ends at a place is tried, the earliest start first; unknown characters side by
 * side are one token. Returns the number of tokens, whose ends go to ends and ids to ret. */
static size_t scores_plainly(const tk_unigram *u, td_str text, td_id *ret, uint32_t *ends)
{
    static double sums[TEXT_BYTES + 1];
    static uint32_t froms[TEXT_BYTES + 1];
    static td_id ids[TEXT_BYTES + 1];
    sums[0] = 0;
    for (uint32_t to = 1; to <= text.len; to++) {
        froms[to] = UINT32_MAX;
        if (to < text.len && td_utf8_is_cont(text.ptr[to]))
            continue;
        for (uint32_t from = to > 4 * ENTRY_CHARS ? to - 4 * ENTRY_CHARS : 0; from < to; from++) {
            td_str part = { text.ptr + from, to - from };
            td_id id = u->unk;
            double score = u->unk_score;
            if (td_utf8_is_cont(text.ptr[from]))
                continue;
            if (tk_vocab_find(u->vocab, part, &id))
                score = u->scores[id];
            else if (td_utf8_count(part) != 1)
                continue;
            if (froms[to] != UINT32_MAX && !(score + sums[from] > sums[to]))
                continue;
            sums[to] = score + sums[from];
            froms[to] = from;
            ids[to] = id;
        }
    }
    static uint32_t stack[TEXT_BYTES];
    size_t depth = 0, n = 0;
    for (uint32_t at = (uint32_t)text.len; at != 0; at = froms[at])
        stack[depth++] = at;
    while (depth != 0) {
        uint32_t end = stack[--depth];
        bool joins = n != 0 && ids[end] == u->unk && ret[n - 1] == u->unk;
        n -= joins;
        ret[n] = ids[end];
        ends[n++] = end;
    }
    return n;
}

static void test_wordpiece(void **unused)
{
    (void)unused;
    static td_id want[TEXT_BYTES];
    for (int round = 0; round < 60; round++) {
        td_tokenizer *tok = random_wordpiece();
        td_encoder *enc = td_encoder_new(tok);
        for (int i = 0; i < 60; i++) {
            char word[TEXT_BYTES];
            td_str s = { word, random_word(word, 100, 4) };
            td_error err = TD_ERROR_INIT;
            td_ids got;
            size_t n = words_plainly(tok, s, want);
            assert_int_equal(td_encode(enc, s, 0, &got, &err), TD_OK);
            assert_int_equal(got.count, n);
            assert_memory_equal(got.ids, want, n * sizeof *want);
        }
        td_encoder_free(enc);
        td_tokenizer_free(tok);
    }
}

static void test_unigram(void **unused)
{
    (void)unused;
    static td_id want[TEXT_BYTES];
    static uint32_t ends[TEXT_BYTES];
    for (int round = 0; round < 60; round++) {
        td_tokenizer *tok = random_unigram();
        td_encoder *enc = td_encoder_new(tok);
        for (int i = 0; i < 20; i++) {
            char word[TEXT_BYTES];
            td_str s = { word, random_word(word, i % 10 ? 60 : 1000, 5) };
            td_error err = TD_ERROR_INIT;
            td_ids got;
            size_t n = scores_plainly(tk_as_unigram(tok->model), s, want, ends);
            assert_int_equal(td_encode(enc, s, TD_ENCODE_OFFSETS, &got, &err), TD_OK);
            assert_int_equal(got.count, n);
            assert_memory_equal(got.ids, want, n * sizeof *want);
            assert_memory_equal(got.ends, ends, n * sizeof *ends);
        }
        td_encoder_free(enc);
        td_tokenizer_free(tok);
    }
}

/* ---- pieces ---- */

#define TYPE(NAME) "{\"type\": \"" NAME "\"}"
#define META(MORE) "{\"type\": \"Metaspace\", \"replacement\": \"\xE2\x96\x81\", " MORE "}"

static const char *const pre_tokenizers[] = {
    TYPE("WhitespaceSplit"),
    TYPE("Whitespace"),
    TYPE("BertPreTokenizer"),
    META("\"prepend_scheme\": \"always\", \"split\": true"),
    META("\"prepend_scheme\": \"first\", \"split\": true"),
    META("\"prepend_scheme\": \"never\", \"split\": true"),
    META("\"prepend_scheme\": \"always\", \"split\": false"),
    "{\"type\": \"ByteLevel\", \"add_prefix_space\": true, \"trim_offsets\": false}",
    "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", \"individual_digits\": "
    "true}, {\"type\": \"Punctuation\", \"behavior\": \"MergedWithNext\"}, " TYPE("UnicodeScripts")
    ", " META("\"prepend_scheme\": \"first\", \"split\": true") "]}",
    "{\"type\": \"Split\", \"pattern\": {\"String\": \"a\"}, \"behavior\": \"MergedWithNext\", "
    "\"invert\": false}",
};
enum { PRE_TOKENIZERS = sizeof pre_tokenizers / sizeof *pre_tokenizers };

static const char *const models[] = {
    "{\"type\": \"WordPiece\", \"unk_token\": \"?\", \"continuing_subword_prefix\": \"##\", "
    "\"max_input_chars_per_word\": 10000000, \"vocab\": {\"?\": 0, \"a\": 1, \"##a\": 2, \"b\": 3, "
    "\"##b\": 4, \"\xE2\x96\x81\": 5, \"##7\": 6, \"7\": 7, \"!\": 8, \"##ab\": 9}}",
    "{\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"?\", 0], [\"a\", -1], [\"b\", -2], "
    "[\"ab\", -2.5], [\"\xE2\x96\x81\", -1], [\"\xE2\x96\x81" "a\", -1.5], [\"7\", -3]]}",
    "{\"type\": \"BPE\", \"unk_token\": \"?\", \"fuse_unk\": true, \"vocab\": {\"?\": 0, \"a\": 1, "
    "\"b\": 2, \"ab\": 3, \"\xE2\x96\x81\": 4, \"\xE2\x96\x81" "a\": 5, \"7\": 6}, "
    "\"merges\": [\"a b\", \"\xE2\x96\x81 a\"]}",
    "{\"type\": \"WordLevel\", \"unk_token\": \"?\", \"vocab\": {\"?\": 0, \"a\": 1, \"ab\": 2, "
    "\"\xE2\x96\x81\": 3, \"7\": 4}}",
};
enum { MODELS = sizeof models / sizeof *models };

static const char *const normalizers[] = {
    "null",
    "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \" \"}",
    "{\"type\": \"Sequence\", \"normalizers\": [" TYPE("NFKC") ", {\"type\": \"Replace\", "
    "\"pattern\": {\"Regex\": \"\\\\s+\"}, \"content\": \"\"}, " TYPE("Lowercase") "]}",
};
enum { NORMALIZERS = sizeof normalizers / sizeof *normalizers };

static td_tokenizer *load_three(const char *normalizer, const char *pre_tokenizer,
                                const char *model)
{
    td_buf b = { 0 };
    td_buf_printf(&b, "{\"normalizer\": %s, \"pre_tokenizer\": %s, \"model\": %s}", normalizer,
                  pre_tokenizer, model);
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

static void test_offsets_change_nothing(void **unused)
{
    (void)unused;
    static const char *const parts[] = { "a", "b", "ab", " ", "  ", "7", "77", "!", "é", "\n",
                                         "\xE2\x96\x81", "\xE4\xB8\xAD", "!!", "<",
                                         "\xEF\xAC\x81", "e\xCC\x81", "\xE3\x80\x80" };
    for (uint32_t k = 0; k < PRE_TOKENIZERS * MODELS * NORMALIZERS; k++) {
        td_tokenizer *tok = load_three(normalizers[k / PRE_TOKENIZERS / MODELS],
                                       pre_tokenizers[k % PRE_TOKENIZERS],
                                       models[k / PRE_TOKENIZERS % MODELS]);
        assert_false(tok->norm != NULL && tok->norm->zero_width);
        td_encoder *a = td_encoder_new(tok), *b = td_encoder_new(tok);
        for (int round = 0; round < 200; round++) {
            td_buf text = { 0 };
            for (uint32_t n = pick(30); n != 0; n--)
                td_buf_put(&text, td_str_from(parts[pick(sizeof parts / sizeof *parts)]));
            td_ids plain, full;
            td_error err = TD_ERROR_INIT;
            td_str s = td_buf_view(&text);
            assert_int_equal(td_encode(a, s, 0, &plain, &err), TD_OK);
            assert_int_equal(td_encode(b, s, TD_ENCODE_OFFSETS, &full, &err), TD_OK);
            assert_int_equal(plain.count, full.count);
            for (size_t i = 0; i < full.count; i++)
                assert_int_equal(plain.ids[i], full.ids[i]);
            td_buf_done(&text);
        }
        td_encoder_free(a);
        td_encoder_free(b);
        td_tokenizer_free(tok);
    }
}

/* Words of a text are encoded as each alone, also where one follows its like. */
static void test_pieces_again(void **unused)
{
    (void)unused;
    static const char *const words[] = { "ab", "ab", "ab", "é", "aba", "ba", "7\xE4\xB8\xAD" };
    for (uint32_t k = 0; k < MODELS; k++) {
        td_tokenizer *tok = load_three("null", TYPE("WhitespaceSplit"), models[k]);
        td_encoder *whole = td_encoder_new(tok), *alone = td_encoder_new(tok);
        for (int round = 0; round < 50; round++) {
            td_buf text = { 0 };
            td_id ids[256];
            uint32_t starts[256], ends[256];
            size_t count = 0;
            td_error err = TD_ERROR_INIT;
            td_ids got;
            for (uint32_t n = 1 + pick(12); n != 0; n--) {
                td_str word = td_str_from(words[pick(sizeof words / sizeof *words)]);
                assert_int_equal(td_encode(alone, word, TD_ENCODE_OFFSETS, &got, &err), TD_OK);
                for (size_t i = 0; i < got.count; i++, count++) {
                    ids[count] = got.ids[i];
                    starts[count] = (uint32_t)text.len + got.starts[i];
                    ends[count] = (uint32_t)text.len + got.ends[i];
                }
                td_buf_put(&text, word);
                td_buf_byte(&text, ' ');
            }
            td_str s = td_buf_view(&text);
            assert_int_equal(td_encode(whole, s, TD_ENCODE_OFFSETS, &got, &err), TD_OK);
            assert_int_equal(got.count, count);
            assert_memory_equal(got.ids, ids, count * sizeof *ids);
            assert_memory_equal(got.starts, starts, count * sizeof *starts);
            assert_memory_equal(got.ends, ends, count * sizeof *ends);
            td_buf_done(&text);
        }
        td_encoder_free(whole);
        td_encoder_free(alone);
        td_tokenizer_free(tok);
    }
}

/* Only patterns that surely take text are known for it. */
static void test_patterns(void **unused)
{
    (void)unused;
    static const struct {
        const char *pattern;
        bool takes;
    } all[] = {
        { " {2,}", true },   { " {2}", true },   { " {2,13}", true }, { "a", true },
        { "a+", true },      { "\\s+", true },   { "\\d", true },     { "\\n{1,}", true },
        { "", false },       { "a*", false },    { "a?", false },     { " {0,2}", false },
        { " {,2}", false },  { " {2,}?", false }, { "a+|", false },   { "\\b", false },
        { "\\s*", false },   { "\\", false },   { "(?=a)", false },  { "^", false },
        { "a+*", false },    { " {2,3,4}", false }, { "[a]*", false }, { "\\Ka", false },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tk_regex *re = NULL;
        td_error err = TD_ERROR_INIT;
        if (tk_regex_new(td_str_from(all[i].pattern), &re, &err) != TD_OK) {
            td_error_clear(&err); /* the engine refuses it */
            continue;
        }
        if (tk_regex_takes_text(re) != all[i].takes)
            fail_msg("'%s'", all[i].pattern);
        tk_regex_free(re);
    }
}

static tk_matches matches(const char *pattern, tk_ctx *ctx, td_str text)
{
    tk_regex *re = NULL;
    tk_matches m = { 0 };
    td_error err = TD_ERROR_INIT;
    assert_int_equal(tk_regex_new(td_str_from(pattern), &re, &err), TD_OK);
    assert_int_equal(tk_regex_matches(re, ctx, text, &m, &err), TD_OK);
    tk_regex_free(re);
    return m;
}

/* One character again and again is found without the engine: as the engine finds it. */
static void test_runs(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = {
        { " +", "(?: )+" },       { " {1,}", "(?: ){1,}" }, { " {2,}", "(?: ){2,}" },
        { " {3,}", "(?: ){3,}" }, { "a{2,}", "(?:a){2,}" }, { " {9,}", "(?: ){9,}" },
    };
    for (uint32_t round = 0; round < 2000; round++) {
        tk_ctx ctx = { 0 };
        char text[300];
        uint32_t len = pick(sizeof text), often = 1 + pick(80);
        for (uint32_t i = 0, left = 0; i < len; i++) {
            left = left != 0 ? left - 1 : pick(often) == 0 ? pick(12) : 0;
            text[i] = left != 0 ? ' ' : pick(often) == 0 ? ' ' : "ab\n"[pick(3)];
        }
        const char *const *pair = pairs[pick(sizeof pairs / sizeof *pairs)];
        td_str s = { text, len };
        tk_matches got = matches(pair[0], &ctx, s), want = matches(pair[1], &ctx, s);
        assert_int_equal(got.count, want.count);
        for (uint32_t i = 0; i < got.count; i++) {
            assert_int_equal(got.items[i].start, want.items[i].start);
            assert_int_equal(got.items[i].end, want.items[i].end);
            assert_int_equal(got.items[i].hit, want.items[i].hit);
        }
        tk_regex_release(&ctx);
        td_arena_done(&ctx.arena);
    }
}

/* Memory is what makes the first pass over one character slow, so there is a bound on it for each
 * byte of the text. */
static void test_memory(void **unused)
{
    (void)unused;
    enum { SIZE = 1 << 18, BOUND = 64 << 20 };
    static const char units[] = { 'a', ' ', '7', '!' };
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (uint32_t k = 0; k < PRE_TOKENIZERS * MODELS; k++) {
        td_tokenizer *tok = load_three("null", pre_tokenizers[k % PRE_TOKENIZERS],
                                       models[k / PRE_TOKENIZERS]);
        td_encoder *enc = td_encoder_new(tok);
        td_encoder_set_memory(enc, BOUND);
        for (size_t i = 0; i < sizeof units; i++) {
            size_t count;
            td_error err = TD_ERROR_INIT;
            memset(text, units[i], SIZE);
            td_code code = td_count(enc, (td_str){ text, SIZE }, 0, &count, &err);
            if (code != TD_OK)
                fail_msg("%s, '%c': %s", pre_tokenizers[k % PRE_TOKENIZERS], units[i], err.message);
        }
        td_encoder_free(enc);
        td_tokenizer_free(tok);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wordpiece),
        cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_offsets_change_nothing),
        cmocka_unit_test(test_pieces_again),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Loading: the readers of big JSON sections against bytewise ones, the vocabulary against a list,
 * merges in every spelling that a file can have, and scores. */
#include "tokenizers.h"

#include "base/alloc.h"
#include "tokenizer/load/scan.h"
#include "tokenizer/load/skip.h"
#include "tokenizer/model/unigram.h"
#include "value/number.h"

/* A copy without a byte to spare, so that sanitizers see reads behind it. */
static char *exact(const char *text, size_t len)
{
    char *copy = malloc(len != 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    return copy;
}

/* ---- scanning ---- */

static void test_white_space(void **unused)
{
    (void)unused;
    static const char some[] = " \n\r\t\v\x1f\"a\x80\0";
    for (int round = 0; round < 20000; round++) {
        char text[70];
        uint32_t len = pick(70), calm = pick(2);
        for (uint32_t i = 0; i < len; i++)
            text[i] = some[pick(calm != 0 && pick(30) != 0 ? 4 : 10)];
        uint32_t want = 0;
        while (want < len && strchr(" \n\r\t", text[want]) != NULL && text[want] != '\0')
            want++;
        char *copy = exact(text, len);
        tk_scan s = { .start = copy, .p = copy, .end = copy + len };
        tk_scan_space(&s);
        assert_int_equal(s.p - s.start, want);
        free(copy);
    }
}

static void append(char *to, const char *part)
{
    memcpy(to + strlen(to), part, strlen(part) + 1);
}

static void test_strings(void **unused)
{
    (void)unused;
    static const char *const parts[] = {
        "a", "\xC4\xA0", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "0123456789abcdef"
    };
    static const char *const texts[] = {
        "a", "\xC4\xA0", "\n", "\"", "\\", "\xC3\xA9", "\xF0\x9F\x98\x80", "0123456789abcdef"
    };
    for (int round = 0; round < 20000; round++) {
        char json[400] = "\"", text[400] = "";
        uint32_t calm = pick(2);
        for (uint32_t i = pick(12); i > 0; i--) {
            uint32_t k = pick(calm != 0 ? 2 : 8);
            append(json, parts[k]);
            append(text, texts[k]);
        }
        uint32_t broken = pick(4); /* 0: no end; 1: a control character; else whole */
        if (broken != 0)
            append(json, broken == 1 ? "\x1f" : "\"");
        size_t len = strlen(json), behind = broken > 1 ? pick(30) : 0;
        memset(json + len, 'x', behind);
        char *copy = exact(json, len + behind);
        td_error err = TD_ERROR_INIT;
        tk_scan s = { .start = copy, .p = copy, .end = copy + len + behind, .err = &err };
        td_str got;
        td_code code = tk_scan_string(&s, &got);
        assert_int_equal(code, broken > 1 ? TD_OK : TD_E_INPUT);
        if (code == TD_OK) {
            assert_int_equal(got.len, strlen(text));
            assert_memory_equal(got.len != 0 ? got.ptr : "", text, got.len);
            assert_int_equal(s.p - s.start, len);
        }
        td_error_clear(&err);
        td_buf_done(&s.text);
        free(copy);
    }
}

/* The place behind the bracket that closes the first one, byte by byte; 0: none. */
static size_t closing(const char *text, size_t len)
{
    size_t depth = 0;
    bool inside = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (inside && c == '\\')
            i++;
        else if (c == '"')
            inside = !inside;
        else if (!inside && (c == '[' || c == '{'))
            depth++;
        else if (!inside && (c == ']' || c == '}') && --depth == 0)
            return i + 1;
    }
    return 0;
}

static void test_brackets(void **unused)
{
    (void)unused;
    for (int round = 0; round < 20000; round++) {
        char text[300] = "[";
        uint32_t len = 1 + pick(299), quiet = 1 + pick(8);
        for (uint32_t i = 1; i < len; i++)
            text[i] = pick(quiet) != 0 ? 'a' : "[]{}\"\\a"[pick(7)];
        /* A backslash stands in strings only. */
        bool inside = false;
        for (uint32_t i = 0; i < len; i++) {
            if (text[i] == '\\' && !inside)
                text[i] = 'b';
            else if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                inside = !inside;
        }
        char *copy = exact(text, len);
        const char *end = tk_skip_brackets(copy, copy + len);
        assert_int_equal(end != NULL ? (size_t)(end - copy) : 0, closing(text, len));
        free(copy);
    }
}

static void test_ids(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        bool good;
        uint32_t value;
    } all[] = { { "0", true, 0 },
                { " 17,", true, 17 },
                { "4294967295}", true, UINT32_MAX },
                { "4294967296", false, 0 },
                { "99999999999", false, 0 },
                { "100000000000", false, 0 },
                { "18446744073709551617", false, 0 },
                { "01", false, 0 },
                { "00000000000001", false, 0 },
                { "1.0", false, 0 },
                { "1e2", false, 0 },
                { "-1", false, 0 },
                { "", false, 0 },
                { "x", false, 0 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *copy = exact(all[i].text, strlen(all[i].text));
        td_error err = TD_ERROR_INIT;
        tk_scan s = { .start = copy, .p = copy, .end = copy + strlen(all[i].text), .err = &err };
        uint32_t got = 0;
        assert_int_equal(tk_scan_uint(&s, &got) == TD_OK, all[i].good);
        assert_int_equal(got, all[i].value);
        td_error_clear(&err);
        free(copy);
    }
}

/* ---- the vocabulary ---- */

enum { TEXTS = 600, TEXT_LONGEST = 40 };

static void test_vocab(void **unused)
{
    (void)unused;
    static char texts[TEXTS][TEXT_LONGEST + 1];
    static td_id ids[TEXTS];
    for (uint32_t round = 0; round < 40; round++) {
        uint32_t count = round == 0 ? 0 : pick(TEXTS), kept = 0;
        tk_vocab *v = tk_vocab_new(pick(2) != 0 ? TEXTS : 0);
        assert_non_null(v);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t len = pick(pick(4) != 0 ? 4 : TEXT_LONGEST);
            char text[TEXT_LONGEST + 1] = "";
            for (uint32_t k = 0; k < len; k++)
                text[k] = (char)('a' + pick(3));
            uint32_t at = 0;
            while (at < kept && strcmp(texts[at], text) != 0)
                at++;
            memcpy(texts[at], text, sizeof text);
            ids[at] = i * 3;
            kept += at == kept;
            assert_true(tk_vocab_add(v, td_str_from(text), i * 3));
        }
        assert_true(tk_vocab_seal(v));
        assert_int_equal(v->count, kept);
        uint32_t place = 0;
        for (uint32_t i = 0; i < kept; i++, place = tk_vocab_next(v, place)) {
            td_id id = UINT32_MAX;
            assert_true(tk_vocab_find(v, td_str_from(texts[i]), &id));
            assert_int_equal(id, ids[i]);
            assert_true(td_str_eq(tk_vocab_text(v, place), td_str_from(texts[i])));
            assert_true(td_str_eq(tk_vocab_spell(v, id), td_str_from(texts[i])));
            assert_false(tk_vocab_find(v, TD_STR("no such text"), &id));
        }
        assert_int_equal(place, v->size);
        assert_null(tk_vocab_spell(v, 1).ptr);
        tk_vocab_free(v);
    }
}

/* ---- merges ---- */

enum { TOKENS = 80, TOKEN_LONGEST = 48, MERGES = 120 };

static char tokens[TOKENS][TOKEN_LONGEST + 1];
static uint32_t token_count;
static uint32_t merges[MERGES][3]; /* left, right, product */
static uint32_t merge_count;

static uint32_t token_of(const char *text)
{
    uint32_t i = 0;
    while (i < token_count && strcmp(tokens[i], text) != 0)
        i++;
    if (i == token_count)
        snprintf(tokens[token_count++], sizeof tokens[0], "%s", text);
    return i;
}

/* Tokens of concatenations, among them some whose JSON needs escapes, and merges in any order. */
static void make_merges(void)
{
    static const char *const first[] = { "a", "b", "\"", "\\", "\xC4\xA0", "\xE4\xB8\xAD" };
    token_count = merge_count = 0;
    for (uint32_t i = 0; i < 6; i++)
        token_of(first[i]);
    for (uint32_t tries = 0; tries < 400 && merge_count < MERGES; tries++) {
        uint32_t left = pick(token_count), right = pick(token_count);
        char text[2 * TOKEN_LONGEST + 1];
        snprintf(text, sizeof text, "%s%s", tokens[left], tokens[right]);
        if (token_count == TOKENS || strlen(text) > TOKEN_LONGEST)
            continue;
        uint32_t *m = merges[merge_count++];
        m[0] = left;
        m[1] = right;
        m[2] = token_of(text);
    }
    for (uint32_t i = 0; pick(2) != 0 && i < merge_count; i++) {
        uint32_t other = pick(merge_count), copy[3];
        memcpy(copy, merges[i], sizeof copy);
        memcpy(merges[i], merges[other], sizeof copy);
        memcpy(merges[other], copy, sizeof copy);
    }
}

static void put_text(td_buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            td_buf_byte(out, '\\');
        td_buf_byte(out, *text);
    }
}

/* style: 1 pairs, 2 with white space, 4 merges before vocab. */
static void put_merges(td_buf *out, uint32_t style)
{
    const char *gap = (style & 2) != 0 ? "\n        " : "";
    td_buf_printf(out, "\"merges\":%s[%s", gap, gap);
    for (uint32_t i = 0; i < merge_count; i++) {
        bool pairs = (style & 1) != 0;
        td_buf_printf(out, "%s%s%s%s\"", i != 0 ? "," : "", gap, pairs ? "[" : "",
                      pairs ? gap : "");
        put_text(out, tokens[merges[i][0]]);
        td_buf_printf(out, pairs ? "\"%s,%s\"" : " ", gap, gap);
        put_text(out, tokens[merges[i][1]]);
        td_buf_printf(out, "\"%s%s", pairs ? gap : "", pairs ? "]" : "");
    }
    td_buf_printf(out, "%s]", gap);
}

static void put_vocab(td_buf *out)
{
    td_buf_printf(out, "\"vocab\":{");
    for (uint32_t i = 0; i < token_count; i++) {
        td_buf_printf(out, "%s\"", i != 0 ? "," : "");
        put_text(out, tokens[i]);
        td_buf_printf(out, "\":%u", i);
    }
    td_buf_printf(out, "}");
}

static void check_merges(const tk_bpe *bpe)
{
    uint32_t different = 0;
    for (uint32_t left = 0; left < token_count; left++) {
        for (uint32_t right = 0; right < token_count; right++) {
            uint32_t rank = UINT32_MAX;
            for (uint32_t i = 0; i < merge_count; i++)
                if (merges[i][0] == left && merges[i][1] == right)
                    rank = i;
            td_id product;
            assert_int_equal(tk_merge_rank(&bpe->merges, left, right, &product), rank);
            if (rank == UINT32_MAX)
                continue;
            different++;
            assert_int_equal(product, merges[rank][2]);
        }
    }
    assert_int_equal(bpe->merges.count, different);
}

/* How far the entry that lies farthest is from its slot. */
static uint64_t longest_search(const tk_vocab *v)
{
    uint64_t longest = 0;
    for (uint64_t at = 0; at <= v->slot_mask; at++) {
        if (v->slots[at] == 0)
            continue;
        td_str s = tk_vocab_text(v, (uint32_t)v->slots[at] - 1);
        uint64_t far = (at - (tk_vocab_hash(s.ptr, s.len) & v->slot_mask)) & v->slot_mask;
        longest = far > longest ? far : longest;
    }
    return longest;
}

/* Texts that differ in a few bits at one place, wherever it is, do not crowd the slots. */
static void test_crowds(void **unused)
{
    (void)unused;
    static const size_t lens[] = { 4, 8, 12, 16, 20, 32, 47 };
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        for (size_t at = 0; at + 4 <= lens[i]; at += 3) {
            char text[64];
            memset(text, 'a', sizeof text);
            tk_vocab *v = tk_vocab_new(1 << 14);
            assert_non_null(v);
            for (uint32_t id = 0; id < 1 << 14; id++) {
                text[at] = (char)(id & 3);
                text[at + 1] = (char)(id >> 2 << 3);
                text[at + 2] = (char)(id >> 7);
                text[at + 3] = (char)(id >> 7 & 0x70);
                assert_true(tk_vocab_add(v, (td_str){ text, lens[i] }, id));
            }
            assert_true(tk_vocab_seal(v));
            assert_true(longest_search(v) < 200);
            tk_vocab_free(v);
        }
    }
}

static void test_merges(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t style = round % 8;
        td_buf json = { 0 };
        make_merges();
        td_buf_printf(&json, "{\"model\":{\"type\":\"BPE\",");
        if ((style & 4) != 0)
            put_merges(&json, style);
        else
            put_vocab(&json);
        td_buf_printf(&json, ",");
        if ((style & 4) != 0)
            put_vocab(&json);
        else
            put_merges(&json, style);
        td_buf_printf(&json, "}}");
        char *copy = exact(json.ptr, json.len);
        td_tokenizer *tok = NULL;
        td_error err = TD_ERROR_INIT;
        if (td_tokenizer_new_from_json((td_str){ copy, json.len }, &tok, &err) != TD_OK)
            fail_msg("%s", err.message);
        check_merges(tk_as_bpe(tok->model));
        td_tokenizer_free(tok);
        free(copy);
        td_buf_done(&json);
    }
}

/* An error keeps its place, or the number of the merge. */
static void refused(const char *merges_json, td_code want, const char *message, uint64_t offset)
{
    char json[600];
    static const char head[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
                               "\"merges\":";
    snprintf(json, sizeof json, "%s%s}}", head, merges_json);
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_tokenizer_new_from_json(td_str_from(json), &tok, &err), want);
    assert_string_equal(err.message, message);
    if (want == TD_E_INPUT)
        assert_int_equal(err.offset, sizeof head - 1 + offset);
    td_error_clear(&err);
}

static void test_refused(void **unused)
{
    (void)unused;
    refused("[\"a b\", \"a c\"]", TD_E_TOKENIZER,
            "model.merges: merge 1: 'c' is not in the vocabulary", 0);
    refused("[[\"a\",\"b\"],[\"b\",\"b\"]]", TD_E_TOKENIZER,
            "model.merges: merge 1: 'bb' is not in the vocabulary", 0);
    refused("[\"a b\", \"ab\"]", TD_E_TOKENIZER, "model.merges: merge 1: expected two tokens", 0);
    refused("[\"a b\", \"a  b\"]", TD_E_TOKENIZER, "model.merges: merge 1: expected two tokens", 0);
    refused("[\"a b\", [\"a\", \"b\"]]", TD_E_INPUT, "expected '\"' in JSON", 8);
    refused("[[\"a\", \"b\"], \"a b\"]", TD_E_INPUT, "expected '[' in JSON", 13);
    refused("[[\"a\", \"b\" , \"ab\"]]", TD_E_INPUT, "expected ']' in JSON", 11);
    refused("[[\"a\", \"ab\\ud800\"]]", TD_E_INPUT, "lone surrogate in a token", 10);
    refused("[[\"a\", \"\\q\"]]", TD_E_INPUT, "bad escape in JSON", 8);
}

/* ---- scores ---- */

/* Floats of a SentencePiece model come back as they are, if the text is read to the nearest double;
 * as a file would be read some do not. */
static void test_scores(void **unused)
{
    (void)unused;
    enum { COUNT = 5000 };
    static float scores[COUNT];
    td_buf vocab = { 0 };
    assert_int_equal(td_buf_byte(&vocab, '['), TD_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        char text[TD_FLOAT_TEXT_MAX + 1];
        scores[i] = -(float)(pick(1u << 24) + 1) / (float)(1u << pick(30));
        if (pick(20) == 0)
            scores[i] = -(float)pick(100) * 1e-40f;
        text[td_float_repr(scores[i], text)] = '\0';
        assert_int_equal(td_buf_printf(&vocab, "%s[\"t%u\",%s]", i != 0 ? "," : "", i, text),
                         TD_OK);
    }
    assert_int_equal(td_buf_byte(&vocab, ']'), TD_OK);
    for (int nearest = 0; nearest < 2; nearest++) {
        td_tokenizer *tok = NULL;
        td_error err = TD_ERROR_INIT;
        tk_bulk bulk = { .vocab = td_buf_view(&vocab), .nearest = nearest != 0 };
        td_str json = TD_STR("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0}}");
        assert_int_equal(tk_tokenizer_new_from_parts(json, &bulk, &tok, &err), TD_OK);
        const tk_unigram *u = tk_as_unigram(tok->model);
        uint32_t same = 0;
        for (uint32_t i = 0; i < COUNT; i++)
            same += u->scores[i] == (double)scores[i];
        assert_true(nearest != 0 ? same == COUNT : same < COUNT);
        td_tokenizer_free(tok);
    }
    td_buf_done(&vocab);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_white_space), cmocka_unit_test(test_strings),
        cmocka_unit_test(test_brackets),    cmocka_unit_test(test_ids),
        cmocka_unit_test(test_vocab),       cmocka_unit_test(test_crowds),
        cmocka_unit_test(test_merges),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_scores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

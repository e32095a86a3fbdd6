/* Models of characters, whose words are cut from texts in which spaces stand for marks: the ids are
 * those of the general way, whatever puts the marks and whatever the merges are. */
#include "tokenizers.h"

#include "base/buf.h"
#include "base/utf8.h"

enum { ENTRIES_MAX = 500, ENTRY_LONGEST = 60, TEXT_MAX = 16000 };

#define MARK "\xE2\x96\x81"

/* Characters that entries are made of, the mark first. */
static const char *const letters[] = { MARK, "a", "b", ".", "\n", "_", "\xC3\xA9", "\xE4\xB8\xAD",
                                       "\xF0\x9F\x98\x80" };
/* What texts are made of beside those; the last two are in no vocabulary. */
static const char *const others[] = { " ",   "  ", "                 ", " a",
                                      "<t>", "\xC3\x9F", "z" };

/* Characters that no merge takes: the first ones are in the vocabulary, the others in none. */
static const char *const loners[] = {
    "\xE5\x9B\xBD", "\xED\x95\x9C", "\xC3\xB8", "\xDF\xBF", "\xE0\xA0\x80", "\xEF\xBF\xBF",
    "\xC2\x80", "\xE3\x81\x82", "\xEA\xB0\x80", "\xD7\x90",
};
enum { LONERS_KNOWN = 6 };

static char entries[ENTRIES_MAX][ENTRY_LONGEST + 1];
static uint32_t entry_count;

static uint32_t entry_of(const char *text)
{
    uint32_t i = 0;
    while (i < entry_count && strcmp(entries[i], text) != 0)
        i++;
    if (i == entry_count)
        memcpy(entries[entry_count++], text, strlen(text) + 1);
    return i;
}

static void put_text(td_buf *b, const char *text)
{
    td_buf_byte(b, '"');
    td_buf_put(b, *text == '\n' ? TD_STR("\\n") : TD_STR(""));
    for (text += *text == '\n'; *text != '\0'; text++)
        td_buf_put(b, *text == '\n' ? TD_STR("\\n") : (td_str){ text, 1 });
    td_buf_byte(b, '"');
}

/* Byte tokens, the letters, and products of merges in the order of the file or in none. */
static void put_model(td_buf *b, uint32_t merges, bool mark_known)
{
    td_buf list = { 0 };
    entry_count = 0;
    unsigned mix = pick(2) ? 0 : 0x55; /* ids of bytes in the order of the bytes, or not */
    for (unsigned i = 0; i < 256; i++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", i ^ mix);
        entry_of(text);
    }
    uint32_t first = entry_count;
    for (size_t i = mark_known ? 0 : 1; i < sizeof letters / sizeof *letters; i++)
        entry_of(letters[i]);
    for (uint32_t tries = 0; tries < merges && entry_count < ENTRIES_MAX - LONERS_KNOWN; tries++) {
        const char *left = entries[first + pick(entry_count - first)];
        const char *right = entries[first + pick(entry_count - first)];
        if (strlen(left) + strlen(right) > ENTRY_LONGEST)
            continue;
        char both[2 * ENTRY_LONGEST + 1];
        snprintf(both, sizeof both, "%s%s", left, right);
        td_buf_put(&list, list.len != 0 ? TD_STR(",[") : TD_STR("["));
        put_text(&list, left);
        td_buf_byte(&list, ',');
        put_text(&list, right);
        td_buf_byte(&list, ']');
        entry_of(both);
    }
    for (uint32_t i = 0; i < LONERS_KNOWN; i++)
        entry_of(loners[i]);
    td_buf_put(b, TD_STR("\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":null,"
                         "\"fuse_unk\":true,\"vocab\":{"));
    for (uint32_t i = 0; i < entry_count; i++) {
        td_buf_put(b, i != 0 ? TD_STR(",") : TD_STR(""));
        put_text(b, entries[i]);
        td_buf_printf(b, ":%u", i);
    }
    td_buf_printf(b, "},\"merges\":[%.*s]}", (int)list.len, list.ptr != NULL ? list.ptr : "");
    td_buf_done(&list);
}

#define REPLACE_TO(what)                                                                           \
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" what "\"}"
#define REPLACE REPLACE_TO(MARK)
#define SEQUENCE(...) "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" __VA_ARGS__ "]}"
#define PREPEND(what) "{\"type\":\"Prepend\",\"prepend\":\"" what "\"}"
#define METASPACE(scheme)                                                                          \
    "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"split\":false,"   \
    "\"prepend_scheme\":\"" scheme "\"}"

/* Sections, and whether words are cut from a copy with marks or without one. */
typedef enum way { GENERAL, COPY, NO_COPY, ASCII_MARK /* no copy, too */ } way;
static const struct {
    const char *json;
    way how;
} pipelines[] = {
    { "\"normalizer\":" REPLACE, NO_COPY },
    { SEQUENCE(PREPEND(MARK) "," REPLACE), NO_COPY },
    { SEQUENCE(PREPEND(" ") "," REPLACE), NO_COPY },
    { SEQUENCE(REPLACE "," PREPEND(MARK)), NO_COPY },
    { SEQUENCE(REPLACE "," PREPEND(" ")), COPY },
    { SEQUENCE(PREPEND("a") "," REPLACE), COPY },
    { SEQUENCE(REPLACE "," REPLACE), COPY },
    { METASPACE("first"), NO_COPY },
    { METASPACE("always"), NO_COPY },
    { METASPACE("never"), NO_COPY },
    { METASPACE("always") ",\"normalizer\":" REPLACE, GENERAL },
    { "\"normalizer\":null", COPY },
    { "\"normalizer\":" REPLACE_TO("_"), ASCII_MARK },
};

static td_tokenizer *make(size_t pipeline, uint32_t merges, bool mark_known, bool normalized)
{
    td_buf b = { 0 };
    td_buf_printf(&b, "{%s,\"added_tokens\":[{\"id\":0,\"content\":\"<t>\",\"normalized\":%s,"
                      "\"special\":false,\"single_word\":false,\"lstrip\":false,"
                      "\"rstrip\":false}],",
                  pipelines[pipeline].json, normalized ? "true" : "false");
    put_model(&b, merges, mark_known);
    td_buf_put(&b, TD_STR("}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

static size_t random_text(char *out)
{
    size_t len = 0, kinds = sizeof letters / sizeof *letters, more = sizeof others / sizeof *others;
    uint32_t calm = 1 + pick(6);
    for (uint32_t parts = pick(120); parts > 0; parts--) {
        const char *s = pick(calm) == 0   ? others[pick((uint32_t)more)]
                        : pick(4) == 0    ? entries[256 + pick(entry_count - 256)]
                                          : letters[pick((uint32_t)kinds)];
        if (len + strlen(s) > TEXT_MAX)
            break;
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

/* Text in which stretches of characters stand alone, long ones too, with others in between. */
static size_t lonely_text(char *out)
{
    size_t len = 0;
    uint32_t calm = 2 + pick(40), kinds = sizeof loners / sizeof *loners;
    for (uint32_t parts = 400 + pick(500); parts > 0; parts--) {
        const char *s = pick(calm) == 0 ? letters[pick(sizeof letters / sizeof *letters)]
                        : pick(8) == 0  ? others[pick(pick(8) ? 4 : sizeof others / sizeof *others)]
                                        : loners[pick(kinds)];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

/* Short pieces between added tokens that come again and again, behind characters that stand
 * alone. */
static size_t repeated_text(char *out)
{
    char piece[TEXT_MAX];
    size_t len = 0, start = lonely_text(piece), n;
    for (uint32_t round = 0; round < 12; round++) {
        size_t head = pick(3) ? 0 : pick((uint32_t)start);
        while (head != 0 && td_utf8_is_cont(piece[head]))
            head--;
        memcpy(out + len, piece, head > 600 ? 0 : head);
        len += head > 600 ? 0 : head;
        n = 0;
        for (uint32_t parts = pick(16); parts > 0; parts--) {
            const char *s = pick(2) ? loners[pick(sizeof loners / sizeof *loners)]
                                    : letters[pick(sizeof letters / sizeof *letters)];
            memcpy(piece + n, s, strlen(s));
            n += strlen(s);
        }
        for (uint32_t times = 1 + pick(8); times > 0; times--) {
            memcpy(out + len, piece, n);
            memcpy(out + len + n, "<t>", 3);
            len += n + 3;
        }
        start = lonely_text(piece);
    }
    return len;
}

static void compare(td_encoder *fast, td_encoder *general, td_str text)
{
    td_ids got, want;
    td_error err = TD_ERROR_INIT;
    assert_int_equal(td_encode(general, text, 0, &want, &err), TD_OK);
    assert_int_equal(td_encode(fast, text, 0, &got, &err), TD_OK);
    if (got.count != want.count ||
        (got.count != 0 && memcmp(got.ids, want.ids, got.count * sizeof *got.ids) != 0))
        fail_msg("other ids for \"%.*s\"", (int)text.len, text.ptr);
    size_t count;
    assert_int_equal(td_count(fast, text, 0, &count, &err), TD_OK);
    assert_int_equal(count, want.count);
}

static void run_pipeline(size_t pipeline, uint32_t merges, bool mark_known, bool normalized)
{
    td_tokenizer *tok = make(pipeline, merges, mark_known, normalized);
    way how = pipelines[pipeline].how;
    bool copies = how == COPY || (how == NO_COPY && !mark_known);
    assert_int_equal(tok->fast == NULL, how == GENERAL);
    if (tok->fast != NULL)
        assert_int_equal(tok->fast->marks.mark.len == 0, copies);
    if (tok->fast != NULL)
        tk_lone_set_cpu(&tok->fast->chars->lone, (td_cpu)pick((uint32_t)td_cpu_best() + 1));
    td_encoder *fast = td_encoder_new(tok), *general = td_encoder_new(tok);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    for (int i = 0; i < 60; i++) {
        char text[TEXT_MAX];
        size_t len = i % 4 == 0   ? lonely_text(text)
                     : i % 4 == 1 ? repeated_text(text)
                                  : random_text(text);
        char *exact = malloc(len + 1); /* sanitizers see reads behind it */
        memcpy(exact, text, len);
        char *tight = realloc(exact, len != 0 ? len : 1);
        compare(fast, general, (td_str){ tight, len });
        free(tight);
    }
    td_encoder_free(fast);
    td_encoder_free(general);
    td_tokenizer_free(tok);
}

static void test_pipelines(void **unused)
{
    (void)unused;
    for (size_t p = 0; p < sizeof pipelines / sizeof *pipelines; p++)
        for (uint32_t round = 0; round < 24; round++)
            run_pipeline(p, round % 3 == 0 ? 10 : 150, round % 8 != 0, round % 5 == 0);
}

/* Short texts of characters that stand alone are taken without words once one has been seen, and
 * again as words when others come. */
static void test_watch(void **unused)
{
    (void)unused;
    size_t pipeline = 0;
    while (pipelines[pipeline].how != NO_COPY)
        pipeline++;
    td_tokenizer *tok = make(pipeline, 150, true, false);
    td_encoder *fast = td_encoder_new(tok), *general = td_encoder_new(tok);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    char text[200];
    size_t len = 0;
    for (size_t i = 0; len < sizeof text - 8; i++) {
        const char *s = loners[i % (sizeof loners / sizeof *loners)];
        memcpy(text + len, s, strlen(s));
        len += strlen(s);
    }
    for (int round = 0; round < 3; round++) {
        compare(fast, general, (td_str){ text, len });
        uint32_t eager = fast->cache.watch.eager;
        assert_int_not_equal(eager, 0);
        compare(fast, general, (td_str){ text, 60 });
        assert_int_equal(fast->cache.watch.eager, eager);
        for (; fast->cache.watch.eager != 0; eager--) {
            assert_int_not_equal(eager, 0);
            compare(fast, general, TD_STR("ab ba"));
        }
    }
    td_encoder_free(fast);
    td_encoder_free(general);
    td_tokenizer_free(tok);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipelines),
        cmocka_unit_test(test_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

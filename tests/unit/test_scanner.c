/* Scanners find exactly the words that the regex engine finds. */
#include "test.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "tokenizer/load/load.h"
#include "tokenizer/pretok/pretok.h"
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"
#include "unicode/unicode_ref.h"

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define WHITE "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static const char *const cl100k[] = {
    CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" WHITE,
    NULL,
};
static const char *const qwen2[] = {
    CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" WHITE,
    NULL,
};
static const char *const gpt2[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    NULL,
};
static const char *const o200k[] = {
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" CONTRACTIONS
    "?|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" CONTRACTIONS
    "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" WHITE,
    NULL,
};
static const char *const tekken[] = {
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER
    "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" WHITE,
    NULL,
};
static const char *const deepseek3[] = {
    "\\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|" WHITE,
    NULL,
};

static uint64_t state = 88172645463325252u;

static uint32_t pick(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % n;
}

static size_t put_char(char *out, uint32_t c)
{
    return td_utf8_put(out, c >= 0xD800 && c < 0xE000 ? 'x' : c);
}

/* Text in which vectors find something to do: mostly ASCII, longer. */
static size_t ascii_text(char *out, uint32_t parts)
{
    static const char *const some[] = {
        " ", " ", "  ", "\n", "\r\n", "\t", " \n", "'s", "'S", "'ll", "'RE", "'rE", "'", "a", "B",
        "word", "\x01\x02", "The", "fooBar", "HTTPServer", "1", "1234", "/", "!", "...", ".x",
        "\x0b", "!\n/", "__", "x's'd",
        "é", "ſ", "中", "don't", "I'M", "{\"", "\":", "\x7f", "\x1f", "  7", " \t9", "\n 1",
    };
    size_t len = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const char *s = some[pick(sizeof some / sizeof *some - (pick(3) ? 12 : 0))];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

/* Text of Chinese, Japanese and Korean, what may come between, and some ASCII. */
static size_t wide_text(char *out, uint32_t parts)
{
    static const char *const some[] = {
        "中", "文字", "日本", "あ", "アイ", "한", "국어", "，", "。", "、", "「", "」", "！", "“", "…",
        "—", "中", "漢字かな", "한국", " ", "  ", "\n", "\t", "a", "Ab", "B", "1", "12", "!", ".",
        "(", "'s", "/",
        "々", "・", "ー", "゙", "　", "１", "Ａ", "ａ", "〇", "\u2009", "\u2028", "é", "ſ", "\x7f",
        "😀", "ﾟ",
    };
    size_t len = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const char *s = some[pick(sizeof some / sizeof *some - (pick(3) ? 16 : 0))];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
        if (pick(8) == 0) { /* of three bytes */
            uint32_t c = 0x800 + pick(0xF800);
            len += put_char(out + len, c >= 0xD800 && c < 0xE000 ? c - 0x2000 : c);
        }
    }
    return len;
}

/* Text that is rich in what patterns look at. */
static size_t random_text(char *out, uint32_t chars)
{
    static const char *const parts[] = {
        " ",    "  ",  "\n",   "\r\n", "\t",   "\r", "'s", "'S",  "'ll",    "'Re",  "'\xC5\xBF",
        "'",    "a",   "B",    "Ab",   "1",    "22", "/",  "!",   ".",      "\x0b", "\xC2\xA0",
        "\xE3\x80\x80", "\xC2\x85", "é",  "Ǆ",  "ǅ",  "ʰ",  "中", "ア", "・", "゙", "\xCC\x81", "Ⅷ",
        "٣",    "😀",  "\x01", "\xE2\x80\x8D", "'t", "'VE", "'d", "'m", "ſ", "K", "_", "ª", "$", "—",
        "▁",    "▂",
    };
    size_t len = 0;
    for (uint32_t i = 0; i < chars; i++) {
        uint32_t kind = pick(10);
        if (kind < 7) {
            const char *s = parts[pick(sizeof parts / sizeof *parts)];
            size_t n = strlen(s);
            memcpy(out + len, s, n);
            len += n;
        } else {
            uint32_t bound = kind == 7 ? 0x80 : kind == 8 ? 0x3000 : 0x20000;
            len += put_char(out + len, pick(bound));
        }
    }
    return len;
}

typedef enum kind { SPACE, RUN, OTHER } kind;
/* Of kind OTHER: each is a word by itself, runs of them are, or words start at each. */
typedef enum others { STAND, JOIN, LEAD } others;

typedef struct setup {
    const tk_regex *stages[4];
    uint32_t count;
    tk_ctx ctx;
    kind (*kind_of)(uint32_t c); /* NULL: words are the pieces of the stages */
    others others;
} setup;

static void compile(setup *s, const char *const *patterns)
{
    td_error err = TD_ERROR_INIT;
    *s = (setup){ 0 };
    for (; patterns[s->count] != NULL; s->count++) {
        tk_regex *re = NULL;
        assert_int_equal(tk_regex_new(td_str_from(patterns[s->count]), &re, &err), TD_OK);
        s->stages[s->count] = re;
    }
}

static void release(setup *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        tk_regex_free((void *)(uintptr_t)s->stages[i]);
    tk_regex_release(&s->ctx);
    td_arena_done(&s->ctx.arena);
}

/* Whether a word starts at a character between others; after is a space where there is none. */
static bool starts(const setup *s, kind before, kind here, kind after)
{
    if (s->others == LEAD)
        return here == OTHER;
    if (here == SPACE)
        return before != SPACE || after != SPACE;
    return before != SPACE && (before != here || (here == OTHER && s->others == STAND));
}

static uint32_t expected_kinds(const setup *s, td_str text, uint32_t *ends)
{
    static kind kinds[8192];
    static uint32_t places[8192];
    uint32_t count = 0, n = 0;
    const char *p = text.ptr, *end = text.ptr + text.len;
    while (p < end) {
        places[count] = (uint32_t)(p - text.ptr);
        kinds[count++] = s->kind_of(td_utf8_next(&p, end));
    }
    kinds[count] = SPACE;
    for (uint32_t i = 1; i < count; i++)
        if (starts(s, kinds[i - 1], kinds[i], kinds[i + 1]))
            ends[n++] = places[i];
    ends[n++] = (uint32_t)text.len;
    return n;
}

/* The ends that the engine gives, stage by stage, or those of kinds. */
static uint32_t expected(setup *s, td_str text, uint32_t *ends)
{
    if (s->kind_of != NULL)
        return expected_kinds(s, text, ends);
    td_error err = TD_ERROR_INIT;
    tk_pieces pieces = { 0 };
    tk_piece all = { { .ptr = text.ptr, .len = (uint32_t)text.len }, TK_NO_ID };
    td_arena_reset(&s->ctx.arena);
    assert_int_equal(tk_pieces_add(&s->ctx, &pieces, &all, &err), TD_OK);
    for (uint32_t k = 0; k < s->count; k++) {
        tk_pieces next = { 0 };
        for (uint32_t i = 0; i < pieces.count; i++) {
            tk_matches m = { 0 };
            const tk_text *t = &pieces.items[i].text;
            td_str view = { t->ptr, t->len };
            assert_int_equal(tk_regex_matches(s->stages[k], &s->ctx, view, &m, &err), TD_OK);
            assert_int_equal(tk_split(&s->ctx, t, &m, TK_ISOLATED, &next, &err), TD_OK);
        }
        pieces = next;
    }
    for (uint32_t i = 0; i < pieces.count; i++)
        ends[i] = (uint32_t)(pieces.items[i].text.ptr - text.ptr) + pieces.items[i].text.len;
    return pieces.count;
}

/* want: what the engine says */
static void compare_to(const uint32_t *want, uint32_t n, tk_scan_fn scan, td_str text)
{
    static uint32_t got[8192];
    uint32_t m = 0, from = 0;
    while (from < text.len) { /* in small steps, to begin in many places */
        m += scan(text, from, got + m, pick(2) ? 1 + pick(7) : 64 + pick(99));
        from = got[m - 1];
    }
    for (uint32_t i = 0; i < n && i < m; i++) {
        if (want[i] != got[i]) {
            print_error("text:");
            for (size_t k = 0; k < text.len; k++)
                print_error(" %02x", (unsigned char)text.ptr[k]);
            fail_msg("word %u ends at %u, the engine says %u", i, got[i], want[i]);
        }
    }
    assert_int_equal(m, n);
}

static void compare(setup *s, tk_scan_fn scan, td_str text)
{
    static uint32_t want[8192];
    uint32_t n = expected(s, text, want);
    compare_to(want, n, scan, text);
}

static size_t put_text(char *out, const char *s)
{
    size_t len = strlen(s);
    memcpy(out, s, len);
    return len;
}

/* fill again and again up to a character that reaches len, then end: as the last bytes there are,
 * and in front of what would change them. */
static void try_end(setup *s, tk_scan_fn scan, const char *fill, size_t len, const char *end)
{
    static const char *const behind[] = { "sllrevell's", "     ", "\n \n/'s 中", "0123456789" };
    static uint32_t want[8192];
    char text[512];
    size_t size = strlen(fill), all = 0;
    for (; all < len || td_utf8_is_cont(fill[all % size]); all++)
        text[all] = fill[all % size];
    all += put_text(text + all, end);
    if (all == 0)
        return;
    char *exact = malloc(all);
    assert_non_null(exact);
    memcpy(exact, text, all);
    put_text(text + all, behind[pick(4)]);
    uint32_t n = expected(s, (td_str){ exact, all }, want);
    for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
        compare_to(want, n, tk_scan_best(scan, cpu), (td_str){ text, all });
        compare_to(want, n, tk_scan_best(scan, cpu), (td_str){ exact, all });
    }
    free(exact);
}

/* Ends that are not what they would be if the text went on, behind texts of all lengths around the
 * size of a block. */
static void try_ends(setup *s, tk_scan_fn scan)
{
    static const char *const fills[] = {
        "The (brown) fox's 12 34567 jumps\n\n  over; don't 'em  \r\n\t{\"a\": 1}/ ",
        "a", " ", "7", "\n", ".", "aB", "x é", "中", " \n", "/",
    };
    static const char *const ends[] = {
        "", " ", "  ", "   ", "\n", "\r", "\r\n", "\n\n", " \n", "\n ", "  \n  ", "\n \n ", "\t",
        " \t", "\n\t ", "'", "''", "'s", "'S", "'l", "'ll", "'LL", "'r", "'re", "'rE", "'v",
        "'ve", "a's", "a'l", "a're", " 's", "!'t", "'d'", "1", "12", "123", "1234", " 1", "  7",
        "!", " !", "!\n", "!\n\n", "!\n/", "!\n ", "...", " .a", ".a", "/", "a/", "\x01", " \x01",
        "\x7f", "B", "aB", "AB", " B", "é", " é", "中", " 中", "中 ", "中B", "한", "。", "。\n",
        " 、", "'\xC5\xBF", "\xC2\xA0", "\xC2\x85 ", "　", "  　",
    };
    for (size_t f = 0; f < sizeof fills / sizeof *fills; f++)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            for (size_t len = 0; len <= 130; len++)
                try_end(s, scan, fills[f], len, ends[e]);
}

static void fuzz_with(setup *s, tk_scan_fn scan)
{
    static char text[8192];
    for (int i = 0; i < 20000; i++) {
        size_t len = random_text(text, 1 + pick(24));
        char *exact = malloc(len); /* so that reading beyond the end shows */
        assert_non_null(exact);
        memcpy(exact, text, len);
        compare(s, scan, (td_str){ exact, len });
        free(exact);
    }
    /* every code point, in the neighbourhoods that matter */
    for (uint32_t c = 0; c < 0x110000; c += c >= 0x20000 ? 62 : 1) {
        if (c >= 0xD800 && c < 0xE000)
            continue;
        char one[4];
        size_t n = td_utf8_put(one, c), len = 0;
        static const char *const around[] = { "a", " ", "1", "!", "\n", "中", "A", "'" };
        for (size_t k = 0; k < 4; k++) {
            memcpy(text + len, one, n);
            len += n;
            const char *after = around[(c + k * 3) % 8];
            memcpy(text + len, after, strlen(after));
            len += strlen(after);
        }
        compare(s, scan, (td_str){ text, len });
    }
    for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
        for (int i = 0; i < 30000; i++) {
            size_t len = i % 3 ? ascii_text(text, 1 + pick(120)) : wide_text(text, 1 + pick(60));
            char *exact = malloc(len);
            assert_non_null(exact);
            memcpy(exact, text, len);
            compare(s, tk_scan_best(scan, cpu), (td_str){ exact, len });
            free(exact);
        }
    }
    try_ends(s, scan);
}

static void fuzz(const char *const *patterns, tk_scan_fn scan)
{
    setup s;
    compile(&s, patterns);
    fuzz_with(&s, scan);
    release(&s);
}

static void test_cl100k(void **unused)
{
    (void)unused;
    fuzz(cl100k, tk_scan_cl100k);
}

static void test_qwen2(void **unused)
{
    (void)unused;
    fuzz(qwen2, tk_scan_qwen2);
}

static void test_gpt2(void **unused)
{
    (void)unused;
    fuzz(gpt2, tk_scan_gpt2);
}

static void test_o200k(void **unused)
{
    (void)unused;
    fuzz(o200k, tk_scan_o200k);
}

static void test_tekken(void **unused)
{
    (void)unused;
    fuzz(tekken, tk_scan_tekken);
}

static void test_deepseek3(void **unused)
{
    (void)unused;
    fuzz(deepseek3, tk_scan_deepseek3);
}

static kind bert_kind(uint32_t c)
{
    return td_tk_is_whitespace(c) ? SPACE : td_tk_is_punctuation(c) ? OTHER : RUN;
}

static kind whitespace_kind(uint32_t c)
{
    return td_tk_is_word(c) ? RUN : td_tk_is_whitespace(c) ? SPACE : OTHER;
}

static kind split_kind(uint32_t c)
{
    return td_tk_is_whitespace(c) ? SPACE : RUN;
}

static kind metaspace_kind(uint32_t c)
{
    return c == ' ' || c == 0x2581 ? OTHER : RUN;
}

static void test_kinds(void **unused)
{
    (void)unused;
    fuzz_with(&(setup){ .kind_of = bert_kind, .others = STAND }, tk_scan_bert);
    fuzz_with(&(setup){ .kind_of = whitespace_kind, .others = JOIN }, tk_scan_whitespace);
    fuzz_with(&(setup){ .kind_of = split_kind, .others = JOIN }, tk_scan_whitespace_split);
    fuzz_with(&(setup){ .kind_of = metaspace_kind, .others = LEAD }, tk_scan_metaspace);
}

/* The versions for CPUs know characters of three bytes by tables of their own. */
static void test_wide_classes(void **unused)
{
    (void)unused;
    static const tk_scan_fn scans[] = {
        tk_scan_cl100k, tk_scan_qwen2,      tk_scan_o200k,
        tk_scan_tekken, tk_scan_gpt2,       tk_scan_deepseek3,
        tk_scan_bert,   tk_scan_whitespace, tk_scan_whitespace_split,
        tk_scan_metaspace,
    };
    static const char *const around[] = { "中", "a", " ", "！", "B", "한", "!", "\n", "1", "か",
                                          "'s", "▁" };
    const uint32_t kinds = sizeof around / sizeof *around;
    for (uint32_t c = 0x80; c < 0x11000; c += c == 0xD7FF ? 0x801 : 1) {
        char text[128];
        uint32_t want[128], got[128];
        size_t len = 0;
        for (uint32_t k = 0; k < 5; k++) {
            const char *before = around[(c + k) % kinds];
            len += put_char(text + len, k % 2 ? c : 0x4E00 + c % 0x5000);
            memcpy(text + len, before, strlen(before));
            len += strlen(before);
        }
        memset(text + len, 'a', 80);
        td_str all = { text, len + 80 };
        for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
            uint32_t n = scans[i](all, 0, want, 128);
            for (td_cpu cpu = TD_CPU_SSE2; cpu <= td_cpu_best(); cpu++) {
                uint32_t m = 0;
                for (uint32_t from = 0; from < all.len; from = got[m - 1])
                    m += tk_scan_best(scans[i], cpu)(all, from, got + m, 128 - m);
                assert_int_equal(m, n);
                assert_memory_equal(got, want, n * sizeof *want);
            }
        }
    }
}

static void test_ascii_classes(void **unused)
{
    (void)unused;
    for (uint32_t c = 0; c < 0x80; c++)
        assert_int_equal(tk_ascii_bits[c], td_re_bits(c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide_classes),
        cmocka_unit_test(test_ascii_classes), cmocka_unit_test(test_cl100k),
        cmocka_unit_test(test_qwen2),         cmocka_unit_test(test_gpt2),
        cmocka_unit_test(test_o200k),         cmocka_unit_test(test_tekken),
        cmocka_unit_test(test_deepseek3),     cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

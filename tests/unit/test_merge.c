/* Merging long words against a plain reading of the rule: the lowest rank first, of equal ones the
 * leftmost. Tables are such as no trainer would make, too: several ways to one product, ranks that
 * fall, ranks that pairs share. And long words must not take long. */
#include "merging.h"
#include "tokenizers.h"

#include <time.h>

#include "base/buf.h"
#include "tokenizer/formats/implied.h"

enum { IDS_MAX = 60, TEXT_LONGEST = 40, MERGES_MAX = 120, SYMBOLS_MAX = 700, FIRST = 3,
       LONG_MAX = 40000 };

static char texts[IDS_MAX][TEXT_LONGEST + 1];
static uint32_t id_count;
static tk_merge table[MERGES_MAX];
static uint32_t merge_count;

static uint32_t id_of(const char *text)
{
    uint32_t i = 0;
    while (i < id_count && strcmp(texts[i], text) != 0)
        i++;
    if (i == id_count)
        memcpy(texts[id_count++], text, strlen(text) + 1);
    return i;
}

/* How ranks are given: in the order of making, in none, or with pairs sharing them. */
static void make_table(uint32_t how)
{
    id_count = merge_count = 0;
    id_of("a");
    id_of("b");
    id_of("c");
    for (uint32_t tries = 0; tries < 300 && merge_count < MERGES_MAX / 2; tries++) {
        uint32_t left = pick(id_count), right = pick(3) == 0 ? left : pick(id_count);
        char both[2 * TEXT_LONGEST + 1];
        snprintf(both, sizeof both, "%s%s", texts[left], texts[right]);
        if (strlen(both) > TEXT_LONGEST || id_count == IDS_MAX)
            continue;
        uint32_t at = 0;
        while (at < merge_count && (table[at].left != left || table[at].right != right))
            at++;
        if (at == merge_count)
            table[merge_count++] = (tk_merge){ left, right, merge_count, id_of(both) };
    }
    for (uint32_t i = merge_count; how != 0 && i > 1; i--) {
        uint32_t other = pick(i), rank = table[i - 1].rank;
        table[i - 1].rank = table[other].rank;
        table[other].rank = rank;
    }
    for (uint32_t i = 0; how == 2 && i < merge_count; i++)
        table[i].rank /= 3;
}

/* Runs of one symbol, patterns, and chance. */
static uint32_t make_word(td_id *ids)
{
    uint32_t count = 0, most = 1 + pick(SYMBOLS_MAX);
    while (count < most) {
        uint32_t kind = pick(3), n = 1 + pick(kind == 0 ? 60 : 12);
        uint32_t a = pick(FIRST), b = pick(FIRST);
        for (uint32_t i = 0; i < n && count < most; i++)
            ids[count++] = kind == 0 ? a : kind == 1 ? (i % 2 != 0 ? a : b) : pick(FIRST);
    }
    return count;
}

/* Mostly stretches that repeat themselves, with chance between them. */
static uint32_t make_long_word(td_id *ids)
{
    uint32_t count = 0, most = LONG_MAX / 4 + pick(LONG_MAX * 3 / 4);
    while (count < most) {
        td_id unit[40];
        uint32_t period = 1 + pick(pick(3) == 0 ? 40 : 4);
        uint32_t n = pick(pick(3) == 0 ? 200 : LONG_MAX);
        for (uint32_t i = 0; i < period; i++)
            unit[i] = pick(FIRST);
        for (uint32_t i = 0; i < n && count < most; i++)
            ids[count++] = unit[i % period];
    }
    return count;
}

static td_tokenizer *load_table(void)
{
    td_buf b = { 0 };
    td_buf_printf(&b, "{\"model\":{\"type\":\"BPE\",\"merges\":[],\"vocab\":{");
    for (uint32_t i = 0; i < id_count; i++)
        td_buf_printf(&b, "%s\"%s\":%u", i != 0 ? "," : "", texts[i], i);
    td_buf_put(&b, TD_STR("}}}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

static td_id word[LONG_MAX], want[LONG_MAX];
static uint32_t word_lens[LONG_MAX], want_lens[LONG_MAX];

/* Short words against the rule, or long ones against how all long ones are merged. */
static void compare(const tk_merges *m, tk_ctx *ctx, bool is_long)
{
    td_error err = TD_ERROR_INIT;
    uint32_t count = is_long ? make_long_word(word) : make_word(word);
    for (uint32_t k = 0; k < count; k++)
        word_lens[k] = want_lens[k] = 1 + word[k] % 2;
    memcpy(want, word, sizeof word);
    tk_symbols s = { word, word_lens, count }, w = { want, want_lens, count };
    if (is_long) {
        assert_int_equal(tk_bpe_merge_periods(m, ctx, &s, &err), TD_OK);
        assert_int_equal(tk_bpe_merge_runs(m, ctx, &w, &err), TD_OK);
    } else {
        assert_int_equal(tk_bpe_merge_runs(m, ctx, &s, &err), TD_OK);
        w.count = merge_plainly(table, merge_count, want, want_lens, count);
    }
    assert_int_equal(s.count, w.count);
    assert_memory_equal(word, want, w.count * sizeof *word);
    assert_memory_equal(word_lens, want_lens, w.count * sizeof *word_lens);
}

/* Words that are not long enough for that. */
static void compare_short(const tk_bpe *bpe, tk_ctx *ctx)
{
    td_error err = TD_ERROR_INIT;
    td_id all[SYMBOLS_MAX];
    uint32_t from = 0, count = make_word(all);
    for (uint32_t n; from < count; from += n) {
        n = 1 + pick(96);
        n = count - from < n ? count - from : n;
        for (uint32_t k = 0; k < n; k++)
            word_lens[k] = want_lens[k] = 1 + all[from + k] % 2;
        memcpy(word, all + from, n * sizeof *word);
        memcpy(want, all + from, n * sizeof *want);
        tk_symbols s = { word, word_lens, n };
        assert_int_equal(tk_bpe_merge(bpe, ctx, &s, &err), TD_OK);
        assert_int_equal(s.count, merge_plainly(table, merge_count, want, want_lens, n));
        assert_memory_equal(word, want, s.count * sizeof *word);
        assert_memory_equal(word_lens, want_lens, s.count * sizeof *word_lens);
    }
}

static void compare_rounds(uint32_t rounds, bool are_long)
{
    for (uint32_t round = 0; round < rounds; round++) {
        make_table(round % 3);
        td_tokenizer *tok = load_table();
        tk_bpe *bpe = (tk_bpe *)tk_as_bpe(tok->model);
        td_error err = TD_ERROR_INIT;
        tk_load again = { .arena = &tok->arena, .cleanup = &tok->cleanup, .err = &err };
        /* The tables of no merges go with the tokenizer. */
        tk_bpe *other;
        tk_vocab *v = tk_vocab_new(id_count);
        for (uint32_t i = 0; i < id_count; i++)
            assert_true(tk_vocab_add(v, td_str_from(texts[i]), i));
        assert_true(tk_vocab_seal(v));
        assert_int_equal(tk_bpe_new(&again, v, &other), TD_OK);
        static tk_merge lost[MERGES_MAX];
        memcpy(lost, table, sizeof lost);
        assert_int_equal(tk_bpe_set_merges(&again, other, lost, merge_count), TD_OK);
        assert_true(tk_bpe_can_run(bpe) && tk_bpe_can_run(other));
        tk_ctx ctx = { .tok = tok };
        ctx.arena.limit = (size_t)1 << 30;
        for (int i = 0; i < 12; i++)
            compare(&other->merges, &ctx, are_long);
        for (int i = 0; i < 12 && !are_long; i++)
            compare_short(other, &ctx);
        td_arena_done(&ctx.arena);
        td_tokenizer_free(tok);
    }
}

static void test_against_the_rule(void **unused)
{
    (void)unused;
    compare_rounds(300, false);
}

static void test_periods(void **unused)
{
    (void)unused;
    compare_rounds(120, true);
}

/* ---- merges that no file lists ---- */

static bool long_product(const void *user, uint32_t i, tk_product *ret)
{
    (void)i;
    *ret = (tk_product){ .text = *(const td_str *)user };
    return true;
}

static void test_too_many_long_tokens(void **unused)
{
    (void)unused;
    static char text[4096];
    memset(text, 'a', sizeof text);
    td_str s = { text, sizeof text };
    td_tokenizer *tok = load_table();
    td_error err = TD_ERROR_INIT;
    tk_load again = { .arena = &tok->arena, .cleanup = &tok->cleanup, .err = &err };
    tk_bpe *bpe;
    tk_vocab *v = tk_vocab_new(1);
    assert_true(tk_vocab_add(v, s, 0) && tk_vocab_seal(v));
    assert_int_equal(tk_bpe_new(&again, v, &bpe), TD_OK);
    assert_int_equal(tk_imply_merges(&again, bpe, long_product, &s, 1 << 12), TD_E_LIMIT);
    td_error_clear(&err);
    assert_int_equal(tk_imply_merges(&again, bpe, long_product, &s, 1), TD_OK);
    td_tokenizer_free(tok);
}

/* ---- time ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds of encoding text of some bytes of unit, the best of three. */
static double time_of(td_encoder *enc, const char *unit, size_t bytes)
{
    size_t n = strlen(unit), count = bytes / n;
    char *text = malloc(count * n);
    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * n, unit, n);
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        td_ids ids;
        td_error err = TD_ERROR_INIT;
        double start = seconds();
        assert_int_equal(td_encode(enc, (td_str){ text, count * n }, 0, &ids, &err), TD_OK);
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    free(text);
    return best;
}

/* Eight times the text may take at most 40 times as long: a quadratic step would take 64 times. */
static void check_growth(const char *name)
{
    static const char *const units[] = {
        " ", "\n", "\t", "\r\n", "a", "A", "7", "!", "-", "'", "_", "<", "\xC2\xA0", "\xC3\xA9",
        "\xCC\x81", "\xD8\xA8", "\xE0\xB8\x81", "\xE4\xB8\xAD", "\xE3\x81\x82", "\xEA\xB0\x80",
        "\xE2\x96\x81", "\xF0\x9F\x98\x80", "ab", "a b", "  a", "\na", "a1", "<|", "a\xCC\x81",
    };
    td_tokenizer *tok = load_real(name);
    td_encoder *enc = td_encoder_new(tok);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        double small = time_of(enc, units[i], 1 << 16), large = time_of(enc, units[i], 1 << 19);
        if (large > 40 * small + 0.02)
            fail_msg("%s: '%s': 64 KB take %.4f s, 512 KB %.4f s", name, units[i], small, large);
    }
    td_encoder_free(enc);
    td_tokenizer_free(tok);
}

#define GROWTH(NAME)                                                                               \
    static void test_growth_##NAME(void **unused)                                                  \
    {                                                                                              \
        (void)unused;                                                                              \
        check_growth(#NAME);                                                                       \
    }

GROWTH(qwen3)
GROWTH(llama3_1)
GROWTH(gptoss)
GROWTH(deepseek_v3)
GROWTH(gemma3)
GROWTH(llama2)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_rule), cmocka_unit_test(test_periods),
        cmocka_unit_test(test_too_many_long_tokens),
        cmocka_unit_test(test_growth_qwen3),     cmocka_unit_test(test_growth_llama3_1),
        cmocka_unit_test(test_growth_gptoss),    cmocka_unit_test(test_growth_deepseek_v3),
        cmocka_unit_test(test_growth_gemma3),    cmocka_unit_test(test_growth_llama2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

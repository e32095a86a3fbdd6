/* The table of entries by their bytes has every short entry of a model, and nothing else. */
#include "tokenizers.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/entries.h"
#include "tokenizer/key.h"

/* A model of which only the entries matter; texts are bytes. */
typedef struct made {
    tk_bpe bpe;
    tk_entries entries;
    uint64_t proven[1 << 12];
} made;

static void add(made *m, const char *bytes, size_t len, td_id id)
{
    char text[512];
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += td_utf8_put(text + n, tk_byte_to_char((uint8_t)bytes[i]));
    assert_true(tk_vocab_add(m->bpe.vocab, (td_str){ text, n }, id));
}

static made *start(void)
{
    made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->bpe.vocab = tk_vocab_new(16);
    assert_non_null(m->bpe.vocab);
    m->bpe.merges.proven = m->proven;
    return m;
}

static void fill(made *m)
{
    assert_true(tk_vocab_seal(m->bpe.vocab));
    assert_true(tk_entries_fill(&m->entries, &m->bpe));
}

static void done(made *m)
{
    tk_entries_done(&m->entries);
    tk_vocab_free(m->bpe.vocab);
    free(m);
}

static td_id look(const tk_entries *e, const char *bytes, size_t len)
{
    uint64_t key[2];
    char padded[16];
    memset(padded, 0x5A, sizeof padded); /* what stands behind a word is not part of it */
    memcpy(padded, bytes, len);
    tk_key_make(padded, (uint32_t)len, false, key);
    return tk_entry_find(e, key, tk_entry_hash(key));
}

static void test_words(void **unused)
{
    (void)unused;
    static const struct {
        const char *bytes;
        size_t len;
    } words[] = {
        { "a", 1 }, { " ", 1 }, { " a", 2 }, { "  a", 3 }, { "\0", 1 }, { "\0\0", 2 }, { "a\0", 2 },
        { "\0a", 2 }, { "a\0b", 3 }, { "\x7F", 1 }, { "\xA0\xAD\xFF\x80", 4 }, { "\n\n", 2 },
        { "\xE4\xBD\xA0", 3 }, { " \xC3\xA9t\xC3\xA9", 6 }, { "abcdefgh", 8 }, { "abcdefghi", 9 },
        { " abcdefgh", 9 }, { "abcdefghijklmno", 15 }, { " bcdefghijklmno", 15 },
        { "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98", 15 },
        { "~!", 2 }, { "!~", 2 },
    };
    enum { N = sizeof words / sizeof *words };
    made *m = start();
    for (td_id i = 0; i < N; i++) {
        add(m, words[i].bytes, words[i].len, 3 * i);
        if (i % 2 == 0)
            m->proven[3 * i / 64] |= (uint64_t)1 << (3 * i % 64);
    }
    add(m, "abcdefghijklmnop", 16, 1000); /* too long for a key */
    add(m, " bcdefghijklmnop", 16, 1001);
    /* These stand for no bytes: a space, NUL, delete, and characters that are not of bytes. */
    static const td_str others[] = { { "b c", 3 },         { "b\0", 2 },       { "b\x7F", 2 },
                                     { "\xC4\xA0\0", 3 }, { "\xC2\xA0", 2 }, { "\xC5\x84", 2 },
                                     { "b\xC2\xAD", 3 },  { "\xE4\xBD\xA0", 3 },
                                     { "\xF0\x9F\x98\x80", 4 }, { "", 0 } };
    for (td_id i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(tk_vocab_add(m->bpe.vocab, others[i], 2000 + i));
    fill(m);
    for (td_id i = 0; i < N; i++) {
        td_id found = look(&m->entries, words[i].bytes, words[i].len);
        assert_int_equal(tk_entry_id(found), 3 * i);
        assert_int_equal(tk_entry_is_proven(found), i % 2 == 0);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < m->entries.line_count * TK_LINE_ENTRIES; i++)
        used += m->entries.lines[i / TK_LINE_ENTRIES].keys[i % TK_LINE_ENTRIES][1] != 0;
    assert_int_equal(used, N);
    static const char *const absent[] = { "b", "b c", "c", "ab", "  ", "abcdefg", "\x7F\x7F",
                                          "abcdefghijklmn", "bcdefghijklmnop" };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_int_equal(look(&m->entries, absent[i], strlen(absent[i])), TK_NO_ID);
    assert_int_equal(look(&m->entries, "\0\0\0", 3), TK_NO_ID);
    assert_int_equal(look(&m->entries, "a\0\0", 3), TK_NO_ID);
    done(m);
}

/* Many that start in the same line: the last ones, so that the search goes on at the front. */
static void test_crowded(void **unused)
{
    (void)unused;
    enum { N = 300 };
    made *m = start(), *probe = start();
    td_id n = 0;
    char word[16];
    add(probe, "x", 1, 0);
    for (td_id i = 1; i < N; i++)
        add(probe, word, (size_t)snprintf(word, sizeof word, "%u", i), i);
    fill(probe);
    uint32_t lines = probe->entries.line_count; /* as N others will have */
    for (uint32_t i = 0; n < N; i++) {
        uint64_t key[2];
        int len = snprintf(word, sizeof word, "%x", i);
        char padded[16] = { 0 };
        memcpy(padded, word, (size_t)len);
        tk_key_make(padded, (uint32_t)len, false, key);
        uint32_t line = (uint32_t)((tk_entry_hash(key) >> 32) * lines >> 32);
        if (line + 2 >= lines)
            add(m, word, (size_t)len, n++);
    }
    fill(m);
    assert_int_equal(m->entries.line_count, lines);
    for (uint32_t i = 0, found = 0; found < N; i++) {
        td_id id = look(&m->entries, word, (size_t)snprintf(word, sizeof word, "%x", i));
        td_id want;
        bool there = tk_vocab_find(m->bpe.vocab, td_str_from(word), &want);
        assert_int_equal(id, there ? want : TK_NO_ID);
        found += there;
    }
    done(m);
    done(probe);
}

/* The most lines that are full side by side. */
static uint32_t longest_run(const tk_entries *e)
{
    uint32_t most = 0, run = 0;
    for (uint32_t i = 0; i < 2 * e->line_count; i++) {
        run = tk_entry_line_is_full(&e->lines[i % e->line_count]) ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most;
}

/* Words that differ in a few bits only do not crowd, whatever seeds the process has. */
static void test_spread(void **unused)
{
    (void)unused;
    uint64_t seeds[2] = { tk_vocab_seeds[0], tk_vocab_seeds[1] };
    for (uint32_t round = 0; round < 100; round++) {
        char word[TK_CACHED_BYTES];
        size_t len = 4 + round % (sizeof word - 3), at = pick((uint32_t)len - 3);
        memset(word, 'a', sizeof word);
        for (int i = 0; i < 2; i++)
            tk_vocab_seeds[i] = (uint64_t)pick(UINT32_MAX) << 32 | pick(UINT32_MAX);
        made *m = start();
        for (td_id id = 0; id < 1 << 14; id++) {
            word[at] = (char)(id & 3);
            word[at + 1] = (char)(id >> 2 << 3);
            word[at + 2] = (char)(id >> 7);
            word[at + 3] = (char)(id >> 7 & 0x70);
            add(m, word, len, id);
        }
        fill(m);
        assert_true(longest_run(&m->entries) < 200);
        done(m);
    }
    memcpy(tk_vocab_seeds, seeds, sizeof seeds);
}

/* Texts of characters of one to four bytes, of which some stand for none, in any order. */
static void test_chars_to_bytes(void **unused)
{
    (void)unused;
    for (int round = 0; round < 60000; round++) {
        char want[64], got[64], text[200];
        size_t n = 0, len = 0, chars = pick(40), room = pick(4) ? sizeof want : pick(40);
        bool good = true;
        bool wide = pick(3) != 0; /* nearly all of two bytes */
        uint32_t odd = 2 + pick(60);
        for (size_t i = 0; i < chars; i++) {
            uint32_t c = pick(odd) == 0 ? pick(0x20000) : tk_byte_to_char((uint8_t)pick(256));
            if (wide && c < 0x80)
                c = 0x100 + c % 0x44;
            int byte = tk_char_to_byte(c);
            len += td_utf8_put(text + len, c);
            good = good && byte >= 0 && n < room;
            if (good)
                want[n++] = (char)byte;
        }
        char *exact = malloc(len + 16); /* sanitizers see reads behind it */
        assert_non_null(exact);
        memcpy(exact, text, len);
        memset(exact + len, 0xC5, 16);
        assert_int_equal(tk_chars_to_bytes((td_str){ exact, len }, got, room), good ? n : 0);
        if (good)
            assert_memory_equal(got, want, n);
        free(exact);
    }
}

static void test_no_memory(void **unused)
{
    (void)unused;
    made *m = start();
    add(m, "a", 1, 0);
    assert_true(tk_vocab_seal(m->bpe.vocab));
    td_alloc_fail_at = 1;
    assert_false(tk_entries_fill(&m->entries, &m->bpe));
    td_alloc_fail_at = 0;
    done(m);
}

/* Every entry of real models, its neighbours that are none, and what all that takes. */
static void test_real(void **unused)
{
    (void)unused;
    static const char *const names[] = { "qwen3", "deepseek_v3", "llama3_1", "gptoss" };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        td_tokenizer *tok = load_real(names[k]);
        if (tok == NULL)
            continue;
        const tk_entries *e = &tok->fast->entries;
        const tk_vocab *v = tok->fast->bpe->vocab;
        assert_true((uint64_t)e->line_count * sizeof *e->lines < (6u << 20));
        uint32_t behind = 0, count = 0;
        for (uint32_t i = 0; i < e->line_count; i++)
            behind += (uint32_t)__builtin_popcount(e->lines[i].behind);
        assert_true(behind < e->line_count / 2);
        for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
            char bytes[16], text[64];
            size_t n = tk_chars_to_bytes(tk_vocab_text(v, at), bytes, TK_CACHED_BYTES), t = 0;
            if (n == 0)
                continue;
            td_id id = tk_vocab_head_at(v, at).id, found = look(e, bytes, n), want;
            assert_int_equal(tk_entry_id(found), id);
            assert_int_equal(tk_entry_is_proven(found),
                             tk_id_bit(tok->fast->bpe->merges.proven, id));
            count++;
            bytes[pick((uint32_t)n)] ^= 1;
            for (size_t i = 0; i < n; i++)
                t += td_utf8_put(text + t, tk_byte_to_char((uint8_t)bytes[i]));
            if (!tk_vocab_find(v, (td_str){ text, t }, &want))
                want = TK_NO_ID;
            found = look(e, bytes, n);
            assert_int_equal(found == TK_NO_ID ? found : tk_entry_id(found), want);
        }
        assert_true(count > 100000);
        td_tokenizer_free(tok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_chars_to_bytes),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

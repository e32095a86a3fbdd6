/* The automaton tells all entries of a vocabulary that end at each place, longest first, however
 * many texts are read side by side and in how many parts. */
#include "tokenizers.h"

#include <math.h>

#include "base/alloc.h"
#include "tokenizer/model/automaton.h"

enum { ENTRIES = 2000, LEN = 40, TEXTS = 50, BYTES = 300 };

static char bytes[ENTRIES][LEN];
static td_str entries[ENTRIES];
static double scores[ENTRIES];

static uint8_t letter(uint32_t letters)
{
    return letters == 256 ? (uint8_t)pick(256) : (uint8_t) "a\0b\xFF"[pick(letters)];
}

static bool is_there(uint32_t count, td_str s)
{
    for (uint32_t i = 0; i < count; i++)
        if (td_str_eq(entries[i], s))
            return true;
    return false;
}

/* A vocabulary of random entries, some of which others begin or end with. */
static tk_vocab *make(uint32_t count, uint32_t letters, uint32_t longest)
{
    tk_vocab *v = tk_vocab_new(count);
    assert_non_null(v);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = 0, more = pick(1 + longest / 4), other = i != 0 ? pick(i) : 0;
        if (i != 0 && pick(2) == 0) {
            len = (uint32_t)entries[other].len;
            memcpy(bytes[i], entries[other].ptr, len);
        }
        for (; more > 0 && len < longest; more--)
            bytes[i][len++] = (char)letter(letters);
        uint32_t front = pick(4) == 0 ? pick(len + 1) : 0;
        entries[i] = (td_str){ bytes[i] + front, len - front };
        scores[i] = -(double)pick(1000);
        if (!is_there(i, entries[i]))
            assert_true(tk_vocab_add(v, entries[i], i));
    }
    assert_true(tk_vocab_seal(v));
    return v;
}

/* Whether an entry is what ends at the end of a text's first bytes and has a length. */
static bool ends(const tk_vocab *v, const char *text, uint32_t end, uint32_t len, td_id *ret)
{
    return len <= end && tk_vocab_find(v, (td_str){ text + end - len, len }, ret);
}

static void check_endings(const tk_automaton *a, const tk_vocab *v, const char *text, uint32_t end,
                          uint32_t number)
{
    for (uint32_t len = LEN; len > 0; len--) {
        td_id id;
        if (!ends(v, text, end, len, &id))
            continue;
        assert_int_equal(number, 1 + id);
        assert_int_equal(a->texts[number].len, len);
        assert_true(a->texts[number].score == scores[id]);
        number = a->texts[number].next;
    }
    assert_int_equal(number, 0);
}

/* Reads some texts, each in up to three parts. */
static void check_read(const tk_automaton *a, const tk_vocab *v, uint32_t count, uint32_t letters)
{
    static char texts[TEXTS][BYTES];
    static uint32_t found[TEXTS][BYTES];
    tk_reading r[TEXTS];
    uint32_t lens[TEXTS], n = 1 + pick(TEXTS);
    for (uint32_t i = 0; i < n; i++) {
        lens[i] = 3 + pick(BYTES - 3);
        for (uint32_t k = 0; k < lens[i]; k++)
            texts[i][k] = (char)letter(letters);
        for (uint32_t k = 0; k + LEN < lens[i]; k += pick(2 * LEN))
            if (count != 0) {
                td_str entry = entries[pick(count)];
                if (entry.len != 0)
                    memcpy(texts[i] + k, entry.ptr, entry.len);
            }
        r[i] = (tk_reading){ .state = 0 };
    }
    uint32_t parts = 1 + pick(3);
    for (uint32_t part = 0; part < parts; part++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t from = lens[i] * part / parts, to = lens[i] * (part + 1) / parts;
            r[i] = (tk_reading){ texts[i] + from, texts[i] + to, found[i] + from, r[i].state };
        }
        tk_automaton_read(a, r, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        tk_automaton_ask(a, found[i], lens[i]);
        for (uint32_t k = 0; k < lens[i]; k++)
            check_endings(a, v, texts[i], k + 1, found[i][k]);
    }
}

static void check(uint32_t count, uint32_t letters, uint32_t longest)
{
    tk_vocab *v = make(count, letters, longest);
    tk_automaton *a = tk_automaton_of(v, scores);
    assert_non_null(a);
    assert_true(a->texts[0].score == -HUGE_VAL && a->texts[0].len == 0 && a->texts[0].next == 0);
    for (uint32_t i = 0; i < 10; i++)
        check_read(a, v, count, letters);
    tk_automaton_free(a);
    tk_vocab_free(v);
}

static void test_random(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 100; i++)
        check(pick(60), 1 + pick(4), 1 + pick(LEN));
    check(ENTRIES, 4, LEN);
    check(ENTRIES, 256, LEN);
    check(ENTRIES, 256, 2);
}

/* All bytes, and all pairs of them: every place of the blocks is taken. */
static void test_full(void **unused)
{
    (void)unused;
    static double zeros[256 * 257];
    tk_vocab *v = tk_vocab_new(256 * 257);
    for (uint32_t i = 0; i < 256 * 257; i++) {
        char text[2] = { (char)(i >> 8), (char)i };
        td_str entry = i < 256 * 256 ? (td_str){ text, 2 } : (td_str){ text + 1, 1 };
        assert_true(tk_vocab_add(v, entry, i));
    }
    assert_true(tk_vocab_seal(v));
    tk_automaton *a = tk_automaton_of(v, zeros);
    assert_non_null(a);
    char text[BYTES];
    uint32_t found[BYTES];
    for (uint32_t k = 0; k < BYTES; k++)
        text[k] = (char)pick(256);
    tk_reading r = { text, text + BYTES, found, 0 };
    tk_automaton_read(a, &r, 1);
    tk_automaton_ask(a, found, BYTES);
    for (uint32_t k = 0; k < BYTES; k++) {
        uint32_t last = (uint8_t)text[k], pair = k != 0 ? (uint32_t)(uint8_t)text[k - 1] << 8 : 0;
        assert_int_equal(found[k], 1 + (k != 0 ? pair + last : 256 * 256 + last));
        assert_int_equal(a->texts[found[k]].next, k != 0 ? 1 + 256 * 256 + last : 0);
    }
    tk_automaton_free(a);
    tk_vocab_free(v);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    tk_vocab *v = make(ENTRIES, 256, LEN);
    tk_automaton *a = NULL;
    for (uint32_t n = 1; a == NULL; n++) {
        td_alloc_fail_at = n;
        a = tk_automaton_of(v, scores);
        td_alloc_fail_at = 0;
        assert_true(n < 100);
    }
    tk_automaton_free(a);
    tk_vocab_free(v);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

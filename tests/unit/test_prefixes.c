/* The trie of prefixes has the texts that it was made of, and nothing else. */
#include "tokenizers.h"

#include "base/alloc.h"
#include "tokenizer/model/prefix_trie.h"

enum { TEXTS = 3000, LEN = 40 };

static char bytes[TEXTS][LEN];
static td_str texts[TEXTS];
static uint32_t values[TEXTS];

static const td_str *find(uint32_t count, td_str s)
{
    for (uint32_t i = 0; i < count; i++)
        if (td_str_eq(texts[i], s))
            return &texts[i];
    return NULL;
}

static bool is_front(uint32_t count, td_str s)
{
    for (uint32_t i = 0; i < count; i++)
        if (texts[i].len >= s.len && memcmp(texts[i].ptr, s.ptr, s.len) == 0)
            return true;
    return false;
}

/* Walks along a text, as far as the trie goes and as all texts say that it should. */
static void check_walk(const tk_prefix_trie *t, uint32_t count, td_str s)
{
    uint32_t node = 0;
    assert_false(tk_prefix_ends(t, 0));
    for (size_t n = 1; n <= s.len; n++) {
        td_str front = { s.ptr, n };
        node = tk_prefix_step(t, node, (uint8_t)s.ptr[n - 1]);
        assert_int_equal(node != 0, is_front(count, front));
        if (node == 0)
            return;
        assert_true(node < t->size);
        const td_str *text = find(count, front);
        assert_int_equal(tk_prefix_ends(t, node), text != NULL);
        if (text != NULL)
            assert_int_equal(t->values[node], values[text - texts]);
    }
}

/* Random texts of some letters, some of them going on where others end, and some twice. */
static void make_texts(uint32_t count, uint32_t letters, uint32_t longest)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = i != 0 && pick(2) == 0 ? pick(i) : i, len = 0;
        if (from != i) {
            len = (uint32_t)texts[from].len;
            memcpy(bytes[i], texts[from].ptr, len);
        }
        for (uint32_t more = pick(1 + longest / 4); more > 0 && len < longest; more--)
            bytes[i][len++] = letters == 256 ? (char)pick(256) : "a\0b\xFF"[pick(letters)];
        texts[i] = (td_str){ bytes[i], len };
        const td_str *other = find(i, texts[i]);
        values[i] = other != NULL ? values[other - texts] : pick(1 << 20);
    }
}

static void check(uint32_t count, uint32_t letters, uint32_t longest)
{
    make_texts(count, letters, longest);
    tk_prefix_trie *t = tk_prefix_trie_new(texts, values, count);
    assert_non_null(t);
    for (uint32_t i = 0; i < 200; i++) {
        char s[LEN];
        uint32_t k = count != 0 ? pick(count) : 0, len = count != 0 ? (uint32_t)texts[k].len : 0;
        if (len != 0)
            memcpy(s, texts[k].ptr, len);
        for (uint32_t more = pick(4); more > 0 && len < LEN; more--)
            s[len++] = (char)pick(256);
        if (len != 0 && pick(2) == 0)
            s[pick(len)] = (char)pick(256);
        check_walk(t, count, (td_str){ s, len });
    }
    tk_prefix_trie_free(t);
}

static void test_random(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 300; i++)
        check(pick(100), 1 + pick(4), 1 + pick(LEN));
    for (uint32_t i = 0; i < 6; i++) {
        check(TEXTS, 4, LEN);
        check(TEXTS, 256, LEN);
        check(TEXTS, 256, 3);
    }
}

/* Every node has all children that there can be. */
static void test_full(void **unused)
{
    (void)unused;
    static char pairs[256 * 256][2];
    static td_str all[256 * 256];
    static uint32_t ids[256 * 256];
    for (uint32_t i = 0; i < 256 * 256; i++) {
        pairs[i][0] = (char)(i >> 8);
        pairs[i][1] = (char)i;
        all[i] = (td_str){ pairs[i], 2 };
        ids[i] = i;
    }
    tk_prefix_trie *t = tk_prefix_trie_new(all, ids, 256 * 256);
    assert_non_null(t);
    for (uint32_t i = 0; i < 256 * 256; i++) {
        uint32_t first = tk_prefix_step(t, 0, (uint8_t)(i >> 8));
        uint32_t second = tk_prefix_step(t, first, (uint8_t)i);
        assert_true(first != 0 && second != 0 && !tk_prefix_ends(t, first));
        assert_true(tk_prefix_ends(t, second));
        assert_int_equal(t->values[second], i);
        assert_int_equal(tk_prefix_step(t, second, (uint8_t)pick(256)), 0);
    }
    tk_prefix_trie_free(t);
}

static void test_out_of_memory(void **unused)
{
    (void)unused;
    make_texts(TEXTS, 256, LEN);
    tk_prefix_trie *t = NULL;
    for (uint32_t n = 1; t == NULL; n++) {
        td_alloc_fail_at = n;
        t = tk_prefix_trie_new(texts, values, TEXTS);
        td_alloc_fail_at = 0;
        assert_true(n < 100);
    }
    tk_prefix_trie_free(t);
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

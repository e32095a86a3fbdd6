/* Merging gives what the definition says: again and again the leftmost of the pairs with the lowest
 * rank, until there is none. Random models, short words and long ones. */
#include "tokenizers.h"

#include "base/buf.h"

enum { LETTERS = 5, ENTRIES_MAX = 120, MERGES_MAX = 100, WORD_MAX = 700 };

static const char *const letters[LETTERS] = { "a", "b", "c", "é", "中" };

typedef struct merge {
    uint32_t left, right, into;
} merge;

typedef struct model {
    char entries[ENTRIES_MAX][64];
    uint32_t count;
    merge merges[MERGES_MAX];
    uint32_t merge_count;
} model;

static uint32_t entry(model *m, const char *text)
{
    uint32_t i = 0;
    while (i < m->count && strcmp(m->entries[i], text) != 0)
        i++;
    if (i == m->count)
        snprintf(m->entries[m->count++], sizeof m->entries[0], "%s", text);
    return i;
}

static bool has_merge(const model *m, uint32_t left, uint32_t right)
{
    for (uint32_t i = 0; i < m->merge_count; i++)
        if (m->merges[i].left == left && m->merges[i].right == right)
            return true;
    return false;
}

/* Merges in any order, several ways to one entry. */
static void make(model *m, uint32_t merges)
{
    m->count = m->merge_count = 0;
    for (uint32_t i = 0; i < LETTERS; i++)
        entry(m, letters[i]);
    for (uint32_t tries = 0; tries < 400 && m->merge_count < merges; tries++) {
        uint32_t left = pick(m->count), right = pick(m->count);
        char both[64];
        if (strlen(m->entries[left]) + strlen(m->entries[right]) >= 30 || m->count == ENTRIES_MAX ||
            has_merge(m, left, right))
            continue;
        snprintf(both, sizeof both, "%s%s", m->entries[left], m->entries[right]);
        m->merges[m->merge_count++] = (merge){ left, right, entry(m, both) };
    }
    for (uint32_t i = m->merge_count; i > 1; i--) {
        uint32_t other = pick(i);
        merge one = m->merges[other];
        m->merges[other] = m->merges[i - 1];
        m->merges[i - 1] = one;
    }
}

static td_tokenizer *load_model(const model *m)
{
    td_buf b = { 0 };
    td_buf_put(&b, TD_STR("{\"model\": {\"type\": \"BPE\", \"vocab\": {"));
    for (uint32_t i = 0; i < m->count; i++)
        td_buf_printf(&b, "%s\"%s\": %u", i != 0 ? ", " : "", m->entries[i], i);
    td_buf_put(&b, TD_STR("}, \"merges\": ["));
    for (uint32_t i = 0; i < m->merge_count; i++)
        td_buf_printf(&b, "%s[\"%s\", \"%s\"]", i != 0 ? ", " : "", m->entries[m->merges[i].left],
                      m->entries[m->merges[i].right]);
    td_buf_put(&b, TD_STR("]}}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    td_buf_done(&b);
    return tok;
}

static uint32_t rank_of(const model *m, uint32_t left, uint32_t right)
{
    uint32_t i = 0;
    while (i < m->merge_count && (m->merges[i].left != left || m->merges[i].right != right))
        i++;
    return i;
}

static size_t merge_naively(const model *m, uint32_t *ids, size_t count)
{
    for (;;) {
        uint32_t best = m->merge_count;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t rank = rank_of(m, ids[i], ids[i + 1]);
            if (rank < best) {
                best = rank;
                at = i;
            }
        }
        if (best == m->merge_count)
            return count;
        ids[at] = m->merges[best].into;
        memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof *ids);
        count--;
    }
}

static void compare(td_encoder *enc, const model *m, size_t letters_in_word, uint32_t kinds)
{
    static uint32_t want[WORD_MAX];
    static char text[WORD_MAX * 4];
    size_t len = 0;
    for (size_t i = 0; i < letters_in_word; i++) {
        want[i] = pick(kinds);
        size_t n = strlen(letters[want[i]]);
        memcpy(text + len, letters[want[i]], n);
        len += n;
    }
    size_t count = merge_naively(m, want, letters_in_word);
    td_error err = TD_ERROR_INIT;
    td_ids ids;
    for (unsigned flags = 0; flags <= TD_ENCODE_OFFSETS; flags += TD_ENCODE_OFFSETS) {
        assert_int_equal(td_encode(enc, (td_str){ text, len }, flags, &ids, &err), TD_OK);
        if (ids.count != count || memcmp(ids.ids, want, count * sizeof *want) != 0)
            fail_msg("%.*s: %zu ids, by definition %zu", (int)len, text, ids.count, count);
    }
}

static void test_by_definition(void **unused)
{
    (void)unused;
    static model m;
    for (int round = 0; round < 400; round++) {
        make(&m, 1 + pick(MERGES_MAX));
        td_tokenizer *tok = load_model(&m);
        td_encoder *enc = td_encoder_new(tok);
        for (int i = 0; i < 60; i++)
            compare(enc, &m, 1 + pick(40), 1 + pick(LETTERS));
        if (round % 20 == 0)
            compare(enc, &m, 200 + pick(WORD_MAX - 200), 1 + pick(LETTERS));
        td_encoder_free(enc);
        td_tokenizer_free(tok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_by_definition) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

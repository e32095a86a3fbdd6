/* Merging gives what the definition says: again and again the leftmost of the pairs with the lowest
 * rank, until there is none. Random models, short words and long ones. */
#include "tokenizers.h"

#include "base/buf.h"
#include "tokenizer/model/bpe.h"

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

static void add_merge(model *m, uint32_t left, uint32_t right)
{
    char both[64];
    size_t n = strlen(m->entries[left]) + strlen(m->entries[right]);
    if (n >= 30 || m->merge_count == MERGES_MAX || has_merge(m, left, right))
        return;
    snprintf(both, sizeof both, "%s%s", m->entries[left], m->entries[right]);
    if (m->count < ENTRIES_MAX)
        m->merges[m->merge_count++] = (merge){ left, right, entry(m, both) };
}

static void shuffle(model *m)
{
    for (uint32_t i = m->merge_count; i > 1; i--) {
        uint32_t other = pick(i);
        merge one = m->merges[other];
        m->merges[other] = m->merges[i - 1];
        m->merges[i - 1] = one;
    }
}

/* Merges in any order, several ways to one entry. */
static void make(model *m, uint32_t merges)
{
    m->count = m->merge_count = 0;
    for (uint32_t i = 0; i < LETTERS; i++)
        entry(m, letters[i]);
    for (uint32_t tries = 0; tries < 400 && m->merge_count < merges; tries++)
        add_merge(m, pick(m->count), pick(m->count));
    shuffle(m);
}

static int by_product(const void *a, const void *b)
{
    const merge *x = a, *y = b;
    return x->into != y->into ? (x->into < y->into ? -1 : 1) : 0;
}

/* Each pair of entries that make a third one, those of one entry side by side, as converters write
 * them: entries in the order of their ids or, mixed up, in none. */
static void make_grouped(model *m, uint32_t merges, bool mixed)
{
    make(m, merges);
    for (uint32_t left = 0; left < m->count; left++)
        for (uint32_t right = 0; right < m->count; right++) {
            char both[128];
            uint32_t into = 0;
            snprintf(both, sizeof both, "%s%s", m->entries[left], m->entries[right]);
            while (into < m->count && strcmp(m->entries[into], both) != 0)
                into++;
            if (into < m->count)
                add_merge(m, left, right);
        }
    shuffle(m);
    static uint32_t order[ENTRIES_MAX];
    for (uint32_t i = 0; i < m->count; i++)
        order[i] = i;
    for (uint32_t i = m->count; mixed && i > 1; i--) {
        uint32_t other = pick(i), one = order[other];
        order[other] = order[i - 1];
        order[i - 1] = one;
    }
    for (uint32_t i = 0; i < m->merge_count; i++)
        m->merges[i].into = order[m->merges[i].into];
    qsort(m->merges, m->merge_count, sizeof *m->merges, by_product);
    static uint32_t back[ENTRIES_MAX];
    for (uint32_t i = 0; i < m->count; i++)
        back[order[i]] = i;
    for (uint32_t i = 0; i < m->merge_count; i++)
        m->merges[i].into = back[m->merges[i].into];
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

static void compare_model(const model *m, td_tokenizer *tok, bool is_long)
{
    td_encoder *enc = td_encoder_new(tok);
    for (int i = 0; i < 60; i++)
        compare(enc, m, 1 + pick(40), 1 + pick(LETTERS));
    if (is_long)
        compare(enc, m, 200 + pick(WORD_MAX - 200), 1 + pick(LETTERS));
    td_encoder_free(enc);
}

static void test_by_definition(void **unused)
{
    (void)unused;
    static model m;
    for (int round = 0; round < 400; round++) {
        make(&m, 1 + pick(MERGES_MAX));
        td_tokenizer *tok = load_model(&m);
        compare_model(&m, tok, round % 20 == 0);
        td_tokenizer_free(tok);
    }
}

/* How many merges the table does not have; those that it has are right. */
static uint32_t left_out(const model *m, const tk_merges *table)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->merge_count; i++) {
        td_id product;
        uint32_t rank = tk_merge_rank(table, m->merges[i].left, m->merges[i].right, &product);
        assert_true(rank == UINT32_MAX || (rank == i && product == m->merges[i].into));
        n += rank == UINT32_MAX;
    }
    assert_int_equal(table->count, m->merge_count);
    return n;
}

/* Merges that are never made are left out. */
static void test_grouped(void **unused)
{
    (void)unused;
    static model m;
    uint32_t out[2] = { 0 }, all[2] = { 0 };
    for (int round = 0; round < 1000; round++) {
        bool mixed = round % 4 == 0;
        make_grouped(&m, 1 + pick(MERGES_MAX / 2), mixed);
        td_tokenizer *tok = load_model(&m);
        out[mixed] += left_out(&m, &tk_as_bpe(tok->model)->merges);
        all[mixed] += m.merge_count;
        compare_model(&m, tok, round % 20 == 1);
        td_tokenizer_free(tok);
    }
    assert_true(out[false] > all[false] / 20 && out[true] > all[true] / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_definition),
        cmocka_unit_test(test_grouped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

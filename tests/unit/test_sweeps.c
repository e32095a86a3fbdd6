/* Merging in sweeps against a plain reading of the rule, over tables such as trainers make and such
 * as none would: what a merge makes may be taken before, be made twice, or be a letter. */
#include "tokenizers.h"

#include "base/cpu.h"
#include "merging.h"
#include "tokenizer/model/bpe_lanes.h"

enum { LETTERS = 3, IDS = 90, MERGES_MAX = 110 };

static tk_merge table[MERGES_MAX];
static uint32_t merge_count;

typedef enum kind {
    TRAINED, /* each merge makes something new out of what is there */
    TWICE,   /* some make what is there */
    SHARED,  /* all that make one thing follow each other, some with one rank */
    EARLY,   /* some are taken before they are made */
    SELF,    /* an id is made of itself */
    TORN,    /* an id begins or ends in several ways */
    RANDOM,  /* in no order of rank */
    KINDS,
} kind;

/* Of ids that are made twice or taken early all begin and end with the same letters, as texts do:
 * otherwise hardly any table would be swept. */
static td_id first_of(td_id id)
{
    return id < LETTERS ? id : id % LETTERS;
}

static td_id last_of(td_id id)
{
    return id < LETTERS ? id : id / LETTERS % LETTERS;
}

/* One of the ids that begins as left does and ends as right does. */
static td_id product_of(td_id left, td_id right)
{
    uint32_t square = LETTERS * LETTERS;
    td_id id = last_of(right) * LETTERS + first_of(left) + pick(IDS / square) * square;
    return id < LETTERS ? id + square : id;
}

static bool is_made(td_id id)
{
    for (uint32_t i = 0; i < merge_count; i++)
        if (table[i].product == id)
            return true;
    return id < LETTERS;
}

static td_id pick_part(void)
{
    td_id id = pick(pick(2) == 0 ? LETTERS : IDS);
    return is_made(id) ? id : pick(LETTERS);
}

static void put(tk_merge e)
{
    if (merge_count < MERGES_MAX && find_merge(table, merge_count, e.left, e.right) == NULL)
        table[merge_count++] = e;
}

/* Some merges change places with others, not their ranks. */
static void mix(void)
{
    for (uint32_t n = pick(20); n > 0; n--) {
        tk_merge *a = &table[pick(merge_count)], *b = &table[pick(merge_count)], e = *a;
        *a = (tk_merge){ b->left, b->right, a->rank, b->product };
        *b = (tk_merge){ e.left, e.right, b->rank, e.product };
    }
}

static void make_table(kind how)
{
    uint32_t rank = 0, steps = 1 + pick(400);
    merge_count = 0;
    for (int i = 0; i < 400; i++) {
        td_id left = pick_part(), right = pick_part();
        td_id product = how == TORN ? LETTERS + pick(IDS - LETTERS) : product_of(left, right);
        bool again = is_made(product), self = product == left || product == right;
        if ((again && how != TWICE && how != SELF && how != TORN) || (self && how != SELF))
            continue;
        rank += 1 + pick(2) * pick(steps);
        put((tk_merge){ left, right, how == RANDOM ? pick(1 << 10) : rank, product });
        for (uint32_t more = pick(4); how == SHARED && more > 0; more--) {
            td_id a = pick_part(), b = pick_part();
            rank += pick(2);
            if (first_of(a) == first_of(product) && last_of(b) == last_of(product) &&
                a != product && b != product)
                put((tk_merge){ a, b, rank, product });
        }
    }
    if (how == EARLY)
        mix();
}

/* merge_plainly of merging.h with the tables, which other tests are about: real ones are large. */
static uint32_t merge_slowly(const tk_merges *m, td_id *ids, uint32_t count)
{
    for (;;) {
        uint32_t best = UINT32_MAX, at = 0;
        td_id product = 0, made = 0;
        for (uint32_t i = 0; i + 1 < count; i++) {
            uint32_t rank = tk_merge_rank(m, ids[i], ids[i + 1], &made);
            if (rank < best) {
                best = rank;
                product = made;
                at = i;
            }
        }
        if (best == UINT32_MAX)
            return count;
        ids[at] = product;
        memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof *ids);
        count--;
    }
}

static void check_words(const tk_merges *m, td_id words[][TK_LANE], const uint32_t *counts,
                        uint32_t n)
{
    static tk_lane lanes[CPUS][TK_LANES];
    for (uint32_t i = 0; i < n; i++) {
        memcpy(tk_lane_ids(&lanes[0][i]), words[i], counts[i] * sizeof(td_id));
        tk_lane_start(&lanes[0][i], counts[i]);
    }
    merge_all_ways(m, lanes, n);
    for (uint32_t i = 0; i < n; i++) {
        td_id room[TK_LANE];
        uint32_t want = merge_slowly(m, words[i], counts[i]), count;
        for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
            const td_id *ids = tk_lane_get(&lanes[cpu][i], room, &count);
            assert_int_equal(count, want);
            assert_memory_equal(ids, words[i], want * sizeof *ids);
        }
    }
}

static uint32_t pick_count(void)
{
    return 1 + pick(pick(2) == 0 ? 8 : TK_LANES);
}

/* ---- bounds ---- */

/* Marks id and all that ends with it, or begins with it. */
static void mark(const tk_merge *e, td_id id, bool ends, bool *marks)
{
    bool more = true;
    marks[id] = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < merge_count; i++) {
            bool is = marks[ends ? e[i].right : e[i].left] && !marks[e[i].product];
            marks[e[i].product] |= is;
            more |= is;
        }
    }
}

static uint32_t code_at(uint64_t pair, uint32_t at, uint32_t bits)
{
    return (uint32_t)(pair >> at & (((uint64_t)1 << bits) - 1)) << (16 - bits);
}

/* No merge is below the bounds of a pair. e: the table, from first on. */
static void check_bounds(const tk_merges *m, const tk_merge *e, td_id first)
{
    static bool marks[2 * TK_SQUARE + IDS];
    for (td_id p = first; p < first + LETTERS && p < TK_SQUARE; p++) {
        for (int ends = 0; ends < 2; ends++) {
            memset(marks, 0, sizeof marks);
            mark(e, p, ends != 0, marks);
            for (uint32_t i = 0; i < merge_count; i++) {
                td_id x = ends != 0 ? e[i].left : e[i].right;
                td_id a = ends != 0 ? e[i].right : e[i].left;
                if (!marks[x] || a >= TK_SQUARE)
                    continue;
                uint64_t pair = m->square[ends != 0 ? p * TK_SQUARE + a : a * TK_SQUARE + p];
                uint32_t bound = ends != 0 ? code_at(pair, TK_LEFT_AT, TK_LEFT_BITS)
                                           : code_at(pair, TK_RIGHT_AT, TK_RIGHT_BITS);
                assert_true(bound <= tk_rank_code(e[i].rank));
            }
        }
    }
}

/* What is taken at a rank that is not above the one at which it is made is known. */
static void check_hasty(const tk_merges *m, const tk_merge *e)
{
    for (uint32_t i = 0; i < merge_count; i++)
        for (uint32_t k = 0; k < merge_count; k++)
            if ((e[k].left == e[i].product || e[k].right == e[i].product) &&
                e[k].rank <= e[i].rank)
                assert_true(m->hurries && tk_id_bit(m->hasty, e[i].product));
}

static void test_tables(void **unused)
{
    (void)unused;
    static const td_id starts[] = { 0, 3, 250, 261, 300 };
    uint32_t swept[KINDS] = { 0 };
    for (uint32_t round = 0; round < 7000; round++) {
        td_id first = starts[round % 5];
        kind how = (kind)(round / 5 % KINDS);
        make_table(how);
        tk_merge moved[MERGES_MAX];
        move_merges(table, merge_count, first, moved);
        tk_merges m = { 0 };
        assert_true(tk_merges_fill(&m, moved, merge_count, first + IDS));
        if (m.swept) {
            check_bounds(&m, moved, first);
            check_hasty(&m, moved);
            swept[how] += first == 0;
        }
        for (int i = 0; i < 6; i++) {
            static td_id words[TK_LANES][TK_LANE];
            uint32_t counts[TK_LANES], n = pick_count(), most = 1 + pick(TK_LANE);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t letters = 1 + pick(pick(4) == 0 ? IDS : LETTERS);
                counts[k] = 1 + pick(most);
                for (uint32_t q = 0; q < counts[k]; q++)
                    words[k][q] = first + pick(letters);
            }
            check_words(&m, words, counts, n);
        }
        tk_merges_done(&m);
    }

    for (int how = TRAINED; how < SELF && td_cpu_best() >= TD_CPU_AVX2; how++)
        assert_true(swept[how] > 10);
}

/* ---- real tables ---- */

/* The symbols of a random entry; how many. */
static uint32_t spell_entry(const tk_vocab *v, td_id *ids, uint32_t most)
{
    td_id id = pick(v->id_end);
    if (v->by_id[id] == 0)
        return 0;
    td_str text = tk_vocab_text(v, v->by_id[id] - 1);
    uint32_t n = 0;
    for (size_t i = 0, len; i < text.len && n < most; i += len) {
        for (len = 1; i + len < text.len && (text.ptr[i + len] & 0xC0) == 0x80;)
            len++;
        if (!tk_vocab_find(v, (td_str){ text.ptr + i, len }, &ids[n++]))
            return 0;
    }
    return n;
}

static void check_real(const char *name, bool swept)
{
    td_tokenizer *tok = load_real(name);
    const tk_bpe *bpe = tk_as_bpe(tok->model);
    assert_non_null(bpe);
    assert_int_equal(bpe->merges.swept, swept && td_cpu_best() >= TD_CPU_AVX2);
    for (int round = 0; round < 800; round++) {
        static td_id words[TK_LANES][TK_LANE];
        uint32_t counts[TK_LANES], n = pick_count();
        for (uint32_t i = 0; i < n; i++) {
            uint32_t most = 1 + pick(TK_LANE);
            for (counts[i] = 0; counts[i] == 0 || (counts[i] < most && pick(4) != 0);)
                counts[i] += spell_entry(bpe->vocab, words[i] + counts[i], most - counts[i]);
            for (uint32_t k = 0; k < counts[i]; k++)
                if (pick(8) == 0)
                    words[i][k] = words[i][pick(counts[i])];
        }
        check_words(&bpe->merges, words, counts, n);
    }
    td_tokenizer_free(tok);
}

#define REAL(NAME, SWEPT)                                                                          \
    static void test_##NAME(void **unused)                                                         \
    {                                                                                              \
        (void)unused;                                                                              \
        check_real(#NAME, SWEPT);                                                                  \
    }

REAL(qwen3, true)
REAL(llama3_1, true)
REAL(gptoss, true)
REAL(deepseek_v3, true)
REAL(gemma3, false)
REAL(llama2, false)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),   cmocka_unit_test(test_qwen3),
        cmocka_unit_test(test_llama3_1), cmocka_unit_test(test_gptoss),
        cmocka_unit_test(test_deepseek_v3), cmocka_unit_test(test_gemma3),
        cmocka_unit_test(test_llama2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

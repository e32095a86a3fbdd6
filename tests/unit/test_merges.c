/* The table of merges finds every pair and no other, whatever numbers they are and however they
 * were chosen; short words that are merged side by side become what the rule says. */
#include "merging.h"
#include "tokenizers.h"

#include <time.h>

#include "tokenizer/model/bpe_lanes.h"

enum { LETTERS = 4, IDS = 40, MERGES_MAX = 60 };

static tk_merge table[MERGES_MAX];
static uint32_t merge_count;

/* Pairs of what there may be by then; sometimes of any, and sometimes they share ranks. */
static void make_table(void)
{
    uint32_t made = LETTERS, share = 1 + 2 * (pick(3) == 0);
    bool any = pick(3) == 0;
    merge_count = 0;
    while (merge_count < MERGES_MAX) {
        td_id left = pick(any ? IDS : made), right = pick(any ? IDS : made);
        bool known = find_merge(table, merge_count, left, right) != NULL;
        td_id product = made < IDS && pick(3) != 0 ? made++ : LETTERS + pick(IDS - LETTERS);
        if (!known) {
            table[merge_count] = (tk_merge){ left, right, merge_count / share, product };
            merge_count++;
        }
    }
}

/* ---- short words, side by side ---- */

/* Ids of bytes, others, and such as are in the list only. */
static const td_id firsts[] = { 0, 300, 1 << 20 };

static void check_lanes(const tk_merges *m, td_id first, uint32_t n)
{
    static tk_lane lanes[CPUS][TK_LANES];
    td_id words[TK_LANES][TK_LANE], room[TK_LANE];
    uint32_t counts[TK_LANES];
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = 1 + pick(TK_LANE);
        uint32_t letters = 1 + pick(LETTERS);
        for (uint32_t k = 0; k < counts[i]; k++) {
            words[i][k] = pick(letters);
            tk_lane_ids(&lanes[0][i])[k] = words[i][k] + first;
        }
        tk_lane_start(&lanes[0][i], counts[i]);
    }
    merge_all_ways(m, lanes, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t want = merge_plainly(table, merge_count, words[i], NULL, counts[i]), count;
        for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
            const td_id *ids = tk_lane_get(&lanes[cpu][i], room, &count);
            assert_int_equal(count, want);
            for (uint32_t k = 0; k < want; k++)
                assert_int_equal(ids[k], words[i][k] + first);
        }
    }
}

static void test_side_by_side(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 600; round++) {
        td_id first = firsts[round % 3];
        make_table();
        tk_merge moved[MERGES_MAX];
        move_merges(table, merge_count, first, moved);
        tk_merges m = { 0 };
        assert_true(tk_merges_fill(&m, moved, merge_count, first + IDS));
        for (int i = 0; i < 10; i++)
            check_lanes(&m, first, 1 + pick(pick(2) == 0 ? 8 : TK_LANES));
        tk_merges_done(&m);
    }
}

/* ---- the table ---- */

/* All pairs of a table are found, and others are not. */
static void check_table(const tk_merge *e, uint32_t count, td_id id_end)
{
    tk_merges m = { 0 };
    assert_true(tk_merges_fill(&m, e, count, id_end));
    for (uint32_t i = 0; i < count; i++) {
        td_id product = 0;
        assert_int_equal(tk_merge_rank(&m, e[i].left, e[i].right, &product), e[i].rank);
        assert_int_equal(product, e[i].product);
        assert_true(tk_id_bit(m.products, e[i].product) && tk_id_bit(m.parts, e[i].left));
    }
    assert_int_equal(m.count, count);
    for (uint32_t i = 0; i < 100000; i++) {
        td_id left = pick(id_end), right = pick(id_end), product;
        uint32_t rank = tk_merge_rank(&m, left, right, &product);
        bool same = rank < count && e[rank].left == left && e[rank].right == right;
        if (rank != UINT32_MAX && !same) {
            uint32_t k = 0;
            while (k < count && (e[k].left != left || e[k].right != right))
                k++;
            assert_true(k < count && e[k].rank == rank);
        }
    }
    tk_merges_done(&m);
}

/* Different pairs; ranks count up from rank on. */
static void fill_pairs(tk_merge *e, uint32_t count, td_id id_end, uint32_t rank)
{
    td_id left = 0, right = 0;
    for (uint32_t i = 0; i < count; i++) {
        right += 1 + pick(3);
        if (right >= id_end) {
            left += 1 + (count < 100 ? 0 : pick(id_end / 256));
            right = pick(8) % id_end;
        }
        assert_true(left < id_end);
        e[i] = (tk_merge){ left, right, rank + i, pick(id_end) };
    }
}

static void test_table(void **unused)
{
    (void)unused;
    static tk_merge e[20000];
    static const td_id ends[] = { 2, 9, 299, 300, 5000, 70000, 262144, 1 << 19, (1 << 20) - 1,
                                  1 << 20, 1 << 24 };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint32_t most = (uint32_t)(sizeof e / sizeof *e), n = ends[i] < 300 ? ends[i] / 2 : most;
        fill_pairs(e, n, ends[i], 0);
        check_table(e, n, ends[i]);
        fill_pairs(e, n, ends[i], (1 << 20) - 1 - n / 2); /* some ranks do not fit */
        check_table(e, n, ends[i]);
    }
}

/* Of equal pairs the last one counts, wherever they are. */
static void test_equal_pairs(void **unused)
{
    (void)unused;
    static tk_merge e[2][5000];
    static tk_merge all[10000];
    for (int round = 0; round < 6; round++) {
        td_id end = round % 2 == 0 ? 30000 : 1 << 21, product;
        uint32_t rank = round < 3 ? 0 : (1 << 20) - 7000;
        fill_pairs(e[0], 5000, end, rank);
        for (uint32_t i = 0; i < 5000; i++) {
            e[1][i] = e[0][i];
            e[1][i].rank += 5000;
            e[1][i].product = pick(end);
        }
        memcpy(all, e, sizeof e);
        tk_merges m = { 0 };
        assert_true(tk_merges_fill(&m, all, 10000, end));
        assert_int_equal(m.count, 5000);
        for (uint32_t i = 0; i < 5000; i++) {
            assert_int_equal(tk_merge_rank(&m, all[i].left, all[i].right, &product),
                             e[1][i].rank);
            assert_int_equal(product, e[1][i].product);
        }
        tk_merges_done(&m);
    }
}

/* Pairs chosen so that all belong to one group: as good as sorted, not quadratic. */
static void test_one_group(void **unused)
{
    (void)unused;
    enum { MANY = 300000, BITS = 18 };
    const uint64_t odd = 0x9E3779B97F4A7C15u, all = ((uint64_t)1 << 2 * BITS) - 1;
    uint64_t back = odd; /* its inverse modulo 2^64 */
    for (int i = 0; i < 6; i++)
        back *= 2 - odd * back;
    tk_merge *e = malloc(MANY * sizeof *e);
    assert_non_null(e);
    for (uint32_t i = 0; i < MANY; i++) {
        uint64_t pair = i * back & all;
        e[i] = (tk_merge){ (td_id)(pair >> BITS), (td_id)(pair & ((1 << BITS) - 1)), i, i / 2 };
    }
    clock_t start = clock();
    tk_merges m = { 0 };
    assert_true(tk_merges_fill(&m, e, MANY, (1 << BITS) - 1));
    assert_int_equal(m.count, MANY);
    assert_true(m.more_count > MANY / 8);
    for (uint32_t i = 0; i < MANY; i++) {
        td_id product;
        assert_int_equal(tk_merge_rank(&m, e[i].left, e[i].right, &product), i);
        assert_int_equal(product, i / 2);
    }
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    tk_merges_done(&m);
    /* One by one it is known soon that they are too many; so far all are there. */
    m = (tk_merges){ 0 };
    bool crowded = false;
    uint32_t n = 0;
    assert_true(tk_merges_start(&m, MANY, (1 << BITS) - 1));
    for (; n < MANY && !crowded; n++)
        assert_true(tk_merges_put(&m, &e[n], &crowded));
    assert_true(n > 1000 && n < MANY / 4);
    assert_int_equal(m.count, n);
    for (uint32_t i = 0; i < MANY; i++) {
        td_id product;
        uint32_t rank = tk_merge_rank(&m, e[i].left, e[i].right, &product);
        assert_int_equal(rank, i < n ? i : UINT32_MAX);
    }
    tk_merges_done(&m);
    free(e);
}

/* Put one by one: as all at once, and what is there can be asked for in between. */
static void test_one_by_one(void **unused)
{
    (void)unused;
    static tk_merge e[4000];
    for (int round = 0; round < 20; round++) {
        td_id end = round % 2 == 0 ? 3000 : (1 << 20) - 1, product;
        uint32_t n = 1 + pick(4000), again = pick(n);
        fill_pairs(e, n, end, 0);
        tk_merges m = { 0 };
        bool crowded;
        assert_true(tk_merges_start(&m, n / 8 + 1, end)); /* many find their groups full */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t old = pick(i + 1);
            assert_true(tk_merges_put(&m, &e[i], &crowded) && !crowded);
            assert_int_equal(tk_merge_rank(&m, e[old].left, e[old].right, &product), old);
            assert_int_equal(product, e[old].product);
        }
        tk_merge other = { e[again].left, e[again].right, n, pick(end) };
        assert_true(tk_merges_put(&m, &other, &crowded));
        assert_int_equal(tk_merge_rank(&m, other.left, other.right, &product), n);
        assert_int_equal(product, other.product);
        assert_int_equal(m.count, n);
        assert_true(round % 2 != 0 || m.more_count > n / 4);
        tk_merges_done(&m);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_equal_pairs),
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

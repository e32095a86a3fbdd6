/* merges.c - filling the table of merges.h, and its list. */
#include "tokenizer/model/merges.h"

#include <string.h>

#include "base/cpu.h"

enum {
    AHEAD = 16,
    LIST_MAX = 1 << 14, /* a longer one takes too long to put pairs into one by one */
};

#define ASK_LIST ((uint64_t)1 << 63)

static inline void set_bit(uint64_t *bits, uint32_t at)
{
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

/* Rank + 1 and product, as a slot has them. */
static inline uint64_t fields_of(const tk_merge *e)
{
    return (uint64_t)(e->rank + 1) << TK_FIELD | e->product;
}

/* false: the group is full. Which slot it will be cannot be guessed: no branches on the way. */
static inline bool put_in_group(tk_merges *m, const tk_merge *e, tk_place place, uint64_t *slots)
{
    const uint64_t mask = TK_TAG_MASK << 2 * TK_FIELD;
    uint32_t used = 0, at = TK_GROUP;
    for (uint32_t i = 0; i < TK_GROUP; i++) {
        bool empty = (slots[i] & ~ASK_LIST) == 0;
        bool same = !empty & (((slots[i] ^ place.tag) & mask) == 0);
        used += !empty;
        at = same ? i : at;
    }
    if (__builtin_expect(at == TK_GROUP, 1)) {
        at = used;
        m->count++;
    }
    if (at == TK_GROUP) {
        m->count--;
        return false;
    }
    slots[at] = (slots[at] & ASK_LIST) | place.tag | fields_of(e);
    return true;
}

static bool grow_list(tk_merges *m)
{
    if ((m->more_count & (m->more_count - 1)) == 0) {
        size_t cap = m->more_count != 0 ? (size_t)m->more_count * 2 : 1;
        tk_merge *more = td_realloc(m->more, cap * sizeof *more);
        if (more == NULL)
            return false;
        m->more = more;
    }
    return true;
}

static bool put_in_list(tk_merges *m, const tk_merge *e)
{
    if (!grow_list(m))
        return false;
    m->more[m->more_count++] = *e;
    return true;
}

/* ---- the list ---- */

static inline uint64_t order_of(td_id left, td_id right)
{
    return (uint64_t)left << 32 | right;
}

static inline uint64_t order_at(const tk_merge *e)
{
    return order_of(e->left, e->right);
}

/* Puts [from, mid) and [mid, end), both in order, together. */
static void join(const tk_merge *e, size_t from, size_t mid, size_t end, tk_merge *to)
{
    size_t a = from, b = mid;
    for (size_t i = from; i < end; i++)
        to[i] = b == end || (a < mid && order_at(&e[a]) <= order_at(&e[b])) ? e[a++] : e[b++];
}

/* Sorts the list, and leaves only the last one of equal pairs. false: out of memory. */
static bool sort_list(tk_merges *m)
{
    size_t n = m->more_count;
    if (n == 0)
        return true;
    tk_merge *from = m->more, *to = td_malloc(n * sizeof *to);
    if (to == NULL)
        return false;
    for (size_t step = 1; step < n; step *= 2) {
        for (size_t i = 0; i < n; i += 2 * step) {
            size_t mid = n - i < step ? n : i + step, end = n - i < 2 * step ? n : i + 2 * step;
            join(from, i, mid, end, to);
        }
        tk_merge *other = from;
        from = to;
        to = other;
    }
    td_free(to);
    m->more = from;
    m->more_count = 0;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || order_at(&from[i]) != order_at(&from[i + 1]))
            m->more[m->more_count++] = from[i];
    m->count += m->more_count;
    return true;
}

/* Where a pair is in the list, or would be. */
static uint32_t place_in_list(const tk_merges *m, uint64_t order)
{
    uint32_t from = 0, end = m->more_count;
    while (from < end) {
        uint32_t mid = from + (end - from) / 2;
        if (order_at(&m->more[mid]) < order)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

tk_merged tk_merges_find_more(const tk_merges *m, td_id left, td_id right)
{
    uint64_t want = order_of(left, right);
    uint32_t from = place_in_list(m, want);
    if (from == m->more_count || order_at(&m->more[from]) != want)
        return (tk_merged){ UINT32_MAX, 0 };
    return (tk_merged){ m->more[from].rank, m->more[from].product };
}

/* ---- all of it ---- */

/* How many groups are enough for the bits in a slot to tell the pairs of one group apart, and for
 * few of them to be full. */
static uint32_t groups_for(uint32_t count, uint32_t id_bits)
{
    uint32_t n = count / 8 * 5 + 1, below = 2 * id_bits > 32 ? 2 * id_bits - 32 : 0;
    /* Pairs of one group differ by less than this; see tk_merge_place. */
    while (((((uint64_t)1 << 2 * id_bits) / n + 1) + ((uint64_t)2 << below)) >> TK_TAG != 0)
        n += n / 4 + 1;
    return n;
}

static bool alloc_table(tk_merges *m, uint32_t count, td_id id_end)
{
    size_t words = (size_t)id_end / 64 + 1, square = (size_t)TK_SQUARE * TK_SQUARE;
    m->id_bits = 1;
    while (id_end >> m->id_bits != 0 && m->id_bits < TK_FIELD)
        m->id_bits++;
    m->groups = groups_for(count, m->id_bits);
    m->filter_shift = 63;
    while (m->filter_shift > 40 && (uint64_t)1 << (64 - m->filter_shift) < count / 8)
        m->filter_shift--;
    size_t filter = (size_t)1 << (64 - m->filter_shift);
    size_t slots = ((size_t)m->groups + 1) * TK_GROUP;
    m->products = td_calloc(words, sizeof *m->products);
    m->parts = td_calloc(words, sizeof *m->parts);
    if (!td_slab_new(&m->table, (slots + square + filter) * sizeof *m->slots))
        return false;
    m->slots = m->table.ptr;
    m->square = m->slots + slots;
    m->filter = m->square + square;
    return m->products != NULL && m->parts != NULL;
}

bool tk_merges_fit(uint32_t rank, td_id id_end)
{
    const uint32_t end = (1u << TK_FIELD) - 1;
    return rank < end && id_end <= end;
}

/* false: it has to be in the list. */
static inline bool put(tk_merges *m, const tk_merge *e, bool fit)
{
    uint64_t pair = tk_pair_of(m->id_bits, e->left, e->right);
    uint64_t hash = tk_filter_hash(e->left, e->right);
    tk_place place = tk_place_of(m, pair);
    uint64_t *slots = m->slots + (place.group - m->slots);
    m->filter[hash >> m->filter_shift] |= (uint64_t)1 << (hash >> 32 & 63) |
                                          (uint64_t)1 << (hash >> 38 & 63);
    if (e->left < m->square_end && e->right < m->square_end)
        m->square[e->left * TK_SQUARE + e->right] = fields_of(e);
    set_bit(m->products, e->product);
    set_bit(m->parts, e->left);
    set_bit(m->parts, e->right);
    if (fit && put_in_group(m, e, place, slots))
        return true;
    slots[TK_GROUP - 1] |= ASK_LIST;
    return false;
}

bool tk_merges_start(tk_merges *m, uint32_t count, td_id id_end)
{
    m->square_end = TK_SQUARE;
    return alloc_table(m, count, id_end);
}

bool tk_merges_put(tk_merges *m, const tk_merge *e, bool *ret_crowded)
{
    *ret_crowded = false;
    if (put(m, e, true))
        return true;
    uint32_t at = place_in_list(m, order_at(e));
    bool same = at < m->more_count && order_at(&m->more[at]) == order_at(e);
    if (!same && !grow_list(m))
        return false;
    if (!same) {
        memmove(m->more + at + 1, m->more + at, (m->more_count - at) * sizeof *m->more);
        m->more_count++;
        m->count++;
    }
    m->more[at] = *e;
    *ret_crowded = m->more_count > LIST_MAX;
    return true;
}

/* Bounds are for sweeps (bpe_sweeps.h), which are not for every CPU. */
bool tk_merges_end(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end)
{
    return td_cpu_best() < TD_CPU_AVX2 || tk_merges_bound(m, merges, count, id_end);
}

bool tk_merges_fill(tk_merges *m, const tk_merge *merges, uint32_t count, td_id id_end)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = merges[i].rank > most ? merges[i].rank : most;
    /* If they do not fit, all pairs are in the list, so that of equal ones none hides the other. */
    bool fit = tk_merges_fit(most, id_end);
    if (!tk_merges_start(m, count, id_end))
        return false;
    m->square_end = fit ? TK_SQUARE : 0;
    for (uint32_t i = 0; i < count; i++) {
        const tk_merge *e = &merges[i];
        if (i + AHEAD < count)
            tk_merge_prefetch(m, e[AHEAD].left, e[AHEAD].right);
        if (!put(m, e, fit) && !put_in_list(m, e))
            return false;
    }
    return sort_list(m) && (!fit || tk_merges_end(m, merges, count, id_end));
}

void tk_merges_done(tk_merges *m)
{
    td_slab_free(&m->table);
    td_free(m->more);
    td_free(m->products);
    td_free(m->parts);
    td_free(m->hasty);
    td_free(m->proven);
}

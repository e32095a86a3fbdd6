/* sort.c - Python's stable sort of keyed items.
 *
 * Idea: as list.sort does for short lists, the leading run is found (a strictly falling one is
 * turned round) and the others are inserted by binary search; longer lists are merged from such
 * sorted pieces of up to 32 items. For keys with a consistent order every stable sort gives the
 * same result, so only which comparisons are made could differ, and only for keys like NaN.
 * Invariant: equal keys keep their order; the comparison is only ever "is a < b". */
#include "jinja/builtins/util.h"

enum { PIECE = 32 };

/* a < b of keys; as one-element lists when list_keys: equal keys are not asked for their order. */
static td_code key_less(jj_vm *vm, td_value a, td_value b, bool list_keys, bool *ret)
{
    if (list_keys) {
        bool equal;
        TD_TRY(jj_eq(vm, a, b, &equal));
        if (equal) {
            *ret = false;
            return TD_OK;
        }
    }
    return jj_less(vm, a, b, ret);
}

static td_code insert_sort(jj_vm *vm, jj_keyed *items, uint32_t n, bool list_keys)
{
    uint32_t run = 1;
    bool less = false;
    if (n > 1) {
        TD_TRY(key_less(vm, items[1].key, items[0].key, list_keys, &less));
        bool falling = less;
        for (run = 2; run < n; run++) {
            TD_TRY(key_less(vm, items[run].key, items[run - 1].key, list_keys, &less));
            if (less != falling)
                break;
        }
        for (uint32_t i = 0, j = run; falling && i + 1 < j; i++) {
            jj_keyed tmp = items[i];
            items[i] = items[--j];
            items[j] = tmp;
        }
    }
    for (uint32_t i = run; i < n; i++) {
        jj_keyed pivot = items[i];
        uint32_t low = 0, high = i;
        while (low < high) {
            uint32_t mid = low + (high - low) / 2;
            TD_TRY(key_less(vm, pivot.key, items[mid].key, list_keys, &less));
            if (less)
                high = mid;
            else
                low = mid + 1;
        }
        memmove(&items[low + 1], &items[low], (i - low) * sizeof *items);
        items[low] = pivot;
    }
    return TD_OK;
}

/* Merges from[0..half) and from[half..n) into to. */
static td_code merge(jj_vm *vm, const jj_keyed *from, uint32_t half, uint32_t n, bool list_keys,
                     jj_keyed *to)
{
    uint32_t a = 0, b = half;
    for (uint32_t k = 0; k < n; k++) {
        bool take_b = a == half;
        if (a < half && b < n)
            TD_TRY(key_less(vm, from[b].key, from[a].key, list_keys, &take_b));
        to[k] = take_b ? from[b++] : from[a++];
    }
    return TD_OK;
}

static void reverse(jj_keyed *items, uint32_t n)
{
    for (uint32_t i = 0, j = n; i + 1 < j; i++) {
        jj_keyed tmp = items[i];
        items[i] = items[--j];
        items[j] = tmp;
    }
}

td_code jj_sort(jj_vm *vm, jj_keyed *items, uint32_t n, bool turn, bool list_keys)
{
    TD_TRY(jj_charge(vm, (uint64_t)n * 4));
    if (turn)
        reverse(items, n);
    uint32_t piece = n < 64 ? (n == 0 ? 1 : n) : PIECE;
    for (uint32_t i = 0; i < n; i += piece)
        TD_TRY(insert_sort(vm, items + i, n - i < piece ? n - i : piece, list_keys));
    if (piece < n) {
        jj_keyed *other = td_arena_array(jj_arena(vm), jj_keyed, n), *from = items;
        if (other == NULL)
            return jj_nomem(vm);
        for (uint64_t width = piece; width < n; width *= 2) {
            TD_TRY(jj_charge(vm, n));
            jj_keyed *to = from == items ? other : items;
            for (uint64_t i = 0; i < n; i += 2 * width) {
                uint32_t all = (uint32_t)(n - i < 2 * width ? n - i : 2 * width);
                uint32_t half = (uint32_t)(n - i < width ? n - i : width);
                TD_TRY(merge(vm, from + i, half, all, list_keys, to + i));
            }
            from = to;
        }
        if (from != items)
            memcpy(items, from, n * sizeof *items);
    }
    if (turn)
        reverse(items, n);
    return TD_OK;
}

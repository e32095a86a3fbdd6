/* sort.c - radix sort of 64-bit keys.
 *
 * Signed integers and doubles are mapped to unsigned keys of the same order (flip the sign bit;
 * flip all bits of negative doubles), sorted by bytes from the lowest up, and mapped back. A byte
 * that is the same in all keys is skipped: latencies of one run share their upper bytes. When
 * there is no memory for the second array, heap sort does the work in place. */
#include "metrics/sort.h"

#include <string.h>

#include "base/alloc.h"

enum { RADIX_BYTES = 8, RADIX_MIN = 64 };

static void insertion_sort(uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t at = i;
        for (; at != 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static void sift_down(uint64_t *keys, size_t at, size_t count)
{
    uint64_t key = keys[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && keys[child + 1] > keys[child])
            child++;
        if (keys[child] <= key)
            break;
        keys[at] = keys[child];
    }
    keys[at] = key;
}

static void heap_sort(uint64_t *keys, size_t count)
{
    for (size_t i = count / 2; i != 0; i--)
        sift_down(keys, i - 1, count);
    for (size_t end = count - 1; end != 0; end--) {
        uint64_t largest = keys[0];
        keys[0] = keys[end];
        keys[end] = largest;
        sift_down(keys, 0, end);
    }
}

static void radix_sort(uint64_t *keys, uint64_t *other, size_t count)
{
    size_t seen[RADIX_BYTES][256] = { { 0 } };
    for (size_t i = 0; i < count; i++)
        for (unsigned b = 0; b < RADIX_BYTES; b++)
            seen[b][keys[i] >> (8 * b) & 0xFF]++;
    uint64_t *from = keys, *to = other;
    for (unsigned b = 0; b < RADIX_BYTES; b++) {
        size_t *at = seen[b], sum = 0;
        if (at[from[0] >> (8 * b) & 0xFF] == count)
            continue;
        for (unsigned digit = 0; digit < 256; digit++) {
            size_t n = at[digit];
            at[digit] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            to[at[from[i] >> (8 * b) & 0xFF]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != keys)
        memcpy(keys, from, count * sizeof *keys);
}

static void sort_keys(uint64_t *keys, size_t count)
{
    if (count < RADIX_MIN) {
        insertion_sort(keys, count);
        return;
    }
    uint64_t *other = td_malloc(count * sizeof *other);
    if (other == NULL) {
        heap_sort(keys, count);
        return;
    }
    radix_sort(keys, other, count);
    td_free(other);
}

static const uint64_t sign_bit = (uint64_t)1 << 63;

void td_sort_i64(int64_t *values, size_t count)
{
    uint64_t *keys = (uint64_t *)values; /* the signed and unsigned type may alias */
    for (size_t i = 0; i < count; i++)
        keys[i] ^= sign_bit;
    sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        keys[i] ^= sign_bit;
}

void td_sort_double(double *values, size_t count)
{
    uint64_t *keys = (uint64_t *)values; /* built with -fno-strict-aliasing */
    for (size_t i = 0; i < count; i++)
        keys[i] ^= keys[i] & sign_bit ? UINT64_MAX : sign_bit;
    sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        keys[i] ^= keys[i] & sign_bit ? sign_bit : UINT64_MAX;
}

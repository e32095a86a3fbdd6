#include "metrics/hdr.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/error.h"

td_code td_hdr_init(td_hdr *h, int64_t high, int digits, td_error *err)
{
    if (digits < 1 || digits > 5)
        return td_fail(err, TD_E_INPUT, "significant digits must be 1 to 5, not %d", digits);
    assert(high >= 2);
    uint32_t resolution = 2;
    for (int i = 0; i < digits; i++)
        resolution *= 10;
    unsigned bits = 0;
    while (1u << bits < resolution)
        bits++;
    *h = (td_hdr){ .sub_bits = bits, .high = high, .first = UINT32_MAX };
    h->cell_count = td_hdr_cell(h, high) + 1;
    h->counts = td_calloc(h->cell_count, sizeof *h->counts);
    h->blocks = td_calloc((h->cell_count >> TD_HDR_BLOCK_BITS) + 1, sizeof *h->blocks);
    if (h->counts != NULL && h->blocks != NULL)
        return TD_OK;
    td_hdr_done(h);
    return td_fail_nomem(err);
}

void td_hdr_done(td_hdr *h)
{
    td_free(h->counts);
    td_free(h->blocks);
    *h = (td_hdr){ .first = UINT32_MAX };
}

int64_t td_hdr_cell_high(const td_hdr *h, uint32_t cell)
{
    uint32_t half = 1u << (h->sub_bits - 1);
    if (cell < 2 * half)
        return cell;
    unsigned k = (cell >> (h->sub_bits - 1)) - 1;
    uint64_t low = (uint64_t)((cell & (half - 1)) + half) << k;
    return (int64_t)(low + ((uint64_t)1 << k) - 1);
}

static uint64_t target_count(const td_hdr *h, double percentile)
{
    double wanted = percentile * (double)h->total / 100 + 0.5;
    uint64_t target = wanted > 0 ? (uint64_t)wanted : 0;
    return target > 1 ? target : 1;
}

void td_hdr_percentiles(const td_hdr *h, const double *percentiles, size_t count, int64_t *ret)
{
    for (size_t i = 0; i < count; i++)
        ret[i] = 0;
    if (h->total == 0)
        return;
    /* One walk for all: the smallest target not yet reached decides when to look. */
    uint64_t next = UINT64_MAX, seen = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t target = target_count(h, percentiles[i]);
        next = target < next ? target : next;
    }
    size_t left = count;
    for (uint32_t cell = h->first; cell <= h->last && left != 0; cell++) {
        uint64_t block = h->blocks[cell >> TD_HDR_BLOCK_BITS];
        if (cell % TD_HDR_BLOCK == 0 && seen + block < next) {
            seen += block;
            cell += TD_HDR_BLOCK - 1;
            continue;
        }
        seen += h->counts[cell];
        if (seen < next || h->counts[cell] == 0)
            continue;
        next = UINT64_MAX;
        left = 0;
        for (size_t i = 0; i < count; i++) {
            if (ret[i] != 0)
                continue;
            uint64_t target = target_count(h, percentiles[i]);
            if (target <= seen) {
                ret[i] = td_hdr_cell_high(h, cell);
            } else {
                left++;
                next = target < next ? target : next;
            }
        }
    }
}

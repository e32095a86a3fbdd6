#include "metrics/wide.h"

#include <string.h>

size_t td_wide_print(td_wide w, char out[TD_WIDE_TEXT_MAX])
{
    char digits[TD_WIDE_TEXT_MAX];
    size_t n = 0, len = 0;
    td_uwide u = w < 0 ? -(td_uwide)w : (td_uwide)w;
    do {
        digits[n++] = (char)('0' + (int)(u % 10));
        u /= 10;
    } while (u != 0);
    if (w < 0)
        out[len++] = '-';
    while (n != 0)
        out[len++] = digits[--n];
    return len;
}

void td_square_sum_add(td_square_sum *s, int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    td_uwide square = (td_uwide)magnitude * magnitude;
    s->low += square;
    s->high += s->low < square;
}

double td_square_sum_double(const td_square_sum *s)
{
    if (s->high == 0)
        return (double)s->low;
    /* Move the sum down into 128 bits; what falls out only matters as "not exactly half". */
    unsigned shift = 64 - (unsigned)__builtin_clzll(s->high);
    td_uwide top = s->low >> shift | (td_uwide)s->high << (128 - shift);
    top |= (s->low << (128 - shift)) != 0;
    double d = (double)top;
    for (; shift != 0; shift--)
        d *= 2.0;
    return d;
}

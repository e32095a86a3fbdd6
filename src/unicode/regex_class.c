/* The reference's regex classes by name: a sorted list of names over shared ranges. */
#include <string.h>

#include "base/str.h"
#include "unicode/generated/regex.h"
#include "unicode/unicode.h"

/* Writes name as the list spells names (lower case, without space, - and _); its length, or
 * SIZE_MAX when it is longer than any or not ASCII. */
static size_t plain_name(td_str name, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c == ' ' || c == '-' || c == '_')
            continue;
        if (c >= 0x80 || n == cap)
            return SIZE_MAX;
        out[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 0x20 : c);
    }
    return n;
}

const td_range *td_re_class(td_str name, size_t *ret_count)
{
    char plain[96];
    size_t len = plain_name(name, plain, sizeof plain);
    if (len == SIZE_MAX)
        return NULL;
    size_t lo = 0, hi = RE_NAME_COUNT;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = td_str_cmp((td_str){ plain, len }, td_str_from(re_names[mid].name));
        if (c == 0) {
            *ret_count = re_names[mid].count;
            return &re_ranges[re_names[mid].first];
        }
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

bool td_re_in_class(const td_range *ranges, size_t count, uint32_t c)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c > ranges[mid].last)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < count && ranges[lo].first <= c;
}

uint8_t td_re_bits(uint32_t c)
{
    return c < 0x110000 ? re_bits(c) : 0;
}

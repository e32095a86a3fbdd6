#define _GNU_SOURCE /* memmem */
#include "base/str.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

size_t td_str_find(td_str s, td_str needle, size_t from)
{
    if (from > s.len || needle.len > s.len - from)
        return TD_NOT_FOUND;
    if (needle.len == 0)
        return from;
    const char *hit = memmem(s.ptr + from, s.len - from, needle.ptr, needle.len);
    return hit != NULL ? (size_t)(hit - s.ptr) : TD_NOT_FOUND;
}

size_t td_str_rfind(td_str s, td_str needle)
{
    if (needle.len > s.len)
        return TD_NOT_FOUND;
    if (needle.len == 0)
        return s.len;
    for (size_t end = s.len - needle.len + 1; end > 0;) {
        const char *hit = memrchr(s.ptr, needle.ptr[0], end);
        if (hit == NULL)
            return TD_NOT_FOUND;
        if (memcmp(hit, needle.ptr, needle.len) == 0)
            return (size_t)(hit - s.ptr);
        end = (size_t)(hit - s.ptr);
    }
    return TD_NOT_FOUND;
}

uint64_t td_str_hash(td_str s)
{
    return XXH3_64bits(s.ptr != NULL ? s.ptr : "", s.len);
}

uint64_t td_str_hash_seeded(td_str s, uint64_t seed)
{
    return XXH3_64bits_withSeed(s.ptr != NULL ? s.ptr : "", s.len, seed);
}

#include "base/utf8.h"

#include <string.h>

size_t td_utf8_count(td_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += !td_utf8_is_cont(s.ptr[i]);
    return n;
}

bool td_utf8_is_ascii(td_str s)
{
    size_t i = 0;
    uint64_t any = 0;
    for (; i + 8 <= s.len; i += 8) {
        uint64_t w;
        memcpy(&w, s.ptr + i, 8);
        any |= w;
    }
    for (; i < s.len; i++)
        any |= (uint64_t)(unsigned char)s.ptr[i];
    return (any & 0x8080808080808080u) == 0;
}

/* Length of the valid sequence at s[0..n), 0 if there is none. */
static size_t sequence(const unsigned char *s, size_t n, bool surrogates)
{
    unsigned char lo = 0x80, hi = 0xBF;
    size_t len;
    if (s[0] < 0xC2)
        return s[0] < 0x80;
    if (s[0] < 0xE0) {
        len = 2;
    } else if (s[0] < 0xF0) {
        len = 3;
        if (s[0] == 0xE0)
            lo = 0xA0;
        else if (s[0] == 0xED && !surrogates)
            hi = 0x9F;
    } else if (s[0] < 0xF5) {
        len = 4;
        if (s[0] == 0xF0)
            lo = 0x90;
        else if (s[0] == 0xF4)
            hi = 0x8F;
    } else {
        return 0;
    }
    if (n < len || s[1] < lo || s[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return len;
}

static size_t check(td_str s, bool surrogates)
{
    size_t i = 0;
    while (i < s.len) {
        uint64_t w;
        while (i + 8 <= s.len && (memcpy(&w, s.ptr + i, 8), (w & 0x8080808080808080u) == 0))
            i += 8;
        if (i == s.len)
            break;
        size_t n = sequence((const unsigned char *)s.ptr + i, s.len - i, surrogates);
        if (n == 0)
            return i;
        i += n;
    }
    return s.len;
}

size_t td_utf8_check_strict(td_str s)
{
    return check(s, false);
}

size_t td_utf8_check(td_str s)
{
    return check(s, true);
}

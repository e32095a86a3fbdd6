/* base64.c - four characters at a time, the rest with its padding. */
#include "base/base64.h"

static int sextet(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

bool td_base64_read(td_str s, unsigned char *out, size_t *ret_len)
{
    size_t len = s.len, n = 0;
    while (len > 0 && s.ptr[len - 1] == '=')
        len--;
    size_t rest = len % 4; /* characters in the last group: 2 have 1 byte, 3 have 2 */
    if (rest == 1 || s.len - len > (rest != 0 ? 4 - rest : 0))
        return false;
    uint32_t bits = 0;
    for (size_t i = 0; i < len; i++) {
        int v = sextet(s.ptr[i]);
        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        if (i % 4 != 0)
            out[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    *ret_len = n;
    return rest == 0 || (bits & (rest == 2 ? 15u : 3u)) == 0;
}

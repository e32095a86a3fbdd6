/* base64.c - four characters at a time, the rest with its padding. */
#include "base/base64.h"

#include <string.h>

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

size_t td_base64_write(td_str bytes, char *out)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t v = (uint32_t)(unsigned char)bytes.ptr[i] << 16;
        v |= left > 1 ? (uint32_t)(unsigned char)bytes.ptr[i + 1] << 8 : 0;
        v |= left > 2 ? (uint32_t)(unsigned char)bytes.ptr[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            out[n++] = alphabet[v >> (18 - 6 * k) & 63];
        if (left < 3)
            memset(out + n - (3 - left), '=', 3 - left);
    }
    return n;
}

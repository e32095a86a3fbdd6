/* byte_chars.c - see byte_chars.h. Loading reads all texts of a vocabulary with this; most that are
 * not ASCII are of characters of two bytes only. */
#include "tokenizer/byte_chars.h"

#include "base/utf8.h"

size_t tk_chars_to_bytes(td_str text, char *out, size_t room)
{
    const char *p = text.ptr, *end = p + text.len;
    size_t n = 0;
    while (p < end) {
        size_t left = (size_t)(end - p), wide = left < 16 ? left / 2 : 8;
        uint64_t bytes;
        if (left % 2 == 0 && wide <= room - n && tk_wide_chars_to_bytes(p, wide, &bytes)) {
            memcpy(out + n, &bytes, wide);
            p += 2 * wide;
            n += wide;
            continue;
        }
        for (size_t i = 0; i < 8 && p < end; i++) {
            int b = tk_char_to_byte(td_utf8_next(&p, end));
            if (b < 0 || n == room)
                return 0;
            out[n++] = (char)b;
        }
    }
    return n;
}

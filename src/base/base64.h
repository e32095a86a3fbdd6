/* base64.h - the usual base64 alphabet, into bytes and back. */
#ifndef TD_SRC_BASE_BASE64_H
#define TD_SRC_BASE_BASE64_H

#include "tokdrain/base.h"

/* Room that the bytes of so many characters need. */
static inline size_t td_base64_room(size_t characters)
{
    return characters / 4 * 3 + 3;
}

/* Writes the bytes that s spells; out has td_base64_room(s.len) bytes. Padding may be left out.
 * false: s is not exactly base64 (other characters, bits behind the last byte). */
bool td_base64_read(td_str s, unsigned char *out, size_t *ret_len);

/* Characters that spell len bytes, padding included. */
static inline size_t td_base64_length(size_t len)
{
    return (len + 2) / 3 * 4;
}

/* Spells bytes with padding; out has td_base64_length(bytes.len) characters, which it returns. */
size_t td_base64_write(td_str bytes, char *out);

#endif

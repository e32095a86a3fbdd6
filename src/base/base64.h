/* base64.h - the usual base64 alphabet, back into bytes. */
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

#endif

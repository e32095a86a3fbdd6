/* buf.h - a growable byte buffer with a hard maximum, meant to be reset and reused.
 *
 * A zeroed td_buf is ready to use; limit 0 means none. Appending gives TD_OK, TD_E_LIMIT or
 * TD_E_INTERNAL and sets no error; td_buf_fail turns the code into one. After a failure the
 * content is unchanged. There are always TD_BUF_SLACK bytes behind ptr + len that may be
 * overwritten, so short appends may copy whole vectors. */
#ifndef TD_SRC_BASE_BUF_H
#define TD_SRC_BASE_BUF_H

#include <string.h>

#include "tokdrain/base.h"

enum { TD_BUF_SLACK = 64 };

typedef struct td_buf {
    char *ptr;
    size_t len, cap; /* cap does not count the slack */
    size_t limit;
} td_buf;

td_code td_buf_grow(td_buf *b, size_t extra); /* out of line: makes room or says why not */

static inline td_code td_buf_reserve(td_buf *b, size_t extra)
{
    return extra <= b->cap - b->len && b->ptr != NULL ? TD_OK : td_buf_grow(b, extra);
}

static inline td_code td_buf_append(td_buf *b, const char *ptr, size_t len)
{
    td_code code = td_buf_reserve(b, len);
    if (code != TD_OK)
        return code;
    if (len != 0)
        memcpy(b->ptr + b->len, ptr, len);
    b->len += len;
    return TD_OK;
}

static inline td_code td_buf_put(td_buf *b, td_str s)
{
    return td_buf_append(b, s.ptr, s.len);
}

static inline td_code td_buf_byte(td_buf *b, char c)
{
    return td_buf_append(b, &c, 1);
}

td_code td_buf_code_point(td_buf *b, uint32_t c);
td_code td_buf_printf(td_buf *b, const char *fmt, ...) TD_PRINTF(2, 3);

static inline td_str td_buf_view(const td_buf *b)
{
    return (td_str){ b->ptr, b->len };
}

void td_buf_done(td_buf *b);
/* Hands the bytes out (td_free them), NUL-terminated; *b is empty. NULL on out of memory. */
char *td_buf_detach(td_buf *b);

/* Raises the error for a code that an append gave; what names the buffer ("output"). */
td_code td_buf_fail(const td_buf *b, td_error *err, td_code code, const char *what);

#endif

#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

td_code td_buf_grow(td_buf *b, size_t extra)
{
    if (extra > PTRDIFF_MAX - TD_BUF_SLACK - b->len)
        return TD_E_INTERNAL;
    size_t need = b->len + extra;
    if (b->limit != 0 && need > b->limit)
        return TD_E_LIMIT;
    size_t cap = b->cap + b->cap / 2;
    if (cap < need)
        cap = need;
    if (cap < 256)
        cap = 256;
    if (b->limit != 0 && cap > b->limit)
        cap = b->limit;
    char *ptr = td_realloc(b->ptr, cap + TD_BUF_SLACK);
    if (ptr == NULL)
        return TD_E_INTERNAL;
    b->ptr = ptr;
    b->cap = cap;
    return TD_OK;
}

td_code td_buf_code_point(td_buf *b, uint32_t c)
{
    td_code code = td_buf_reserve(b, 4);
    if (code == TD_OK)
        b->len += td_utf8_put(b->ptr + b->len, c);
    return code;
}

td_code td_buf_printf(td_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    assert(len >= 0);
    td_code code = td_buf_reserve(b, (size_t)len);
    if (code == TD_OK) {
        vsnprintf(b->ptr + b->len, (size_t)len + 1, fmt, again); /* the NUL falls into the slack */
        b->len += (size_t)len;
    }
    va_end(again);
    return code;
}

void td_buf_done(td_buf *b)
{
    td_free(b->ptr);
    *b = (td_buf){ .limit = b->limit };
}

char *td_buf_detach(td_buf *b)
{
    if (b->ptr == NULL && td_buf_grow(b, 0) != TD_OK)
        return NULL;
    char *ptr = b->ptr;
    ptr[b->len] = '\0';
    *b = (td_buf){ .limit = b->limit };
    return ptr;
}

td_code td_buf_fail(const td_buf *b, td_error *err, td_code code, const char *what)
{
    if (code == TD_E_LIMIT)
        return td_fail(err, TD_E_LIMIT, "%s is longer than %zu bytes", what, b->limit);
    return td_fail_nomem(err);
}

/* error.h - how code inside the library raises, forwards and annotates errors.
 *
 * Inside the library err is never NULL and empty until something fails; public functions start
 * with a local error (or TD_ERR below). An error is raised once, then only annotated. */
#ifndef TD_SRC_BASE_ERROR_H
#define TD_SRC_BASE_ERROR_H

#include "tokdrain/base.h"

/* Raises: return td_fail(err, TD_E_INPUT, "expected %s", what); The offset is unknown. */
td_code td_fail(td_error *err, td_code code, const char *fmt, ...) TD_PRINTF(3, 4);
/* The same with the byte offset of the culprit in the source being read. */
td_code td_fail_at(td_error *err, td_code code, uint64_t offset, const char *fmt, ...)
    TD_PRINTF(4, 5);
/* A message that is not a format: carried in full, whatever its length or content. */
td_code td_fail_text(td_error *err, td_code code, uint64_t offset, td_str message);
/* Out of memory; allocates nothing. */
td_code td_fail_nomem(td_error *err);

/* Puts "<text>: " in front of the message of an error on its way out; gives its code back. */
td_code td_while(td_error *err, const char *fmt, ...) TD_PRINTF(2, 3);

/* Names the file of the error, if it has no name yet. Returns its code. */
td_code td_error_in_file(td_error *err, const char *file);

/* Turns err->offset into line and column, and keeps a window of the source line with a caret. */
void td_error_locate(td_error *err, td_str source);

/* An empty error where each call needs one: its text, which nobody reads before there is a message,
 * is not zeroed. */
static inline void td_error_start(td_error *err)
{
    err->code = TD_OK;
    err->line = err->column = 0;
    err->offset = TD_NO_OFFSET;
    err->message_index = -1;
    err->message = err->file = err->excerpt = NULL;
    err->message_len = 0;
}

#define TD_TRY(expr)                                                                               \
    do {                                                                                           \
        td_code td_try_ = (expr);                                                                  \
        if (td_try_ != TD_OK)                                                                      \
            return td_try_;                                                                        \
    } while (0)

#endif

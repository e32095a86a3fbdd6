/* write.h - JSON that is appended piece by piece. After a failure nothing more is, which the end
 * tells. */
#ifndef TD_SRC_TOKENIZER_FORMATS_WRITE_H
#define TD_SRC_TOKENIZER_FORMATS_WRITE_H

#include "base/buf.h"
#include "tokdrain/base.h"

typedef struct tk_writer {
    td_buf *out;
    td_code code; /* of the first append that failed */
} tk_writer;

void tk_write_raw(tk_writer *w, const char *json);
void tk_write_text(tk_writer *w, td_str s); /* as a JSON string */
void tk_write_uint(tk_writer *w, uint32_t n);
void tk_write_float(tk_writer *w, double d); /* finite; the nearest double to it is d */

/* TD_OK, or raises what went wrong. */
td_code tk_write_end(const tk_writer *w, td_error *err);

#endif

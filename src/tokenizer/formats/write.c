/* write.c - see write.h. */
#include "tokenizer/formats/write.h"

#include "base/str.h"
#include "value/json.h"
#include "value/number.h"

static void put(tk_writer *w, td_str s)
{
    if (w->code == TD_OK)
        w->code = td_buf_put(w->out, s);
}

void tk_write_raw(tk_writer *w, const char *json)
{
    put(w, td_str_from(json));
}

void tk_write_text(tk_writer *w, td_str s)
{
    if (w->code == TD_OK)
        w->code = td_json_write_string(w->out, s, false);
}

void tk_write_uint(tk_writer *w, uint32_t n)
{
    if (w->code == TD_OK)
        w->code = td_buf_printf(w->out, "%u", n);
}

void tk_write_float(tk_writer *w, double d)
{
    char text[TD_FLOAT_TEXT_MAX];
    size_t n = td_float_repr(d, text);
    put(w, (td_str){ text, n });
}

td_code tk_write_end(const tk_writer *w, td_error *err)
{
    return w->code == TD_OK ? TD_OK : td_buf_fail(w->out, err, w->code, "vocabulary");
}

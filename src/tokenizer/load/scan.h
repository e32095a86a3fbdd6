/* scan.h - reading the big sections of tokenizer.json in place, without building a tree.
 *
 * A tk_scan walks over JSON text. Small values are skipped here and given to the general reader;
 * vocabularies and merges are read string by string. */
#ifndef TD_SRC_TOKENIZER_LOAD_SCAN_H
#define TD_SRC_TOKENIZER_LOAD_SCAN_H

#include "base/buf.h"
#include "base/error.h"

typedef struct tk_scan {
    const char *start, *p, *end;
    td_error *err;
    td_buf text; /* the decoded form of the last string that had an escape */
} tk_scan;

td_code tk_scan_fail(const tk_scan *s, const char *message); /* TD_E_INPUT at s->p */
void tk_scan_space(tk_scan *s);
td_code tk_scan_take_slow(tk_scan *s, char c);

/* Takes c (after white space) or fails. */
static inline td_code tk_scan_take(tk_scan *s, char c)
{
    if (s->p == s->end || *s->p != c)
        return tk_scan_take_slow(s, c);
    s->p++;
    return TD_OK;
}

/* true when the next thing is c, which is then taken. */
bool tk_scan_is(tk_scan *s, char c);
/* A string: a view into the text, or into s->text until the next call. Strict UTF-8 only. */
td_code tk_scan_string(tk_scan *s, td_str *ret);
/* An unsigned integer below 2^32. */
td_code tk_scan_uint(tk_scan *s, uint32_t *ret);
/* Moves over any value; ret is its text. */
td_code tk_scan_skip(tk_scan *s, td_str *ret);

#endif

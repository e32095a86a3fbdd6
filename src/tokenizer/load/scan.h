/* scan.h - reading the big sections of tokenizer.json in place, without building a tree.
 *
 * A tk_scan walks over JSON text. Small values are skipped here and given to the general reader;
 * vocabularies and merges are read string by string. */
#ifndef TD_SRC_TOKENIZER_LOAD_SCAN_H
#define TD_SRC_TOKENIZER_LOAD_SCAN_H

#include "base/buf.h"
#include "base/error.h"
#include "tokenizer/load/block.h"

typedef struct tk_scan {
    const char *start, *p, *end;
    td_error *err;
    td_buf text; /* the decoded form of the last string that had an escape */
} tk_scan;

td_code tk_scan_fail(const tk_scan *s, const char *message); /* TD_E_INPUT at s->p */
void tk_scan_space_slow(tk_scan *s);
td_code tk_scan_take_slow(tk_scan *s, char c);
td_code tk_scan_string_slow(tk_scan *s, td_str *ret);

/* Moves over white space. */
static inline void tk_scan_space(tk_scan *s)
{
    if (s->p == s->end || (unsigned char)*s->p > ' ')
        return;
    if (s->end - s->p > TK_BLOCK) {
        uint32_t white = tk_block_white(tk_block_load(s->p));
        if (white != 0xFFFF) {
            s->p += __builtin_ctz(~white);
            return;
        }
    }
    tk_scan_space_slow(s);
}

/* Takes c (after white space) or fails. */
static inline td_code tk_scan_take(tk_scan *s, char c)
{
    tk_scan_space(s);
    if (s->p == s->end || *s->p != c)
        return tk_scan_take_slow(s, c);
    s->p++;
    return TD_OK;
}

/* true when the next thing is c, which is then taken. */
static inline bool tk_scan_is(tk_scan *s, char c)
{
    tk_scan_space(s);
    if (s->p == s->end || *s->p != c)
        return false;
    s->p++;
    return true;
}

/* A string: a view into the text, or into s->text until the next call. Strict UTF-8 only. */
static inline td_code tk_scan_string(tk_scan *s, td_str *ret)
{
    TD_TRY(tk_scan_take(s, '"'));
    if (s->end - s->p >= TK_BLOCK) {
        uint32_t stops = tk_block_stops(tk_block_load(s->p));
        if (stops != 0 && s->p[__builtin_ctz(stops)] == '"') {
            *ret = (td_str){ s->p, (size_t)__builtin_ctz(stops) };
            s->p += ret->len + 1;
            return TD_OK;
        }
    }
    return tk_scan_string_slow(s, ret);
}

/* An unsigned integer below 2^32. */
td_code tk_scan_uint(tk_scan *s, uint32_t *ret);
/* Moves over any value; ret is its text. */
td_code tk_scan_skip(tk_scan *s, td_str *ret);
/* The same, at memory speed for arrays and objects, of which nothing but strings and brackets is
 * looked at: for what another reader will read through. */
td_code tk_scan_skip_bulk(tk_scan *s, td_str *ret);

#endif

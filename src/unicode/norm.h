/* norm.h - what the two halves of normalization share; private to src/unicode. */
#ifndef TD_SRC_UNICODE_NORM_H
#define TD_SRC_UNICODE_NORM_H

#include "unicode/unicode.h"

/* Where the quick check of a text stopped. */
typedef struct norm_span {
    size_t
        safe; /* the last place at or before stop that nothing behind it can change text before */
    size_t stop; /* the first character that may have to change; the end if there is none */
} norm_span;

/* Checks s from the byte offset at, which is a place as safe is. */
norm_span norm_quick_span(td_norm_form form, td_str s, size_t at);

/* Whether this CPU has the next function. */
bool norm_can_skip(void);

/* p (where a character begins) moved over characters that are no marks and stay what they are in
 * NFC: not necessarily all there are. */
const char *norm_skip_nfc(const char *p, const char *end);

#endif

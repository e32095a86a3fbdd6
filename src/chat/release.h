/* release.h - release numbers as Python packages write them. */
#ifndef TD_SRC_CHAT_RELEASE_H
#define TD_SRC_CHAT_RELEASE_H

#include "tokdrain/base.h"

typedef struct td_release {
    uint32_t numbers[4];
    bool early; /* a pre-release or development release of that number */
} td_release;

/* false: text is none, or of a form not known here (epochs, five numbers). */
bool td_release_parse(td_str text, td_release *ret);
/* <0, 0, >0; two early ones of the same number are equal. */
int td_release_compare(td_release a, td_release b);

#endif

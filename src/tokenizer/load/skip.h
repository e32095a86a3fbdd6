/* skip.h - finding the end of a big JSON array or object at memory speed. */
#ifndef TD_SRC_TOKENIZER_LOAD_SKIP_H
#define TD_SRC_TOKENIZER_LOAD_SKIP_H

#include <stddef.h>

/* p stands at the opening bracket. The place behind the bracket that closes it; NULL: there is
 * none. Only strings and brackets are looked at: whoever reads the text checks the rest. */
const char *tk_skip_brackets(const char *p, const char *end);

#endif

/* pattern.h - patterns written for another regex engine than ours. */
#ifndef TD_SRC_TOKENIZER_FORMATS_PATTERN_H
#define TD_SRC_TOKENIZER_FORMATS_PATTERN_H

#include "tokdrain/base.h"

/* tiktoken's engine (Rust's) and ours read most patterns alike. NULL: this one is of that kind, all
 * its parts mean the same in both; else what is not. */
const char *tk_pattern_portable(td_str pattern);

#endif

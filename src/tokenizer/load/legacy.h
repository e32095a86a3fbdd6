/* legacy.h - components without "type", as old files have them: the reference tells them by their
 * fields, trying its types in a fixed order. Each function returns the type, or NULL when the
 * fields fit none. */
#ifndef TD_SRC_TOKENIZER_LOAD_LEGACY_H
#define TD_SRC_TOKENIZER_LOAD_LEGACY_H

#include "tokenizer/load/load.h"

const char *tk_legacy_norm(const tk_at *at);
const char *tk_legacy_post(const tk_at *at);
const char *tk_legacy_dec(const tk_at *at);
const char *tk_legacy_model(const tk_at *at);

#endif

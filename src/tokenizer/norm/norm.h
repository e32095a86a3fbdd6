/* norm.h - what several normalizers share. */
#ifndef TD_SRC_TOKENIZER_NORM_NORM_H
#define TD_SRC_TOKENIZER_NORM_NORM_H

#include "tokenizer/pipeline.h"
#include "unicode/unicode.h"

/* td_norm for a text whose alignment is tracked (aligned.c). */
td_code tk_norm_aligned(td_norm_form form, tk_ctx *ctx, tk_text *text, td_error *err);

#endif

/* selfcheck.h - double checks of encoding (base/selfcheck.h): the fast way against the general one
 * and against itself without cache, the scanners for vectors against the plain ones, the models
 * against their naive form (model/naive.h). */
#ifndef TD_SRC_TOKENIZER_SELFCHECK_H
#define TD_SRC_TOKENIZER_SELFCHECK_H

#include "tokenizer/fast.h"

#ifdef TD_SELFCHECK

/* What the fast way gave for a text: code, and ids and offsets where code is TD_OK. counted: only
 * the number of ids is known. */
void tk_check_encode(td_encoder *enc, td_str text, unsigned flags, td_code code,
                     const tk_encoding *got, bool counted);
/* The words that f->run found from byte from on. */
void tk_check_scan(const tk_fast *f, td_str text, uint32_t from, const uint32_t *ends, uint32_t n);
/* The tokens of a piece, from the first one on. */
void tk_check_model(const tk_model *model, td_str piece, const tk_tokens *tokens);

#else

static inline void tk_check_encode(td_encoder *enc, td_str text, unsigned flags, td_code code,
                                   const tk_encoding *got, bool counted)
{
    (void)enc, (void)text, (void)flags, (void)code, (void)got, (void)counted;
}

static inline void tk_check_scan(const tk_fast *f, td_str text, uint32_t from,
                                 const uint32_t *ends, uint32_t n)
{
    (void)f, (void)text, (void)from, (void)ends, (void)n;
}

static inline void tk_check_model(const tk_model *model, td_str piece, const tk_tokens *tokens)
{
    (void)model, (void)piece, (void)tokens;
}

#endif

#endif

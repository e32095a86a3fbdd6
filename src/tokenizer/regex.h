/* regex.h - patterns of tokenizer.json, matched as the reference matches them.
 *
 * The reference's engine is Oniguruma, and so is ours; character classes are rewritten into
 * explicit ranges first, because each version of the engine knows another Unicode. A tk_regex is
 * immutable and may be used by any number of threads. */
#ifndef TD_SRC_TOKENIZER_REGEX_H
#define TD_SRC_TOKENIZER_REGEX_H

#include "tokenizer/load/load.h"
#include "tokenizer/pipeline.h"

typedef struct tk_regex tk_regex;

/* Compiles the pattern field key of at ({"String"} or {"Regex"}). */
td_code tk_regex_load(const tk_at *at, const char *key, const tk_regex **ret);
td_code tk_regex_new(td_str pattern, tk_regex **ret, td_error *err);
void tk_regex_free(void *regex);

/* Pattern source as tokenizer.json has it; is_string: it was {"String": source}. */
td_str tk_regex_source(const tk_regex *re, bool *ret_is_string);

/* Whether no match is empty, as far as that is seen at once: plain texts, and one character or kind
 * of them again and again. */
bool tk_regex_takes_text(const tk_regex *re);

/* Appends hits and gaps of text to ret, which together cover it. */
td_code tk_regex_matches(const tk_regex *re, tk_ctx *ctx, td_str text, tk_matches *ret,
                         td_error *err);

/* Frees what ctx->region holds. */
void tk_regex_release(tk_ctx *ctx);

/* ---- classes.c of the pattern language: rewriting (regex_rewrite.c) ---- */

/* Appends pattern with every class that depends on a Unicode version replaced by ranges. */
td_code tk_regex_rewrite(td_str pattern, td_buf *out, td_error *err);

#endif

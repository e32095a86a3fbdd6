/* pretok.h - pre-tokenizers whose insides others look at. */
#ifndef TD_SRC_TOKENIZER_PRETOK_PRETOK_H
#define TD_SRC_TOKENIZER_PRETOK_PRETOK_H

#include "tokenizer/regex.h"

typedef struct tk_split_pretok {
    tk_pretok base;
    const tk_regex *pattern;
    tk_behavior behavior;
    bool invert;
} tk_split_pretok;

typedef struct tk_byte_level {
    tk_pretok base;
    bool add_prefix_space, trim_offsets, use_regex;
    const tk_regex *pattern; /* of GPT-2; NULL unless use_regex */
} tk_byte_level;

/* Those two are told from others by their apply function. */
bool tk_is_split(const tk_pretok *p);
bool tk_is_byte_level(const tk_pretok *p);

typedef enum tk_prepend { TK_PREPEND_FIRST, TK_PREPEND_NEVER, TK_PREPEND_ALWAYS } tk_prepend;

/* What Metaspace is told, as pre-tokenizer and as decoder. */
typedef struct tk_metaspace {
    uint32_t mark;
    td_str text; /* the mark's */
    tk_prepend scheme;
    bool split;
} tk_metaspace;

/* Whether a piece at the very start of the text gets a mark in front. */
static inline bool tk_metaspace_heads(const tk_metaspace *how, const tk_ctx *ctx)
{
    return !ctx->joined && (how->scheme == TK_PREPEND_ALWAYS ||
                            (how->scheme == TK_PREPEND_FIRST && !ctx->inside));
}

td_code tk_get_metaspace(const tk_at *at, tk_metaspace *ret);
/* What the pre-tokenizer was told; NULL: it is another one. */
const tk_metaspace *tk_as_metaspace(const tk_pretok *p);
/* Writes text with marks for spaces, and with one in front where text is to get one (head) and has
 * none. out has room for (text.len + 1) * mark's length bytes; returns how many were written. */
size_t tk_metaspace_put(const tk_metaspace *how, td_str text, bool head, char *out);

/* "Removed", "Isolated", ...: the field key of at. */
td_code tk_get_behavior(const tk_at *at, const char *key, tk_behavior *ret);

#endif

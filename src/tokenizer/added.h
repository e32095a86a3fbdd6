/* added.h - added tokens: their ids, flags, and finding them in a text.
 *
 * The rules are the reference's: matches are leftmost-longest over all tokens of one kind
 * (normalized or not); single_word may then discard a match, and lstrip and rstrip widen it over
 * white space; ids come from the model's vocabulary or are counted up from its size. */
#ifndef TD_SRC_TOKENIZER_ADDED_H
#define TD_SRC_TOKENIZER_ADDED_H

#include "tokenizer/load/load.h"
#include "tokenizer/pipeline.h"

typedef struct tk_added_token {
    td_str content;
    td_str normalized_form; /* what matches and decodes, when normalized changed it; else content */
    td_id id;
    uint32_t order; /* of what tokenizer.json adds, from 1 on */
    bool single_word, lstrip, rstrip, normalized, special;
    bool lost; /* a later token has taken the id: not found in texts any more */
} tk_added_token;

/* A set of texts to look for; see trie.c. */
typedef struct tk_trie tk_trie;

typedef struct tk_added {
    tk_added_token *tokens; /* in order of id */
    uint32_t count;
    uint32_t fresh; /* of these, how many the model's vocabulary does not have */
    tk_trie *raw, *normalized; /* NULL when there are no such tokens */
    td_id id_end;              /* 1 + the largest id, 0 when there are none */
    uint64_t *special_bits;    /* id -> is skipped by TD_DECODE_SKIP_SPECIAL; special_end of them */
    td_id special_end;
    bool any_strip; /* some token swallows white space */
} tk_added;

/* list: the "added_tokens" section (value none when absent). norm may be NULL. */
td_code tk_added_load(const tk_at *list, const tk_model *model, const tk_norm *norm, tk_added *ret);

/* The same from a list, whose ids stay as they are; contents live as long as the tokenizer. Tokens
 * are looked for in texts only if in_texts. */
td_code tk_added_make(tk_load *load, const tk_added_token *tokens, uint32_t count, bool in_texts,
                      const tk_model *model, tk_added *ret);

/* Of several with one id the one that was added last, or (o200k_harmony has such) the first by
 * content. NULL: none. */
const tk_added_token *tk_added_by_id(const tk_added *a, td_id id);
const tk_added_token *tk_added_by_content(const tk_added *a, td_str content);

static inline bool tk_added_is_special(const tk_added *a, td_id id)
{
    return id < a->special_end && (a->special_bits[id >> 6] >> (id & 63) & 1) != 0;
}

/* One match in a text, white space taken by strip flags included. */
typedef struct tk_hit {
    const tk_added_token *token;
    size_t start, end;
} tk_hit;

/* The next match; false: no more. All before from is used up by the match before. plain: special
 * tokens are passed over. Start with *cursor == from == 0, then pass hit.end as from. As in the
 * reference a match may begin in the white space that the one before swallowed: its start is then
 * below from, its end may be. With lstrip nothing may be left of it (start == end: it then counts
 * for nothing) or less than nothing, which the reference refuses. */
bool tk_added_next(const tk_added *a, const tk_trie *trie, td_str text, size_t from,
                   size_t *cursor, bool plain, tk_hit *ret);

/* Raises the error for a hit with start > end. */
td_code tk_added_void(const tk_hit *hit, td_error *err);

/* Appends the pieces of text. */
td_code tk_added_split(const tk_added *a, const tk_trie *trie, tk_ctx *ctx, const tk_text *text,
                       bool plain, tk_pieces *out, td_error *err);

/* ---- trie.c ---- */

/* Texts must be distinct and not empty. values[i] belongs to texts[i]. NULL: out of memory. */
tk_trie *tk_trie_new(const td_str *texts, const uint32_t *values, uint32_t count);
void tk_trie_free(void *trie);
/* The longest text that starts at the first place at or behind from where any does. */
bool tk_trie_find(const tk_trie *t, td_str text, size_t from, size_t *ret_start, size_t *ret_end,
                  uint32_t *ret_value);

#endif

/* norm.h - what several normalizers share. */
#ifndef TD_SRC_TOKENIZER_NORM_NORM_H
#define TD_SRC_TOKENIZER_NORM_NORM_H

#include "tokenizer/pipeline.h"
#include "unicode/doubts.h"
#include "unicode/unicode.h"

/* Applies norm, the short way where there is one (ascii.c). Where alignments are tracked that is to
 * leave a text as it is. */
td_code tk_norm_apply(const tk_norm *norm, tk_ctx *ctx, tk_text *text, td_error *err);

/* What becomes of characters up to U+FFFF. The first two kinds, a bit each, stay as they are
 * wherever they stand, and nothing gets past them which the normalizer does: what stands between
 * two of them can be normalized alone. */
typedef struct tk_norm_wide {
    uint64_t stays[0x10000 / 64];  /* ASCII as well */
    uint64_t spaced[0x10000 / 64]; /* with a space on either side */
    td_doubts doubts;              /* of all but those that stay */
    /* What becomes of others wherever they stand, by the upper byte and the lower one: where it is
     * in texts, and its length in the lowest bits; 0: that depends. */
    uint32_t *forms[256];
    const char *texts; /* TK_FORM_MAX can be read */
} tk_norm_wide;

enum {
    TK_FORM_BITS = 4,
    TK_FORM_MAX = (1 << TK_FORM_BITS) - 1, /* bytes of a form */
    TK_FORM_GROWTH = 3,                    /* bytes of it, or of a character and spaces, for one */
};

/* Finds the short way for a normalizer that takes ASCII character by character. */
struct tk_load;
td_code tk_norm_learn(struct tk_load *load, tk_norm *norm);

/* A character that is no ASCII: it stays, or stays with spaces around it, or what it becomes
 * depends on no other (the normalizer is asked what that is), or it may depend on others. */
typedef enum tk_norm_kind {
    TK_NORM_STAYS,
    TK_NORM_SPACED,
    TK_NORM_ALONE,
    TK_NORM_DEPENDS,
} tk_norm_kind;

/* Makes norm->wide, behind tk_norm_learn (wide.c). */
td_code tk_norm_learn_wide(struct tk_load *load, tk_norm *norm,
                           tk_norm_kind (*kind_of)(const tk_norm *norm, uint32_t c));

/* NFC, NFD, NFKC, NFKD of a text. */
td_code tk_norm_unicode(td_norm_form form, tk_ctx *ctx, tk_text *text, td_error *err);

/* Whether texts from norm certainly do not hold what: it ends in a Replace of just that. */
bool tk_norm_removes(const tk_norm *norm, td_str what);

/* Whether norm is a Replace of one ASCII character by a text that is not empty, which works
 * character by character. */
bool tk_norm_maps_char(const tk_norm *norm);

/* Whether norm is a Replace of a fixed text by another; whether it is a Prepend. */
bool tk_norm_replaces(const tk_norm *norm, td_str *ret_what, td_str *ret_with);
bool tk_norm_prepends(const tk_norm *norm, td_str *ret_head);

/* td_norm for a text whose alignment is tracked (aligned.c). */
td_code tk_norm_aligned(td_norm_form form, tk_ctx *ctx, tk_text *text, td_error *err);

/* ---- chars.c ---- */

/* Moves over blocks of printable ASCII, which normalizers mostly leave alone. */
const char *tk_skip_printable(const char *p, const char *end);
/* Takes out the characters for which drop() is true; it must be false for printable ASCII. */
td_code tk_norm_filter(tk_ctx *ctx, tk_text *text, bool (*drop)(uint32_t c), td_error *err);
/* Replaces each character by what map() makes of it; printable ASCII stays as it is. */
td_code tk_norm_map(tk_ctx *ctx, tk_text *text, uint32_t (*map)(uint32_t c), td_error *err);
td_code tk_norm_lowercase(tk_ctx *ctx, tk_text *text, td_error *err);

#endif

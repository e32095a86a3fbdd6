/* token.h - tokens of a template and the lexer that makes them.
 *
 * A token is a kind and a span of the source; what a string or number means is decoded by the
 * parser. The source is normalised before: every newline is \n, one at the very end is gone. */
#ifndef TD_SRC_JINJA_TOKEN_H
#define TD_SRC_JINJA_TOKEN_H

#include "base/arena.h"
#include "base/buf.h"
#include "tokdrain/base.h"

typedef enum jj_token_kind {
#define TOKEN(kind, text) JJ_T_##kind,
#include "jinja/token.def"
#undef TOKEN
    JJ_T_COUNT_
} jj_token_kind;

typedef struct jj_token {
    uint8_t kind;
    uint32_t at, end; /* of DATA: what is left after whitespace control */
} jj_token;

/* What goes wrong becomes the last token (ERROR), so that the parser reports whichever mistake
 * stands first in the source. */
typedef struct jj_tokens {
    jj_token *items; /* in the arena; the last one is EOF or ERROR */
    uint32_t count, cap;
    char error[160];
} jj_tokens;

/* Fails only when memory runs out. source is shorter than 4 GiB. */
td_code jj_lex(td_arena *a, td_str source, jj_tokens *ret, td_error *err);
const char *jj_token_name(jj_token_kind kind);
/* The source with \n newlines and without one trailing newline; in the arena unless unchanged. */
td_code jj_normalize(td_arena *a, td_str source, td_str *ret, td_error *err);

/* The value of a STRING token with its quotes; errors are syntax errors at the token. */
td_code jj_unescape(td_arena *a, td_str source, jj_token token, td_str *ret, td_error *err);

/* ---- between lex_text.c and lex_expr.c ---- */

typedef struct jj_lexer {
    td_arena *arena;
    td_str source;
    uint32_t pos;
    bool line_starting; /* the last match ended in a newline */
    jj_tokens *out;
    char *brackets; /* the closers that open brackets wait for */
} jj_lexer;

enum { JJ_BRACKETS_MAX = 4096 };

bool jj_lex_push(jj_lexer *lx, jj_token_kind kind, uint32_t at, uint32_t end);
bool jj_lex_fail(jj_lexer *lx, uint32_t at, const char *fmt, ...) TD_PRINTF(3, 4);
/* Lexes up to and including the end of the tag; false: stop (error token pushed, or no memory).
 * Sets pos behind the tag with its trimming done. */
bool jj_lex_tag(jj_lexer *lx, bool is_block);
uint32_t jj_skip_space(td_str source, uint32_t at); /* \s* */

#endif

/* parser.h - what parse_stmt.c and parse_expr.c share. */
#ifndef TD_SRC_JINJA_PARSER_H
#define TD_SRC_JINJA_PARSER_H

#include "base/error.h"
#include "jinja/ast.h"

enum { JJ_PARSE_DEPTH_MAX = 200 };

typedef struct jj_parser {
    td_arena *arena;
    jj_names *names;
    td_str source;
    const jj_tokens *tokens;
    const jj_token *cur;
    uint32_t depth;
    const char *const *end_tags; /* names that end the statements being parsed; NULL: none */
    td_error *err;
} jj_parser;

td_code jj_syntax(jj_parser *p, uint32_t at, const char *fmt, ...) TD_PRINTF(3, 4);
td_code jj_node_new(jj_parser *p, jj_kind kind, uint32_t at, jj_node **ret);
td_code jj_push(jj_parser *p, jj_nodes *l, jj_node *n);
td_code jj_expected(jj_parser *p, const char *what); /* "expected WHAT, got ..." */

/* Moves to the next token; a malformed one is a syntax error here. */
td_code jj_advance(jj_parser *p);
td_str jj_token_text(const jj_parser *p, const jj_token *t);
bool jj_at_name(const jj_parser *p, const char *name);
bool jj_next_is_name(const jj_parser *p, const char *name); /* the token after the current one */
td_code jj_skip_name(jj_parser *p, const char *name, bool *ret); /* skips it if it is there */
td_code jj_expect(jj_parser *p, jj_token_kind kind);
td_code jj_expect_name(jj_parser *p, uint32_t *ret_id); /* any name, interned */
td_code jj_enter_depth(jj_parser *p);

/* ---- expressions ---- */

td_code jj_parse_expression(jj_parser *p, bool with_cond, jj_node **ret);

typedef struct jj_tuple_mode {
    bool simplified;     /* names and literals only: assignment targets */
    bool no_cond;        /* no "a if b" */
    bool explicit_parens;
    bool with_namespace;
} jj_tuple_mode;
td_code jj_parse_tuple(jj_parser *p, jj_tuple_mode mode, jj_node **ret);
/* (...) of a call: fills list[0], list[1], b, c of call. */
td_code jj_parse_call_args(jj_parser *p, jj_node *call);
/* Filters: with_pipe false: the first one has no | in front. node may be NULL. */
td_code jj_parse_filters(jj_parser *p, jj_node *node, bool start_inline, jj_node **ret);

typedef enum jj_target_mode { JJ_TARGET_NAME, JJ_TARGET_ANY, JJ_TARGET_NAMESPACE } jj_target_mode;
td_code jj_parse_target(jj_parser *p, jj_target_mode mode, jj_use use, jj_node **ret);

#endif

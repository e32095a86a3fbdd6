/* ast.h - the syntax tree: one node struct for all kinds, built in an arena by the parser.
 *
 * What a kind uses is told by ast.def; name and attr are interned (jj_names), values are those of
 * constants and template text. Nodes are changed by constant folding only. */
#ifndef TD_SRC_JINJA_AST_H
#define TD_SRC_JINJA_AST_H

#include "jinja/token.h"
#include "value/value.h"

typedef enum jj_kind {
#define NODE(kind, name, children) JJ_N_##kind,
#include "jinja/ast.def"
#undef NODE
    JJ_N_COUNT_
} jj_kind;

/* How a name is used. */
typedef enum jj_use { JJ_LOAD, JJ_STORE, JJ_PARAM } jj_use;

/* Operators of JJ_N_OPERAND. */
typedef enum jj_cmp {
    JJ_EQ,
    JJ_NE,
    JJ_LT,
    JJ_LE,
    JJ_GT,
    JJ_GE,
    JJ_IN,
    JJ_NOT_IN,
} jj_cmp;

enum {
    JJ_F_RECURSIVE = 1u << 0, /* for */
    JJ_F_SCOPED = 1u << 1,    /* block */
    JJ_F_REQUIRED = 1u << 2,  /* block */
    JJ_F_MISSING = 1u << 3,   /* include: ignore missing */
};

typedef struct jj_node jj_node;

typedef struct jj_nodes {
    jj_node **items;
    uint32_t count, cap;
} jj_nodes;

struct jj_node {
    uint8_t kind, use, op, flags;
    uint32_t at; /* byte offset in the source */
    uint32_t name, attr;
    td_value value;
    jj_node *a, *b, *c;
    jj_nodes list[3];
};

/* Text <-> number of every identifier of a template. Ids count from 1; 0 is none. */
typedef struct jj_names {
    td_arena *arena;
    td_value *keys; /* td_key of each */
    uint32_t count, cap;
    uint32_t *index, index_mask;
} jj_names;

uint32_t jj_intern(jj_names *names, td_str text); /* 0: out of memory */
td_value jj_name_key(const jj_names *names, uint32_t id);
td_str jj_name_text(const jj_names *names, uint32_t id);

/* The next child in field order: start with *i = 0; NULL at the end. */
jj_node *jj_child(const jj_node *n, uint32_t *i);
const char *jj_kind_name(jj_kind kind);
bool jj_is_expr(const jj_node *n);

bool jj_nodes_push(td_arena *a, jj_nodes *l, jj_node *n);

/* Parses all of the (normalised) source. */
td_code jj_parse(td_arena *a, jj_names *names, td_str source, const jj_tokens *tokens,
                 jj_node **ret, td_error *err);

/* Fails where statements nest deeper than the reference can compile; after jj_parse. */
td_code jj_check_indent(const jj_node *root, td_error *err);

/* Appends the tree as indented s-expressions. */
td_code jj_ast_dump(const jj_node *n, const jj_names *names, td_buf *out);

#endif

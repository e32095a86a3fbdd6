/* scope.h - which variable a name means, decided at compile time as the reference decides it.
 *
 * The reference compiles a template to Python and gives every name of every scope a local variable
 * of its own, (level of the scope, name); how that variable starts (from the outer scope's, from
 * the context, undefined, as a parameter) is a property of the scope, found by looking at all of
 * its body before any code is made. Many surprises of Jinja follow from just that (a name that a
 * loop body sets somewhere starts each round from the outer value; an "if" is no scope, but what
 * only one branch sets starts from the context). So the same analysis is done here. */
#ifndef TD_SRC_JINJA_SCOPE_H
#define TD_SRC_JINJA_SCOPE_H

#include "jinja/ast.h"

/* A variable: level << 20 | name. */
typedef uint32_t jj_ident;
enum { JJ_IDENT_BITS = 20, JJ_LEVELS_MAX = 1u << 11 };

static inline uint32_t jj_ident_level(jj_ident id)
{
    return id >> JJ_IDENT_BITS;
}
static inline uint32_t jj_ident_name(jj_ident id)
{
    return id & ((1u << JJ_IDENT_BITS) - 1);
}

typedef enum jj_load_kind {
    JJ_LOAD_PARAM,     /* set by whoever enters the scope */
    JJ_LOAD_RESOLVE,   /* from the context, by name */
    JJ_LOAD_ALIAS,     /* from another variable */
    JJ_LOAD_UNDEFINED,
} jj_load_kind;

typedef struct jj_ref {
    uint32_t name;
    jj_ident ident;
} jj_ref;

typedef struct jj_load {
    jj_ident ident;
    uint8_t kind;
    uint32_t from; /* RESOLVE: name; ALIAS: ident */
} jj_load;

/* Where the entries of a table with more than a few of them are, by their first member; 0: free,
 * else 1 + number. */
typedef struct jj_key_index {
    uint32_t *slots;
    uint32_t mask;
} jj_key_index;

typedef struct jj_symbols jj_symbols;
struct jj_symbols {
    jj_symbols *parent;
    uint32_t level;
    jj_ref *refs;
    jj_load *loads;
    uint32_t *stores; /* names */
    uint32_t ref_count, ref_cap, load_count, load_cap, store_count, store_cap;
    jj_key_index ref_index, load_index, store_index;
};

/* Which part of a for statement a scope is made for. */
typedef enum jj_for_part { JJ_FOR_BODY, JJ_FOR_ELSE, JJ_FOR_TEST } jj_for_part;

jj_symbols *jj_symbols_new(td_arena *a, jj_symbols *parent); /* NULL: out of memory */
/* Reads the body of the statement that opens the scope. false: out of memory. */
bool jj_symbols_analyze(td_arena *a, jj_symbols *s, const jj_node *n, jj_for_part part);
bool jj_symbols_declare_param(td_arena *a, jj_symbols *s, uint32_t name, jj_ident *ret);
/* false: the name is unknown to the scope and those around it. */
bool jj_symbols_find(const jj_symbols *s, uint32_t name, jj_ident *ret);
const jj_load *jj_symbols_find_load(const jj_symbols *s, jj_ident ident,
                                    const jj_symbols **ret_owner);
bool jj_symbols_stores(const jj_symbols *s, uint32_t name); /* in this scope itself */

/* The names among wanted[0..n) (at most 3; 0: none) that nodes read before they set them; found[i]
 * tells. Blocks are not looked into. */
void jj_find_undeclared(const jj_nodes *nodes, const uint32_t *wanted, size_t n, bool *found);

#endif

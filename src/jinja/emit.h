/* emit.h - the compiler's state and how it makes code. */
#ifndef TD_SRC_JINJA_EMIT_H
#define TD_SRC_JINJA_EMIT_H

#include "base/error.h"
#include "jinja/ast.h"
#include "jinja/bytecode.h"
#include "jinja/scope.h"

/* Makes room for one more element of size bytes in *items (which is any object pointer). */
bool jj_grow(td_arena *a, void *items, uint32_t *cap, uint32_t count, size_t size);

typedef struct jj_slot {
    jj_ident ident;
    uint32_t slot;
} jj_slot;

/* A function being compiled. */
typedef struct jj_unit jj_unit;
struct jj_unit {
    jj_unit *parent; /* the function around it, whose variables it may use */
    uint32_t func;
    uint32_t base_level; /* of its outermost scope */
    jj_slot *slots;
    uint32_t slot_count, slot_cap, next_slot;
    uint32_t depth; /* values on the stack at this point */
};

/* A scope being compiled. */
typedef struct jj_frame_info jj_frame_info;
struct jj_frame_info {
    jj_frame_info *parent;
    jj_symbols *symbols;
    bool toplevel; /* the root, ifs included: its variables are the context's */
    bool soft;     /* in a branch: unknown filters fail at run time */
};

/* A loop or collected output around the statement being compiled, for break and continue. */
typedef struct jj_nest jj_nest;
struct jj_nest {
    jj_nest *outer;
    enum { JJ_NEST_LOOP, JJ_NEST_CAPTURE, JJ_NEST_AUTOESCAPE } kind;
    uint32_t next;    /* LOOP: where continue goes */
    uint32_t *breaks; /* jumps to patch */
    uint32_t break_count, break_cap;
};

typedef struct jj_compiler {
    td_arena *arena;   /* of the tree and all that is thrown away */
    td_template *t;    /* what is made, in t->arena */
    jj_names *names;
    td_error *err;
    jj_unit *unit;
    jj_nest *nest;
    jj_vm *fold_vm;    /* computes constants */
    uint32_t at;       /* source offset of what is being compiled */
    uint32_t label;    /* the last place that a jump goes to: code before it cannot be fused */
    uint32_t depth;    /* of the recursion over the tree */
    uint32_t code_cap, offset_cap, const_cap, func_cap, attr_cap, ctx_cap, missing_cap;
    uint32_t builtin_cap, literal_cap, warning_cap, block_cap, block_cap2;
    bool autoescape, is_volatile; /* what is known of {% autoescape %} here */
    uint32_t name_loop, name_self, name_super, name_caller, name_kwargs, name_varargs;
    uint32_t caller_func;  /* the body of the call block whose call is compiled next */
} jj_compiler;

/* ---- emit.c ---- */

td_code jj_emit(jj_compiler *c, jj_opcode op, uint32_t a, uint32_t b, uint32_t operand);
/* A jump whose target jj_patch sets to the place reached then. */
td_code jj_emit_jump(jj_compiler *c, jj_opcode op, uint32_t a, uint32_t b, uint32_t *ret);
void jj_patch(jj_compiler *c, uint32_t jump);
uint32_t jj_here(const jj_compiler *c);
void jj_thread_jumps(td_template *t); /* once all code is there */
td_code jj_emit_const(jj_compiler *c, td_value v); /* CONST with a copy of v in the template */
td_code jj_add_const(jj_compiler *c, td_value v, uint32_t *ret);
/* literal.c: a constant as Python reads what the reference writes for it. */
td_code jj_compile_const(jj_compiler *c, td_value v);
bool jj_starts_with_minus(td_value v); /* what is written for it does */
td_code jj_add_attr(jj_compiler *c, uint32_t name, uint32_t *ret);
td_code jj_add_ctx(jj_compiler *c, uint32_t name, uint32_t *ret);
td_code jj_add_missing(jj_compiler *c, td_undefined u, uint32_t *ret);
td_code jj_add_builtin(jj_compiler *c, const jj_builtin *b, uint32_t *ret);
td_code jj_add_literal(jj_compiler *c, td_str text);
td_code jj_add_warning(jj_compiler *c, uint32_t at, const char *what, td_str name);
td_code jj_name_value(jj_compiler *c, uint32_t name, td_value *ret); /* key in the template */
/* A deep copy of a constant into the template. */
td_code jj_keep(jj_compiler *c, td_value v, td_value *ret);
td_code jj_compile_error(jj_compiler *c, uint32_t at, const char *fmt, ...) TD_PRINTF(3, 4);
td_code jj_compile_nomem(jj_compiler *c);

/* ---- variables ---- */

td_code jj_unit_begin(jj_compiler *c, jj_func_kind kind, jj_unit *unit, uint32_t level,
                      bool closed);
td_code jj_unit_end(jj_compiler *c);
td_code jj_slot_of(jj_compiler *c, jj_ident ident, uint32_t *ret_hops, uint32_t *ret_slot);
td_code jj_load_name(jj_compiler *c, const jj_frame_info *f, const jj_node *n);
td_code jj_store_name(jj_compiler *c, const jj_frame_info *f, uint32_t name);
/* Sets up the variables of a scope. */
td_code jj_enter_frame(jj_compiler *c, const jj_frame_info *f);

/* ---- compile_expr.c, compile_call.c ---- */

td_code jj_compile_expr(jj_compiler *c, jj_node *n, const jj_frame_info *f);
/* Folds n as the statement visitor of the reference would. */
td_code jj_optimize_expr(jj_compiler *c, jj_node *n);
/* Without folding the node itself first. */
td_code jj_compile_filter(jj_compiler *c, jj_node *n, const jj_frame_info *f);
td_code jj_compile_test(jj_compiler *c, jj_node *n, const jj_frame_info *f);
td_code jj_compile_call(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool with_caller);
jj_escape_mode jj_mode(const jj_compiler *c);

/* ---- compile_jump.c ---- */

/* Jumps that go to the same place. */
typedef struct jj_jumps {
    uint32_t *items;
    uint32_t count, cap;
} jj_jumps;
/* Code that jumps when the truth of n is jump_if and goes on otherwise. */
td_code jj_compile_jump(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool jump_if,
                        jj_jumps *jumps);
void jj_patch_all(jj_compiler *c, const jj_jumps *jumps);

/* ---- compile_output.c ---- */

td_code jj_compile_output(jj_compiler *c, jj_node *n, const jj_frame_info *f);

/* ---- compile_stmt.c, compile_scope.c ---- */

td_code jj_compile_body(jj_compiler *c, const jj_nodes *body, jj_frame_info *f);
td_code jj_compile_for(jj_compiler *c, jj_node *n, jj_frame_info *f);
td_code jj_compile_target(jj_compiler *c, const jj_node *target, const jj_frame_info *f);
/* The body of a macro, call or generation block; leaves its function number. */
td_code jj_compile_macro(jj_compiler *c, jj_node *n, jj_frame_info *f, uint32_t *ret_func);
td_code jj_compile_template(jj_compiler *c, jj_node *root);

/* ---- fold.c ---- */

typedef enum jj_fold { JJ_FOLD_NO, JJ_FOLD_YES, JJ_FOLD_FAILED } jj_fold;
/* Replaces what is constant below and at *n by constants; TD_E_* when the reference's compiler
 * would raise. */
td_code jj_optimize(jj_compiler *c, jj_node *n);
/* Whether the reference could write v as a literal in its generated code. */
bool jj_has_literal_form(td_value v);
/* The constant value of n as printed output folds it, undefined included. */
td_code jj_as_const(jj_compiler *c, jj_node *n, td_value *ret, bool *ret_const);

#endif

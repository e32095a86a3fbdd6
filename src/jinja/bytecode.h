/* bytecode.h - a compiled template: instructions, constants, functions. Immutable once made. */
#ifndef TD_SRC_JINJA_BYTECODE_H
#define TD_SRC_JINJA_BYTECODE_H

#include "base/arena.h"
#include "jinja/builtins.h"
#include "jinja/vm.h"

typedef enum jj_opcode {
#define OP(name, operands, pops, pushes) JJ_O_##name,
#include "jinja/opcodes.def"
#undef OP
    JJ_O_COUNT_
} jj_opcode;

typedef struct jj_insn {
    uint8_t op, a;
    uint16_t b;
    uint32_t c;
} jj_insn;
_Static_assert(sizeof(jj_insn) == 8, "instructions are one word");

/* Modes of EMIT, CONCAT and CAPTURED: what {% autoescape %} around it says. */
typedef enum jj_escape_mode { JJ_PLAIN, JJ_ESCAPED, JJ_VOLATILE } jj_escape_mode;

typedef enum jj_func_kind {
    JJ_FUNC_ROOT,
    JJ_FUNC_BLOCK,
    JJ_FUNC_MACRO,  /* also call blocks and generation blocks */
    JJ_FUNC_LOOP,   /* a recursive loop: slot 0 iterable is on the stack */
    JJ_FUNC_FILTER, /* the "if" of a for: runs once an item */
} jj_func_kind;

enum { JJ_NO_SLOT = UINT32_MAX };

typedef struct jj_func {
    uint8_t kind;
    bool captured;          /* inner functions look at its slots: the frame must last */
    bool explicit_caller;   /* "caller" is one of its parameters */
    uint32_t parent;        /* function it was defined in; itself for none */
    uint32_t entry, end;    /* its instructions */
    uint32_t first_entry;   /* FILTER: where the first item starts (sets up the slots);
                               MACRO: where a call that gave all parameters may start */
    uint32_t slot_count, stack_max;
    uint32_t param_count;   /* parameter i is slot i */
    const td_value *params; /* their names */
    uint32_t caller_slot, kwargs_slot, varargs_slot; /* JJ_NO_SLOT: not taken */
    td_value name;          /* str, none for call blocks */
} jj_func;

/* What is known about an attribute name. */
typedef struct jj_attr {
    td_value key;
    td_undefined missing;
    const jj_builtin *methods[TD_V_OBJECT + 1]; /* by tag; a str's for both kinds of str */
    const jj_builtin *markup_method;
    uint8_t loop_field; /* jj_loop_field, 0 none */
    bool unsafe;        /* begins with "_" */
} jj_attr;

/* A variable of the context: looked up once a render. */
typedef struct jj_ctx_name {
    td_value key;
    td_undefined missing;
    const td_value *global; /* NULL: none */
} jj_ctx_name;

typedef struct jj_warning {
    uint32_t at;
    td_str message;
} jj_warning;

struct td_template {
    td_arena arena;
    td_str original, source; /* as given; normalised */
    char *name;
    jj_insn *code;
    uint32_t *offsets;       /* source offset of each instruction */
    uint32_t code_count;
    td_value *consts;
    uint32_t const_count;
    jj_func *funcs;          /* 0 is the root */
    uint32_t func_count;
    jj_attr *attrs;
    uint32_t attr_count;
    jj_ctx_name *ctx;
    uint32_t ctx_count;
    uint32_t ctx_messages;   /* which of them is "messages"; UINT32_MAX: none */
    td_undefined *missing;   /* what UNDEF and its like leave behind */
    uint32_t missing_count;
    const jj_builtin **builtins;
    uint32_t builtin_count;
    td_value *block_names;   /* name and function of each block */
    uint32_t *block_funcs, block_count;
    td_str *literals;
    uint32_t literal_count;
    jj_warning *warnings;
    uint32_t warning_count;
};

/* How many values an instruction takes and leaves. */
void jj_stack_effect(jj_insn in, uint32_t *ret_pops, uint32_t *ret_pushes);
/* Proves that operands are in range, jumps stay inside their function, and the stack depth is the
 * same on every way to an instruction, never negative and at most stack_max. */
TD_NODISCARD td_code jj_verify(const td_template *t, td_error *err);
td_code jj_code_dump(const td_template *t, td_buf *out);
const char *jj_op_name(jj_opcode op);
const char *jj_op_operands(jj_opcode op); /* three letters, see opcodes.def */

#endif

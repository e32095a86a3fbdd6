/* verify.c - proves that compiled code is safe to run without checks in the run loop.
 *
 * Idea: follow each function from its entry, with the stack depth known at every instruction
 * reached; all ways to an instruction must agree. What is proved here the run loop relies on:
 * operand indexes, slots of the right function, jump targets, depth. */
#include <string.h>

#include "base/error.h"
#include "jinja/bytecode.h"

typedef struct jj_check {
    const td_template *t;
    const jj_func *f;
    uint32_t *depth; /* depth + 1 on arrival; 0: not reached */
    uint32_t *todo;
    uint32_t todo_count;
    td_error *err;
} jj_check;

static td_code bad(const jj_check *k, uint32_t pc, const char *what)
{
    return td_fail(k->err, TD_E_INTERNAL, "bad bytecode at %u (%s): %s", pc,
                   jj_op_name((jj_opcode)k->t->code[pc].op), what);
}

static bool operand_ok(const jj_check *k, char kind, uint32_t x, uint32_t hops)
{
    const td_template *t = k->t;
    const jj_func *f = k->f;
    switch (kind) {
    case 'k': return x < t->const_count;
    case 's':
        for (; hops > 0; hops--) {
            if (&t->funcs[f->parent] == f)
                return false;
            f = &t->funcs[f->parent];
        }
        return x < f->slot_count;
    case 'x': return x < t->ctx_count;
    case 'j': return x < t->code_count;
    case 'f': return x < t->func_count;
    case 'r': return x < t->attr_count;
    case 'i': return x < t->builtin_count;
    case 'q': return x < t->missing_count;
    case 'o': return x <= 7; /* jj_op, jj_cmp */
    default: return true;
    }
}

static td_code arrive(jj_check *k, uint32_t pc, uint32_t depth)
{
    if (pc >= k->t->code_count)
        return td_fail(k->err, TD_E_INTERNAL, "bad bytecode: runs off the end");
    if (k->depth[pc] == depth + 1)
        return TD_OK;
    if (k->depth[pc] != 0)
        return bad(k, pc, "stack depth differs");
    k->depth[pc] = depth + 1;
    k->todo[k->todo_count++] = pc;
    return TD_OK;
}

static bool ends_flow(jj_opcode op)
{
    return op == JJ_O_JUMP || op == JJ_O_RETURN || op == JJ_O_RAISE || op == JJ_O_KEEP ||
           op == JJ_O_SKIP;
}

/* The depth at the jump target where it is not that of the next instruction. */
static uint32_t jump_depth(jj_opcode op, uint32_t depth)
{
    return op == JJ_O_NEXT ? depth - 1 : depth;
}

static td_code check_insn(jj_check *k, uint32_t pc)
{
    jj_insn in = k->t->code[pc];
    uint32_t depth = k->depth[pc] - 1, pops, pushes;
    if (in.op >= JJ_O_COUNT_)
        return td_fail(k->err, TD_E_INTERNAL, "bad bytecode at %u: no such operation", pc);
    const char *kinds = jj_op_operands((jj_opcode)in.op);
    uint32_t hops = kinds[0] == 'h' ? in.a : kinds[1] == 'h' ? in.b : 0;
    /* a call without keywords has no tuple of their names */
    bool unused = (in.op == JJ_O_CALL || in.op == JJ_O_CALL_EMIT) && in.a == 0;
    if (!operand_ok(k, kinds[0], in.a, 0) || !operand_ok(k, kinds[1], in.b, 0) ||
        (!unused && !operand_ok(k, kinds[2], in.c, hops)))
        return bad(k, pc, "operand out of range");
    if (in.op == JJ_O_JUMP_KIND && in.a / 2u >= k->t->builtin_count)
        return bad(k, pc, "no such test");
    if (in.op == JJ_O_BLOCK && in.c >= k->t->block_count)
        return bad(k, pc, "no such block");
    if ((in.op == JJ_O_FILTER || in.op == JJ_O_TEST) &&
        in.b > k->t->builtins[in.c]->max)
        return bad(k, pc, "too many arguments");
    jj_stack_effect(in, &pops, &pushes);
    if (depth < pops)
        return bad(k, pc, "stack underflow");
    depth = depth - pops + pushes;
    if (depth > k->f->stack_max)
        return bad(k, pc, "stack overflow");
    if (kinds[2] == 'j')
        TD_TRY(arrive(k, in.c, jump_depth((jj_opcode)in.op, depth)));
    return ends_flow((jj_opcode)in.op) ? TD_OK : arrive(k, pc + 1, depth);
}

static td_code check_func(jj_check *k, const jj_func *f)
{
    k->f = f;
    memset(k->depth, 0, k->t->code_count * sizeof *k->depth);
    k->todo_count = 0;
    uint32_t depth = f->kind == JJ_FUNC_LOOP || f->kind == JJ_FUNC_FILTER;
    if (f->parent >= k->t->func_count || f->slot_count < f->param_count)
        return td_fail(k->err, TD_E_INTERNAL, "bad bytecode: function out of range");
    TD_TRY(arrive(k, f->entry, depth));
    TD_TRY(arrive(k, f->first_entry, depth));
    while (k->todo_count != 0)
        TD_TRY(check_insn(k, k->todo[--k->todo_count]));
    return TD_OK;
}

td_code jj_verify(const td_template *t, td_error *err)
{
    td_arena scratch = { 0 };
    jj_check k = { .t = t, .err = err };
    k.depth = td_arena_array(&scratch, uint32_t, t->code_count + (size_t)1);
    k.todo = td_arena_array(&scratch, uint32_t, t->code_count + (size_t)1);
    td_code code = k.depth != NULL && k.todo != NULL ? TD_OK : td_fail_nomem(err);
    for (uint32_t i = 0; code == TD_OK && i < t->func_count; i++)
        code = check_func(&k, &t->funcs[i]);
    td_arena_done(&scratch);
    return code;
}

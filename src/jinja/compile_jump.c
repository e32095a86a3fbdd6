/* compile_jump.c - conditions: code that jumps instead of leaving a truth value.
 *
 * "and", "or" and "not" become jumps; comparisons with a constant and tests of a value's kind
 * become one instruction. What a test says of each kind of value is asked of the test itself. */
#include "base/str.h"
#include "jinja/emit.h"
#include "jinja/vm_internal.h"

enum { JUMP_IF = 1 << 7, DEPTH_MAX = 1000 };

static td_code add_jump(jj_compiler *c, jj_opcode op, uint32_t a, uint32_t b, jj_jumps *jumps)
{
    if (!jj_grow(c->arena, &jumps->items, &jumps->cap, jumps->count, sizeof *jumps->items))
        return jj_compile_nomem(c);
    return jj_emit_jump(c, op, a, b, &jumps->items[jumps->count++]);
}

void jj_patch_all(jj_compiler *c, const jj_jumps *jumps)
{
    for (uint32_t i = 0; i < jumps->count; i++)
        jj_patch(c, jumps->items[i]);
}

static td_code jump_logic(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool jump_if,
                          jj_jumps *jumps)
{
    /* "a and b" is false as soon as a is; "a or b" is true as soon as a is */
    bool decides = n->kind == JJ_N_OR;
    if (decides == jump_if) {
        TD_TRY(jj_compile_jump(c, n->a, f, jump_if, jumps));
        return jj_compile_jump(c, n->b, f, jump_if, jumps);
    }
    jj_jumps skip = { 0 };
    TD_TRY(jj_compile_jump(c, n->a, f, decides, &skip));
    TD_TRY(jj_compile_jump(c, n->b, f, jump_if, jumps));
    jj_patch_all(c, &skip);
    return TD_OK;
}

static td_code jump_compare(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool jump_if,
                            jj_jumps *jumps)
{
    jj_node *operand = n->list[0].items[0], *left = n->a, *right = operand->a;
    uint32_t mode = operand->op | (jump_if ? JUMP_IF : 0), k;
    bool in = operand->op == JJ_IN || operand->op == JJ_NOT_IN;
    jj_node *constant = in ? left : right, *other = in ? right : left;
    TD_TRY(jj_optimize_expr(c, constant));
    if (constant->kind == JJ_N_CONST && td_is_str(constant->value)) {
        TD_TRY(jj_add_const(c, constant->value, &k));
        if (k <= UINT16_MAX) {
            TD_TRY(jj_compile_expr(c, other, f));
            c->at = operand->at;
            return add_jump(c, JJ_O_JUMP_CONST, mode, k, jumps);
        }
    }
    TD_TRY(jj_compile_expr(c, left, f));
    TD_TRY(jj_compile_expr(c, right, f));
    c->at = operand->at;
    return add_jump(c, JJ_O_JUMP_COMPARE, mode, 0, jumps);
}

/* The tests that look at nothing but the kind of a value. */
static bool is_kind_test(td_str name)
{
    static const char *const names[] = { "defined", "undefined", "none", "string", "mapping",
                                         "number", "boolean", "integer", "float", "iterable",
                                         "sequence" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (td_str_eq(name, td_str_from(names[i])))
            return true;
    return false;
}

/* One bit for each tag: what the test answers for such values. */
static uint32_t kind_mask(jj_compiler *c, const jj_builtin *b)
{
    uint32_t mask = 0;
    td_dict empty = { 0 };
    for (uint8_t tag = 0; tag < TD_V_OBJECT; tag++) {
        td_value v = { .tag = tag == TD_V_BIGINT ? TD_V_INT : tag }, answer;
        jj_args none = { 0 };
        if (tag == TD_V_STR)
            v.as.str = "";
        if (tag == TD_V_DICT)
            v.as.dict = &empty;
        if (b->fn(c->fold_vm, v, &none, &answer) == TD_OK && answer.as.integer != 0)
            mask |= 1u << tag;
        jj_vm_clear_error(c->fold_vm);
    }
    return mask;
}

static td_code jump_kind(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool jump_if,
                         const jj_builtin *b, uint32_t index, jj_jumps *jumps)
{
    TD_TRY(jj_compile_expr(c, n->a, f));
    c->at = n->at;
    return add_jump(c, JJ_O_JUMP_KIND, index * 2 + jump_if, kind_mask(c, b), jumps);
}

td_code jj_compile_jump(jj_compiler *c, jj_node *n, const jj_frame_info *f, bool jump_if,
                        jj_jumps *jumps)
{
    td_str name;
    uint32_t index = 0;
    bool truth;
    if (++c->depth > DEPTH_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "expression nested too deeply");
    TD_TRY(jj_optimize_expr(c, n));
    c->depth--;
    switch (n->kind) {
    case JJ_N_NOT:
        return jj_compile_jump(c, n->a, f, !jump_if, jumps);
    case JJ_N_AND:
    case JJ_N_OR:
        return jump_logic(c, n, f, jump_if, jumps);
    case JJ_N_CONST:
        if (n->value.tag == TD_V_FLOAT || n->value.tag >= TD_V_LIST ||
            jj_truth(c->fold_vm, n->value, &truth) != TD_OK)
            break;
        return truth == jump_if ? add_jump(c, JJ_O_JUMP, 0, 0, jumps) : TD_OK;
    case JJ_N_COMPARE:
        if (n->list[0].count == 1)
            return jump_compare(c, n, f, jump_if, jumps);
        break;
    case JJ_N_TEST:
        name = jj_name_text(c->names, n->name);
        if (!is_kind_test(name) || n->list[0].count + n->list[1].count != 0 || n->b != NULL ||
            n->c != NULL)
            break;
        TD_TRY(jj_add_builtin(c, jj_find_test(name), &index));
        if (index <= INT8_MAX)
            return jump_kind(c, n, f, jump_if, jj_find_test(name), index, jumps);
        break;
    default:
        break;
    }
    TD_TRY(jj_compile_expr(c, n, f));
    c->at = n->at;
    return add_jump(c, jump_if ? JJ_O_JUMP_TRUE : JJ_O_JUMP_FALSE, 0, 0, jumps);
}

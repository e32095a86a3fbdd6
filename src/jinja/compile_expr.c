/* compile_expr.c - expressions to code. Each expression leaves exactly one value on the stack. */

#include "base/str.h"
#include "jinja/emit.h"

enum { DEPTH_MAX = 1000 };

jj_escape_mode jj_mode(const jj_compiler *c)
{
    return c->is_volatile ? JJ_VOLATILE : c->autoescape ? JJ_ESCAPED : JJ_PLAIN;
}

static td_code compile_items(jj_compiler *c, const jj_nodes *l, const jj_frame_info *f)
{
    for (uint32_t i = 0; i < l->count; i++)
        TD_TRY(jj_compile_expr(c, l->items[i], f));
    return TD_OK;
}

static td_code compile_dict(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    for (uint32_t i = 0; i < n->list[0].count; i++) {
        TD_TRY(jj_compile_expr(c, n->list[0].items[i]->a, f));
        TD_TRY(jj_compile_expr(c, n->list[0].items[i]->b, f));
    }
    return jj_emit(c, JJ_O_DICT, 0, 0, n->list[0].count);
}

static td_code compile_logic(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    uint32_t jump;
    TD_TRY(jj_compile_expr(c, n->a, f));
    TD_TRY(jj_emit_jump(c, n->kind == JJ_N_AND ? JJ_O_AND : JJ_O_OR, 0, 0, &jump));
    TD_TRY(jj_emit(c, JJ_O_POP, 0, 0, 0));
    TD_TRY(jj_compile_expr(c, n->b, f));
    jj_patch(c, jump);
    return TD_OK;
}

static td_code compile_cond(jj_compiler *c, jj_node *n, const jj_frame_info *outer)
{
    uint32_t end, q;
    jj_jumps otherwise = { 0 };
    jj_frame_info f = *outer;
    f.soft = true;
    TD_TRY(jj_compile_jump(c, n->a, &f, false, &otherwise));
    TD_TRY(jj_compile_expr(c, n->b, &f));
    TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &end));
    c->unit->depth--;
    jj_patch_all(c, &otherwise);
    if (n->c != NULL) {
        TD_TRY(jj_compile_expr(c, n->c, &f));
    } else {
        td_undefined u = { .exc = JJ_UNDEFINED_ERROR,
                           .hint = TD_STR("the inline if-expression was false and has no else") };
        c->at = n->at;
        TD_TRY(jj_add_missing(c, u, &q));
        TD_TRY(jj_emit(c, JJ_O_UNDEF_VALUE, 0, 0, q));
    }
    jj_patch(c, end);
    return TD_OK;
}

/* a < b < c evaluates b once and stops at the first false. */
static td_code compile_compare(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    const jj_nodes *ops = &n->list[0];
    uint32_t *jumps = td_arena_array(c->arena, uint32_t, ops->count);
    if (jumps == NULL)
        return jj_compile_nomem(c);
    TD_TRY(jj_compile_expr(c, n->a, f));
    for (uint32_t i = 0; i < ops->count; i++) {
        TD_TRY(jj_compile_expr(c, ops->items[i]->a, f));
        c->at = ops->items[i]->at;
        if (i + 1 == ops->count)
            TD_TRY(jj_emit(c, JJ_O_COMPARE, ops->items[i]->op, 0, 0));
        else
            TD_TRY(jj_emit_jump(c, JJ_O_CHAIN, ops->items[i]->op, 0, &jumps[i]));
    }
    for (uint32_t i = 0; i + 1 < ops->count; i++)
        jj_patch(c, jumps[i]);
    return TD_OK;
}

static bool holds_slice(const jj_node *n)
{
    if (n->kind != JJ_N_TUPLE)
        return n->kind == JJ_N_SLICE;
    for (uint32_t i = 0; i < n->list[0].count; i++)
        if (holds_slice(n->list[0].items[i]))
            return true;
    return false;
}

/* Looks attr up in the value on the stack, or in the slot if that is where the value just came
 * from. */
static td_code emit_access(jj_compiler *c, jj_opcode op, jj_opcode from_slot, uint32_t attr)
{
    jj_insn *last = &c->t->code[jj_here(c) - 1];
    if (last->op != JJ_O_LOAD || c->label == jj_here(c) || last->c > UINT16_MAX)
        return jj_emit(c, op, 0, 0, attr);
    *last = (jj_insn){ .op = (uint8_t)from_slot, .b = (uint16_t)last->c, .c = attr };
    c->t->offsets[jj_here(c) - 1] = c->at;
    return TD_OK;
}

static td_code compile_getitem(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    TD_TRY(jj_compile_expr(c, n->a, f));
    if (n->b->kind != JJ_N_SLICE) {
        if (holds_slice(n->b))
            return jj_compile_error(c, n->at, "a slice cannot stand in a tuple");
        TD_TRY(jj_optimize_expr(c, n->b));
        if (n->b->kind == JJ_N_CONST && td_is_str(n->b->value) && n->b->value.len != 0) {
            uint32_t name = jj_intern(c->names, td_as_str(n->b->value)), attr;
            if (name == 0)
                return jj_compile_nomem(c);
            TD_TRY(jj_add_attr(c, name, &attr));
            c->at = n->at;
            return emit_access(c, JJ_O_ITEM_KEY, JJ_O_LOAD_ITEM, attr);
        }
        TD_TRY(jj_compile_expr(c, n->b, f));
        c->at = n->at;
        return jj_emit(c, JJ_O_ITEM, 0, 0, 0);
    }
    jj_node *part[3] = { n->b->a, n->b->b, n->b->c };
    for (int i = 0; i < 3; i++) {
        if (part[i] != NULL)
            TD_TRY(jj_compile_expr(c, part[i], f));
        else
            TD_TRY(jj_emit_const(c, td_none()));
    }
    c->at = n->at;
    return jj_emit(c, JJ_O_SLICE, 0, 0, 0);
}

static td_code compile_getattr(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    uint32_t attr;
    TD_TRY(jj_compile_expr(c, n->a, f));
    TD_TRY(jj_add_attr(c, n->attr, &attr));
    c->at = n->at;
    return emit_access(c, JJ_O_ATTR, JJ_O_LOAD_ATTR, attr);
}

/* What stands left of "**" is written into Python source, where a minus sign in front of it counts
 * last: -2 ** n is -(2 ** n) there, if -2 was computed by the optimizer. */
static td_code compile_power(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    td_value base;
    TD_TRY(jj_optimize_expr(c, n->a));
    bool minus = n->a->kind == JJ_N_CONST && jj_starts_with_minus(n->a->value);
    if (minus && jj_neg(c->fold_vm, n->a->value, &base) != TD_OK)
        return td_arena_fail(c->arena, c->err);
    TD_TRY(minus ? jj_compile_const(c, base) : jj_compile_expr(c, n->a, f));
    TD_TRY(jj_compile_expr(c, n->b, f));
    c->at = n->at;
    TD_TRY(jj_emit(c, JJ_O_BINARY, JJ_POW, 0, 0));
    return minus ? jj_emit(c, JJ_O_NEG, 0, 0, 0) : TD_OK;
}

static td_code compile_operator(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    if (n->kind == JJ_N_BINARY && n->op == JJ_POW)
        return compile_power(c, n, f);
    TD_TRY(jj_compile_expr(c, n->a, f));
    if (n->kind == JJ_N_BINARY)
        TD_TRY(jj_compile_expr(c, n->b, f));
    c->at = n->at;
    switch (n->kind) {
    case JJ_N_BINARY: return jj_emit(c, JJ_O_BINARY, n->op, 0, 0);
    case JJ_N_NEG: return jj_emit(c, JJ_O_NEG, 0, 0, 0);
    case JJ_N_POS: return jj_emit(c, JJ_O_POS, 0, 0, 0);
    default: return jj_emit(c, JJ_O_NOT, 0, 0, 0);
    }
}

static td_code compile_sequence(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    TD_TRY(compile_items(c, &n->list[0], f));
    c->at = n->at;
    if (n->kind == JJ_N_CONCAT) {
        /* where only the render knows whether to escape, the reference joins as if it did not */
        jj_escape_mode mode = c->is_volatile ? JJ_PLAIN : jj_mode(c);
        return jj_emit(c, JJ_O_CONCAT, mode, n->list[0].count, 0);
    }
    return jj_emit(c, n->kind == JJ_N_LIST ? JJ_O_LIST : JJ_O_TUPLE, 0, 0, n->list[0].count);
}

static td_code compile_kind(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    switch (n->kind) {
    case JJ_N_CONST:
    case JJ_N_DATA:
        return jj_compile_const(c, n->value);
    case JJ_N_NAME:
        return jj_load_name(c, f, n);
    case JJ_N_LIST:
    case JJ_N_TUPLE:
    case JJ_N_CONCAT:
        return compile_sequence(c, n, f);
    case JJ_N_DICT:
        return compile_dict(c, n, f);
    case JJ_N_AND:
    case JJ_N_OR:
        return compile_logic(c, n, f);
    case JJ_N_COND:
        return compile_cond(c, n, f);
    case JJ_N_COMPARE:
        return compile_compare(c, n, f);
    case JJ_N_GETITEM:
        return compile_getitem(c, n, f);
    case JJ_N_GETATTR:
        return compile_getattr(c, n, f);
    case JJ_N_FILTER:
        return jj_compile_filter(c, n, f);
    case JJ_N_TEST:
        return jj_compile_test(c, n, f);
    case JJ_N_CALL:
        return jj_compile_call(c, n, f, false);
    case JJ_N_SLICE:
        return jj_compile_error(c, n->at, "a slice cannot stand here");
    default:
        return compile_operator(c, n, f);
    }
}

/* The reference does not fold what is a list, tuple or dict itself, so an unhashable key in one
 * fails at run time; otherwise folding them cannot be noticed. */
td_code jj_optimize_expr(jj_compiler *c, jj_node *n)
{
    bool constant;
    td_value v;
    if (c->is_volatile)
        return TD_OK;
    if (n->kind != JJ_N_LIST && n->kind != JJ_N_TUPLE && n->kind != JJ_N_DICT)
        return jj_optimize(c, n);
    TD_TRY(jj_as_const(c, n, &v, &constant));
    if (constant && jj_has_literal_form(v)) {
        n->kind = JJ_N_CONST;
        n->value = v;
    }
    return TD_OK;
}

td_code jj_compile_expr(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    if (++c->depth > DEPTH_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "expression nested too deeply");
    TD_TRY(jj_optimize_expr(c, n));
    uint32_t at = c->at;
    c->at = n->at;
    TD_TRY(compile_kind(c, n, f));
    c->at = at;
    c->depth--;
    return TD_OK;
}

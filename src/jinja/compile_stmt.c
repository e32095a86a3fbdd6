/* compile_stmt.c - statements to code. Between statements the stack holds only what enclosing
 * loops and captures keep there. */
#include <string.h>

#include "base/str.h"
#include "jinja/emit.h"
#include "jinja/vm_internal.h"

static td_code compile_stmt(jj_compiler *c, jj_node *n, jj_frame_info *f);

td_code jj_compile_body(jj_compiler *c, const jj_nodes *body, jj_frame_info *f)
{
    for (uint32_t i = 0; i < body->count; i++)
        TD_TRY(compile_stmt(c, body->items[i], f));
    return TD_OK;
}

/* A scope of its own inside f. */
static td_code inner_frame(jj_compiler *c, jj_frame_info *f, const jj_node *n,
                           jj_frame_info *ret)
{
    *ret = (jj_frame_info){ .parent = f, .symbols = jj_symbols_new(c->arena, f->symbols) };
    if (ret->symbols == NULL || !jj_symbols_analyze(c->arena, ret->symbols, n, JJ_FOR_BODY))
        return td_arena_fail(c->arena, c->err);
    if (ret->symbols->level >= JJ_LEVELS_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "scopes nested too deeply");
    return TD_OK;
}

/* ---- set ---- */

td_code jj_compile_target(jj_compiler *c, const jj_node *target, const jj_frame_info *f)
{
    uint32_t attr;
    c->at = target->at;
    switch (target->kind) {
    case JJ_N_NAME:
        return jj_store_name(c, f, target->name);
    case JJ_N_NS_REF:
        TD_TRY(jj_add_attr(c, target->attr, &attr));
        TD_TRY(jj_load_name(c, f, target));
        return jj_emit(c, JJ_O_NS_SET, 0, 0, attr);
    default:
        TD_TRY(jj_emit(c, JJ_O_UNPACK, 0, 0, target->list[0].count));
        for (uint32_t i = 0; i < target->list[0].count; i++)
            TD_TRY(jj_compile_target(c, target->list[0].items[i], f));
        return TD_OK;
    }
}

/* All namespaces that target names are checked before the value is computed. */
static td_code check_namespaces(jj_compiler *c, const jj_node *target, const jj_frame_info *f)
{
    if (target->kind == JJ_N_NS_REF) {
        c->at = target->at;
        TD_TRY(jj_load_name(c, f, target));
        return jj_emit(c, JJ_O_NS_CHECK, 0, 0, 0);
    }
    for (uint32_t i = 0; target->kind == JJ_N_TUPLE && i < target->list[0].count; i++)
        TD_TRY(check_namespaces(c, target->list[0].items[i], f));
    return TD_OK;
}

static td_code compile_assign(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    TD_TRY(check_namespaces(c, n->a, f));
    TD_TRY(jj_compile_expr(c, n->b, f));
    return jj_compile_target(c, n->a, f);
}

static td_code compile_captured(jj_compiler *c, const jj_nodes *body, jj_frame_info *f)
{
    jj_nest nest = { .outer = c->nest, .kind = JJ_NEST_CAPTURE };
    TD_TRY(jj_emit(c, JJ_O_CAPTURE, 0, 0, 0));
    c->nest = &nest;
    TD_TRY(jj_compile_body(c, body, f));
    c->nest = nest.outer;
    return jj_emit(c, JJ_O_CAPTURED, jj_mode(c), 0, 0);
}

static td_code compile_assign_block(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_frame_info inner;
    TD_TRY(inner_frame(c, f, n, &inner));
    TD_TRY(jj_enter_frame(c, &inner));
    TD_TRY(compile_captured(c, &n->list[0], &inner));
    if (n->b != NULL) {
        TD_TRY(jj_compile_filter(c, n->b, &inner));
        if (jj_mode(c) != JJ_PLAIN)
            TD_TRY(jj_emit(c, JJ_O_MARKUP, jj_mode(c), 0, 0));
    }
    return jj_compile_target(c, n->a, f);
}

/* ---- blocks of output ---- */

static td_code compile_filter_block(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_frame_info inner;
    TD_TRY(inner_frame(c, f, n, &inner));
    TD_TRY(jj_enter_frame(c, &inner));
    TD_TRY(compile_captured(c, &n->list[0], &inner));
    TD_TRY(jj_compile_filter(c, n->a, &inner));
    c->at = n->at;
    return jj_emit(c, JJ_O_EMIT_RAW, 0, 0, 0);
}

static td_code compile_with(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_frame_info inner;
    TD_TRY(inner_frame(c, f, n, &inner));
    TD_TRY(jj_enter_frame(c, &inner));
    for (uint32_t i = 0; i < n->list[0].count; i++) {
        TD_TRY(jj_compile_expr(c, n->list[1].items[i], f));
        TD_TRY(jj_compile_target(c, n->list[0].items[i], &inner));
    }
    return jj_compile_body(c, &n->list[2], &inner);
}

static td_code compile_scope(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_frame_info inner;
    TD_TRY(inner_frame(c, f, n, &inner));
    TD_TRY(jj_enter_frame(c, &inner));
    return jj_compile_body(c, &n->list[0], &inner);
}

static td_code compile_autoescape(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    bool was = c->autoescape, was_volatile = c->is_volatile, constant, truth = false;
    jj_nest nest = { .outer = c->nest, .kind = JJ_NEST_AUTOESCAPE };
    td_value v;
    TD_TRY(jj_compile_expr(c, n->a, f));
    TD_TRY(jj_emit(c, JJ_O_AUTOESCAPE, 0, 0, 0));
    TD_TRY(jj_as_const(c, n->a, &v, &constant));
    if (constant && jj_truth(c->fold_vm, v, &truth) == TD_OK)
        c->autoescape = truth;
    else
        c->is_volatile = true;
    jj_vm_clear_error(c->fold_vm);
    c->nest = &nest;
    TD_TRY(jj_compile_body(c, &n->list[0], f));
    c->nest = nest.outer;
    c->autoescape = was;
    c->is_volatile = was_volatile;
    return jj_emit(c, JJ_O_AUTOESCAPE_END, 0, 0, 0);
}

static td_code compile_call_block(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    uint32_t func;
    TD_TRY(jj_compile_macro(c, n, f, &func));
    c->at = n->at;
    if (n->kind == JJ_N_GENERATION)
        return jj_emit(c, JJ_O_GENERATION, 0, 0, func);
    c->caller_func = func;
    TD_TRY(jj_compile_call(c, n->a, f, true));
    c->at = n->at;
    return jj_emit(c, JJ_O_EMIT_RAW, 0, 0, 0);
}

static td_code compile_macro(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    uint32_t func;
    TD_TRY(jj_compile_macro(c, n, f, &func));
    c->at = n->at;
    TD_TRY(jj_emit(c, JJ_O_MACRO, 0, 0, func));
    return jj_store_name(c, f, n->name);
}

/* ---- control ---- */

static td_code compile_branch(jj_compiler *c, jj_node *test, const jj_nodes *body,
                              jj_frame_info *f, bool last, uint32_t *ret_end)
{
    jj_jumps next = { 0 };
    TD_TRY(jj_compile_jump(c, test, f, false, &next));
    TD_TRY(jj_compile_body(c, body, f));
    *ret_end = UINT32_MAX;
    if (!last)
        TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, ret_end));
    jj_patch_all(c, &next);
    return TD_OK;
}

static td_code compile_if(jj_compiler *c, jj_node *n, const jj_frame_info *outer)
{
    jj_frame_info f = *outer;
    f.soft = true;
    uint32_t count = n->list[1].count + 1;
    bool otherwise = n->list[2].count != 0;
    uint32_t *ends = td_arena_array(c->arena, uint32_t, count);
    if (ends == NULL)
        return jj_compile_nomem(c);
    TD_TRY(compile_branch(c, n->a, &n->list[0], &f, count == 1 && !otherwise, &ends[0]));
    for (uint32_t i = 1; i < count; i++) {
        jj_node *elif = n->list[1].items[i - 1];
        TD_TRY(compile_branch(c, elif->a, &elif->list[0], &f, i + 1 == count && !otherwise,
                              &ends[i]));
    }
    TD_TRY(jj_compile_body(c, &n->list[2], &f));
    for (uint32_t i = 0; i < count; i++)
        if (ends[i] != UINT32_MAX)
            jj_patch(c, ends[i]);
    return TD_OK;
}

static td_code compile_break(jj_compiler *c, jj_node *n)
{
    uint32_t depth = c->unit->depth, jump;
    jj_nest *nest = c->nest;
    for (; nest != NULL && nest->kind != JJ_NEST_LOOP; nest = nest->outer)
        TD_TRY(jj_emit(c, nest->kind == JJ_NEST_CAPTURE ? JJ_O_CAPTURE_DROP : JJ_O_POP, 0, 0, 0));
    if (nest == NULL)
        return jj_compile_error(c, n->at, "'%s' outside of a loop", jj_kind_name(n->kind));
    if (n->kind == JJ_N_CONTINUE) {
        TD_TRY(jj_emit(c, JJ_O_JUMP, 0, 0, nest->next));
    } else {
        if (!jj_grow(c->arena, &nest->breaks, &nest->break_cap, nest->break_count,
                     sizeof *nest->breaks))
            return jj_compile_nomem(c);
        TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &jump));
        nest->breaks[nest->break_count++] = jump;
    }
    c->unit->depth = depth;
    return TD_OK;
}

/* ---- what needs other templates, of which there are none ---- */

static td_code compile_raise(jj_compiler *c, jj_exc exc, const char *text)
{
    uint32_t k;
    TD_TRY(jj_add_const(c, td_string(td_str_from(text)), &k));
    return jj_emit(c, JJ_O_RAISE, exc, 0, k);
}

static td_code compile_loading(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    if (n->kind == JJ_N_EXTENDS && !f->toplevel)
        return jj_compile_error(c, n->at, "'extends' may only stand at the top level");
    TD_TRY(jj_compile_expr(c, n->a, f));
    c->at = n->at;
    if (n->kind == JJ_N_INCLUDE) {
        /* what is known to be a name is not looked into as a list of names */
        uint32_t name = n->a->kind == JJ_N_CONST && td_is_str(n->a->value);
        return jj_emit(c, JJ_O_INCLUDE, name, 0, (n->flags & JJ_F_MISSING) != 0);
    }
    TD_TRY(jj_emit(c, JJ_O_POP, 0, 0, 0));
    return compile_raise(c, JJ_TYPE_ERROR, "no other template can be loaded");
}

static td_code compile_block(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    uint32_t pairs = 0, i = 0;
    td_value key;
    TD_TRY(jj_name_value(c, n->name, &key));
    if (n->flags & JJ_F_REQUIRED)
        return compile_raise(c, JJ_RUNTIME_ERROR, "a required block was not filled");
    for (const jj_symbols *s = f->symbols; (n->flags & JJ_F_SCOPED) && s != NULL; s = s->parent) {
        for (uint32_t k = 0; k < s->store_count; k++) {
            jj_ident ident;
            uint32_t hops, slot, x;
            if (!jj_symbols_find(f->symbols, s->stores[k], &ident) || pairs == UINT8_MAX)
                continue;
            TD_TRY(jj_add_ctx(c, s->stores[k], &x));
            TD_TRY(jj_emit_const(c, td_int(x)));
            TD_TRY(jj_slot_of(c, ident, &hops, &slot));
            TD_TRY(jj_emit(c, hops == 0 ? JJ_O_LOAD : JJ_O_LOAD_UP, 0, hops, slot));
            pairs++;
        }
    }
    while (i < c->t->block_count &&
           !td_str_eq(td_as_str(c->t->block_names[i]), td_as_str(key)))
        i++;
    return jj_emit(c, JJ_O_BLOCK, pairs, 0, i);
}

static td_code compile_stmt(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    c->at = n->at;
    switch (n->kind) {
    case JJ_N_OUTPUT: return jj_compile_output(c, n, f);
    case JJ_N_IF: return compile_if(c, n, f);
    case JJ_N_FOR: return jj_compile_for(c, n, f);
    case JJ_N_ASSIGN: return compile_assign(c, n, f);
    case JJ_N_ASSIGN_BLOCK: return compile_assign_block(c, n, f);
    case JJ_N_MACRO: return compile_macro(c, n, f);
    case JJ_N_CALL_BLOCK:
    case JJ_N_GENERATION: return compile_call_block(c, n, f);
    case JJ_N_FILTER_BLOCK: return compile_filter_block(c, n, f);
    case JJ_N_WITH: return compile_with(c, n, f);
    case JJ_N_SCOPE: return compile_scope(c, n, f);
    case JJ_N_AUTOESCAPE: return compile_autoescape(c, n, f);
    case JJ_N_BREAK:
    case JJ_N_CONTINUE: return compile_break(c, n);
    case JJ_N_BLOCK: return compile_block(c, n, f);
    default: return compile_loading(c, n, f);
    }
}

/* compile_output.c - printed expressions. Text that is only made to be printed is not made: sums
 * and "~" of texts, macro results and JSON go straight to the output.
 *
 * That must not show. An error throws away all output anyway, but it has to be the same error, so
 * each piece of a sum is checked before the next one is computed. Where a piece may call a macro,
 * "~" is left alone, since all pieces are computed before any is printed. */
#include "base/buf.h"
#include "base/str.h"
#include "jinja/emit.h"
#include "jinja/vm_internal.h"

typedef struct jj_pieces {
    jj_compiler *c;
    td_buf text; /* constant text that waits to be emitted */
} jj_pieces;

static td_code compile_inner(jj_pieces *p, jj_node *n, const jj_frame_info *f);

static td_code wait_text(jj_pieces *p, td_str s)
{
    td_code code = td_buf_put(&p->text, s);
    return code != TD_OK ? td_buf_fail(&p->text, p->c->err, code, "constant text") : TD_OK;
}

static td_code flush_text(jj_pieces *p)
{
    uint32_t k;
    if (p->text.len == 0)
        return TD_OK;
    TD_TRY(jj_add_const(p->c, td_string(td_buf_view(&p->text)), &k));
    p->text.len = 0;
    return jj_emit(p->c, JJ_O_EMIT_CONST, 0, 0, k);
}

/* The text that a constant prints waits; *ret false: n is not constant. */
static td_code constant_text(jj_pieces *p, jj_node *n, bool *ret)
{
    jj_compiler *c = p->c;
    td_value v;
    *ret = true;
    if (n->kind == JJ_N_DATA)
        return wait_text(p, td_as_str(n->value));
    TD_TRY(jj_as_const(c, n, &v, ret));
    if (!*ret)
        return TD_OK;
    if (c->autoescape && jj_escape(c->fold_vm, v, &v) != TD_OK)
        *ret = false;
    size_t before = p->text.len;
    if (*ret && jj_append_str(c->fold_vm, &p->text, v) != TD_OK) {
        p->text.len = before;
        *ret = false;
    }
    jj_vm_clear_error(c->fold_vm);
    return TD_OK;
}

static bool may_call(const jj_node *n)
{
    uint32_t i = 0;
    if (n->kind == JJ_N_CALL)
        return true;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        if (may_call(child))
            return true;
    return false;
}

static bool is_add(const jj_node *n)
{
    return n->kind == JJ_N_BINARY && n->op == JJ_ADD;
}

/* a + b + c: the sum so far is on the stack, or a note that it is in the output already. */
static td_code compile_sum(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    jj_compiler *c = p->c;
    uint32_t k;
    if (++c->depth > 1000)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "expression nested too deeply");
    if (is_add(n->a))
        TD_TRY(compile_sum(p, n->a, f));
    else
        TD_TRY(jj_compile_expr(c, n->a, f));
    c->depth--;
    if (n->b->kind == JJ_N_CONST && td_is_str(n->b->value) &&
        !(n->b->value.flags & TD_VF_MARKUP)) {
        TD_TRY(jj_add_const(c, n->b->value, &k));
        c->at = n->at;
        return jj_emit(c, JJ_O_ADD_CONST_EMIT, 0, 0, k);
    }
    TD_TRY(jj_compile_expr(c, n->b, f));
    c->at = n->at;
    return jj_emit(c, JJ_O_ADD_EMIT, 0, 0, 0);
}

static td_code compile_concat(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    for (uint32_t i = 0; i < n->list[0].count; i++)
        TD_TRY(compile_inner(p, n->list[0].items[i], f));
    return TD_OK;
}

/* Both ways of an if-expression print for themselves. */
static td_code compile_cond(jj_pieces *p, jj_node *n, const jj_frame_info *outer)
{
    jj_compiler *c = p->c;
    jj_jumps otherwise = { 0 };
    uint32_t end;
    jj_frame_info f = *outer;
    f.soft = true;
    TD_TRY(flush_text(p));
    TD_TRY(jj_compile_jump(c, n->a, &f, false, &otherwise));
    TD_TRY(compile_inner(p, n->b, &f));
    TD_TRY(flush_text(p));
    if (n->c == NULL) {
        jj_patch_all(c, &otherwise);
        return TD_OK;
    }
    TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &end));
    jj_patch_all(c, &otherwise);
    TD_TRY(compile_inner(p, n->c, &f));
    TD_TRY(flush_text(p));
    jj_patch(c, end);
    return TD_OK;
}

static bool is_plain_tojson(const jj_compiler *c, const jj_node *n)
{
    return n->kind == JJ_N_FILTER && n->a != NULL && n->b == NULL && n->c == NULL &&
           n->list[0].count + n->list[1].count == 0 &&
           td_str_eq(jj_name_text(c->names, n->name), TD_STR("tojson"));
}

static td_code compile_tojson(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    uint32_t index;
    TD_TRY(jj_add_builtin(p->c, jj_find_filter(TD_STR("tojson")), &index));
    TD_TRY(jj_compile_expr(p->c, n->a, f));
    p->c->at = n->at;
    return jj_emit(p->c, JJ_O_TOJSON_EMIT, 0, 0, index);
}

static td_code compile_value(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    jj_compiler *c = p->c;
    TD_TRY(flush_text(p));
    if (jj_mode(c) == JJ_PLAIN && is_add(n))
        TD_TRY(compile_sum(p, n, f));
    else if (jj_mode(c) == JJ_PLAIN && is_plain_tojson(c, n))
        return compile_tojson(p, n, f);
    else
        TD_TRY(jj_compile_expr(c, n, f));
    jj_insn *last = &c->t->code[jj_here(c) - 1];
    if (jj_mode(c) == JJ_PLAIN && last->op == JJ_O_CALL && c->label != jj_here(c)) {
        last->op = JJ_O_CALL_EMIT;
        c->unit->depth--;
        return TD_OK;
    }
    c->at = n->at;
    return jj_emit(c, JJ_O_EMIT, jj_mode(c), 0, 0);
}

static td_code compile_optimized(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    jj_compiler *c = p->c;
    if (jj_mode(c) == JJ_PLAIN && n->kind == JJ_N_CONCAT && !may_call(n))
        return compile_concat(p, n, f);
    if (n->kind == JJ_N_COND && jj_mode(c) != JJ_VOLATILE)
        return compile_cond(p, n, f);
    return compile_value(p, n, f);
}

static td_code compile_piece(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    bool constant;
    p->c->at = n->at;
    TD_TRY(constant_text(p, n, &constant));
    if (constant)
        return TD_OK;
    TD_TRY(jj_optimize_expr(p->c, n));
    return compile_optimized(p, n, f);
}

/* A part of a printed expression that was optimized: what has no literal form was left to be
 * computed, and may fail then, though as a whole expression it would print as a constant. */
static td_code compile_inner(jj_pieces *p, jj_node *n, const jj_frame_info *f)
{
    bool constant = false;
    p->c->at = n->at;
    if (n->kind == JJ_N_CONST)
        TD_TRY(constant_text(p, n, &constant));
    return constant ? TD_OK : compile_optimized(p, n, f);
}

td_code jj_compile_output(jj_compiler *c, jj_node *n, const jj_frame_info *f)
{
    jj_pieces p = { .c = c };
    td_code code = TD_OK;
    for (uint32_t i = 0; code == TD_OK && i < n->list[0].count; i++)
        code = compile_piece(&p, n->list[0].items[i], f);
    if (code == TD_OK)
        code = flush_text(&p);
    td_buf_done(&p.text);
    return code;
}

/* fold.c - computes what is constant before the template runs.
 *
 * This is no mere speed-up: an expression that folds is never compiled, so unknown filters inside
 * it do not matter, and items of constants that do not exist print as nothing instead of raising.
 * So the rules are those of the reference's optimizer, including what it does not fold: names,
 * calls, filters that see the context, and results that have no literal form. An error while
 * folding leaves the expression to run time, except for an unhashable key, which fails. */
#include <math.h>

#include "base/str.h"
#include "jinja/emit.h"
#include "jinja/vm_internal.h"

enum { JJ_F_FOLDED = 1u << 7 };

static jj_fold fold(jj_compiler *c, jj_node *n, td_value *ret);

static jj_fold done(jj_compiler *c, td_code code)
{
    if (code == TD_OK)
        return JJ_FOLD_YES;
    jj_vm_clear_error(c->fold_vm);
    return JJ_FOLD_NO;
}

static jj_fold fold_items(jj_compiler *c, const jj_nodes *l, td_value **ret)
{
    *ret = td_arena_array(c->arena, td_value, l->count + (size_t)1);
    if (*ret == NULL)
        return JJ_FOLD_NO;
    for (uint32_t i = 0; i < l->count; i++) {
        jj_fold r = fold(c, l->items[i], &(*ret)[i]);
        if (r != JJ_FOLD_YES)
            return r;
    }
    return JJ_FOLD_YES;
}

static jj_fold fold_dict(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_dict *d = td_dict_new(c->arena, n->list[0].count);
    if (d == NULL)
        return JJ_FOLD_NO;
    for (uint32_t i = 0; i < n->list[0].count; i++) {
        td_value key, val;
        jj_fold r = fold(c, n->list[0].items[i]->a, &key);
        if (r == JJ_FOLD_YES)
            r = fold(c, n->list[0].items[i]->b, &val);
        if (r != JJ_FOLD_YES)
            return r;
        if (jj_dict_set(c->fold_vm, d, key, val) != TD_OK) {
            jj_vm_clear_error(c->fold_vm);
            return JJ_FOLD_FAILED;
        }
    }
    *ret = td_dict_of(d);
    return JJ_FOLD_YES;
}

static jj_fold fold_named(jj_compiler *c, jj_node *n, td_value *ret)
{
    bool is_test = n->kind == JJ_N_TEST;
    td_str name = jj_name_text(c->names, n->name);
    const jj_builtin *b = is_test ? jj_find_test(name) : jj_find_filter(name);
    td_value self, *pos;
    jj_args args = { .npos = n->list[0].count, .nkw = n->list[1].count };
    if (c->is_volatile || b == NULL || (b->flags & JJ_B_IMPURE) || n->a == NULL)
        return JJ_FOLD_NO;
    if (n->b != NULL || n->c != NULL)
        return JJ_FOLD_NO; /* rare, and not observable but for speed */
    jj_fold r = fold_items(c, &n->list[0], &pos);
    td_entry *kw = td_arena_array(c->arena, td_entry, args.nkw + (size_t)1);
    for (uint32_t i = 0; r == JJ_FOLD_YES && kw != NULL && i < args.nkw; i++) {
        kw[i].key = jj_name_key(c->names, n->list[1].items[i]->name);
        r = fold(c, n->list[1].items[i]->a, &kw[i].val);
    }
    if (r == JJ_FOLD_YES)
        r = fold(c, n->a, &self);
    if (r != JJ_FOLD_YES || kw == NULL)
        return r == JJ_FOLD_YES ? JJ_FOLD_NO : r;
    args.pos = pos;
    args.kw = kw;
    c->fold_vm->autoescape = c->autoescape;
    return done(c, jj_call_builtin(c->fold_vm, b, self, &args, ret));
}

static jj_fold fold_slice(jj_compiler *c, jj_node *n, td_value v, td_value *ret)
{
    td_value part[3];
    jj_node *nodes[3] = { n->b->a, n->b->b, n->b->c };
    for (int i = 0; i < 3; i++) {
        part[i] = td_none();
        jj_fold r = nodes[i] != NULL ? fold(c, nodes[i], &part[i]) : JJ_FOLD_YES;
        if (r != JJ_FOLD_YES)
            return r;
    }
    td_code code = jj_slice(c->fold_vm, v, part[0], part[1], part[2], ret);
    if (jj_catch(c->fold_vm, code, 1u << JJ_TYPE_ERROR)) {
        *ret = td_undefined_value();
        return JJ_FOLD_YES;
    }
    return done(c, code);
}

static jj_fold fold_item(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_value v, key;
    jj_fold r = fold(c, n->a, &v);
    if (r != JJ_FOLD_YES)
        return r == JJ_FOLD_FAILED ? JJ_FOLD_NO : r;
    if (n->kind == JJ_N_GETATTR)
        return done(c, jj_getattr(c->fold_vm, v, jj_name_text(c->names, n->attr), ret));
    if (n->b->kind == JJ_N_SLICE)
        return fold_slice(c, n, v, ret);
    r = fold(c, n->b, &key);
    if (r != JJ_FOLD_YES)
        return r == JJ_FOLD_FAILED ? JJ_FOLD_NO : r;
    return done(c, jj_getitem(c->fold_vm, v, key, ret));
}

static jj_fold fold_compare(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_value left, right;
    jj_fold r = fold(c, n->a, &left);
    if (r != JJ_FOLD_YES)
        return r;
    for (uint32_t i = 0; i < n->list[0].count; i++) {
        bool yes;
        jj_node *op = n->list[0].items[i];
        r = fold(c, op->a, &right);
        if (r != JJ_FOLD_YES)
            return JJ_FOLD_NO;
        r = done(c, jj_compare(c->fold_vm, (jj_cmp)op->op, left, right, &yes));
        if (r != JJ_FOLD_YES)
            return r;
        *ret = td_bool(yes);
        if (!yes)
            return JJ_FOLD_YES;
        left = right;
    }
    return JJ_FOLD_YES;
}

static jj_fold fold_logic(jj_compiler *c, jj_node *n, td_value *ret)
{
    bool yes;
    jj_fold r = fold(c, n->a, ret);
    if (r != JJ_FOLD_YES)
        return r;
    r = done(c, jj_truth(c->fold_vm, *ret, &yes));
    if (r != JJ_FOLD_YES)
        return r;
    if (n->kind == JJ_N_COND) {
        if (!yes && n->c == NULL)
            return JJ_FOLD_NO;
        return fold(c, yes ? n->b : n->c, ret);
    }
    return yes == (n->kind == JJ_N_OR) ? JJ_FOLD_YES : fold(c, n->b, ret);
}

static jj_fold fold_operator(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_value left, right;
    bool yes;
    if (fold(c, n->a, &left) != JJ_FOLD_YES)
        return JJ_FOLD_NO;
    switch (n->kind) {
    case JJ_N_NEG: return done(c, jj_neg(c->fold_vm, left, ret));
    case JJ_N_POS: return done(c, jj_pos(c->fold_vm, left, ret));
    case JJ_N_NOT:
        if (jj_truth(c->fold_vm, left, &yes) != TD_OK)
            return done(c, TD_E_TEMPLATE);
        *ret = td_bool(!yes);
        return JJ_FOLD_YES;
    default:
        if (fold(c, n->b, &right) != JJ_FOLD_YES)
            return JJ_FOLD_NO;
        return done(c, jj_binop(c->fold_vm, (jj_op)n->op, left, right, ret));
    }
}

static jj_fold fold_concat(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_value *items;
    jj_fold r = fold_items(c, &n->list[0], &items);
    if (r != JJ_FOLD_YES)
        return r;
    /* the reference folds "~" without escaping, whatever {% autoescape %} says */
    return done(c, jj_concat(c->fold_vm, JJ_PLAIN, items, n->list[0].count, ret));
}

static jj_fold fold(jj_compiler *c, jj_node *n, td_value *ret)
{
    td_value *items;
    jj_fold r;
    switch (n->kind) {
    case JJ_N_CONST:
        *ret = n->value;
        return JJ_FOLD_YES;
    case JJ_N_LIST:
    case JJ_N_TUPLE:
        r = fold_items(c, &n->list[0], &items);
        if (r == JJ_FOLD_YES)
            *ret = n->kind == JJ_N_LIST ? td_list_of(items, n->list[0].count)
                                        : td_tuple_of(items, n->list[0].count);
        return r;
    case JJ_N_DICT: return fold_dict(c, n, ret);
    case JJ_N_FILTER:
    case JJ_N_TEST: return fold_named(c, n, ret);
    case JJ_N_GETATTR:
    case JJ_N_GETITEM: return fold_item(c, n, ret);
    case JJ_N_COMPARE: return fold_compare(c, n, ret);
    case JJ_N_AND:
    case JJ_N_OR:
    case JJ_N_COND: return fold_logic(c, n, ret);
    case JJ_N_CONCAT: return fold_concat(c, n, ret);
    case JJ_N_BINARY:
    case JJ_N_NEG:
    case JJ_N_POS:
    case JJ_N_NOT: return fold_operator(c, n, ret);
    default: return JJ_FOLD_NO;
    }
}

/* Whether the value can be written as a constant: no undefined, no objects but complex numbers
 * (ranges come from calls, which are never folded). */
bool jj_has_literal_form(td_value v)
{
    if (v.tag == TD_V_LIST || v.tag == TD_V_TUPLE)
        for (uint32_t i = 0; i < v.len; i++)
            if (!jj_has_literal_form(v.as.items[i]))
                return false;
    if (v.tag == TD_V_DICT)
        for (uint32_t i = 0; i < v.as.dict->count; i++)
            if (!jj_has_literal_form(v.as.dict->entries[i].key) ||
                !jj_has_literal_form(v.as.dict->entries[i].val))
                return false;
    if (v.tag == TD_V_OBJECT)
        return v.as.object->type == &jj_complex_type;
    return v.tag != TD_V_UNDEFINED;
}

static td_code fail_dict(jj_compiler *c, const jj_node *n)
{
    return jj_compile_error(c, n->at, "unhashable key in a constant dict");
}

td_code jj_optimize(jj_compiler *c, jj_node *n)
{
    uint32_t i = 0;
    td_value v;
    if (n->flags & JJ_F_FOLDED)
        return TD_OK;
    n->flags |= JJ_F_FOLDED;
    if (++c->depth > 2000)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "expression nested too deeply");
    for (jj_node *child; (child = jj_child(n, &i)) != NULL;)
        TD_TRY(jj_optimize(c, child));
    c->depth--;
    if (!jj_is_expr(n) || n->kind == JJ_N_CONST || n->kind == JJ_N_DATA)
        return TD_OK;
    switch (fold(c, n, &v)) {
    case JJ_FOLD_YES:
        if (jj_has_literal_form(v)) {
            n->kind = JJ_N_CONST;
            n->value = v;
        }
        return TD_OK;
    case JJ_FOLD_FAILED:
        return fail_dict(c, n);
    default:
        return TD_OK;
    }
}

td_code jj_as_const(jj_compiler *c, jj_node *n, td_value *ret, bool *ret_const)
{
    *ret_const = fold(c, n, ret) == JJ_FOLD_YES;
    return TD_OK;
}

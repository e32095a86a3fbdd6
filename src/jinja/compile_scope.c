/* compile_scope.c - what makes functions and scopes: loops, macros, blocks, the template. */
#include <string.h>

#include "base/str.h"
#include "jinja/emit.h"

/* ---- loops ---- */

static bool any_scoped_block(const jj_node *n)
{
    uint32_t i = 0;
    if (n->kind == JJ_N_BLOCK && (n->flags & JJ_F_SCOPED))
        return true;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        if (any_scoped_block(child))
            return true;
    return false;
}

/* The first place below n that sets the name loop; NULL: none. */
static const jj_node *find_loop_store(const jj_node *n, uint32_t name)
{
    uint32_t i = 0;
    if (n->kind == JJ_N_NAME && n->use == JJ_STORE && n->name == name)
        return n;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;) {
        const jj_node *found = find_loop_store(child, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* The loop variables as one value again, as the filter of a loop hands them on. */
static td_code load_target(jj_compiler *c, const jj_node *target, const jj_frame_info *f)
{
    if (target->kind == JJ_N_NAME)
        return jj_load_name(c, f, target);
    for (uint32_t i = 0; i < target->list[0].count; i++)
        TD_TRY(load_target(c, target->list[0].items[i], f));
    return jj_emit(c, JJ_O_TUPLE, 0, 0, target->list[0].count);
}

static td_code compile_loop_filter(jj_compiler *c, jj_node *n, jj_frame_info *f,
                                   uint32_t *ret_func)
{
    jj_frame_info test = { .parent = f, .symbols = jj_symbols_new(c->arena, f->symbols) };
    jj_unit unit;
    jj_nest *nest = c->nest;
    jj_jumps skip = { 0 };
    if (test.symbols == NULL || !jj_symbols_analyze(c->arena, test.symbols, n, JJ_FOR_TEST))
        return td_arena_fail(c->arena, c->err);
    TD_TRY(jj_unit_begin(c, JJ_FUNC_FILTER, &unit, test.symbols->level, false));
    *ret_func = unit.func;
    c->nest = NULL;
    unit.depth = 1;
    TD_TRY(jj_enter_frame(c, &test));
    c->t->funcs[unit.func].entry = c->label = jj_here(c);
    TD_TRY(jj_compile_target(c, n->a, &test));
    TD_TRY(jj_compile_jump(c, n->c, &test, false, &skip));
    TD_TRY(load_target(c, n->a, &test));
    TD_TRY(jj_emit(c, JJ_O_KEEP, 0, 0, 0));
    jj_patch_all(c, &skip);
    TD_TRY(jj_emit(c, JJ_O_SKIP, 0, 0, 0));
    c->nest = nest;
    return jj_unit_end(c);
}

/* The loop itself, its iterable on the stack. */
static td_code compile_rounds(jj_compiler *c, jj_node *n, jj_frame_info *body,
                              jj_frame_info *otherwise, bool extended, uint32_t filter_func)
{
    jj_nest nest = { .outer = c->nest, .kind = JJ_NEST_LOOP };
    enum { LOOPS_MAX = 20 }; /* as Python, which the reference compiles to */
    uint32_t loops = 0;
    for (const jj_nest *o = c->nest; o != NULL; o = o->outer)
        loops += o->kind == JJ_NEST_LOOP;
    if (loops >= LOOPS_MAX)
        return jj_compile_error(c, n->at, "more than %d nested loops", LOOPS_MAX);
    uint32_t hops, slot, end, ran, mode = (n->flags & JJ_F_RECURSIVE) != 0 ? 2 : 0;
    jj_ident loop;
    mode |= extended ? 1 : 0;
    c->at = n->b->at;
    if (n->c != NULL)
        TD_TRY(jj_emit(c, JJ_O_FOR_FILTER, mode, 0, filter_func));
    else
        TD_TRY(jj_emit(c, JJ_O_FOR, mode, 0, 0));
    if (extended && jj_symbols_find(body->symbols, c->name_loop, &loop)) {
        TD_TRY(jj_slot_of(c, loop, &hops, &slot));
        TD_TRY(jj_emit(c, JJ_O_LOOP_VAR, 0, 0, slot));
    }
    nest.next = c->label = jj_here(c);
    TD_TRY(jj_emit_jump(c, JJ_O_NEXT, 0, 0, &end));
    TD_TRY(jj_compile_target(c, n->a, body));
    TD_TRY(jj_enter_frame(c, body));
    c->nest = &nest;
    TD_TRY(jj_compile_body(c, &n->list[0], body));
    c->nest = nest.outer;
    c->at = n->b->at;
    if (n->list[1].count != 0)
        TD_TRY(jj_emit(c, JJ_O_RAN, 0, 0, 0));
    TD_TRY(jj_emit(c, JJ_O_JUMP, 0, 0, nest.next));
    jj_patch(c, end);
    for (uint32_t i = 0; i < nest.break_count; i++)
        jj_patch(c, nest.breaks[i]);
    if (n->list[1].count == 0)
        return jj_emit(c, JJ_O_END_FOR, 0, 0, 0);
    TD_TRY(jj_emit_jump(c, JJ_O_IF_RAN, 0, 0, &ran));
    TD_TRY(jj_enter_frame(c, otherwise));
    TD_TRY(jj_compile_body(c, &n->list[1], otherwise));
    jj_patch(c, ran);
    return TD_OK;
}

td_code jj_compile_for(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_frame_info body = { .parent = f, .symbols = jj_symbols_new(c->arena, f->symbols) };
    jj_frame_info otherwise = { .parent = f, .symbols = jj_symbols_new(c->arena, f->symbols) };
    bool recursive = (n->flags & JJ_F_RECURSIVE) != 0, uses_loop;
    uint32_t filter_func = 0;
    jj_unit unit;
    if (body.symbols == NULL || otherwise.symbols == NULL)
        return jj_compile_nomem(c);
    jj_find_undeclared(&n->list[0], &c->name_loop, 1, &uses_loop);
    bool extended = recursive || uses_loop || any_scoped_block(n);
    if ((extended &&
         !jj_symbols_declare_param(c->arena, body.symbols, c->name_loop, NULL)) ||
        !jj_symbols_analyze(c->arena, body.symbols, n, JJ_FOR_BODY) ||
        !jj_symbols_analyze(c->arena, otherwise.symbols, n, JJ_FOR_ELSE))
        return td_arena_fail(c->arena, c->err);
    if (body.symbols->level >= JJ_LEVELS_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "scopes nested too deeply");
    const jj_node *store = find_loop_store(n, c->name_loop);
    if (store != NULL)
        return jj_compile_error(c, store->at, "cannot assign to 'loop' inside a loop");
    TD_TRY(jj_compile_expr(c, n->b, f));
    if (!recursive) {
        uint32_t around;
        if (n->c != NULL) {
            TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &around));
            TD_TRY(compile_loop_filter(c, n, f, &filter_func));
            jj_patch(c, around);
        }
        return compile_rounds(c, n, &body, &otherwise, extended, filter_func);
    }
    jj_nest *nest = c->nest;
    uint32_t around, inner;
    TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &around));
    TD_TRY(jj_unit_begin(c, JJ_FUNC_LOOP, &unit, body.symbols->level, false));
    c->nest = NULL;
    unit.depth = 1;
    if (n->c != NULL) {
        TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &inner));
        TD_TRY(compile_loop_filter(c, n, f, &filter_func));
        jj_patch(c, inner);
    }
    TD_TRY(compile_rounds(c, n, &body, &otherwise, extended, filter_func));
    TD_TRY(jj_emit(c, JJ_O_RETURN, 0, 0, 0));
    TD_TRY(jj_unit_end(c));
    c->nest = nest;
    jj_patch(c, around);
    c->at = n->at;
    TD_TRY(jj_emit(c, JJ_O_RECURSE, jj_mode(c), 0, unit.func));
    return jj_emit(c, JJ_O_EMIT_RAW, 0, 0, 0);
}

/* ---- macros ---- */

static td_code declare_params(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    jj_func *func = &c->t->funcs[c->unit->func];
    const jj_nodes *args = &n->list[0];
    td_value *params = td_arena_array(&c->t->arena, td_value, args->count + 1);
    if (params == NULL)
        return jj_compile_nomem(c);
    for (uint32_t i = 0; i < args->count; i++) {
        uint32_t hops, slot;
        jj_ident ident;
        for (uint32_t j = 0; j < i; j++)
            if (args->items[j]->name == args->items[i]->name)
                return jj_compile_error(c, args->items[i]->at, "duplicate parameter");
        if (!jj_symbols_find(f->symbols, args->items[i]->name, &ident))
            return jj_compile_nomem(c);
        TD_TRY(jj_slot_of(c, ident, &hops, &slot));
        TD_TRY(jj_name_value(c, args->items[i]->name, &params[i]));
    }
    func->params = params;
    func->param_count = args->count;
    if (n->kind == JJ_N_MACRO)
        TD_TRY(jj_name_value(c, n->name, &func->name));
    return TD_OK;
}

static td_code special_param(jj_compiler *c, jj_frame_info *f, uint32_t name, uint32_t *ret_slot)
{
    jj_ident ident;
    uint32_t hops;
    if (!jj_symbols_declare_param(c->arena, f->symbols, name, &ident))
        return jj_compile_nomem(c);
    return jj_slot_of(c, ident, &hops, ret_slot);
}

/* caller, kwargs and varargs are parameters of a macro that reads them. */
static td_code declare_special(jj_compiler *c, jj_node *n, jj_frame_info *f)
{
    uint32_t names[3] = { c->name_caller, c->name_kwargs, c->name_varargs };
    uint32_t slots[3] = { JJ_NO_SLOT, JJ_NO_SLOT, JJ_NO_SLOT };
    const jj_nodes *args = &n->list[0];
    bool used[3], explicit_caller = false;
    jj_find_undeclared(&n->list[2], names, 3, used);
    for (uint32_t i = 0; i < args->count; i++) {
        uint32_t name = args->items[i]->name;
        if (name == c->name_caller) {
            explicit_caller = true;
            if (used[0] && args->count - i > n->list[1].count)
                return jj_compile_error(c, n->at, "a parameter named 'caller' needs a default");
            used[0] = false;
        }
        used[1] = used[1] && name != c->name_kwargs;
        used[2] = used[2] && name != c->name_varargs;
    }
    for (int i = 0; i < 3; i++)
        if (used[i])
            TD_TRY(special_param(c, f, names[i], &slots[i]));
    jj_func *func = &c->t->funcs[c->unit->func];
    func->explicit_caller = explicit_caller;
    func->caller_slot = slots[0];
    func->kwargs_slot = slots[1];
    func->varargs_slot = slots[2];
    return TD_OK;
}

static td_code compile_default(jj_compiler *c, jj_node *n, uint32_t i, const jj_frame_info *f)
{
    const jj_nodes *args = &n->list[0], *defaults = &n->list[1];
    uint32_t given, q, first = args->count - defaults->count;
    c->at = args->items[i]->at;
    if (i >= first) {
        TD_TRY(jj_emit_jump(c, JJ_O_IF_GIVEN, 0, i, &given));
        TD_TRY(jj_compile_expr(c, defaults->items[i - first], f));
        TD_TRY(jj_emit(c, JJ_O_STORE, 0, 0, i));
        jj_patch(c, given);
        return TD_OK;
    }
    td_str name = jj_name_text(c->names, args->items[i]->name);
    size_t size = name.len + 32;
    char *hint = td_arena_alloc(&c->t->arena, size, 1);
    if (hint == NULL)
        return jj_compile_nomem(c);
    static const char head[] = "parameter '", tail[] = "' was not provided";
    memcpy(hint, head, sizeof head - 1);
    memcpy(hint + sizeof head - 1, name.ptr, name.len);
    memcpy(hint + sizeof head - 1 + name.len, tail, sizeof tail - 1);
    td_undefined u = { .exc = JJ_UNDEFINED_ERROR,
                       .hint = { hint, sizeof head - 1 + name.len + sizeof tail - 1 },
                       .name = c->t->funcs[c->unit->func].params[i] };
    TD_TRY(jj_add_missing(c, u, &q));
    return jj_emit(c, JJ_O_NO_PARAM, 0, i, q);
}

td_code jj_compile_macro(jj_compiler *c, jj_node *n, jj_frame_info *outer, uint32_t *ret_func)
{
    jj_frame_info f = { .parent = outer, .symbols = jj_symbols_new(c->arena, outer->symbols) };
    jj_nest *nest = c->nest;
    jj_unit unit;
    uint32_t around;
    if (f.symbols == NULL || !jj_symbols_analyze(c->arena, f.symbols, n, JJ_FOR_BODY))
        return td_arena_fail(c->arena, c->err);
    if (f.symbols->level >= JJ_LEVELS_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, n->at, "scopes nested too deeply");
    TD_TRY(jj_emit_jump(c, JJ_O_JUMP, 0, 0, &around));
    TD_TRY(jj_unit_begin(c, JJ_FUNC_MACRO, &unit, f.symbols->level, false));
    *ret_func = unit.func;
    c->nest = NULL;
    TD_TRY(declare_params(c, n, &f));
    TD_TRY(declare_special(c, n, &f));
    if (!jj_symbols_analyze(c->arena, f.symbols, n, JJ_FOR_BODY))
        return td_arena_fail(c->arena, c->err);
    TD_TRY(jj_enter_frame(c, &f));
    bool only_defaults = jj_here(c) == c->t->funcs[unit.func].entry;
    for (uint32_t i = 0; i < n->list[0].count; i++)
        TD_TRY(compile_default(c, n, i, &f));
    if (only_defaults)
        c->t->funcs[unit.func].first_entry = c->label = jj_here(c);
    TD_TRY(jj_compile_body(c, &n->list[2], &f));
    c->at = n->at;
    TD_TRY(jj_emit(c, JJ_O_RETURN, 0, 0, 0));
    TD_TRY(jj_unit_end(c));
    c->nest = nest;
    jj_patch(c, around);
    return TD_OK;
}

/* ---- blocks and the template ---- */

static td_code collect_blocks(jj_compiler *c, jj_node *n, jj_nodes *blocks)
{
    uint32_t i = 0;
    if (n->kind == JJ_N_BLOCK) {
        for (uint32_t k = 0; k < blocks->count; k++)
            if (blocks->items[k]->name == n->name)
                return jj_compile_error(c, n->at, "block '%.*s' is defined twice",
                                        (int)jj_name_text(c->names, n->name).len,
                                        jj_name_text(c->names, n->name).ptr);
        if (!jj_nodes_push(c->arena, blocks, n))
            return jj_compile_nomem(c);
    }
    for (jj_node *child; (child = jj_child(n, &i)) != NULL;)
        TD_TRY(collect_blocks(c, child, blocks));
    return TD_OK;
}

/* self and super, where they are read. */
static td_code declare_reference(jj_compiler *c, jj_frame_info *f, const jj_nodes *body,
                                 uint32_t name, jj_opcode op)
{
    bool used;
    uint32_t slot;
    jj_find_undeclared(body, &name, 1, &used);
    if (!used)
        return TD_OK;
    TD_TRY(special_param(c, f, name, &slot));
    if (op == JJ_O_SELF)
        TD_TRY(jj_emit(c, JJ_O_SELF, 0, 0, 0));
    else {
        uint32_t q;
        td_undefined u = { .exc = JJ_UNDEFINED_ERROR,
                           .hint = TD_STR("there is no parent block") };
        TD_TRY(jj_add_missing(c, u, &q));
        TD_TRY(jj_emit(c, JJ_O_UNDEF_VALUE, 0, 0, q));
    }
    return jj_emit(c, JJ_O_STORE, 0, 0, slot);
}

static td_code compile_block_func(jj_compiler *c, jj_node *n, uint32_t index)
{
    jj_frame_info f = { .symbols = jj_symbols_new(c->arena, NULL) };
    jj_unit unit;
    if (f.symbols == NULL)
        return jj_compile_nomem(c);
    c->nest = NULL;
    TD_TRY(jj_unit_begin(c, JJ_FUNC_BLOCK, &unit, 0, true));
    unit.parent = NULL;
    c->t->block_funcs[index] = unit.func;
    TD_TRY(declare_reference(c, &f, &n->list[0], c->name_self, JJ_O_SELF));
    TD_TRY(declare_reference(c, &f, &n->list[0], c->name_super, JJ_O_UNDEF_VALUE));
    if (!jj_symbols_analyze(c->arena, f.symbols, n, JJ_FOR_BODY))
        return td_arena_fail(c->arena, c->err);
    TD_TRY(jj_enter_frame(c, &f));
    TD_TRY(jj_compile_body(c, &n->list[0], &f));
    TD_TRY(jj_emit(c, JJ_O_RETURN, 0, 0, 0));
    return jj_unit_end(c);
}

td_code jj_compile_template(jj_compiler *c, jj_node *root)
{
    jj_frame_info f = { .symbols = jj_symbols_new(c->arena, NULL), .toplevel = true };
    td_template *t = c->t;
    jj_nodes blocks = { 0 };
    jj_unit unit;
    if (f.symbols == NULL)
        return jj_compile_nomem(c);
    TD_TRY(collect_blocks(c, root, &blocks));
    t->block_count = blocks.count;
    t->block_names = td_arena_array(&t->arena, td_value, blocks.count + (size_t)1);
    t->block_funcs = td_arena_array(&t->arena, uint32_t, blocks.count + (size_t)1);
    if (t->block_names == NULL || t->block_funcs == NULL)
        return jj_compile_nomem(c);
    for (uint32_t i = 0; i < blocks.count; i++)
        TD_TRY(jj_name_value(c, blocks.items[i]->name, &t->block_names[i]));
    TD_TRY(jj_unit_begin(c, JJ_FUNC_ROOT, &unit, 0, true));
    t->funcs[0].captured = true;
    TD_TRY(declare_reference(c, &f, &root->list[0], c->name_self, JJ_O_SELF));
    if (!jj_symbols_analyze(c->arena, f.symbols, root, JJ_FOR_BODY))
        return td_arena_fail(c->arena, c->err);
    TD_TRY(jj_enter_frame(c, &f));
    TD_TRY(jj_compile_body(c, &root->list[0], &f));
    TD_TRY(jj_emit(c, JJ_O_RETURN, 0, 0, 0));
    TD_TRY(jj_unit_end(c));
    for (uint32_t i = 0; i < blocks.count; i++)
        TD_TRY(compile_block_func(c, blocks.items[i], i));
    return TD_OK;
}

/* emit.c - appends instructions, constants and tables to the template being compiled, and finds
 * the slot or context variable that a name stands for. */
#include "jinja/emit.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "jinja/vm_internal.h"
#include "value/bigint.h"

enum { SLOTS_MAX = 60000, CODE_MAX = 1 << 24 };

bool jj_grow(td_arena *a, void *items, uint32_t *cap, uint32_t count, size_t size)
{
    void *old;
    memcpy(&old, items, sizeof old);
    if (count < *cap)
        return true;
    uint32_t n = *cap != 0 ? *cap * 2 : 8;
    void *to = td_arena_alloc_n(a, n, size, _Alignof(max_align_t));
    if (to == NULL)
        return false;
    if (count != 0)
        memcpy(to, old, count * size);
    memcpy(items, &to, sizeof to);
    *cap = n;
    return true;
}

td_code jj_compile_nomem(jj_compiler *c)
{
    return td_arena_fail(&c->t->arena, c->err);
}

td_code jj_compile_error(jj_compiler *c, uint32_t at, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return td_fail_at(c->err, TD_E_TEMPLATE, at, "%s", text);
}

/* ---- code ---- */

uint32_t jj_here(const jj_compiler *c)
{
    return c->t->code_count;
}

static uint32_t most_parameters(const jj_attr *a)
{
    uint32_t most = a->markup_method != NULL ? a->markup_method->max : 0;
    for (int tag = 0; tag <= TD_V_OBJECT; tag++)
        if (a->methods[tag] != NULL && a->methods[tag]->max > most)
            most = a->methods[tag]->max;
    return most;
}

static void track_depth(jj_compiler *c, jj_insn in)
{
    uint32_t pops, pushes;
    jj_stack_effect(in, &pops, &pushes);
    jj_unit *u = c->unit;
    assert(u->depth >= pops);
    u->depth = u->depth - pops + pushes;
    jj_func *f = &c->t->funcs[u->func];
    uint32_t most = u->depth + 1;
    /* parameters that were not given are filled in on the stack */
    if (in.op == JJ_O_FILTER || in.op == JJ_O_TEST)
        most += c->t->builtins[in.c]->max;
    if (in.op == JJ_O_METHOD)
        most += most_parameters(&c->t->attrs[in.c]);
    if (most > f->stack_max)
        f->stack_max = most;
}

td_code jj_emit(jj_compiler *c, jj_opcode op, uint32_t a, uint32_t b, uint32_t operand)
{
    td_template *t = c->t;
    if (a > UINT8_MAX || b > UINT16_MAX || t->code_count >= CODE_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, c->at, "template too large to compile");
    if (!jj_grow(&t->arena, &t->code, &c->code_cap, t->code_count, sizeof *t->code) ||
        !jj_grow(&t->arena, &t->offsets, &c->offset_cap, t->code_count, sizeof *t->offsets))
        return jj_compile_nomem(c);
    jj_insn in = { .op = (uint8_t)op, .a = (uint8_t)a, .b = (uint16_t)b, .c = operand };
    t->offsets[t->code_count] = c->at;
    t->code[t->code_count++] = in;
    track_depth(c, in);
    return TD_OK;
}

td_code jj_emit_jump(jj_compiler *c, jj_opcode op, uint32_t a, uint32_t b, uint32_t *ret)
{
    *ret = jj_here(c);
    return jj_emit(c, op, a, b, 0);
}

void jj_patch(jj_compiler *c, uint32_t jump)
{
    c->t->code[jump].c = jj_here(c);
    c->label = jj_here(c);
}

/* Jumps to jumps go to where those go, and jumps to a return return. Loops keep their ends. */
void jj_thread_jumps(td_template *t)
{
    for (uint32_t pc = 0; pc < t->code_count; pc++) {
        jj_insn *in = &t->code[pc];
        if (in->op == JJ_O_NEXT || in->op == JJ_O_IF_RAN ||
            jj_op_operands((jj_opcode)in->op)[2] != 'j')
            continue;
        for (int hops = 0; hops < 8 && t->code[in->c].op == JJ_O_JUMP; hops++)
            in->c = t->code[in->c].c;
        if (in->op == JJ_O_JUMP && t->code[in->c].op == JJ_O_RETURN)
            *in = (jj_insn){ .op = JJ_O_RETURN };
    }
}

/* ---- constants ---- */

static td_code keep_items(jj_compiler *c, td_value v, td_value *ret)
{
    td_value *items = td_arena_array(&c->t->arena, td_value, v.len + (size_t)1);
    if (items == NULL)
        return jj_compile_nomem(c);
    for (uint32_t i = 0; i < v.len; i++)
        TD_TRY(jj_keep(c, v.as.items[i], &items[i]));
    *ret = v;
    ret->as.items = items;
    return TD_OK;
}

static td_code keep_dict(jj_compiler *c, const td_dict *d, td_value *ret)
{
    td_dict *to = td_dict_new(&c->t->arena, d->count);
    if (to == NULL)
        return jj_compile_nomem(c);
    for (uint32_t i = 0; i < d->count; i++) {
        td_value key, val;
        TD_TRY(jj_keep(c, d->entries[i].key, &key));
        TD_TRY(jj_keep(c, d->entries[i].val, &val));
        if (!td_dict_set(&c->t->arena, to, key, val))
            return jj_compile_nomem(c);
    }
    *ret = td_dict_of(to);
    return TD_OK;
}

/* The only objects that are constants (see jj_has_literal_form). */
static td_code keep_object(jj_compiler *c, td_value v, td_value *ret)
{
    assert(v.as.object->type == &jj_complex_type);
    jj_complex *copy = td_arena_new(&c->t->arena, jj_complex);
    if (copy == NULL)
        return jj_compile_nomem(c);
    *copy = *(const jj_complex *)(const void *)v.as.object;
    *ret = td_object_of(&copy->base);
    return TD_OK;
}

td_code jj_keep(jj_compiler *c, td_value v, td_value *ret)
{
    *ret = v;
    switch (v.tag) {
    case TD_V_STR: {
        td_str copy = td_arena_copy(&c->t->arena, td_as_str(v));
        if (copy.ptr == NULL)
            return jj_compile_nomem(c);
        *ret = td_key(copy);
        ret->flags = (uint8_t)(v.flags & TD_VF_MARKUP);
        ret->flags |= td_utf8_is_ascii(copy) ? TD_VF_ASCII : TD_VF_NONASCII;
        return TD_OK;
    }
    case TD_V_BIGINT: {
        size_t size = sizeof(td_bigint) + v.as.bigint->count * sizeof(uint32_t);
        td_bigint *b = td_arena_alloc(&c->t->arena, size, _Alignof(td_bigint));
        if (b == NULL)
            return jj_compile_nomem(c);
        memcpy(b, v.as.bigint, size);
        ret->as.bigint = b;
        return TD_OK;
    }
    case TD_V_LIST:
    case TD_V_TUPLE:
        return keep_items(c, v, ret);
    case TD_V_DICT:
        return keep_dict(c, v.as.dict, ret);
    case TD_V_OBJECT:
        return keep_object(c, v, ret);
    default:
        return TD_OK;
    }
}

td_code jj_add_const(jj_compiler *c, td_value v, uint32_t *ret)
{
    td_template *t = c->t;
    for (uint32_t i = 0; v.tag == TD_V_STR && i < t->const_count && i < 256; i++) {
        td_value old = t->consts[i];
        if (old.tag == TD_V_STR && (old.flags & TD_VF_MARKUP) == (v.flags & TD_VF_MARKUP) &&
            td_str_eq(td_as_str(old), td_as_str(v))) {
            *ret = i;
            return TD_OK;
        }
    }
    if (!jj_grow(&t->arena, &t->consts, &c->const_cap, t->const_count, sizeof *t->consts))
        return jj_compile_nomem(c);
    TD_TRY(jj_keep(c, v, &t->consts[t->const_count]));
    *ret = t->const_count++;
    return TD_OK;
}

td_code jj_emit_const(jj_compiler *c, td_value v)
{
    uint32_t k;
    TD_TRY(jj_add_const(c, v, &k));
    return jj_emit(c, JJ_O_CONST, 0, 0, k);
}

td_code jj_name_value(jj_compiler *c, uint32_t name, td_value *ret)
{
    return jj_keep(c, jj_name_key(c->names, name), ret);
}

td_code jj_add_attr(jj_compiler *c, uint32_t name, uint32_t *ret)
{
    td_template *t = c->t;
    td_str text = jj_name_text(c->names, name);
    for (uint32_t i = 0; i < t->attr_count; i++) {
        if (td_str_eq(td_as_str(t->attrs[i].key), text)) {
            *ret = i;
            return TD_OK;
        }
    }
    if (!jj_grow(&t->arena, &t->attrs, &c->attr_cap, t->attr_count, sizeof *t->attrs))
        return jj_compile_nomem(c);
    jj_attr *a = &t->attrs[t->attr_count];
    *a = (jj_attr){ .unsafe = text.ptr[0] == '_', .loop_field = jj_loop_field_of(text) };
    TD_TRY(jj_name_value(c, name, &a->key));
    a->missing = (td_undefined){ .exc = JJ_UNDEFINED_ERROR, .name = a->key };
    for (int tag = TD_V_NONE; tag < TD_V_OBJECT; tag++)
        a->methods[tag] = jj_find_method((td_value){ .tag = (uint8_t)tag }, text);
    a->markup_method =
        jj_find_method((td_value){ .tag = TD_V_STR, .flags = TD_VF_MARKUP }, text);
    *ret = t->attr_count++;
    return TD_OK;
}

td_code jj_add_ctx(jj_compiler *c, uint32_t name, uint32_t *ret)
{
    td_template *t = c->t;
    td_str text = jj_name_text(c->names, name);
    for (uint32_t i = 0; i < t->ctx_count; i++) {
        if (td_str_eq(td_as_str(t->ctx[i].key), text)) {
            *ret = i;
            return TD_OK;
        }
    }
    if (!jj_grow(&t->arena, &t->ctx, &c->ctx_cap, t->ctx_count, sizeof *t->ctx))
        return jj_compile_nomem(c);
    jj_ctx_name *x = &t->ctx[t->ctx_count];
    *x = (jj_ctx_name){ .global = jj_find_global(text) };
    TD_TRY(jj_name_value(c, name, &x->key));
    x->missing = (td_undefined){ .exc = JJ_UNDEFINED_ERROR, .name = x->key };
    if (td_str_eq(text, TD_STR("messages")))
        t->ctx_messages = t->ctx_count;
    *ret = t->ctx_count++;
    return TD_OK;
}

td_code jj_add_missing(jj_compiler *c, td_undefined u, uint32_t *ret)
{
    td_template *t = c->t;
    if (!jj_grow(&t->arena, &t->missing, &c->missing_cap, t->missing_count,
                 sizeof *t->missing))
        return jj_compile_nomem(c);
    t->missing[t->missing_count] = u;
    *ret = t->missing_count++;
    return TD_OK;
}

td_code jj_add_builtin(jj_compiler *c, const jj_builtin *b, uint32_t *ret)
{
    td_template *t = c->t;
    for (*ret = 0; *ret < t->builtin_count; ++*ret)
        if (t->builtins[*ret] == b)
            return TD_OK;
    if (!jj_grow(&t->arena, &t->builtins, &c->builtin_cap, t->builtin_count,
                 sizeof *t->builtins))
        return jj_compile_nomem(c);
    t->builtins[t->builtin_count++] = b;
    return TD_OK;
}

td_code jj_add_literal(jj_compiler *c, td_str text)
{
    td_template *t = c->t;
    td_str copy = td_arena_copy(&t->arena, text);
    if (copy.ptr == NULL || !jj_grow(&t->arena, &t->literals, &c->literal_cap, t->literal_count,
                                     sizeof *t->literals))
        return jj_compile_nomem(c);
    t->literals[t->literal_count++] = copy;
    return TD_OK;
}

td_code jj_add_warning(jj_compiler *c, uint32_t at, const char *what, td_str name)
{
    td_template *t = c->t;
    char text[200];
    int n = snprintf(text, sizeof text, "there is no %s '%.*s'", what,
                     (int)(name.len < 100 ? name.len : 100), name.ptr);
    td_str copy = td_arena_copy(&t->arena, (td_str){ text, (size_t)n });
    if (copy.ptr == NULL || !jj_grow(&t->arena, &t->warnings, &c->warning_cap, t->warning_count,
                                     sizeof *t->warnings))
        return jj_compile_nomem(c);
    t->warnings[t->warning_count++] = (jj_warning){ at, copy };
    return TD_OK;
}

/* ---- functions ---- */

td_code jj_unit_begin(jj_compiler *c, jj_func_kind kind, jj_unit *unit, uint32_t level,
                      bool closed)
{
    td_template *t = c->t;
    if (!jj_grow(&t->arena, &t->funcs, &c->func_cap, t->func_count, sizeof *t->funcs))
        return jj_compile_nomem(c);
    *unit = (jj_unit){ .parent = c->unit, .func = t->func_count++, .base_level = level };
    if (unit->parent != NULL)
        t->funcs[unit->parent->func].captured = true;
    t->funcs[unit->func] = (jj_func){
        .kind = (uint8_t)kind,
        .parent = closed || c->unit == NULL ? unit->func : c->unit->func,
        .entry = jj_here(c),
        .first_entry = jj_here(c),
        .stack_max = 2,
        .caller_slot = JJ_NO_SLOT,
        .kwargs_slot = JJ_NO_SLOT,
        .varargs_slot = JJ_NO_SLOT,
        .name = td_none(),
    };
    c->unit = unit;
    c->label = jj_here(c);
    return TD_OK;
}

td_code jj_unit_end(jj_compiler *c)
{
    jj_func *f = &c->t->funcs[c->unit->func];
    f->end = jj_here(c);
    f->slot_count = c->unit->next_slot;
    c->unit = c->unit->parent;
    return TD_OK;
}

/* ---- variables ---- */

td_code jj_slot_of(jj_compiler *c, jj_ident ident, uint32_t *ret_hops, uint32_t *ret_slot)
{
    jj_unit *u = c->unit;
    *ret_hops = 0;
    while (u->base_level > jj_ident_level(ident)) {
        ++*ret_hops;
        u = u->parent;
        assert(u != NULL);
    }
    for (uint32_t i = 0; i < u->slot_count; i++) {
        if (u->slots[i].ident == ident) {
            *ret_slot = u->slots[i].slot;
            return TD_OK;
        }
    }
    if (u->next_slot >= SLOTS_MAX)
        return td_fail_at(c->err, TD_E_LIMIT, c->at, "more than %d variables", SLOTS_MAX);
    if (!jj_grow(c->arena, &u->slots, &u->slot_cap, u->slot_count, sizeof *u->slots))
        return jj_compile_nomem(c);
    *ret_slot = u->next_slot++;
    u->slots[u->slot_count++] = (jj_slot){ ident, *ret_slot };
    return TD_OK;
}

/* A variable that starts from the context and that its scope never sets needs no slot: the context
 * cannot change while the scope runs. */
static bool is_context(const jj_symbols *s, jj_ident ident)
{
    const jj_symbols *owner;
    const jj_load *l = jj_symbols_find_load(s, ident, &owner);
    return l != NULL && l->kind == JJ_LOAD_RESOLVE &&
           !jj_symbols_stores(owner, jj_ident_name(ident));
}

static td_code unknown_name(jj_compiler *c, uint32_t name)
{
    td_str text = jj_name_text(c->names, name);
    return jj_compile_error(c, c->at, "the name '%.*s' cannot be used here",
                            (int)(text.len < 100 ? text.len : 100), text.ptr);
}

td_code jj_load_name(jj_compiler *c, const jj_frame_info *f, const jj_node *n)
{
    jj_ident ident;
    uint32_t hops, slot;
    if (!jj_symbols_find(f->symbols, n->name, &ident))
        return unknown_name(c, n->name);
    if (is_context(f->symbols, ident)) {
        TD_TRY(jj_add_ctx(c, n->name, &slot));
        return jj_emit(c, JJ_O_LOAD_CTX, 0, 0, slot);
    }
    TD_TRY(jj_slot_of(c, ident, &hops, &slot));
    if (hops == 0)
        return jj_emit(c, JJ_O_LOAD, 0, 0, slot);
    return jj_emit(c, JJ_O_LOAD_UP, 0, hops, slot);
}

td_code jj_store_name(jj_compiler *c, const jj_frame_info *f, uint32_t name)
{
    jj_ident ident;
    uint32_t hops, slot, x = 0;
    if (!jj_symbols_find(f->symbols, name, &ident))
        return unknown_name(c, name);
    TD_TRY(jj_slot_of(c, ident, &hops, &slot));
    assert(hops == 0);
    TD_TRY(jj_emit(c, JJ_O_STORE, 0, 0, slot));
    if (!f->toplevel)
        return TD_OK;
    TD_TRY(jj_add_ctx(c, name, &x));
    return jj_emit(c, JJ_O_EXPORT, 0, slot, x);
}

static td_code enter_variable(jj_compiler *c, const jj_frame_info *f, const jj_load *l)
{
    uint32_t hops, slot, from, x = 0;
    if (l->kind == JJ_LOAD_PARAM || is_context(f->symbols, l->ident))
        return TD_OK;
    TD_TRY(jj_slot_of(c, l->ident, &hops, &slot));
    if (l->kind == JJ_LOAD_UNDEFINED) {
        td_undefined u = { .exc = JJ_UNDEFINED_ERROR };
        TD_TRY(jj_name_value(c, jj_ident_name(l->ident), &u.name));
        TD_TRY(jj_add_missing(c, u, &x));
        return jj_emit(c, JJ_O_UNDEF, 0, slot, x);
    }
    if (l->kind == JJ_LOAD_RESOLVE || is_context(f->symbols, l->from)) {
        uint32_t name = l->kind == JJ_LOAD_RESOLVE ? l->from : jj_ident_name(l->from);
        TD_TRY(jj_add_ctx(c, name, &x));
        return jj_emit(c, JJ_O_COPY_CTX, 0, slot, x);
    }
    TD_TRY(jj_slot_of(c, l->from, &hops, &from));
    if (hops == 0)
        return jj_emit(c, JJ_O_COPY, 0, slot, from);
    return jj_emit(c, JJ_O_COPY_UP, hops, slot, from);
}

td_code jj_enter_frame(jj_compiler *c, const jj_frame_info *f)
{
    for (uint32_t i = 0; i < f->symbols->load_count; i++)
        TD_TRY(enter_variable(c, f, &f->symbols->loads[i]));
    return TD_OK;
}

/* vm_call.c - calls: macros and their arguments, call and generation blocks, blocks, recursive
 * loops, and the collecting of output that most of them do. */
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "jinja/vm_internal.h"

/* ---- collecting output ---- */

size_t jj_capture_begin(jj_vm *vm)
{
    if (vm->buffered++ == 0)
        vm->yielded = vm->out->len;
    return vm->out->len;
}

void jj_capture_drop(jj_vm *vm, size_t mark)
{
    vm->out->len = mark;
    vm->buffered--;
    if (vm->piece_at >= mark)
        vm->piece.len = 0;
}

td_code jj_capture_end(jj_vm *vm, size_t mark, bool markup, td_value *ret)
{
    td_str text = { "", 0 };
    if (vm->out->len > mark)
        text = (td_str){ vm->out->ptr + mark, vm->out->len - mark };
    if (vm->piece.len != 0 && vm->piece_at == mark && vm->piece.len == text.len) {
        *ret = vm->piece;
        ret->flags &= (uint8_t)~TD_VF_MARKUP;
    } else {
        TD_TRY(jj_new_text(vm, text, ret));
    }
    if (markup)
        ret->flags |= TD_VF_MARKUP;
    jj_capture_drop(vm, mark);
    return TD_OK;
}

/* ---- macros ---- */

td_code jj_macro_new(jj_vm *vm, const jj_func *func, jj_frame *env, td_value *ret)
{
    jj_macro *m = td_arena_new(vm->arena, jj_macro);
    if (m == NULL)
        return jj_nomem(vm);
    *m = (jj_macro){ .base.type = &jj_macro_type, .func = func, .env = env };
    *ret = td_object_of(&m->base);
    return TD_OK;
}

static td_value absent(void)
{
    return (td_value){ .tag = TD_V_UNDEFINED, .flags = JJ_UF_ABSENT };
}

static td_value as_argument(td_value v)
{
    if (v.tag == TD_V_UNDEFINED)
        v.flags &= (uint8_t)~(JJ_UF_MISSING | JJ_UF_ABSENT);
    return v;
}

static const td_entry *find_keyword(const jj_args *args, td_str name)
{
    for (uint32_t i = 0; i < args->nkw; i++)
        if (td_str_eq(td_as_str(args->kw[i].key), name))
            return &args->kw[i];
    return NULL;
}

static bool is_param(const jj_func *f, uint32_t first, td_str name)
{
    for (uint32_t i = first; i < f->param_count; i++)
        if (td_str_eq(td_as_str(f->params[i]), name))
            return true;
    return false;
}

static const char *macro_name(const jj_func *f)
{
    return td_is_str(f->name) ? f->name.as.str : "anonymous";
}

/* What is left of the keywords goes to kwargs, or is one too many. */
static td_code bind_rest(jj_vm *vm, const jj_func *f, jj_frame *frame, const jj_args *args)
{
    td_dict *rest = NULL;
    uint32_t positional = args->npos < f->param_count ? args->npos : f->param_count;
    if (f->kwargs_slot != JJ_NO_SLOT) {
        rest = td_dict_new(vm->arena, args->nkw);
        if (rest == NULL)
            return jj_nomem(vm);
        frame->slots[f->kwargs_slot] = td_dict_of(rest);
    }
    for (uint32_t i = 0; i < args->nkw; i++) {
        td_str name = td_as_str(args->kw[i].key);
        if (is_param(f, positional, name))
            continue;
        if (f->caller_slot != JJ_NO_SLOT && td_str_eq(name, TD_STR("caller")))
            continue;
        if (rest == NULL)
            return jj_raise(vm, JJ_TYPE_ERROR, "macro '%.200s' takes no keyword argument '%.*s'",
                            macro_name(f), (int)(name.len < 200 ? name.len : 200), name.ptr);
        TD_TRY(jj_dict_set(vm, rest, args->kw[i].key, as_argument(args->kw[i].val)));
    }
    if (f->varargs_slot != JJ_NO_SLOT)
        return jj_new_tuple(vm, args->npos > positional ? args->pos + positional : NULL,
                            args->npos - positional, &frame->slots[f->varargs_slot]);
    if (args->npos > f->param_count)
        return jj_raise(vm, JJ_TYPE_ERROR, "macro '%.200s' takes not more than %u argument(s)",
                        macro_name(f), f->param_count);
    return TD_OK;
}

static td_code bind(jj_vm *vm, const jj_func *f, jj_frame *frame, const jj_args *args)
{
    for (uint32_t i = 0; i < f->param_count; i++) {
        const td_entry *kw;
        if (i < args->npos)
            frame->slots[i] = as_argument(args->pos[i]);
        else if (args->nkw != 0 && (kw = find_keyword(args, td_as_str(f->params[i]))) != NULL)
            frame->slots[i] = as_argument(kw->val);
        else
            frame->slots[i] = absent();
    }
    if (f->caller_slot != JJ_NO_SLOT) {
        const td_entry *kw = find_keyword(args, TD_STR("caller"));
        if (kw != NULL && kw->val.tag != TD_V_NONE)
            frame->slots[f->caller_slot] = as_argument(kw->val);
        else
            TD_TRY(jj_undefined_hint(vm, JJ_UNDEFINED_ERROR, TD_STR("No caller defined"),
                                     &frame->slots[f->caller_slot]));
    }
    if (args->nkw != 0 || args->npos > f->param_count || f->kwargs_slot != JJ_NO_SLOT ||
        f->varargs_slot != JJ_NO_SLOT)
        return bind_rest(vm, f, frame, args);
    return TD_OK;
}

static td_code enter_call(jj_vm *vm)
{
    if (vm->depth + JJ_DEPTH_CALL > JJ_DEPTH_MAX - JJ_DEPTH_BASE)
        return td_fail(vm->err, TD_E_LIMIT, "maximum recursion depth exceeded");
    vm->depth += JJ_DEPTH_CALL;
    return TD_OK;
}

static td_code run_in_frame(jj_vm *vm, jj_frame *frame, const jj_args *args)
{
    const jj_func *f = frame->func;
    TD_TRY(bind(vm, f, frame, args));
    TD_TRY(jj_charge(vm, f->end - f->entry));
    TD_TRY(enter_call(vm));
    bool all = args->npos == f->param_count && args->nkw == 0;
    td_code code = jj_run(vm, frame, all ? f->first_entry : f->entry, NULL, 0);
    vm->depth -= JJ_DEPTH_CALL;
    return code;
}

/* Runs a macro; its text goes to the output. The frame lies on the stack unless something may
 * look into it later. */
static td_code run_macro(jj_vm *vm, const jj_macro *m, const jj_args *args)
{
    const jj_func *f = m->func;
    jj_frame *frame;
    if (f->captured) {
        TD_TRY(jj_frame_new(vm, f, m->env, m->env->ctx, &frame));
        return run_in_frame(vm, frame, args);
    }
    enum { HEAD = (sizeof(jj_frame) + sizeof(td_value) - 1) / sizeof(td_value) };
    td_value *stack = vm->stack, *stack_end = vm->stack_end, *room;
    TD_TRY(jj_stack_take(vm, HEAD + f->slot_count, &room));
    frame = (jj_frame *)(void *)room;
    jj_frame_init(frame, f, m->env, m->env->ctx);
    td_code code = run_in_frame(vm, frame, args);
    vm->stack = stack;
    vm->stack_end = stack_end;
    return code;
}

static td_code call_macro(jj_vm *vm, const jj_macro *m, const jj_args *args, td_value *ret)
{
    size_t mark = jj_capture_begin(vm);
    bool markup = vm->autoescape;
    td_code code = run_macro(vm, m, args);
    if (code != TD_OK) {
        jj_capture_drop(vm, mark);
        return code;
    }
    return jj_capture_end(vm, mark, markup, ret);
}

static td_code macro_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    return call_macro(vm, (const jj_macro *)self, args, ret);
}

static td_code macro_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    const jj_func *f = ((const jj_macro *)self)->func;
    *ret = td_undefined_value();
    if (td_str_eq(name, TD_STR("name")))
        *ret = f->name;
    else if (td_str_eq(name, TD_STR("arguments")))
        return jj_new_tuple(vm, f->params, f->param_count, ret);
    else if (td_str_eq(name, TD_STR("catch_kwargs")))
        *ret = td_bool(f->kwargs_slot != JJ_NO_SLOT);
    else if (td_str_eq(name, TD_STR("catch_varargs")))
        *ret = td_bool(f->varargs_slot != JJ_NO_SLOT);
    else if (td_str_eq(name, TD_STR("caller")))
        *ret = td_bool(f->caller_slot != JJ_NO_SLOT);
    else if (td_str_eq(name, TD_STR("explicit_caller")))
        *ret = td_bool(f->explicit_caller);
    return TD_OK;
}

static td_code macro_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    const jj_func *f = ((const jj_macro *)self)->func;
    if (!td_is_str(f->name))
        return td_buf_put(out, TD_STR("<Macro anonymous>"));
    TD_TRY(td_buf_put(out, TD_STR("<Macro ")));
    TD_TRY(jj_append_repr(vm, out, f->name));
    return td_buf_byte(out, '>');
}

const td_object_type jj_macro_type = {
    .name = "Macro",
    .getattr = macro_getattr,
    .call = macro_call,
    .repr = macro_repr,
};

/* ---- calls of anything ---- */

td_code jj_call(jj_vm *vm, td_value callee, const jj_args *args, td_value *ret)
{
    if (callee.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, callee);
    if (callee.tag != TD_V_OBJECT || callee.as.object->type->call == NULL)
        return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not callable", jj_type_name(callee));
    return callee.as.object->type->call(vm, callee.as.object, args, ret);
}

bool jj_is_callable(td_value v)
{
    if (v.tag == TD_V_UNDEFINED)
        return true; /* the reference's Undefined has __call__, which raises */
    return v.tag == TD_V_OBJECT && v.as.object->type->call != NULL;
}

static td_code keyword_args(jj_vm *vm, const td_value *values, uint32_t npos, uint32_t nkw,
                            td_value names, td_entry *local, uint32_t local_count,
                            jj_args *ret)
{
    td_entry *kw = local;
    if (nkw > local_count)
        kw = td_arena_array(vm->arena, td_entry, nkw);
    if (kw == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < nkw; i++)
        kw[i] = (td_entry){ names.as.items[i], values[npos + i] };
    *ret = (jj_args){ .pos = values, .npos = npos, .kw = kw, .nkw = nkw };
    return TD_OK;
}

enum { LOCAL_KEYWORDS = 8 };

td_code jj_call_values(jj_vm *vm, td_value callee, const td_value *values, uint32_t npos,
                       uint32_t nkw, td_value names, td_value *ret)
{
    td_entry local[LOCAL_KEYWORDS];
    jj_args args;
    TD_TRY(keyword_args(vm, values, npos, nkw, names, local, LOCAL_KEYWORDS, &args));
    return jj_call(vm, callee, &args, ret);
}

td_code jj_call_output(jj_vm *vm, td_value callee, const td_value *values, uint32_t npos,
                       uint32_t nkw, td_value names)
{
    td_entry local[LOCAL_KEYWORDS];
    jj_args args;
    td_value v;
    TD_TRY(keyword_args(vm, values, npos, nkw, names, local, LOCAL_KEYWORDS, &args));
    if (callee.tag == TD_V_OBJECT && callee.as.object->type == &jj_macro_type) {
        if (vm->buffered++ == 0)
            vm->yielded = vm->out->len;
        td_code code = run_macro(vm, (const jj_macro *)callee.as.object, &args);
        vm->buffered--;
        return code;
    }
    TD_TRY(jj_call(vm, callee, &args, &v));
    return jj_emit_value(vm, v);
}

td_code jj_merge_keywords(jj_vm *vm, td_dict *d, td_value mapping)
{
    if (mapping.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, mapping);
    if (mapping.tag != TD_V_DICT)
        return jj_raise(vm, JJ_TYPE_ERROR, "argument after ** must be a mapping, not %s",
                        jj_type_name(mapping));
    for (uint32_t i = 0; i < mapping.as.dict->count; i++) {
        td_entry e = mapping.as.dict->entries[i];
        if (!td_is_str(e.key))
            return jj_raise(vm, JJ_TYPE_ERROR, "keywords must be strings");
        if (td_dict_get(d, e.key) != NULL)
            return jj_raise(vm, JJ_TYPE_ERROR, "got multiple values for keyword argument");
        TD_TRY(jj_dict_set(vm, d, e.key, e.val));
    }
    return TD_OK;
}

/* ---- generation blocks ---- */

/* Code points in the output up to at; counting goes on from where it stopped last. */
static size_t count_to(jj_vm *vm, size_t at)
{
    if (vm->counted < vm->out_base || vm->counted > at) {
        vm->counted = vm->out_base;
        vm->counted_code_points = 0;
    }
    if (at > vm->counted)
        vm->counted_code_points +=
            td_utf8_count((td_str){ vm->out->ptr + vm->counted, at - vm->counted });
    vm->counted = at;
    return vm->counted_code_points;
}

static td_code add_span(jj_vm *vm, size_t start, size_t body)
{
    jj_spans *s = vm->spans;
    if (s->count == s->cap) {
        size_t cap = s->cap != 0 ? s->cap * 2 : 16;
        jj_span *items = td_realloc(s->items, cap * sizeof *items);
        if (items == NULL)
            return td_fail_nomem(vm->err);
        s->items = items;
        s->cap = cap;
    }
    size_t first = count_to(vm, start), length = 0;
    if (vm->out->len > body)
        length = td_utf8_count((td_str){ vm->out->ptr + body, vm->out->len - body });
    s->items[s->count++] = (jj_span){ .start = start - vm->out_base, .start_code_points = first,
                                      .end_code_points = first + length };
    return TD_OK;
}

/* A generation block is a macro without parameters that is called in place. The reference notes
 * its place by what was yielded so far, which leaves out what is still being collected. */
td_code jj_run_generation(jj_vm *vm, const jj_func *func, jj_frame *env)
{
    jj_macro m = { .base.type = &jj_macro_type, .func = func, .env = env };
    jj_args none = { 0 };
    size_t mark = jj_capture_begin(vm), start = vm->yielded;
    TD_TRY(run_macro(vm, &m, &none));
    vm->buffered--;
    return vm->spans != NULL ? add_span(vm, start, mark) : TD_OK;
}

/* ---- blocks ---- */

td_code jj_run_block(jj_vm *vm, uint32_t block, jj_frame *from, const td_value *pairs,
                     uint32_t count)
{
    const td_template *t = vm->t;
    const jj_func *f = &t->funcs[t->block_funcs[block]];
    td_value *ctx = from->ctx;
    jj_frame *frame;
    if (count != 0) {
        ctx = td_arena_array(vm->arena, td_value, t->ctx_count);
        if (ctx == NULL)
            return jj_nomem(vm);
        memcpy(ctx, from->ctx, t->ctx_count * sizeof *ctx);
        /* inner scopes come first and win */
        for (uint32_t i = count; i-- > 0;)
            if (pairs[2 * i + 1].tag != TD_V_UNDEFINED ||
                !(pairs[2 * i + 1].flags & JJ_UF_MISSING))
                ctx[pairs[2 * i].as.integer] = pairs[2 * i + 1];
    }
    TD_TRY(jj_frame_new(vm, f, NULL, ctx, &frame));
    TD_TRY(jj_charge(vm, f->end - f->entry));
    TD_TRY(enter_call(vm));
    td_code code = jj_run(vm, frame, f->entry, NULL, 0);
    vm->depth -= JJ_DEPTH_CALL;
    return code;
}

/* What "self" and "self.name" are. */
typedef struct jj_self {
    td_object base;
    jj_frame *frame;
    uint32_t block;
} jj_self;

static td_code block_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    const jj_self *s = (const jj_self *)self;
    if (args->npos != 0 || args->nkw != 0)
        return jj_raise(vm, JJ_TYPE_ERROR, "a block takes no arguments");
    size_t mark = jj_capture_begin(vm);
    TD_TRY(jj_run_block(vm, s->block, s->frame, NULL, 0));
    return jj_capture_end(vm, mark, vm->autoescape, ret);
}

static td_code block_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    *ret = td_undefined_value();
    if (td_str_eq(name, TD_STR("name")))
        *ret = vm->t->block_names[((const jj_self *)self)->block];
    else if (td_str_eq(name, TD_STR("super")))
        return jj_undefined_hint(vm, JJ_UNDEFINED_ERROR, TD_STR("there is no parent block"),
                                 ret);
    return TD_OK;
}

static td_code block_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    (void)self;
    return td_buf_put(out, TD_STR("<jinja2.runtime.BlockReference object at 0x7f0000000000>"));
}

static const td_object_type block_type = {
    .name = "BlockReference",
    .repr = block_repr,
    .getattr = block_getattr,
    .call = block_call,
};

static td_code self_getitem(jj_vm *vm, td_object *self, td_value key, td_value *ret)
{
    *ret = td_undefined_value();
    for (uint32_t i = 0; td_is_str(key) && i < vm->t->block_count; i++) {
        if (!td_str_eq(td_as_str(vm->t->block_names[i]), td_as_str(key)))
            continue;
        jj_self *block = td_arena_new(vm->arena, jj_self);
        if (block == NULL)
            return jj_nomem(vm);
        *block = (jj_self){ .base.type = &block_type, .frame = ((jj_self *)self)->frame,
                            .block = i };
        *ret = td_object_of(&block->base);
    }
    return TD_OK;
}

static td_code self_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    (void)self;
    return td_buf_put(out, TD_STR("<TemplateReference None>"));
}

const td_object_type jj_self_type = {
    .name = "TemplateReference",
    .getitem = self_getitem,
    .repr = self_repr,
};

td_code jj_self_new(jj_vm *vm, jj_frame *frame, td_value *ret)
{
    jj_self *s = td_arena_new(vm->arena, jj_self);
    if (s == NULL)
        return jj_nomem(vm);
    *s = (jj_self){ .base.type = &jj_self_type, .frame = frame };
    *ret = td_object_of(&s->base);
    return TD_OK;
}

/* ---- recursive loops ---- */

td_code jj_run_recursive(jj_vm *vm, const jj_func *func, jj_frame *env, td_value iterable,
                         uint32_t depth, bool markup, td_value *ret)
{
    jj_frame *frame;
    TD_TRY(jj_frame_new(vm, func, env, env->ctx, &frame));
    frame->loop_depth = depth;
    TD_TRY(jj_charge(vm, func->end - func->entry));
    TD_TRY(enter_call(vm));
    size_t mark = jj_capture_begin(vm);
    td_code code = jj_run(vm, frame, func->entry, &iterable, 1);
    vm->depth -= JJ_DEPTH_CALL;
    if (code != TD_OK) {
        jj_capture_drop(vm, mark);
        return code;
    }
    return jj_capture_end(vm, mark, markup, ret);
}

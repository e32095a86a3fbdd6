/* vm_frame.c - frames of functions, and loops with all that the variable "loop" tells.
 *
 * A loop asks its source for items one at a time, and looks one ahead only when the template asks
 * for loop.last or loop.nextitem: filters of loops see what the body did before. */
#include <string.h>

#include "base/str.h"
#include "jinja/vm_internal.h"

/* f has room for the slots behind it. */
void jj_frame_init(jj_frame *f, const jj_func *func, jj_frame *up, td_value *ctx)
{
    *f = (jj_frame){ .up = up, .func = func, .ctx = ctx };
    f->slots = (td_value *)(void *)(f + 1);
    memset(f->slots, 0, func->slot_count * sizeof *f->slots);
}

td_code jj_frame_new(jj_vm *vm, const jj_func *func, jj_frame *up, td_value *ctx,
                     jj_frame **ret)
{
    size_t size = sizeof(jj_frame) + func->slot_count * sizeof(td_value);
    jj_frame *f = td_arena_alloc(vm->arena, size, _Alignof(max_align_t));
    if (f == NULL)
        return jj_nomem(vm);
    jj_frame_init(f, func, up, ctx);
    *ret = f;
    return TD_OK;
}

/* ---- loops ---- */

td_code jj_loop_new(jj_vm *vm, jj_frame *frame, td_value iterable, unsigned kind, jj_loop **ret)
{
    jj_loop *loop = vm->spare;
    if (loop != NULL)
        vm->spare = loop->next;
    else
        loop = td_arena_new(vm->arena, jj_loop);
    if (loop == NULL)
        return jj_nomem(vm);
    *loop = (jj_loop){ .shared = kind != 0, .base.type = &jj_loop_type, .index0 = -1, .length = -1,
                       .iterable = iterable, .env = frame, .outer_owner = vm->owner };
    if ((kind & 2) != 0) {
        loop->depth0 = frame->loop_depth;
        loop->recurse = frame->func;
    }
    loop->changed.tag = JJ_ABSENT;
    *ret = loop;
    return jj_iter_init(vm, iterable, &loop->it);
}

td_code jj_loop_set_filter(jj_vm *vm, jj_loop *loop, jj_frame *frame, const jj_func *func)
{
    return jj_frame_new(vm, func, frame, frame->ctx, &loop->filter);
}

static td_code source_next(jj_vm *vm, jj_loop *loop, td_value *ret, bool *ret_more)
{
    TD_TRY(jj_iter_next(vm, &loop->it, ret, ret_more));
    while (*ret_more && loop->filter != NULL) {
        const jj_func *f = loop->filter->func;
        uint32_t entry = loop->filter_started ? f->entry : f->first_entry;
        loop->filter_started = true;
        TD_TRY(jj_charge(vm, f->end - f->entry));
        TD_TRY(jj_enter(vm));
        TD_TRY(jj_run(vm, loop->filter, entry, ret, 1));
        jj_leave(vm);
        *ret = vm->result;
        if (vm->kept)
            return TD_OK;
        TD_TRY(jj_iter_next(vm, &loop->it, ret, ret_more));
    }
    return TD_OK;
}

td_code jj_loop_next(jj_vm *vm, jj_loop *loop, td_value *ret, bool *ret_more)
{
    *ret_more = true;
    if (loop->has_after) {
        *ret = loop->after;
        loop->has_after = false;
    } else {
        TD_TRY(source_next(vm, loop, ret, ret_more));
        if (!*ret_more)
            return TD_OK;
    }
    loop->index0++;
    loop->before = loop->current;
    loop->current = *ret;
    return TD_OK;
}

static td_code peek(jj_vm *vm, jj_loop *loop)
{
    if (loop->has_after)
        return TD_OK;
    return source_next(vm, loop, &loop->after, &loop->has_after);
}

static bool has_length(td_value v)
{
    return v.tag == TD_V_OBJECT ? v.as.object->type->length != NULL : true;
}

static td_code loop_length(jj_vm *vm, jj_loop *loop, int64_t *ret)
{
    if (loop->length < 0 && loop->filter == NULL && has_length(loop->iterable))
        TD_TRY(jj_length(vm, loop->iterable, &loop->length));
    if (loop->length < 0) {
        jj_items rest = { 0 };
        for (;;) {
            td_value v;
            bool more;
            TD_TRY(source_next(vm, loop, &v, &more));
            if (!more)
                break;
            TD_TRY(jj_charge(vm, 1));
            TD_TRY(jj_items_push(vm, &rest, v));
        }
        loop->filter = NULL;
        TD_TRY(jj_iter_init(vm, jj_items_list(&rest), &loop->it));
        loop->length = (int64_t)rest.count + loop->index0 + 1 + loop->has_after;
    }
    *ret = loop->length;
    return TD_OK;
}

/* ---- the variable "loop" ---- */

static td_code loop_cycle(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    const jj_loop *loop = (const jj_loop *)self.as.object;
    if (args->npos == 0)
        return jj_raise(vm, JJ_TYPE_ERROR, "no items for cycling given");
    int64_t n = args->npos, i = loop->index0 % n;
    *ret = args->pos[i < 0 ? i + n : i];
    return TD_OK;
}

static td_code loop_changed(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    jj_loop *loop = (jj_loop *)self.as.object;
    td_value now;
    bool same = false;
    TD_TRY(jj_new_tuple(vm, args->pos, args->npos, &now));
    if (loop->changed.tag != JJ_ABSENT)
        TD_TRY(jj_eq(vm, loop->changed, now, &same));
    if (!same)
        loop->changed = now;
    *ret = td_bool(!same);
    return TD_OK;
}

static const jj_builtin cycle_method = { "cycle", loop_cycle, 0, 0, JJ_B_VARARGS, "-" };
static const jj_builtin changed_method = { "changed", loop_changed, 0, 0, JJ_B_VARARGS, "-" };

static const struct loop_name {
    const char *name;
    jj_loop_field field;
} loop_names[] = {
    { "index", JJ_LOOP_INDEX },         { "index0", JJ_LOOP_INDEX0 },
    { "revindex", JJ_LOOP_REVINDEX },   { "revindex0", JJ_LOOP_REVINDEX0 },
    { "first", JJ_LOOP_FIRST },         { "last", JJ_LOOP_LAST },
    { "length", JJ_LOOP_LENGTH },       { "previtem", JJ_LOOP_PREVITEM },
    { "nextitem", JJ_LOOP_NEXTITEM },   { "depth", JJ_LOOP_DEPTH },
    { "depth0", JJ_LOOP_DEPTH0 },       { "cycle", JJ_LOOP_CYCLE },
    { "changed", JJ_LOOP_CHANGED },
};

uint8_t jj_loop_field_of(td_str name)
{
    for (size_t i = 0; i < sizeof loop_names / sizeof *loop_names; i++)
        if (td_str_eq(name, td_str_from(loop_names[i].name)))
            return (uint8_t)loop_names[i].field;
    return JJ_LOOP_NONE;
}

static td_code loop_number(jj_vm *vm, jj_loop *loop, jj_loop_field field, td_value *ret)
{
    int64_t length;
    TD_TRY(loop_length(vm, loop, &length));
    if (field == JJ_LOOP_REVINDEX)
        length -= loop->index0;
    if (field == JJ_LOOP_REVINDEX0)
        length -= loop->index0 + 1;
    *ret = td_int(length);
    return TD_OK;
}

td_code jj_loop_get(jj_vm *vm, jj_loop *loop, jj_loop_field field, td_value *ret)
{
    td_value self = td_object_of(&loop->base);
    switch (field) {
    case JJ_LOOP_INDEX:
        *ret = td_int(loop->index0 + 1);
        return TD_OK;
    case JJ_LOOP_INDEX0:
        *ret = td_int(loop->index0);
        return TD_OK;
    case JJ_LOOP_REVINDEX:
    case JJ_LOOP_REVINDEX0:
    case JJ_LOOP_LENGTH:
        return loop_number(vm, loop, field, ret);
    case JJ_LOOP_FIRST:
        *ret = td_bool(loop->index0 == 0);
        return TD_OK;
    case JJ_LOOP_LAST:
        TD_TRY(peek(vm, loop));
        *ret = td_bool(!loop->has_after);
        return TD_OK;
    case JJ_LOOP_PREVITEM:
        if (loop->index0 == 0)
            return jj_undefined_hint(vm, JJ_UNDEFINED_ERROR,
                                     TD_STR("there is no previous item"), ret);
        *ret = loop->before;
        return TD_OK;
    case JJ_LOOP_NEXTITEM:
        TD_TRY(peek(vm, loop));
        if (!loop->has_after)
            return jj_undefined_hint(vm, JJ_UNDEFINED_ERROR, TD_STR("there is no next item"),
                                     ret);
        *ret = loop->after;
        return TD_OK;
    case JJ_LOOP_DEPTH:
        *ret = td_int((int64_t)loop->depth0 + 1);
        return TD_OK;
    case JJ_LOOP_DEPTH0:
        *ret = td_int(loop->depth0);
        return TD_OK;
    case JJ_LOOP_CYCLE:
        return jj_bind_method(vm, &cycle_method, self, ret);
    case JJ_LOOP_CHANGED:
        return jj_bind_method(vm, &changed_method, self, ret);
    default:
        *ret = td_undefined_value();
        return TD_OK;
    }
}

static td_code loop_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    return jj_loop_get(vm, (jj_loop *)self, (jj_loop_field)jj_loop_field_of(name), ret);
}

static td_code loop_len(jj_vm *vm, td_object *self, int64_t *ret)
{
    return loop_length(vm, (jj_loop *)self, ret);
}

static td_code loop_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    jj_loop *loop = (jj_loop *)self;
    td_value iterable;
    if (args->npos == 1 && args->nkw == 0)
        iterable = args->pos[0];
    else if (args->npos == 0 && args->nkw == 1 &&
             td_str_eq(td_as_str(args->kw[0].key), TD_STR("iterable")))
        iterable = args->kw[0].val;
    else
        return jj_raise(vm, JJ_TYPE_ERROR, "loop() takes one argument");
    if (loop->recurse == NULL)
        return jj_raise(vm, JJ_TYPE_ERROR, "a loop without 'recursive' cannot be called");
    return jj_run_recursive(vm, loop->recurse, loop->env->up, iterable, loop->depth0 + 1,
                            vm->autoescape, ret);
}

/* Iterating over the loop itself takes items away from it. */
static td_code loop_iterate(jj_vm *vm, td_object *self, td_value *ret, bool *ret_more)
{
    td_value item;
    TD_TRY(jj_loop_next(vm, (jj_loop *)self, &item, ret_more));
    return *ret_more ? jj_new_pair(vm, item, td_object_of(self), ret) : TD_OK;
}

static td_code loop_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    jj_loop *loop = (jj_loop *)self;
    int64_t length;
    TD_TRY(loop_length(vm, loop, &length));
    return td_buf_printf(out, "<LoopContext %lld/%lld>", (long long)loop->index0 + 1,
                         (long long)length);
}

const td_object_type jj_loop_type = {
    .name = "LoopContext",
    .getattr = loop_getattr,
    .call = loop_call,
    .length = loop_len,
    .next = loop_iterate,
    .repr = loop_repr,
};

/* generator.c - the lazy iterators that filters return. */
#include "jinja/builtins/util.h"

static td_code generator_next(jj_vm *vm, td_object *self, td_value *ret, bool *ret_more)
{
    jj_generator *g = (jj_generator *)self;
    *ret_more = false;
    if (g->done)
        return TD_OK;
    if (g->running)
        return jj_raise(vm, JJ_VALUE_ERROR, "generator already executing");
    TD_TRY(jj_charge(vm, 1));
    TD_TRY(jj_enter(vm));
    g->running = true;
    td_code code = g->step(vm, g, ret, ret_more);
    g->running = false;
    jj_leave(vm);
    g->started = true;
    if (code != TD_OK || !*ret_more)
        g->done = true;
    return code;
}

static td_code generator_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    return td_buf_printf(out, "<generator object %s at 0x7f0000000000>",
                         ((jj_generator *)self)->name);
}

/* Attributes that generators have in the reference and not here are no plain undefined. */
static td_code generator_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    static const char *const names[] = { "close", "gi_running", "gi_suspended", "gi_yieldfrom",
                                         "send", "throw" };
    (void)self;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (td_str_eq(name, td_str_from(names[i])))
            return jj_raise(vm, JJ_RUNTIME_ERROR, "generator.%s is not supported", names[i]);
    *ret = td_undefined_value();
    return TD_OK;
}

const td_object_type jj_generator_type = {
    .name = "generator",
    .getattr = generator_getattr,
    .next = generator_next,
    .repr = generator_repr,
    .is_generator = true,
};

/* ---- iterators over known items ---- */

typedef struct list_iterator {
    jj_generator generator;
    td_value items;
    uint32_t at;
} list_iterator;

static td_code list_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    (void)vm;
    list_iterator *it = (list_iterator *)g;
    *ret_more = it->at < it->items.len;
    if (*ret_more)
        *ret = it->items.as.items[it->at++];
    return TD_OK;
}

static td_code list_iterator_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    return td_buf_printf(out, "<%s object at 0x7f0000000000>",
                         ((jj_generator *)self)->name);
}

static const td_object_type list_iterator_type = {
    .name = "iterator",
    .next = generator_next,
    .repr = list_iterator_repr,
};

td_code jj_new_list_iterator(jj_vm *vm, td_value items, const char *name, td_value *ret)
{
    list_iterator *it = td_arena_new(jj_arena(vm), list_iterator);
    if (it == NULL)
        return jj_nomem(vm);
    *it = (list_iterator){ { { &list_iterator_type }, list_step, name, false, false, false }, items,
                           0 };
    *ret = td_object_of(&it->generator.base);
    return TD_OK;
}

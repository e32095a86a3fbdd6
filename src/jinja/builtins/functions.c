/* functions.c - the globals that are objects with a state: namespace, cycler, joiner; and
 * raise_exception, lipsum. */
#include "jinja/builtins/util.h"

td_code jj_g_raise_exception(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    (void)ret;
    td_value message;
    if (td_is_none(args->pos[0]))
        return jj_raise_text(vm, JJ_TEMPLATE_ERROR, TD_STR("None"));
    TD_TRY(jj_str(vm, args->pos[0], &message));
    return jj_raise_text(vm, JJ_TEMPLATE_ERROR, td_as_str(message));
}

/* The words are random in the reference, so there is a text to give only when there are none. */
td_code jj_g_lipsum(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    int64_t n = 5;
    bool html;
    if (jj_given(args, 0))
        TD_TRY(jj_index(vm, args->pos[0], &n));
    TD_TRY(jj_arg_bool(vm, args, 1, true, &html));
    if (n > 0)
        return jj_raise(vm, JJ_RUNTIME_ERROR, "lipsum: random text cannot be reproduced");
    *ret = jj_as_markup(td_string(TD_STR("")), html);
    return TD_OK;
}

/* ---- namespace ---- */

static td_code namespace_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    (void)vm;
    const td_value *found = td_dict_find(((jj_namespace *)self)->attrs, name);
    *ret = found != NULL ? *found : td_undefined_value();
    return TD_OK;
}

static td_code namespace_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    TD_TRY(td_buf_put(out, TD_STR("<Namespace ")));
    TD_TRY(jj_append_repr(vm, out, td_dict_of(((jj_namespace *)self)->attrs)));
    return td_buf_byte(out, '>');
}

const td_object_type jj_namespace_type = {
    .name = "TemplateNamespace",
    .getattr = namespace_getattr,
    .repr = namespace_repr,
};

td_code jj_g_namespace(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value dict;
    TD_TRY(jj_g_dict(vm, self, args, &dict));
    td_dict *d = dict.as.dict;
    for (uint32_t i = 0; i < d->count; i++) {
        td_value key = d->entries[i].key;
        if (key.tag == TD_V_STR && key.len != 0 && key.as.str[0] == '_')
            return jj_raise(vm, JJ_SECURITY_ERROR,
                            "Chat templates cannot store underscore-prefixed attributes on a "
                            "namespace, but got '%.*s'. Please rename the attribute.",
                            (int)key.len, key.as.str);
    }
    jj_namespace *ns = td_arena_new(jj_arena(vm), jj_namespace);
    if (ns == NULL)
        return jj_nomem(vm);
    *ns = (jj_namespace){ { &jj_namespace_type }, d };
    *ret = td_object_of(&ns->base);
    return TD_OK;
}

/* ---- cycler ---- */

typedef struct cycler {
    td_object base;
    const td_value *items;
    uint32_t count, at;
} cycler;

static td_code cycler_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    const cycler *c = (const cycler *)self;
    if (td_str_eq(name, TD_STR("items"))) {
        *ret = td_tuple_of(c->items, c->count);
        return TD_OK;
    }
    if (td_str_eq(name, TD_STR("pos"))) {
        *ret = td_int(c->at);
        return TD_OK;
    }
    return jj_object_attr(vm, JJ_TYPE_cycler, self, name, ret);
}

static td_code cycler_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    (void)self;
    return td_buf_put(out, TD_STR("<jinja2.utils.Cycler object at 0x7f0000000000>"));
}

static const td_object_type cycler_type = {
    .name = "Cycler",
    .getattr = cycler_getattr,
    .repr = cycler_repr,
};

td_code jj_g_cycler(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    if (args->npos == 0)
        return jj_raise(vm, JJ_RUNTIME_ERROR, "at least one item has to be provided");
    td_value items;
    TD_TRY(jj_new_tuple(vm, args->pos, args->npos, &items));
    cycler *c = td_arena_new(jj_arena(vm), cycler);
    if (c == NULL)
        return jj_nomem(vm);
    *c = (cycler){ { &cycler_type }, items.as.items, items.len, 0 };
    *ret = td_object_of(&c->base);
    return TD_OK;
}

td_code jj_m_cycler_current(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    const cycler *c = (const cycler *)self.as.object;
    *ret = c->items[c->at];
    return TD_OK;
}

td_code jj_m_cycler_next(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    cycler *c = (cycler *)self.as.object;
    *ret = c->items[c->at];
    c->at = (c->at + 1) % c->count;
    return TD_OK;
}

td_code jj_m_cycler_reset(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)vm;
    (void)args;
    ((cycler *)self.as.object)->at = 0;
    *ret = td_none();
    return TD_OK;
}

/* ---- joiner ---- */

typedef struct joiner {
    td_object base;
    td_value sep;
    bool used;
} joiner;

static td_code joiner_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    joiner *j = (joiner *)self;
    if (args->npos != 0 || args->nkw != 0)
        return jj_raise(vm, JJ_TYPE_ERROR, "Joiner() takes no arguments");
    *ret = j->used ? j->sep : td_string(TD_STR(""));
    j->used = true;
    return TD_OK;
}

static td_code joiner_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    (void)vm;
    const joiner *j = (const joiner *)self;
    if (td_str_eq(name, TD_STR("sep")))
        *ret = j->sep;
    else if (td_str_eq(name, TD_STR("used")))
        *ret = td_bool(j->used);
    else
        *ret = td_undefined_value();
    return TD_OK;
}

static td_code joiner_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    (void)self;
    return td_buf_put(out, TD_STR("<jinja2.utils.Joiner object at 0x7f0000000000>"));
}

static const td_object_type joiner_type = {
    .name = "Joiner",
    .getattr = joiner_getattr,
    .call = joiner_call,
    .repr = joiner_repr,
};

td_code jj_g_joiner(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    joiner *j = td_arena_new(jj_arena(vm), joiner);
    if (j == NULL)
        return jj_nomem(vm);
    *j = (joiner){ { &joiner_type }, jj_arg(args, 0, td_string(TD_STR(", "))), false };
    *ret = td_object_of(&j->base);
    return TD_OK;
}

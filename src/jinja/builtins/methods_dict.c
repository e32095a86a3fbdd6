/* methods_dict.c - methods of dicts, the dict global, and the views keys(), values(), items(). */
#include "jinja/builtins/util.h"

td_code jj_m_dict_get(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value key = args->pos[0];
    const td_value *found;
    if (key.tag == TD_V_STR) {
        found = td_dict_get(self.as.dict, key);
    } else {
        TD_TRY(jj_hashable(vm, key));
        found = td_dict_get(self.as.dict, key);
    }
    *ret = found != NULL ? *found : jj_arg(args, 1, td_none());
    return TD_OK;
}

td_code jj_m_dict_copy(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    td_dict *d = td_dict_copy(jj_arena(vm), self.as.dict, 0);
    if (d == NULL)
        return jj_nomem(vm);
    *ret = td_dict_of(d);
    return TD_OK;
}

td_code jj_m_dict_fromkeys(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    td_value keys, value = jj_arg(args, 1, td_none());
    TD_TRY(jj_to_list(vm, args->pos[0], &keys));
    td_dict *d = td_dict_new(jj_arena(vm), keys.len);
    if (d == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < keys.len; i++)
        TD_TRY(jj_dict_set(vm, d, keys.as.items[i], value));
    *ret = td_dict_of(d);
    return TD_OK;
}

td_code jj_m_dictclass_fromkeys(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return jj_m_dict_fromkeys(vm, self, args, ret);
}

/* ---- dict(...) ---- */

static td_code pair_of(jj_vm *vm, td_value item, td_value pair[2])
{
    td_value parts;
    TD_TRY(jj_to_list(vm, item, &parts));
    if (parts.len != 2)
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "dictionary update sequence element has length %u; 2 is required",
                        parts.len);
    pair[0] = parts.as.items[0];
    pair[1] = parts.as.items[1];
    return TD_OK;
}

static td_code fill_dict(jj_vm *vm, td_dict *d, td_value from)
{
    if (from.tag == TD_V_DICT) {
        for (uint32_t i = 0; i < from.as.dict->count; i++)
            TD_TRY(jj_dict_set(vm, d, from.as.dict->entries[i].key,
                               from.as.dict->entries[i].val));
        return TD_OK;
    }
    if (from.tag == TD_V_UNDEFINED) /* it answers to keys(), and that is an error */
        return jj_raise_undefined(vm, from);
    jj_iter it;
    TD_TRY(jj_iter_init(vm, from, &it));
    for (;;) {
        td_value item, pair[2];
        bool more;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            return TD_OK;
        TD_TRY(pair_of(vm, item, pair));
        TD_TRY(jj_dict_set(vm, d, pair[0], pair[1]));
    }
}

td_code jj_g_dict(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    td_dict *d = td_dict_new(jj_arena(vm), args->nkw);
    if (d == NULL)
        return jj_nomem(vm);
    if (jj_given(args, 0))
        TD_TRY(fill_dict(vm, d, args->pos[0]));
    for (uint32_t i = 0; i < args->nkw; i++)
        TD_TRY(jj_dict_set(vm, d, args->kw[i].key, args->kw[i].val));
    *ret = td_dict_of(d);
    return TD_OK;
}

/* ---- views ---- */

static td_code new_view(jj_vm *vm, td_value dict, const td_object_type *type, td_value *ret)
{
    jj_dict_view *v = td_arena_new(jj_arena(vm), jj_dict_view);
    if (v == NULL)
        return jj_nomem(vm);
    *v = (jj_dict_view){ { type }, dict.as.dict };
    *ret = td_object_of(&v->base);
    return TD_OK;
}

td_code jj_m_dict_keys(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return new_view(vm, self, &jj_dict_keys_type, ret);
}

td_code jj_m_dict_values(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return new_view(vm, self, &jj_dict_values_type, ret);
}

td_code jj_m_dict_items(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return new_view(vm, self, &jj_dict_items_type, ret);
}

static const td_dict *dict_of(const td_object *view)
{
    return ((const jj_dict_view *)view)->dict;
}

static td_code view_length(jj_vm *vm, td_object *self, int64_t *ret)
{
    (void)vm;
    *ret = dict_of(self)->count;
    return TD_OK;
}

static td_code view_iter(jj_vm *vm, td_object *self, td_value *ret)
{
    const td_dict *d = dict_of(self);
    td_value *items = td_arena_array(jj_arena(vm), td_value, d->count);
    if (items == NULL)
        return jj_nomem(vm);
    TD_TRY(jj_charge(vm, d->count));
    for (uint32_t i = 0; i < d->count; i++) {
        if (self->type == &jj_dict_items_type)
            TD_TRY(jj_new_pair(vm, d->entries[i].key, d->entries[i].val, &items[i]));
        else
            items[i] = self->type == &jj_dict_keys_type ? d->entries[i].key : d->entries[i].val;
    }
    *ret = td_list_of(items, d->count);
    return TD_OK;
}

static td_code keys_contains(jj_vm *vm, td_object *self, td_value needle, bool *ret)
{
    TD_TRY(jj_hashable(vm, needle));
    *ret = td_dict_get(dict_of(self), needle) != NULL;
    return TD_OK;
}

static td_code items_contains(jj_vm *vm, td_object *self, td_value needle, bool *ret)
{
    *ret = false;
    if (needle.tag != TD_V_TUPLE || needle.len != 2)
        return TD_OK;
    TD_TRY(jj_hashable(vm, needle.as.items[0]));
    const td_value *found = td_dict_get(dict_of(self), needle.as.items[0]);
    return found != NULL ? jj_eq(vm, *found, needle.as.items[1], ret) : TD_OK;
}

static bool is_set_like(td_value v)
{
    return jj_is_object(v, &jj_dict_keys_type) || jj_is_object(v, &jj_dict_items_type);
}

/* As sets: the same size and every item of one in the other. */
static td_code view_eq(jj_vm *vm, td_object *self, td_value other, bool *ret)
{
    *ret = is_set_like(other) && dict_of(self)->count == dict_of(other.as.object)->count;
    if (!*ret)
        return TD_OK;
    td_value items;
    TD_TRY(view_iter(vm, self, &items));
    for (uint32_t i = 0; i < items.len && *ret; i++)
        TD_TRY(other.as.object->type->contains(vm, other.as.object, items.as.items[i], ret));
    return TD_OK;
}

/* < and <= as sets. */
static td_code view_less(jj_vm *vm, td_value a, td_value b, bool or_equal, bool *ret,
                         bool *ret_done)
{
    *ret_done = is_set_like(a) && is_set_like(b);
    *ret = false;
    if (!*ret_done)
        return TD_OK;
    uint32_t na = dict_of(a.as.object)->count, nb = dict_of(b.as.object)->count;
    if (na > nb || (na == nb && !or_equal))
        return TD_OK;
    td_value items;
    TD_TRY(view_iter(vm, a.as.object, &items));
    *ret = true;
    for (uint32_t i = 0; i < items.len && *ret; i++)
        TD_TRY(b.as.object->type->contains(vm, b.as.object, items.as.items[i], ret));
    return TD_OK;
}

static td_code view_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    td_value items;
    if (view_iter(vm, self, &items) != TD_OK)
        return TD_E_INTERNAL;
    TD_TRY(td_buf_printf(out, "%s(", self->type->name));
    TD_TRY(jj_append_repr(vm, out, items));
    return td_buf_byte(out, ')');
}

static td_code view_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    *ret = td_undefined_value();
    if (td_str_eq(name, TD_STR("mapping")))
        return jj_raise(vm, JJ_RUNTIME_ERROR, "%s.mapping is not supported", self->type->name);
    if (self->type == &jj_dict_values_type)
        return TD_OK;
    return jj_object_attr(vm, JJ_TYPE_view, self, name, ret);
}

const td_object_type jj_dict_keys_type = {
    .name = "dict_keys",
    .getattr = view_getattr,
    .length = view_length,
    .iter = view_iter,
    .contains = keys_contains,
    .eq = view_eq,
    .repr = view_repr,
    .less = view_less,
    .unhashable = true,
};

const td_object_type jj_dict_values_type = {
    .name = "dict_values",
    .getattr = view_getattr,
    .length = view_length,
    .iter = view_iter,
    .repr = view_repr,
};

const td_object_type jj_dict_items_type = {
    .name = "dict_items",
    .getattr = view_getattr,
    .length = view_length,
    .iter = view_iter,
    .contains = items_contains,
    .eq = view_eq,
    .repr = view_repr,
    .less = view_less,
    .unhashable = true,
};

td_code jj_m_view_isdisjoint(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    jj_iter it;
    *ret = td_bool(true);
    TD_TRY(jj_iter_init(vm, args->pos[0], &it));
    for (;;) {
        td_value item;
        bool more, in = false;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            return TD_OK;
        TD_TRY(self.as.object->type->contains(vm, self.as.object, item, &in));
        if (in) {
            *ret = td_bool(false);
            return TD_OK;
        }
    }
}

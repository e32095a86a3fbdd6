/* filters_dict.c - items, and the filters that order or group: dictsort, sort, unique, groupby. */
#include "jinja/builtins/util.h"

typedef struct pairs {
    jj_generator generator;
    td_value source;
    uint32_t at;
} pairs;

static td_code pairs_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    pairs *p = (pairs *)g;
    *ret_more = false;
    if (p->source.tag == TD_V_UNDEFINED)
        return TD_OK;
    if (p->source.tag != TD_V_DICT)
        return jj_raise(vm, JJ_TYPE_ERROR, "Can only get item pairs from a mapping.");
    const td_dict *d = p->source.as.dict;
    *ret_more = p->at < d->count;
    if (!*ret_more)
        return TD_OK;
    const td_entry *e = &d->entries[p->at++];
    return jj_new_pair(vm, e->key, e->val, ret);
}

td_code jj_f_items(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    pairs *p = td_arena_new(jj_arena(vm), pairs);
    if (p == NULL)
        return jj_nomem(vm);
    *p = (pairs){ .generator = { { &jj_generator_type }, pairs_step, "do_items", false, false,
                                 false },
                  .source = self };
    *ret = td_object_of(&p->generator.base);
    return TD_OK;
}

/* ---- sorting ---- */

static td_code sorted_items(jj_vm *vm, const jj_keyed *keyed, uint32_t n, td_value *ret)
{
    td_value *items = td_arena_array(jj_arena(vm), td_value, n);
    if (items == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < n; i++)
        items[i] = keyed[i].item;
    *ret = td_list_of(items, n);
    return TD_OK;
}

static td_code is_text(jj_vm *vm, td_value v, const char *text, bool *ret)
{
    return jj_eq(vm, v, td_string(td_str_from(text)), ret);
}

td_code jj_f_dictsort(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool sensitive, by_key = true, by_value = false, turn;
    TD_TRY(jj_arg_bool(vm, args, 0, false, &sensitive));
    TD_TRY(jj_arg_bool(vm, args, 2, false, &turn));
    if (jj_given(args, 1)) {
        TD_TRY(is_text(vm, args->pos[1], "key", &by_key));
        TD_TRY(is_text(vm, args->pos[1], "value", &by_value));
        if (!by_key && !by_value)
            return jj_raise(vm, JJ_FILTER_ARGUMENT,
                            "You can only sort by either \"key\" or \"value\"");
    }
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (self.tag != TD_V_DICT)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'items'",
                        jj_type_name(self));
    const td_dict *d = self.as.dict;
    jj_keyed *keyed = td_arena_array(jj_arena(vm), jj_keyed, d->count);
    if (keyed == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < d->count; i++) {
        const td_entry *e = &d->entries[i];
        keyed[i].key = by_key ? e->key : e->val;
        if (!sensitive)
            TD_TRY(jj_fold_case(vm, keyed[i].key, &keyed[i].key));
        TD_TRY(jj_new_pair(vm, e->key, e->val, &keyed[i].item));
    }
    TD_TRY(jj_sort(vm, keyed, d->count, turn, false));
    return sorted_items(vm, keyed, d->count, ret);
}

/* The key of sort: a list of the values of the attributes between commas. */
typedef struct multi_getter {
    jj_getter *getters;
    uint32_t count;
} multi_getter;

static td_code multi_init(jj_vm *vm, td_value attribute, bool fold_case, multi_getter *m)
{
    m->count = 1;
    if (attribute.tag == TD_V_STR)
        for (uint32_t i = 0; i < attribute.len; i++)
            m->count += attribute.as.str[i] == ',';
    m->getters = td_arena_array(jj_arena(vm), jj_getter, m->count);
    if (m->getters == NULL)
        return jj_nomem(vm);
    td_value rest = attribute;
    for (uint32_t i = 0; i < m->count; i++) {
        td_value part = rest;
        if (attribute.tag == TD_V_STR) {
            td_str s = td_as_str(rest);
            size_t comma = td_str_find(s, TD_STR(","), 0);
            part = td_string((td_str){ s.ptr, comma == TD_NOT_FOUND ? s.len : comma });
            if (comma != TD_NOT_FOUND)
                rest = td_string(td_str_from_offset(s, comma + 1));
        }
        m->getters[i] = (jj_getter){ .fold_case = fold_case };
        TD_TRY(jj_getter_init(vm, part, &m->getters[i]));
    }
    return TD_OK;
}

static td_code multi_get(jj_vm *vm, const multi_getter *m, td_value item, td_value *ret)
{
    if (m->count == 1)
        return jj_getter_get(vm, &m->getters[0], item, ret);
    td_value *keys = td_arena_array(jj_arena(vm), td_value, m->count);
    if (keys == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < m->count; i++)
        TD_TRY(jj_getter_get(vm, &m->getters[i], item, &keys[i]));
    *ret = td_list_of(keys, m->count);
    return TD_OK;
}

td_code jj_f_sort(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool turn, sensitive;
    multi_getter getter;
    TD_TRY(jj_arg_bool(vm, args, 1, false, &sensitive));
    TD_TRY(multi_init(vm, jj_arg(args, 2, td_none()), !sensitive, &getter));
    TD_TRY(jj_to_list(vm, self, &self));
    TD_TRY(jj_arg_flag(vm, args, 0, false, &turn));
    jj_keyed *keyed = td_arena_array(jj_arena(vm), jj_keyed, self.len);
    if (keyed == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < self.len; i++) {
        keyed[i].item = self.as.items[i];
        TD_TRY(multi_get(vm, &getter, keyed[i].item, &keyed[i].key));
    }
    TD_TRY(jj_sort(vm, keyed, self.len, turn, getter.count == 1));
    return sorted_items(vm, keyed, self.len, ret);
}

/* ---- unique ---- */

typedef struct unique {
    jj_generator generator;
    td_value source, attribute;
    bool fold_case;
    jj_getter getter;
    jj_iter it;
    td_dict *seen;
} unique;

static td_code unique_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    unique *u = (unique *)g;
    if (!g->started) {
        u->getter.fold_case = u->fold_case;
        TD_TRY(jj_getter_init(vm, u->attribute, &u->getter));
        TD_TRY(jj_iter_init(vm, u->source, &u->it));
        u->seen = td_dict_new(jj_arena(vm), 0);
        if (u->seen == NULL)
            return jj_nomem(vm);
    }
    for (;;) {
        td_value key;
        TD_TRY(jj_iter_next(vm, &u->it, ret, ret_more));
        if (!*ret_more)
            return TD_OK;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(jj_getter_get(vm, &u->getter, *ret, &key));
        uint32_t before = u->seen->count;
        TD_TRY(jj_dict_set(vm, u->seen, key, td_none()));
        if (u->seen->count != before)
            return TD_OK;
    }
}

td_code jj_f_unique(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool sensitive;
    TD_TRY(jj_arg_bool(vm, args, 0, false, &sensitive));
    unique *u = td_arena_new(jj_arena(vm), unique);
    if (u == NULL)
        return jj_nomem(vm);
    *u = (unique){ .generator = { { &jj_generator_type }, unique_step, "sync_do_unique", false,
                                  false, false },
                   .source = self, .attribute = jj_arg(args, 1, td_none()),
                   .fold_case = !sensitive };
    *ret = td_object_of(&u->generator.base);
    return TD_OK;
}

/* ---- groupby ---- */

static td_code push_group(jj_vm *vm, const jj_getter *original, const jj_keyed *items, uint32_t n,
                          jj_items *out)
{
    td_value pair[2], group;
    TD_TRY(sorted_items(vm, items, n, &pair[1]));
    TD_TRY(jj_getter_get(vm, original, items[0].item, &pair[0]));
    TD_TRY(jj_new_tuple(vm, pair, 2, &group));
    group.flags |= JJ_VF_GROUP;
    return jj_items_push(vm, out, group);
}

td_code jj_f_groupby(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    jj_getter getter = { 0 };
    bool sensitive;
    td_value fallback = jj_arg(args, 1, td_none());
    TD_TRY(jj_arg_bool(vm, args, 2, false, &sensitive));
    getter.has_default = !td_is_none(fallback);
    getter.fallback = fallback;
    TD_TRY(jj_getter_init(vm, args->pos[0], &getter));
    jj_getter original = getter;
    getter.fold_case = !sensitive;
    TD_TRY(jj_to_list(vm, self, &self));
    jj_keyed *keyed = td_arena_array(jj_arena(vm), jj_keyed, self.len);
    if (keyed == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < self.len; i++) {
        keyed[i].item = self.as.items[i];
        TD_TRY(jj_getter_get(vm, &getter, keyed[i].item, &keyed[i].key));
    }
    TD_TRY(jj_sort(vm, keyed, self.len, false, false));
    jj_items out = { 0 };
    for (uint32_t from = 0, i = 1; from < self.len; i++) {
        bool same = false;
        if (i < self.len)
            TD_TRY(jj_eq(vm, keyed[from].key, keyed[i].key, &same));
        if (same)
            continue;
        TD_TRY(push_group(vm, &original, &keyed[from], i - from, &out));
        from = i;
    }
    *ret = jj_items_list(&out);
    return TD_OK;
}

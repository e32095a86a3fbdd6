/* filters_map.c - map, select, reject, selectattr, rejectattr: lazy, and prepared only when the
 * first item is asked for, so that wrong arguments of an unused one are no error. */
#include "jinja/builtins/util.h"

typedef struct mapper {
    jj_generator generator;
    td_value source;
    jj_args args; /* own copy */
    jj_iter it;
    const jj_builtin *call; /* the filter or test; NULL: attribute, or truth */
    jj_args call_args;
    jj_getter getter;
    bool by_attribute; /* selectattr, rejectattr */
    bool negate;       /* reject */
} mapper;

/* The arguments must outlive the call that made the generator. */
static td_code keep_args(jj_vm *vm, const jj_args *from, jj_args *to)
{
    td_value *pos = td_arena_array(jj_arena(vm), td_value, from->npos);
    td_entry *kw = td_arena_array(jj_arena(vm), td_entry, from->nkw);
    if (pos == NULL || kw == NULL)
        return jj_nomem(vm);
    if (from->npos != 0)
        memcpy(pos, from->pos, from->npos * sizeof *pos);
    if (from->nkw != 0)
        memcpy(kw, from->kw, from->nkw * sizeof *kw);
    *to = (jj_args){ pos, from->npos, kw, from->nkw };
    return TD_OK;
}

static td_code new_mapper(jj_vm *vm, td_value self, const jj_args *args, const mapper *kind,
                          td_value *ret)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        td_str name = td_as_str(args->kw[i].key);
        if (td_str_eq(name, TD_STR("value")) || td_str_eq(name, TD_STR("context")))
            return jj_raise(vm, JJ_TYPE_ERROR, "%s() got multiple values for argument '%.*s'",
                            kind->generator.name, (int)name.len, name.ptr);
    }
    mapper *m = td_arena_new(jj_arena(vm), mapper);
    if (m == NULL)
        return jj_nomem(vm);
    *m = *kind;
    m->source = self;
    TD_TRY(keep_args(vm, args, &m->args));
    *ret = td_object_of(&m->generator.base);
    return TD_OK;
}

/* Starts iterating unless the source is false; *ret_more tells. */
static td_code start(jj_vm *vm, mapper *m, td_code (*prepare)(jj_vm *, mapper *), bool *ret_more)
{
    TD_TRY(jj_truth(vm, m->source, ret_more));
    if (!*ret_more)
        return TD_OK;
    TD_TRY(prepare(vm, m));
    return jj_iter_init(vm, m->source, &m->it);
}

static td_code named(jj_vm *vm, td_value name, const jj_builtin *(*find)(td_str),
                     const char *what, const jj_builtin **ret)
{
    TD_TRY(jj_hashable(vm, name));
    *ret = name.tag == TD_V_STR ? find(td_as_str(name)) : NULL;
    if (*ret != NULL)
        return TD_OK;
    if (name.tag != TD_V_STR)
        return jj_raise(vm, JJ_RUNTIME_ERROR, "No %s named by a %s.", what, jj_type_name(name));
    return jj_raise(vm, JJ_RUNTIME_ERROR, "No %s named '%.*s'.", what, (int)name.len, name.as.str);
}

/* ---- map ---- */

static td_code prepare_attribute(jj_vm *vm, mapper *m)
{
    td_value attribute = td_none();
    for (uint32_t i = 0; i < m->args.nkw; i++) {
        td_str key = td_as_str(m->args.kw[i].key);
        td_value val = m->args.kw[i].val;
        if (td_str_eq(key, TD_STR("attribute"))) {
            attribute = val;
        } else if (td_str_eq(key, TD_STR("default"))) {
            m->getter.has_default = !td_is_none(val);
            m->getter.fallback = val;
        } else {
            return jj_raise(vm, JJ_FILTER_ARGUMENT, "Unexpected keyword argument '%.*s'",
                            (int)key.len, key.ptr);
        }
    }
    return jj_getter_init(vm, attribute, &m->getter);
}

static td_code prepare_map(jj_vm *vm, mapper *m)
{
    if (m->args.npos == 0) {
        for (uint32_t i = 0; i < m->args.nkw; i++)
            if (td_str_eq(td_as_str(m->args.kw[i].key), TD_STR("attribute")))
                return prepare_attribute(vm, m);
        return jj_raise(vm, JJ_FILTER_ARGUMENT, "map requires a filter argument");
    }
    m->call_args = (jj_args){ m->args.pos + 1, m->args.npos - 1, m->args.kw, m->args.nkw };
    return TD_OK;
}

static td_code map_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    mapper *m = (mapper *)g;
    if (!g->started) {
        TD_TRY(start(vm, m, prepare_map, ret_more));
        if (!*ret_more)
            return TD_OK;
    }
    td_value item;
    TD_TRY(jj_iter_next(vm, &m->it, &item, ret_more));
    if (!*ret_more)
        return TD_OK;
    if (m->args.npos == 0)
        return jj_getter_get(vm, &m->getter, item, ret);
    if (m->call == NULL)
        TD_TRY(named(vm, m->args.pos[0], jj_find_filter, "filter", &m->call));
    return jj_call_builtin(vm, m->call, item, &m->call_args, ret);
}

td_code jj_f_map(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    static const mapper kind = {
        .generator = { { &jj_generator_type }, map_step, "sync_do_map", false, false, false },
    };
    return new_mapper(vm, self, args, &kind, ret);
}

/* ---- select, reject ---- */

static td_code prepare_select(jj_vm *vm, mapper *m)
{
    uint32_t off = m->by_attribute;
    if (off > m->args.npos)
        return jj_raise(vm, JJ_FILTER_ARGUMENT, "Missing parameter for attribute name");
    if (m->by_attribute)
        TD_TRY(jj_getter_init(vm, m->args.pos[0], &m->getter));
    if (off < m->args.npos)
        m->call_args = (jj_args){ m->args.pos + off + 1, m->args.npos - off - 1, m->args.kw,
                                  m->args.nkw };
    return TD_OK;
}

static td_code selected(jj_vm *vm, mapper *m, td_value item, bool *ret)
{
    uint32_t off = m->by_attribute;
    td_value answer;
    TD_TRY(jj_getter_get(vm, &m->getter, item, &item));
    if (m->args.npos <= off) {
        answer = item;
    } else {
        if (m->call == NULL)
            TD_TRY(named(vm, m->args.pos[off], jj_find_test, "test", &m->call));
        TD_TRY(jj_call_builtin(vm, m->call, item, &m->call_args, &answer));
    }
    TD_TRY(jj_truth(vm, answer, ret));
    *ret ^= m->negate;
    return TD_OK;
}

static td_code select_step(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more)
{
    mapper *m = (mapper *)g;
    if (!g->started) {
        TD_TRY(start(vm, m, prepare_select, ret_more));
        if (!*ret_more)
            return TD_OK;
    }
    for (;;) {
        bool yes;
        TD_TRY(jj_iter_next(vm, &m->it, ret, ret_more));
        if (!*ret_more)
            return TD_OK;
        TD_TRY(jj_charge(vm, 1));
        TD_TRY(selected(vm, m, *ret, &yes));
        if (yes)
            return TD_OK;
    }
}

#define SELECTOR(filter, attribute, negative)                                                      \
    td_code jj_f_##filter(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)            \
    {                                                                                              \
        static const mapper kind = {                                                               \
            .generator = { { &jj_generator_type }, select_step, "select_or_reject", false, false,  \
                           false },                                                                \
            .by_attribute = attribute,                                                             \
            .negate = negative,                                                                    \
        };                                                                                         \
        return new_mapper(vm, self, args, &kind, ret);                                             \
    }

SELECTOR(select, false, false)
SELECTOR(reject, false, true)
SELECTOR(selectattr, true, false)
SELECTOR(rejectattr, true, true)

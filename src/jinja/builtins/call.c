/* call.c - finding built-ins by name, binding arguments, functions and bound methods as values.
 *
 * The tables are made from builtins.def and sorted, so a lookup is a binary search; the compiler
 * does most of them once. */
#include "jinja/builtins/util.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

#define FILTER(name, id, min, max, flags, kw, doc) { name, jj_f_##id, min, max, flags, kw },
#define TEST(...)
#define GLOBAL(...)
#define METHOD(...)
#define REFUSED(...)
static const jj_builtin filters[] = {
#include "jinja/builtins.def"
};
#undef FILTER
#undef TEST
#define FILTER(...)
#define TEST(name, id, min, max, flags, kw, doc) { name, jj_t_##id, min, max, flags, kw },
static const jj_builtin tests[] = {
#include "jinja/builtins.def"
};
#undef TEST
#undef GLOBAL
#define TEST(...)

/* Functions as values: constant objects. */
typedef struct function {
    td_object base;
    const jj_builtin *builtin;
} function;

#define GLOBAL(name, id, min, max, flags, kw, doc) { name, jj_g_##id, min, max, flags, kw },
static const jj_builtin globals[] = {
#include "jinja/builtins.def"
};
#undef GLOBAL
#undef METHOD
#undef REFUSED
#define GLOBAL(...)

typedef struct method {
    jj_method_type type;
    jj_builtin builtin;
} method;
#define METHOD(type, name, min, max, flags, kw, doc)                                               \
    { JJ_TYPE_##type, { #name, jj_m_##type##_##name, min, max, flags, kw } },
#define REFUSED(type, name) { JJ_TYPE_##type, { #name, NULL, 0, 0, JJ_B_REFUSED, "-" } },
static const method methods[] = {
#include "jinja/builtins.def"
};
#undef FILTER
#undef TEST
#undef GLOBAL
#undef METHOD
#undef REFUSED

/* ---- lookup ---- */

static int compare_name(td_str name, const char *entry)
{
    return td_str_cmp(name, td_str_from(entry));
}

static const jj_builtin *find(const jj_builtin *table, size_t count, td_str name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = compare_name(name, table[mid].name);
        if (c == 0)
            return &table[mid];
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const jj_builtin *jj_find_filter(td_str name)
{
    return find(filters, COUNT_OF(filters), name);
}

const jj_builtin *jj_find_test(td_str name)
{
    return find(tests, COUNT_OF(tests), name);
}

const jj_builtin *jj_type_method(jj_method_type type, td_str name)
{
    size_t low = 0, high = COUNT_OF(methods);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const method *m = &methods[mid];
        int c = type != m->type ? (type < m->type ? -1 : 1) : compare_name(name, m->builtin.name);
        if (c == 0)
            return &m->builtin;
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const jj_builtin *jj_find_method(td_value receiver, td_str name)
{
    const jj_builtin *own = NULL;
    switch ((td_vtag)receiver.tag) {
    case TD_V_STR:
        if (jj_is_markup(receiver))
            own = jj_type_method(JJ_TYPE_markup, name);
        return own != NULL ? own : jj_type_method(JJ_TYPE_str, name);
    case TD_V_BOOL:
    case TD_V_INT:
    case TD_V_BIGINT:
        return jj_type_method(JJ_TYPE_int, name);
    case TD_V_FLOAT:
        return jj_type_method(JJ_TYPE_float, name);
    case TD_V_LIST:
        return jj_type_method(JJ_TYPE_list, name);
    case TD_V_TUPLE:
        if ((receiver.flags & JJ_VF_GROUP) != 0)
            own = jj_type_method(JJ_TYPE_group, name);
        return own != NULL ? own : jj_type_method(JJ_TYPE_tuple, name);
    case TD_V_DICT:
        return jj_type_method(JJ_TYPE_dict, name);
    default:
        return NULL;
    }
}

/* ---- binding ---- */

enum { PARAMETERS_MAX = 8 };

/* The number of the parameter called key among b's names, or -1. */
static int parameter(const jj_builtin *b, td_str key)
{
    if (b->kw[0] == '-')
        return -1;
    int n = 0;
    for (const char *at = b->kw; *at != '\0'; n++) {
        const char *end = at;
        while (*end != '\0' && *end != ' ')
            end++;
        if (td_str_eq(key, (td_str){ at, (size_t)(end - at) }))
            return n;
        at = *end == ' ' ? end + 1 : end;
    }
    return -1;
}

static td_code bind_keywords(jj_vm *vm, const jj_builtin *b, const jj_args *args, td_value *pos,
                             td_entry *rest, uint32_t *ret_rest)
{
    for (uint32_t i = 0; i < args->nkw; i++) {
        td_str key = td_as_str(args->kw[i].key);
        int n = parameter(b, key);
        if (n >= 0) {
            if (pos[n].tag != JJ_ABSENT)
                return jj_raise(vm, JJ_TYPE_ERROR, "%s() got multiple values for argument '%.*s'",
                                b->name, (int)key.len, key.ptr);
            pos[n] = args->kw[i].val;
        } else if ((b->flags & JJ_B_KWARGS) != 0) {
            rest[(*ret_rest)++] = args->kw[i];
        } else {
            return jj_raise(vm, JJ_TYPE_ERROR, "%s() got an unexpected keyword argument '%.*s'",
                            b->name, (int)key.len, key.ptr);
        }
    }
    return TD_OK;
}

/* The whole of binding, for calls that are not plainly positional. */
static td_code bind_and_call(jj_vm *vm, const jj_builtin *b, td_value self, const jj_args *args,
                             td_value *ret)
{
    td_value few[PARAMETERS_MAX], *pos = few;
    uint32_t count = args->npos > b->max ? args->npos : b->max;
    if (count > PARAMETERS_MAX &&
        (pos = td_arena_array(jj_arena(vm), td_value, count)) == NULL)
        return jj_nomem(vm);
    td_entry *rest = NULL;
    uint32_t nrest = 0;
    if ((b->flags & JJ_B_KWARGS) != 0 && args->nkw != 0 &&
        (rest = td_arena_array(jj_arena(vm), td_entry, args->nkw)) == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < count; i++)
        pos[i] = i < args->npos ? args->pos[i] : (td_value){ .tag = JJ_ABSENT };
    TD_TRY(bind_keywords(vm, b, args, pos, rest, &nrest));
    for (uint32_t i = 0; i < b->min; i++)
        if (pos[i].tag == JJ_ABSENT)
            return jj_raise(vm, JJ_TYPE_ERROR, "%s() is missing required argument %u", b->name,
                            i + 1);
    jj_args bound = { pos, count, rest, nrest };
    return b->fn(vm, self, &bound, ret);
}

td_code jj_call_builtin(jj_vm *vm, const jj_builtin *b, td_value self, const jj_args *args,
                        td_value *ret)
{
    TD_TRY(jj_charge_texts(vm, &self, 1));
    TD_TRY(jj_charge_texts(vm, args->pos, args->npos));
    for (uint32_t i = 0; i < args->nkw; i++)
        TD_TRY(jj_charge_texts(vm, &args->kw[i].val, 1));
    if (args->npos > b->max && (b->flags & JJ_B_VARARGS) == 0)
        return jj_raise(vm, JJ_TYPE_ERROR, "%s() takes at most %u arguments (%u given)", b->name,
                        b->max, args->npos);
    if (args->nkw != 0 || args->npos < b->min)
        return bind_and_call(vm, b, self, args, ret);
    return b->fn(vm, self, args, ret);
}

/* ---- functions as values ---- */

static td_code function_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    return jj_call_builtin(vm, ((const function *)self)->builtin, td_none(), args, ret);
}

/* What the reference's functions and classes are called in its own source. */
#define LOCAL "_cached_compile_jinja_template.<locals>."
#define MODULE "transformers.utils.chat_template_utils."
static const char *const own_names[][2] = {
    { "range", "safe_range" },
    { "lipsum", "generate_lorem_ipsum" },
    { "strftime_now", LOCAL "strftime_now" },
    { "raise_exception", LOCAL "raise_exception" },
    { "namespace", MODULE LOCAL "TemplateNamespace" },
    { "cycler", "jinja2.utils.Cycler" },
    { "joiner", "jinja2.utils.Joiner" },
};

static const char *own_name(const td_object *self)
{
    const char *name = ((const function *)(const void *)self)->builtin->name;
    for (size_t i = 0; i < COUNT_OF(own_names); i++)
        if (strcmp(own_names[i][0], name) == 0)
            return own_names[i][1];
    return name;
}

static td_code function_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    return td_buf_printf(out, "<function %s at 0x7f0000000000>", own_name(self));
}

static td_code class_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    return td_buf_printf(out, "<class '%s'>", own_name(self));
}

static td_code dict_class_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    (void)vm;
    (void)self;
    return td_buf_put(out, TD_STR("<" MODULE LOCAL "TemplateDict object at 0x7f0000000000>"));
}

static const td_object_type function_type = {
    .name = "function",
    .call = function_call,
    .repr = function_repr,
};

/* cycler, joiner and namespace are classes. */
static const td_object_type class_type = {
    .name = "type",
    .call = function_call,
    .repr = class_repr,
    .is_class = true,
};

static td_code dict_class_getattr(jj_vm *vm, td_object *self, td_str name, td_value *ret)
{
    return jj_object_attr(vm, JJ_TYPE_dictclass, self, name, ret);
}

static const td_object_type dict_class_type = {
    .name = "TemplateDict",
    .getattr = dict_class_getattr,
    .call = function_call,
    .repr = dict_class_repr,
};

/* In the order of builtins.def. */
static const function functions[] = {
    { { &class_type }, &globals[0] },      /* cycler */
    { { &dict_class_type }, &globals[1] }, /* dict */
    { { &class_type }, &globals[2] },      /* joiner */
    { { &function_type }, &globals[3] },   /* lipsum */
    { { &class_type }, &globals[4] },      /* namespace */
    { { &function_type }, &globals[5] },   /* raise_exception */
    { { &function_type }, &globals[6] },   /* range */
    { { &function_type }, &globals[7] },   /* strftime_now */
};
_Static_assert(COUNT_OF(functions) == COUNT_OF(globals), "each global has its object");

#define FUNCTION_VALUE(i) { .tag = TD_V_OBJECT, .as.object = (td_object *)&functions[i].base }
static const td_value function_values[] = {
    FUNCTION_VALUE(0), FUNCTION_VALUE(1), FUNCTION_VALUE(2), FUNCTION_VALUE(3),
    FUNCTION_VALUE(4), FUNCTION_VALUE(5), FUNCTION_VALUE(6), FUNCTION_VALUE(7),
};

const td_value *jj_find_global(td_str name)
{
    const jj_builtin *b = find(globals, COUNT_OF(globals), name);
    return b != NULL ? &function_values[b - globals] : NULL;
}

/* ---- bound methods ---- */

typedef struct bound_method {
    td_object base;
    const jj_builtin *builtin;
    td_value receiver;
} bound_method;

static td_code bound_call(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret)
{
    const bound_method *m = (const bound_method *)self;
    return jj_call_builtin(vm, m->builtin, m->receiver, args, ret);
}

static td_code bound_eq(jj_vm *vm, td_object *self, td_value other, bool *ret);

static td_code bound_repr(jj_vm *vm, td_object *self, td_buf *out)
{
    static const char *const inherited[] = { "count", "encode", "endswith", "find", "index",
                                             "maketrans", "rfind", "rindex", "startswith" };
    const bound_method *m = (const bound_method *)self;
    const char *name = m->builtin->name;
    bool own = jj_is_markup(m->receiver) && strncmp(name, "is", 2) != 0;
    for (size_t i = 0; i < COUNT_OF(inherited); i++)
        own = own && strcmp(name, inherited[i]) != 0;
    if (own) { /* Markup's own methods are Python functions */
        TD_TRY(td_buf_printf(out, "<bound method Markup.%s of ", name));
        TD_TRY(jj_append_repr(vm, out, m->receiver));
        return td_buf_byte(out, '>');
    }
    return td_buf_printf(out, "<built-in method %s of %s object at 0x7f0000000000>",
                         name, jj_type_name(m->receiver));
}

static const td_object_type bound_method_type = {
    .name = "builtin_function_or_method",
    .call = bound_call,
    .eq = bound_eq,
    .repr = bound_repr,
};

/* Equal when bound to the same object. */
static td_code bound_eq(jj_vm *vm, td_object *self, td_value other, bool *ret)
{
    (void)vm;
    const bound_method *m = (const bound_method *)self, *o;
    *ret = false;
    if (jj_is_object(other, &bound_method_type)) {
        o = (const bound_method *)other.as.object;
        *ret = m->builtin == o->builtin && m->receiver.tag == o->receiver.tag &&
               m->receiver.as.integer == o->receiver.as.integer &&
               m->receiver.len == o->receiver.len;
    }
    return TD_OK;
}

td_code jj_bind_method(jj_vm *vm, const jj_builtin *b, td_value receiver, td_value *ret)
{
    bound_method *m = td_arena_new(jj_arena(vm), bound_method);
    if (m == NULL)
        return jj_nomem(vm);
    *m = (bound_method){ { &bound_method_type }, b, receiver };
    *ret = td_object_of(&m->base);
    return TD_OK;
}

static td_code attr_of(jj_vm *vm, const jj_builtin *b, td_value v, td_str name, td_value *ret)
{
    if ((b->flags & JJ_B_REFUSED) != 0)
        return jj_undefined_unsafe(vm, v, name, ret);
    if ((b->flags & JJ_B_PROPERTY) != 0)
        return b->fn(vm, v, &(jj_args){ NULL, 0, NULL, 0 }, ret);
    return jj_bind_method(vm, b, v, ret);
}

td_code jj_object_attr(jj_vm *vm, jj_method_type type, td_object *self, td_str name,
                       td_value *ret)
{
    const jj_builtin *b = jj_type_method(type, name);
    *ret = td_undefined_value();
    return b != NULL ? attr_of(vm, b, td_object_of(self), name, ret) : TD_OK;
}

td_code jj_attr_only(jj_vm *vm, td_value v, td_str name, td_value *ret, bool *ret_found)
{
    *ret_found = true;
    if (name.len != 0 && name.ptr[0] == '_')
        return jj_undefined_unsafe(vm, v, name, ret);
    if (v.tag == TD_V_OBJECT) {
        const td_object_type *type = v.as.object->type;
        *ret = td_undefined_value();
        if (type->getattr != NULL)
            TD_TRY(type->getattr(vm, v.as.object, name, ret));
        *ret_found = ret->tag != TD_V_UNDEFINED;
        return TD_OK;
    }
    const jj_builtin *b = jj_find_method(v, name);
    *ret_found = b != NULL;
    return b != NULL ? attr_of(vm, b, v, name, ret) : TD_OK;
}

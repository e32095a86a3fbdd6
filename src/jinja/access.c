/* access.c - attributes, items and slices as the reference's sandbox gives them, and the undefined
 * values that missing ones become.
 *
 * x.name looks for an attribute of the Python type first and for the item second, x[name] the
 * other way round; what the sandbox refuses becomes an undefined that raises SecurityError. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "jinja/vm_internal.h"

/* ---- undefined values ---- */

td_value jj_missing_value(const td_undefined *u)
{
    return (td_value){ .tag = TD_V_UNDEFINED, .flags = JJ_UF_MISSING, .as.undefined = u };
}

static td_code undefined_new(jj_vm *vm, td_undefined u, td_value *ret)
{
    td_undefined *to = td_arena_new(vm->arena, td_undefined);
    if (to == NULL)
        return jj_nomem(vm);
    *to = u;
    *ret = (td_value){ .tag = TD_V_UNDEFINED, .as.undefined = to };
    return TD_OK;
}

td_code jj_undefined_hint(jj_vm *vm, jj_exc exc, td_str hint, td_value *ret)
{
    return undefined_new(vm, (td_undefined){ .exc = exc, .hint = hint }, ret);
}

td_code jj_undefined_attr(jj_vm *vm, td_value obj, td_value name, td_value *ret)
{
    td_undefined u = { .exc = JJ_UNDEFINED_ERROR, .name = name, .type = jj_type_name(obj) };
    return undefined_new(vm, u, ret);
}

td_code jj_undefined_unsafe(jj_vm *vm, td_value obj, td_str name, td_value *ret)
{
    char text[200];
    td_value hint;
    int n = snprintf(text, sizeof text, "access to attribute '%.*s' of '%.60s' object is unsafe.",
                     (int)(name.len < 80 ? name.len : 80), name.ptr, jj_type_name(obj));
    TD_TRY(jj_new_text(vm, (td_str){ text, (size_t)n }, &hint));
    return jj_undefined_hint(vm, JJ_SECURITY_ERROR, td_as_str(hint), ret);
}

/* The type that v says it was missing in: its own record's, or the one in its flags. */
static const char *missing_in(td_value v)
{
    unsigned tag = v.flags >> JJ_UF_TYPE;
    if (v.as.undefined->type != NULL || tag == 0)
        return v.as.undefined->type;
    return td_value_type_name((td_value){ .tag = (uint8_t)(tag - 1) });
}

td_code jj_raise_undefined(jj_vm *vm, td_value v)
{
    const td_undefined *u = v.as.undefined;
    if (u == NULL)
        return jj_raise(vm, JJ_UNDEFINED_ERROR, "value is undefined");
    if (u->hint.len != 0)
        return jj_raise_text(vm, u->exc, u->hint);
    td_buf text = { 0 };
    const char *type = missing_in(v);
    if (type != NULL && td_is_str(u->name))
        td_buf_printf(&text, "'%s object' has no attribute ", type);
    else if (type != NULL)
        td_buf_printf(&text, "%s object has no element ", type);
    jj_append_repr(vm, &text, u->name);
    if (type == NULL)
        td_buf_put(&text, TD_STR(" is undefined"));
    if (vm->err->code != TD_OK) {
        td_buf_done(&text);
        return vm->err->code;
    }
    td_code code = jj_raise_text(vm, u->exc, td_buf_view(&text));
    td_buf_done(&text);
    return code;
}

/* ---- attributes ---- */

/* Attributes that every Python object has; all of them are refused. */
static bool is_python_internal(td_str name)
{
    static const char *const names[] = {
        "__class__", "__doc__", "__init__", "__new__", "__repr__", "__str__", "__eq__", "__ne__",
        "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__dir__", "__getattribute__",
        "__setattr__", "__delattr__", "__reduce__", "__reduce_ex__", "__sizeof__", "__format__",
        "__subclasshook__", "__init_subclass__", "__getstate__",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (td_str_eq(name, td_str_from(names[i])))
            return true;
    return false;
}

td_code jj_no_attr(jj_vm *vm, td_value v, const jj_attr *attr, td_value *ret)
{
    if (v.tag >= TD_V_OBJECT)
        return jj_undefined_attr(vm, v, attr->key, ret);
    *ret = (td_value){ .tag = TD_V_UNDEFINED, .as.undefined = &attr->missing };
    ret->flags = (uint8_t)((v.tag + 1u) << JJ_UF_TYPE);
    return TD_OK;
}

static td_code use_method(jj_vm *vm, const jj_builtin *b, td_value v, td_str name, td_value *ret)
{
    jj_args none = { 0 };
    if (b->flags & JJ_B_REFUSED)
        return jj_undefined_unsafe(vm, v, name, ret);
    if (b->flags & JJ_B_PROPERTY)
        return b->fn(vm, v, &none, ret);
    return jj_bind_method(vm, b, v, ret);
}

static td_code namespace_get(const jj_namespace *ns, td_value key, td_value *ret, bool *ret_found)
{
    const td_value *found = jj_find(ns->attrs, key);
    *ret_found = found != NULL;
    if (found != NULL)
        *ret = *found;
    return TD_OK;
}

/* The Python attribute of an object, no items; *ret_found false: it has none of that name. */
static td_code object_attr(jj_vm *vm, td_object *o, td_value key, uint8_t loop_field,
                           td_value *ret, bool *ret_found)
{
    *ret_found = true;
    if (o->type == &jj_namespace_type)
        return namespace_get((const jj_namespace *)o, key, ret, ret_found);
    if (o->type == &jj_loop_type && loop_field != JJ_LOOP_NONE)
        return jj_loop_get(vm, (jj_loop *)o, (jj_loop_field)loop_field, ret);
    *ret_found = false;
    if (o->type->getattr == NULL)
        return TD_OK;
    TD_TRY(o->type->getattr(vm, o, td_as_str(key), ret));
    *ret_found = ret->tag != TD_V_UNDEFINED || ret->as.undefined != NULL;
    return TD_OK;
}

static td_code object_item(jj_vm *vm, td_object *o, td_value key, td_value *ret, bool *ret_found)
{
    *ret_found = false;
    if (o->type->getitem == NULL)
        return TD_OK;
    td_code code = o->type->getitem(vm, o, key, ret);
    if (jj_catch(vm, code, 1u << JJ_TYPE_ERROR | 1u << JJ_KEY_ERROR | 1u << JJ_INDEX_ERROR))
        return TD_OK;
    *ret_found = ret->tag != TD_V_UNDEFINED || ret->as.undefined != NULL;
    return code;
}

td_code jj_attr_get(jj_vm *vm, td_value v, const jj_attr *attr, td_value *ret)
{
    bool found;
    if (v.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, v);
    if (attr->unsafe && is_python_internal(td_as_str(attr->key)))
        return jj_undefined_unsafe(vm, v, td_as_str(attr->key), ret);
    if (v.tag == TD_V_OBJECT) {
        TD_TRY(object_attr(vm, v.as.object, attr->key, attr->loop_field, ret, &found));
        if (!found)
            TD_TRY(object_item(vm, v.as.object, attr->key, ret, &found));
        return found ? TD_OK : jj_no_attr(vm, v, attr, ret);
    }
    const jj_builtin *b = jj_is_markup(v) ? attr->markup_method : attr->methods[v.tag];
    if (b == NULL && v.tag == TD_V_TUPLE && v.flags != 0) /* groupby's have names */
        b = jj_find_method(v, td_as_str(attr->key));
    if (b != NULL)
        return use_method(vm, b, v, td_as_str(attr->key), ret);
    const td_value *item = v.tag == TD_V_DICT ? td_dict_find_key(v.as.dict, attr->key) : NULL;
    if (item == NULL)
        return jj_no_attr(vm, v, attr, ret);
    *ret = *item;
    return TD_OK;
}

td_code jj_getattr(jj_vm *vm, td_value v, td_str name, td_value *ret)
{
    jj_attr attr = { .key = td_key(name), .loop_field = jj_loop_field_of(name),
                     .unsafe = name.len != 0 && name.ptr[0] == '_' };
    if (v.tag < TD_V_OBJECT) {
        attr.methods[v.tag] = jj_find_method(v, name);
        attr.markup_method = attr.methods[v.tag];
    }
    TD_TRY(jj_attr_get(vm, v, &attr, ret));
    if (ret->tag == TD_V_UNDEFINED && ret->as.undefined == &attr.missing)
        return jj_undefined_attr(vm, v, attr.key, ret);
    return TD_OK;
}

/* ---- items ---- */

static td_code text_of_length(jj_vm *vm, const char *at, size_t len, td_value v, td_value *ret)
{
    (void)vm;
    *ret = td_string((td_str){ at, len });
    ret->flags = (uint8_t)(v.flags & (TD_VF_MARKUP | TD_VF_ASCII));
    return TD_OK;
}

static bool is_ascii(td_value v)
{
    if (v.flags & (TD_VF_ASCII | TD_VF_NONASCII))
        return (v.flags & TD_VF_ASCII) != 0;
    return td_utf8_is_ascii(td_as_str(v));
}

static int64_t text_length(td_value v)
{
    return is_ascii(v) ? (int64_t)v.len : (int64_t)td_utf8_count(td_as_str(v));
}

/* The byte behind count code points from at on. */
static size_t skip_code_points(td_str s, size_t at, int64_t count)
{
    for (; count > 0; count--) {
        at++;
        while (at < s.len && td_utf8_is_cont(s.ptr[at]))
            at++;
    }
    return at;
}

static td_code char_at(jj_vm *vm, td_value v, int64_t i, td_value *ret)
{
    td_str s = td_as_str(v);
    if (is_ascii(v))
        return text_of_length(vm, s.ptr + i, 1, v, ret);
    size_t at = skip_code_points(s, 0, i);
    return text_of_length(vm, s.ptr + at, skip_code_points(s, at, 1) - at, v, ret);
}

/* The item of a sequence, *ret_found false when there is none. */
static td_code sequence_item(jj_vm *vm, td_value v, td_value key, td_value *ret, bool *ret_found)
{
    TD_TRY(jj_charge_texts(vm, &v, 1));
    int64_t length = td_is_str(v) ? text_length(v) : (int64_t)v.len;
    int64_t i = key.as.integer;
    if (i < 0)
        i += length;
    *ret_found = i >= 0 && i < length;
    if (!*ret_found)
        return TD_OK;
    if (td_is_str(v))
        return char_at(vm, v, i, ret);
    *ret = v.as.items[i];
    return TD_OK;
}

/* The value under key; *ret NULL: none. A key that has no hash is not in any dict. */
static td_code find_in_dict(jj_vm *vm, const td_dict *d, td_value key, const td_value **ret)
{
    *ret = NULL;
    td_code code = jj_hashable(vm, key);
    if (jj_catch(vm, code, 1u << JJ_TYPE_ERROR))
        return TD_OK;
    if (code == TD_OK)
        *ret = td_dict_get(d, key);
    return code;
}

static td_code item_of(jj_vm *vm, td_value v, td_value key, td_value *ret, bool *ret_found)
{
    bool index = key.tag == TD_V_INT || key.tag == TD_V_BOOL;
    *ret_found = false;
    switch (v.tag) {
    case TD_V_DICT: {
        const td_value *found;
        TD_TRY(find_in_dict(vm, v.as.dict, key, &found));
        *ret_found = found != NULL;
        if (found != NULL)
            *ret = *found;
        return TD_OK;
    }
    case TD_V_STR:
    case TD_V_LIST:
    case TD_V_TUPLE:
        return index ? sequence_item(vm, v, key, ret, ret_found) : TD_OK;
    case TD_V_OBJECT:
        return object_item(vm, v.as.object, key, ret, ret_found);
    default:
        return TD_OK;
    }
}

td_code jj_getitem(jj_vm *vm, td_value v, td_value key, td_value *ret)
{
    bool found;
    if (v.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, v);
    TD_TRY(item_of(vm, v, key, ret, &found));
    if (found)
        return TD_OK;
    td_str name = td_as_str(key);
    if (td_is_str(key) && is_python_internal(name))
        return jj_undefined_unsafe(vm, v, name, ret);
    if (td_is_str(key) && v.tag == TD_V_OBJECT) {
        td_value k = td_key(name);
        TD_TRY(object_attr(vm, v.as.object, k, jj_loop_field_of(name), ret, &found));
        if (found)
            return TD_OK;
    } else if (td_is_str(key)) {
        const jj_builtin *b = jj_find_method(v, name);
        if (b != NULL)
            return use_method(vm, b, v, name, ret);
    }
    return jj_undefined_attr(vm, v, key, ret);
}

td_code jj_namespace_set(jj_vm *vm, td_value ns, td_value name, td_value v)
{
    if (name.len != 0 && name.as.str[0] == '_')
        return jj_raise(vm, JJ_SECURITY_ERROR,
                        "underscore-prefixed attributes cannot be stored on a namespace");
    td_dict *d = ((jj_namespace *)ns.as.object)->attrs;
    if (v.tag == TD_V_UNDEFINED)
        v.flags &= (uint8_t)~(JJ_UF_MISSING | JJ_UF_ABSENT);
    const td_value *old = jj_find(d, name);
    if (old != NULL) {
        *(td_value *)(uintptr_t)old = v;
        return TD_OK;
    }
    return td_dict_set(vm->arena, d, name, v) ? TD_OK : jj_nomem(vm);
}

/* ---- slices ---- */

typedef struct jj_span_of {
    int64_t start, stop, step, count;
} jj_span_of;

static td_code slice_part(jj_vm *vm, td_value v, int64_t *ret)
{
    if (v.tag != TD_V_INT && v.tag != TD_V_BOOL && v.tag != TD_V_BIGINT)
        return jj_raise(vm, JJ_TYPE_ERROR, "slice indices must be integers or None");
    return jj_index(vm, v, ret);
}

static int64_t clamp(int64_t i, int64_t length, bool backwards)
{
    if (i < 0) {
        i += length;
        if (i < 0)
            i = backwards ? -1 : 0;
    } else if (i >= length) {
        i = backwards ? length - 1 : length;
    }
    return i;
}

/* Python's slice.indices(length). */
static td_code resolve_slice(jj_vm *vm, int64_t length, td_value start, td_value stop,
                             td_value step, jj_span_of *ret)
{
    int64_t by = 1, first, last;
    if (!td_is_none(step))
        TD_TRY(slice_part(vm, step, &by));
    if (by == 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "slice step cannot be zero");
    bool back = by < 0;
    if (by == INT64_MIN)
        by++;
    first = back ? length - 1 : 0;
    last = back ? -1 : length;
    if (!td_is_none(start)) {
        TD_TRY(slice_part(vm, start, &first));
        first = clamp(first, length, back);
    }
    if (!td_is_none(stop)) {
        TD_TRY(slice_part(vm, stop, &last));
        last = clamp(last, length, back);
    }
    int64_t count = 0;
    if (back ? first > last : first < last)
        count = back ? (first - last - 1) / -by + 1 : (last - first - 1) / by + 1;
    *ret = (jj_span_of){ first, last, by, count };
    return TD_OK;
}

static td_code slice_items(jj_vm *vm, td_value v, jj_span_of s, td_value *ret)
{
    *ret = v;
    ret->len = (uint32_t)s.count;
    if (s.step == 1 || s.count == 0) {
        if (s.count != 0)
            ret->as.items = v.as.items + s.start;
        return TD_OK;
    }
    td_value *items = td_arena_array(vm->arena, td_value, (size_t)s.count);
    if (items == NULL)
        return jj_nomem(vm);
    for (int64_t i = 0; i < s.count; i++)
        items[i] = v.as.items[s.start + i * s.step];
    ret->as.items = items;
    return TD_OK;
}

static td_code slice_text(jj_vm *vm, td_value v, jj_span_of s, td_value *ret)
{
    td_str text = td_as_str(v);
    bool ascii = is_ascii(v);
    if (s.step == 1 || s.count == 0) {
        size_t at = ascii || s.count == 0 ? (size_t)s.start : skip_code_points(text, 0, s.start);
        if (s.count == 0)
            return text_of_length(vm, text.ptr, 0, v, ret);
        size_t end = ascii ? at + (size_t)s.count : skip_code_points(text, at, s.count);
        return text_of_length(vm, text.ptr + at, end - at, v, ret);
    }
    size_t *starts = td_arena_array(vm->arena, size_t, text.len + 1);
    char *to = td_arena_alloc(vm->arena, text.len + 32, 1);
    if (starts == NULL || to == NULL)
        return jj_nomem(vm);
    size_t n = 0, len = 0;
    for (size_t at = 0; at < text.len; at = skip_code_points(text, at, 1))
        starts[n++] = at;
    starts[n] = text.len;
    for (int64_t i = 0; i < s.count; i++) {
        int64_t k = s.start + i * s.step;
        memcpy(to + len, text.ptr + starts[k], starts[k + 1] - starts[k]);
        len += starts[k + 1] - starts[k];
    }
    return text_of_length(vm, to, len, v, ret);
}

static td_code slice_range(jj_vm *vm, const jj_range *r, td_value start, td_value stop,
                           td_value step, td_value *ret)
{
    jj_span_of s;
    TD_TRY(resolve_slice(vm, r->count, start, stop, step, &s));
    return jj_new_range(vm, r->start + s.start * r->step, r->start + s.stop * r->step,
                        r->step * s.step, ret);
}

td_code jj_slice(jj_vm *vm, td_value v, td_value start, td_value stop, td_value step,
                 td_value *ret)
{
    jj_span_of s;
    switch (v.tag) {
    case TD_V_UNDEFINED:
        return jj_raise_undefined(vm, v);
    case TD_V_STR:
        TD_TRY(jj_charge_texts(vm, &v, 1));
        TD_TRY(resolve_slice(vm, text_length(v), start, stop, step, &s));
        TD_TRY(jj_charge(vm, s.step == 1 ? 0 : v.len));
        return slice_text(vm, v, s, ret);
    case TD_V_LIST:
    case TD_V_TUPLE:
        TD_TRY(resolve_slice(vm, v.len, start, stop, step, &s));
        TD_TRY(jj_charge(vm, s.step == 1 ? 0 : (uint64_t)s.count));
        return slice_items(vm, v, s, ret);
    case TD_V_DICT:
        return jj_raise(vm, JJ_TYPE_ERROR, "unhashable type: 'slice'");
    case TD_V_OBJECT:
        if (v.as.object->type == &jj_range_type)
            return slice_range(vm, (const jj_range *)v.as.object, start, stop, step, ret);
        if (v.as.object->type == &jj_bytes_type)
            return jj_bytes_slice(vm, v, start, stop, step, ret);
        break;
    default:
        break;
    }
    return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not subscriptable", jj_type_name(v));
}

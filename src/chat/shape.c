/* shape.c - messages as templates see them. New nodes are built, the input is never edited. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/prompt.h"
#include "value/json.h"

bool td_py_truthy(td_value v)
{
    switch ((td_vtag)v.tag) {
    case TD_V_UNDEFINED:
    case TD_V_NONE:
        return false;
    case TD_V_BOOL:
        return v.as.boolean;
    case TD_V_INT:
        return v.as.integer != 0;
    case TD_V_FLOAT:
        return v.as.real != 0.0;
    case TD_V_STR:
    case TD_V_LIST:
    case TD_V_TUPLE:
        return v.len != 0;
    case TD_V_DICT:
        return v.as.dict->count != 0;
    case TD_V_BIGINT:
    case TD_V_OBJECT:
        break;
    }
    return true;
}

static td_value *copy_items(td_arena *a, td_value list)
{
    td_value *items = td_arena_array(a, td_value, (size_t)list.len + 1);
    if (items != NULL && list.len != 0)
        memcpy(items, list.as.items, list.len * sizeof *items);
    return items;
}

enum { AHEAD = 6 }; /* messages that are asked of the memory at once */

/* A conversation that waited has left the caches: its messages come nearer before their turn. A
 * reader puts a dict's entries right behind it. */
static inline void expect_message(const td_value *messages, uint32_t i)
{
    if (i >= messages->len || messages->as.items[i].tag != TD_V_DICT)
        return;
    const char *dict = (const char *)messages->as.items[i].as.dict;
    __builtin_prefetch(dict);
    __builtin_prefetch(dict + 64);
    __builtin_prefetch(dict + 128);
}

/* ---- arguments ---- */

/* The object that text spells; false: it spells none. */
static bool parse_object(td_arena *a, td_str text, td_value *ret)
{
    size_t at = 0;
    while (at < text.len && memchr(" \t\n\r", text.ptr[at], 4) != NULL)
        at++;
    if (at == text.len || text.ptr[at] != '{')
        return false;
    td_error ignored = TD_ERROR_INIT;
    td_code code = td_json_read(a, text, ret, &ignored);
    td_error_clear(&ignored);
    return code == TD_OK && ret->tag == TD_V_DICT;
}

/* call with parsed arguments; unchanged when there is nothing to parse. */
static td_code shape_call(td_arena *a, td_value *call, td_error *err)
{
    const td_value *function =
        call->tag == TD_V_DICT ? td_dict_find(call->as.dict, TD_STR("function")) : NULL;
    const td_value *arguments = function != NULL && function->tag == TD_V_DICT
                                    ? td_dict_find(function->as.dict, TD_STR("arguments"))
                                    : NULL;
    td_value parsed;
    if (arguments == NULL || !td_is_str(*arguments) ||
        !parse_object(a, td_as_str(*arguments), &parsed))
        return TD_OK;
    td_dict *new_function = td_dict_copy(a, function->as.dict, 0);
    td_dict *new_call = td_dict_copy(a, call->as.dict, 0);
    if (new_function == NULL || new_call == NULL ||
        !td_dict_set(a, new_function, td_key(TD_STR("arguments")), parsed) ||
        !td_dict_set(a, new_call, td_key(TD_STR("function")), td_dict_of(new_function)))
        return td_arena_fail(a, err);
    *call = td_dict_of(new_call);
    return TD_OK;
}

static td_code shape_calls_of(td_arena *a, td_value *message, td_error *err)
{
    const td_value *calls =
        message->tag == TD_V_DICT ? td_dict_find(message->as.dict, TD_STR("tool_calls")) : NULL;
    if (calls == NULL || calls->tag != TD_V_LIST || calls->len == 0)
        return TD_OK;
    td_value *items = copy_items(a, *calls);
    if (items == NULL)
        return td_arena_fail(a, err);
    bool changed = false;
    for (uint32_t i = 0; i < calls->len; i++) {
        const td_dict *before = items[i].tag == TD_V_DICT ? items[i].as.dict : NULL;
        TD_TRY(shape_call(a, &items[i], err));
        changed |= before != NULL && items[i].as.dict != before;
    }
    if (!changed)
        return TD_OK;
    td_dict *new_message = td_dict_copy(a, message->as.dict, 0);
    if (new_message == NULL ||
        !td_dict_set(a, new_message, td_key(TD_STR("tool_calls")), td_list_of(items, calls->len)))
        return td_arena_fail(a, err);
    *message = td_dict_of(new_message);
    return TD_OK;
}

td_code td_shape_arguments(td_arena *a, td_value messages, td_value *ret, td_error *err)
{
    td_value *items = copy_items(a, messages);
    if (items == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = 0; i < messages.len; i++) {
        expect_message(&messages, i + AHEAD);
        TD_TRY(shape_calls_of(a, &items[i], err));
    }
    *ret = td_list_of(items, messages.len);
    return TD_OK;
}

/* ---- nulls and reasoning ---- */

static const td_str reasoning_names[] = {
    { "reasoning_content", 17 },
    { "thinking", 8 },
    { "reasoning", 9 },
};

static const td_value *find_reasoning(const td_dict *message)
{
    for (size_t i = 0; i < sizeof reasoning_names / sizeof *reasoning_names; i++) {
        const td_value *v = td_dict_find(message, reasoning_names[i]);
        if (v != NULL && !td_is_none(*v))
            return v;
    }
    return NULL;
}

static bool has_null(const td_dict *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (td_is_none(d->entries[i].val))
            return true;
    }
    return false;
}

static td_code shape_message(td_arena *a, td_value *message, td_error *err)
{
    const td_dict *old = message->as.dict;
    const td_value *reasoning = find_reasoning(old);
    if (reasoning == NULL && !has_null(old))
        return TD_OK;
    td_dict *d = td_dict_new(a, old->count + 2);
    bool ok = d != NULL;
    if (reasoning != NULL) /* stands first; a value of the message's own replaces it in place */
        ok = ok && td_dict_set(a, d, td_key(TD_STR("thinking")), *reasoning);
    for (uint32_t i = 0; ok && i < old->count; i++) {
        if (!td_is_none(old->entries[i].val))
            ok = td_dict_set(a, d, old->entries[i].key, old->entries[i].val);
    }
    if (reasoning != NULL)
        ok = ok && td_dict_set(a, d, td_key(TD_STR("reasoning_content")), *reasoning);
    if (!ok)
        return td_arena_fail(a, err);
    *message = td_dict_of(d);
    return TD_OK;
}

td_code td_shape_messages(td_arena *a, td_value messages, td_value *ret, td_error *err)
{
    td_value *items = copy_items(a, messages);
    if (items == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = 0; i < messages.len; i++) {
        if (items[i].tag != TD_V_DICT) {
            td_fail(err, TD_E_INPUT, "messages[%u] must be an object, not %s", i,
                    td_value_type_name(items[i]));
            err->message_index = i;
            return TD_E_INPUT;
        }
        TD_TRY(shape_message(a, &items[i], err));
    }
    *ret = td_list_of(items, messages.len);
    return TD_OK;
}

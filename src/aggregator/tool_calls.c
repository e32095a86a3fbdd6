/* tool_calls.c - merging by index.
 *
 * A call starts as {"type": "function", "function": {"arguments": ""}}. Every partial with its
 * index may set id, type and the function's name, and adds to the arguments. There are few calls in
 * a message, so they are kept sorted in an array. */
#include "aggregator/tool_calls.h"

#include "base/error.h"
#include "base/str.h"

typedef struct merged_call {
    int64_t index;
    td_dict *call, *function;
    char *arguments; /* cap bytes in the arena, len used */
    size_t len, cap;
} merged_call;

typedef struct merger {
    td_arena *arena;
    merged_call *calls;
    uint32_t count, cap;
} merger;

bool td_calls_are_chunked(td_value calls)
{
    return calls.len != 0 && calls.as.items[0].tag == TD_V_LIST;
}

/* As Python's bool() for what JSON-like data can hold. */
static bool truthy(const td_value *v)
{
    if (v == NULL)
        return false;
    switch ((td_vtag)v->tag) {
    case TD_V_BOOL:
    case TD_V_INT: return v->as.integer != 0;
    case TD_V_FLOAT: return v->as.real != 0;
    case TD_V_DICT: return v->as.dict->count != 0;
    case TD_V_STR:
    case TD_V_LIST:
    case TD_V_TUPLE: return v->len != 0;
    case TD_V_BIGINT: return true;
    default: return false;
    }
}

static merged_call *start_call(merger *m, uint32_t at, int64_t index)
{
    if (m->count == m->cap) {
        uint32_t cap = m->cap != 0 ? m->cap * 2 : 8;
        merged_call *calls = td_arena_array(m->arena, merged_call, cap);
        if (calls == NULL)
            return NULL;
        if (m->count != 0)
            memcpy(calls, m->calls, m->count * sizeof *calls);
        m->calls = calls;
        m->cap = cap;
    }
    merged_call c = { .index = index,
                      .call = td_dict_new(m->arena, 3),
                      .function = td_dict_new(m->arena, 2) };
    if (c.call == NULL || c.function == NULL ||
        !td_dict_set(m->arena, c.call, td_key(TD_STR("type")), td_string(TD_STR("function"))) ||
        !td_dict_set(m->arena, c.call, td_key(TD_STR("function")), td_dict_of(c.function)) ||
        !td_dict_set(m->arena, c.function, td_key(TD_STR("arguments")), td_string(TD_STR(""))))
        return NULL;
    memmove(m->calls + at + 1, m->calls + at, (m->count - at) * sizeof *m->calls);
    m->calls[at] = c;
    m->count++;
    return &m->calls[at];
}

/* The call of that index, made when it is new; NULL: the arena is full. */
static merged_call *call_at(merger *m, int64_t index)
{
    uint32_t at = m->count;
    while (at != 0 && m->calls[at - 1].index >= index)
        at--;
    if (at < m->count && m->calls[at].index == index)
        return &m->calls[at];
    return start_call(m, at, index);
}

static bool add_arguments(merger *m, merged_call *c, td_str more)
{
    if (more.len > c->cap - c->len) {
        size_t cap = (c->len + more.len) * 2;
        char *bytes = td_arena_array(m->arena, char, cap);
        if (bytes == NULL)
            return false;
        if (c->len != 0)
            memcpy(bytes, c->arguments, c->len);
        c->arguments = bytes;
        c->cap = cap;
    }
    memcpy(c->arguments + c->len, more.ptr, more.len);
    c->len += more.len;
    return true;
}

static td_code add_function(merger *m, merged_call *c, const td_value *function, td_error *err)
{
    if (!truthy(function))
        return TD_OK;
    if (function->tag != TD_V_DICT)
        return td_fail(err, TD_E_INPUT, "the function of a tool call is not an object");
    const td_value *name = td_dict_find(function->as.dict, TD_STR("name"));
    const td_value *arguments = td_dict_find(function->as.dict, TD_STR("arguments"));
    if (truthy(name) && !td_dict_set(m->arena, c->function, td_key(TD_STR("name")), *name))
        return td_arena_fail(m->arena, err);
    if (!truthy(arguments))
        return TD_OK;
    if (!td_is_str(*arguments))
        return td_fail(err, TD_E_INPUT, "the arguments of a partial tool call are not a string");
    return add_arguments(m, c, td_as_str(*arguments)) ? TD_OK : td_arena_fail(m->arena, err);
}

static td_code add_partial(merger *m, td_value partial, td_error *err)
{
    if (partial.tag != TD_V_DICT)
        return td_fail(err, TD_E_INPUT, "a partial tool call is not an object");
    const td_dict *d = partial.as.dict;
    const td_value *index = td_dict_find(d, TD_STR("index"));
    if (index != NULL && index->tag != TD_V_INT)
        return td_fail(err, TD_E_INPUT, "the index of a partial tool call is not an integer");
    merged_call *c = call_at(m, index != NULL ? index->as.integer : 0);
    if (c == NULL)
        return td_arena_fail(m->arena, err);
    static const char *const keys[] = { "id", "type" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        td_str key = td_str_from(keys[i]);
        const td_value *v = td_dict_find(d, key);
        if (truthy(v) && !td_dict_set(m->arena, c->call, td_key(key), *v))
            return td_arena_fail(m->arena, err);
    }
    return add_function(m, c, td_dict_find(d, TD_STR("function")), err);
}

static td_code finish(merger *m, td_value *ret, td_error *err)
{
    td_value *items = td_arena_array(m->arena, td_value, m->count != 0 ? m->count : 1);
    if (items == NULL)
        return td_arena_fail(m->arena, err);
    for (uint32_t i = 0; i < m->count; i++) {
        merged_call *c = &m->calls[i];
        td_value arguments = td_string((td_str){ c->len != 0 ? c->arguments : "", c->len });
        if (!td_dict_set(m->arena, c->function, td_key(TD_STR("arguments")), arguments))
            return td_arena_fail(m->arena, err);
        items[i] = td_dict_of(c->call);
    }
    *ret = td_list_of(items, m->count);
    return TD_OK;
}

td_code td_calls_merge(td_arena *a, td_value calls, td_value *ret, td_error *err)
{
    if (!td_calls_are_chunked(calls)) {
        *ret = calls;
        return TD_OK;
    }
    merger m = { .arena = a };
    for (uint32_t i = 0; i < calls.len; i++) {
        td_value chunk = calls.as.items[i];
        if (chunk.tag != TD_V_LIST)
            return td_fail(err, TD_E_INPUT, "a chunk of tool calls is not a list");
        for (uint32_t k = 0; k < chunk.len; k++)
            TD_TRY(add_partial(&m, chunk.as.items[k], err));
    }
    return finish(&m, ret, err);
}

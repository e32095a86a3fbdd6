/* at.c - values of tokenizer.json with their place in it, and the fields of components. */
#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/load/load.h"

enum { WAYS_MAX = 64 };

/* "pre_tokenizer.pretokenizers[1]"; what does not fit is cut at the front. */
static td_code put_path(td_buf *out, const tk_at *at, const char *key)
{
    const tk_at *way[WAYS_MAX];
    size_t n = 0;
    for (; at != NULL && at->up != NULL && n < WAYS_MAX; at = at->up)
        way[n++] = at;
    while (n-- > 0) {
        if (way[n]->key != NULL)
            TD_TRY(td_buf_printf(out, "%s%s", out->len != 0 ? "." : "", way[n]->key));
        else
            TD_TRY(td_buf_printf(out, "[%u]", way[n]->index));
    }
    if (key != NULL)
        TD_TRY(td_buf_printf(out, "%s%s", out->len != 0 ? "." : "", key));
    return TD_OK;
}

td_code tk_at_fail(const tk_at *at, const char *key, const char *fmt, ...)
{
    td_buf text = { 0 };
    td_code code = put_path(&text, at, key);
    if (code == TD_OK)
        code = td_buf_put(&text, TD_STR(": "));
    char message[400];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    if (code == TD_OK && n > 0)
        code = td_buf_put(&text, td_str_from(message));
    if (code != TD_OK)
        code = td_fail_nomem(at->load->err);
    else
        code = td_fail_text(at->load->err, TD_E_TOKENIZER, TD_NO_OFFSET, td_buf_view(&text));
    td_buf_done(&text);
    return code;
}

td_code tk_load_nomem(tk_load *load)
{
    return td_fail_nomem(load->err);
}

bool tk_at_field(const tk_at *at, const char *key, tk_at *ret)
{
    *ret = (tk_at){ .load = at->load, .up = at, .key = key, .value = td_none() };
    if (at->value.tag != TD_V_DICT)
        return false;
    const td_value *v = td_dict_find(at->value.as.dict, td_str_from(key));
    if (v != NULL)
        ret->value = *v;
    return v != NULL && v->tag != TD_V_NONE;
}

bool tk_at_has(const tk_at *at, const char *key, tk_at *ret)
{
    return tk_at_field(at, key, ret) ||
           (at->value.tag == TD_V_DICT &&
            td_dict_find(at->value.as.dict, td_str_from(key)) != NULL);
}

tk_at tk_at_item(const tk_at *at, uint32_t i)
{
    return (tk_at){ .load = at->load, .up = at, .index = i, .value = at->value.as.items[i] };
}

static td_code missing(const tk_at *at, const char *key)
{
    return tk_at_fail(at, key, "missing");
}

static td_code bool_of(const tk_at *field, bool *ret)
{
    if (field->value.tag != TD_V_BOOL)
        return tk_at_fail(field, NULL, "expected true or false");
    *ret = field->value.as.boolean;
    return TD_OK;
}

td_code tk_get_bool(const tk_at *at, const char *key, bool *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? bool_of(&field, ret) : missing(at, key);
}

td_code tk_opt_bool(const tk_at *at, const char *key, bool *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? bool_of(&field, ret) : TD_OK;
}

td_code tk_def_bool(const tk_at *at, const char *key, bool *ret)
{
    tk_at field;
    return tk_at_has(at, key, &field) ? bool_of(&field, ret) : TD_OK;
}

static td_code str_of(const tk_at *field, td_str *ret)
{
    if (field->value.tag != TD_V_STR)
        return tk_at_fail(field, NULL, "expected a string");
    td_str kept = tk_keep(field->load, td_as_str(field->value));
    if (kept.ptr == NULL)
        return TD_E_INTERNAL;
    *ret = kept;
    return TD_OK;
}

td_code tk_get_str(const tk_at *at, const char *key, td_str *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? str_of(&field, ret) : missing(at, key);
}

td_code tk_opt_str(const tk_at *at, const char *key, td_str *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? str_of(&field, ret) : TD_OK;
}

static td_code uint_of(const tk_at *field, uint32_t *ret)
{
    if (field->value.tag != TD_V_INT || field->value.as.integer < 0 ||
        field->value.as.integer > UINT32_MAX)
        return tk_at_fail(field, NULL, "expected an integer from 0 to 4294967295");
    *ret = (uint32_t)field->value.as.integer;
    return TD_OK;
}

td_code tk_get_uint(const tk_at *at, const char *key, uint32_t *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? uint_of(&field, ret) : missing(at, key);
}

td_code tk_opt_uint(const tk_at *at, const char *key, uint32_t *ret)
{
    tk_at field;
    return tk_at_field(at, key, &field) ? uint_of(&field, ret) : TD_OK;
}

td_code tk_get_u64(const tk_at *at, const char *key, uint64_t *ret)
{
    tk_at field;
    if (!tk_at_field(at, key, &field))
        return missing(at, key);
    if (field.value.tag != TD_V_INT || field.value.as.integer < 0)
        return tk_at_fail(&field, NULL, "expected an integer from 0 to %lld", (long long)INT64_MAX);
    *ret = (uint64_t)field.value.as.integer;
    return TD_OK;
}

td_code tk_get_char(const tk_at *at, const char *key, uint32_t *ret)
{
    td_str text = { NULL, 0 };
    TD_TRY(tk_get_str(at, key, &text));
    const char *p = text.ptr, *end = text.ptr + text.len;
    if (text.len != 0)
        *ret = td_utf8_next(&p, end);
    return text.len != 0 && p == end ? TD_OK : tk_at_fail(at, key, "expected one character");
}

td_code tk_get_token(const tk_at *at, const char *key, td_str *ret_text, uint32_t *ret_id)
{
    tk_at pair;
    TD_TRY(tk_get_list(at, key, &pair));
    if (pair.value.len != 2)
        return tk_at_fail(&pair, NULL, "expected a token and its id");
    tk_at text = tk_at_item(&pair, 0), id = tk_at_item(&pair, 1);
    TD_TRY(str_of(&text, ret_text));
    return uint_of(&id, ret_id);
}

td_code tk_get_list(const tk_at *at, const char *key, tk_at *ret)
{
    if (!tk_at_field(at, key, ret))
        return missing(at, key);
    return ret->value.tag == TD_V_LIST ? TD_OK : tk_at_fail(ret, NULL, "expected a list");
}

td_code tk_get_type(const tk_at *at, td_str *ret)
{
    if (at->value.tag != TD_V_DICT)
        return tk_at_fail(at, NULL, "expected an object");
    return tk_get_str(at, "type", ret);
}

td_code tk_get_pattern(const tk_at *at, const char *key, bool *ret_is_regex, td_str *ret)
{
    tk_at field;
    if (!tk_at_field(at, key, &field))
        return missing(at, key);
    tk_at inner;
    if (field.value.tag == TD_V_DICT && field.value.as.dict->count == 1) {
        *ret_is_regex = tk_at_field(&field, "Regex", &inner);
        if (*ret_is_regex || tk_at_field(&field, "String", &inner))
            return str_of(&inner, ret);
    }
    return tk_at_fail(&field, NULL, "expected {\"String\": ...} or {\"Regex\": ...}");
}

void *tk_new(tk_load *load, size_t size)
{
    void *p = td_arena_alloc(load->arena, size, _Alignof(max_align_t));
    if (p == NULL)
        tk_load_nomem(load);
    else
        memset(p, 0, size);
    return p;
}

td_str tk_keep(tk_load *load, td_str s)
{
    td_str copy = td_arena_copy(load->arena, s);
    if (copy.ptr == NULL)
        tk_load_nomem(load);
    return copy;
}

td_code tk_on_free(tk_load *load, void (*fn)(void *), void *ptr)
{
    tk_cleanup *c = td_arena_new(load->arena, tk_cleanup);
    if (c == NULL) {
        fn(ptr);
        return tk_load_nomem(load);
    }
    *c = (tk_cleanup){ *load->cleanup, fn, ptr };
    *load->cleanup = c;
    return TD_OK;
}

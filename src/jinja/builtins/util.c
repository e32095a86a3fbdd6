/* util.c - arguments and texts by code point, as util.h says. */
#include "jinja/builtins/util.h"

#include <limits.h>
#include <math.h>

#include "unicode/unicode.h"
#include "value/bigint.h"

bool jj_text_ascii(td_value v)
{
    if ((v.flags & (TD_VF_ASCII | TD_VF_NONASCII)) != 0)
        return (v.flags & TD_VF_ASCII) != 0;
    return td_utf8_is_ascii(td_as_str(v));
}

int64_t jj_text_count(td_value v)
{
    return (v.flags & TD_VF_ASCII) != 0 ? (int64_t)v.len : (int64_t)td_utf8_count(td_as_str(v));
}

size_t jj_text_offset(td_value v, int64_t at)
{
    if ((v.flags & TD_VF_ASCII) != 0)
        return (size_t)at;
    const char *p = v.as.str, *end = v.as.str + v.len;
    for (; at > 0 && p < end; at--)
        td_utf8_next(&p, end);
    return (size_t)(p - v.as.str);
}

td_value jj_text_slice(td_value v, int64_t start, int64_t stop)
{
    if (start >= stop)
        return jj_sub(v, (td_str){ v.as.str, 0 });
    size_t from = jj_text_offset(v, start);
    td_value rest = jj_sub(v, td_str_from_offset(td_as_str(v), from));
    size_t len = jj_text_offset(rest, stop - start);
    return jj_sub(v, (td_str){ rest.as.str, len });
}

td_code jj_soft_str(jj_vm *vm, td_value v, td_value *ret)
{
    if (v.tag == TD_V_STR) {
        *ret = v;
        return TD_OK;
    }
    return jj_str(vm, v, ret);
}

td_code jj_take(jj_vm *vm, td_buf *b, bool markup, td_value *ret)
{
    TD_TRY(jj_take_text(vm, b, ret));
    *ret = jj_as_markup(*ret, markup);
    return TD_OK;
}

td_code jj_put_fill(jj_vm *vm, td_buf *b, uint32_t c, int64_t n)
{
    if (n <= 0)
        return TD_OK;
    char unit[4];
    size_t len = td_utf8_put(unit, c);
    if ((uint64_t)n > SIZE_MAX / 8)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "padded string is too long");
    TD_TRY(jj_charge(vm, (uint64_t)n / 64));
    PUT(td_buf_reserve(b, (size_t)n * len));
    for (int64_t i = 0; i < n; i++)
        PUT(td_buf_append(b, unit, len));
    return TD_OK;
}

/* ---- arguments ---- */

td_code jj_arg_text(jj_vm *vm, const jj_args *args, uint32_t i, const char *what, td_value *ret)
{
    *ret = jj_arg(args, i, td_none());
    if (ret->tag == TD_V_STR)
        return TD_OK;
    return jj_raise(vm, JJ_TYPE_ERROR, "%s argument %u must be str, not %s", what, i + 1,
                    jj_type_name(*ret));
}

td_code jj_arg_int(jj_vm *vm, td_value v, int64_t *ret)
{
    if (v.tag == TD_V_BIGINT)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
    return jj_index(vm, v, ret);
}

td_code jj_arg_bounds(jj_vm *vm, const jj_args *args, uint32_t first, int64_t count,
                      int64_t *ret_start, int64_t *ret_stop)
{
    int64_t start = 0, stop = INT64_MAX;
    td_value from = jj_arg(args, first, td_none()), to = jj_arg(args, first + 1, td_none());
    if (!td_is_none(from))
        TD_TRY(jj_index(vm, from, &start));
    if (!td_is_none(to))
        TD_TRY(jj_index(vm, to, &stop));
    if (stop > count)
        stop = count;
    else if (stop < 0)
        stop = stop + count < 0 ? 0 : stop + count;
    if (start < 0)
        start = start + count < 0 ? 0 : start + count;
    *ret_start = start;
    *ret_stop = stop;
    return TD_OK;
}

td_code jj_arg_bool(jj_vm *vm, const jj_args *args, uint32_t i, bool missing, bool *ret)
{
    *ret = missing;
    return jj_given(args, i) ? jj_truth(vm, args->pos[i], ret) : TD_OK;
}

td_code jj_number_to_double(jj_vm *vm, td_value v, double *ret)
{
    if (v.tag == TD_V_FLOAT) {
        *ret = v.as.real;
    } else if (v.tag == TD_V_BIGINT) {
        *ret = td_bigint_to_double(v.as.bigint);
        if (isinf(*ret))
            return jj_raise(vm, JJ_OVERFLOW_ERROR, "int too large to convert to float");
    } else {
        *ret = (double)v.as.integer;
    }
    return TD_OK;
}

td_code jj_arg_flag(jj_vm *vm, const jj_args *args, uint32_t i, bool missing, bool *ret)
{
    int64_t n;
    *ret = missing;
    if (!jj_given(args, i))
        return TD_OK;
    TD_TRY(jj_index(vm, args->pos[i], &n));
    if (n > INT_MAX || n < INT_MIN)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "Python int too large to convert to C int");
    *ret = n != 0;
    return TD_OK;
}

/* ---- attributes by path ---- */

static bool all_digits(td_str s)
{
    for (const char *p = s.ptr, *end = s.ptr + s.len; p < end;)
        if (!td_py_isdigit(td_utf8_next(&p, end)))
            return false;
    return s.len != 0;
}

td_code jj_getter_init(jj_vm *vm, td_value attribute, jj_getter *g)
{
    g->count = 0;
    if (td_is_none(attribute))
        return TD_OK;
    uint32_t parts = 1;
    if (attribute.tag == TD_V_STR)
        for (uint32_t i = 0; i < attribute.len; i++)
            parts += attribute.as.str[i] == '.';
    g->parts = td_arena_array(jj_arena(vm), td_value, parts);
    if (g->parts == NULL)
        return jj_nomem(vm);
    if (attribute.tag != TD_V_STR) {
        g->parts[g->count++] = attribute;
        return TD_OK;
    }
    td_str rest = td_as_str(attribute);
    for (uint32_t i = 0; i < parts; i++) {
        size_t dot = td_str_find(rest, TD_STR("."), 0);
        td_str part = { rest.ptr, dot == TD_NOT_FOUND ? rest.len : dot };
        td_value *p = &g->parts[g->count++];
        *p = td_key(part);
        bool ok = true;
        if (all_digits(part))
            TD_TRY(jj_parse_int(vm, part, 10, p, &ok));
        if (!ok)
            return jj_raise(vm, JJ_VALUE_ERROR, "invalid literal for int() in an attribute path");
        if (dot != TD_NOT_FOUND)
            rest = td_str_from_offset(rest, dot + 1);
    }
    return TD_OK;
}

td_code jj_fold_case(jj_vm *vm, td_value v, td_value *ret)
{
    if (v.tag == TD_V_STR)
        return jj_m_str_lower(vm, v, &(jj_args){ NULL, 0, NULL, 0 }, ret);
    *ret = v;
    return TD_OK;
}

td_code jj_getter_get(jj_vm *vm, const jj_getter *g, td_value item, td_value *ret)
{
    for (uint32_t i = 0; i < g->count; i++) {
        TD_TRY(jj_getitem(vm, item, g->parts[i], &item));
        if (g->has_default && item.tag == TD_V_UNDEFINED)
            item = g->fallback;
    }
    if (g->fold_case)
        return jj_fold_case(vm, item, ret);
    *ret = item;
    return TD_OK;
}

/* arrow_json.c - rows of Arrow arrays as JSON text: null, booleans, integers, floats, texts, lists,
 * structs, maps with text keys, dictionary encoding.
 *
 * Formats are the letters of the C data interface ("u" a text, "+l" a list, ...). What is read
 * comes from files of others: offsets are checked against the ends that the array itself tells
 * (Python has compared those with the buffers), indices against the lengths. */
#include "python/arrow_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_MAX = 40 };

/* ---- text ---- */

static bool reserve(tdpy_text_buf *out, size_t more)
{
    if (out->failed)
        return false;
    if (more <= out->cap - out->len)
        return true;
    size_t cap = (out->len + more) * 2 + 64;
    char *ptr = realloc(out->ptr, cap); /* may be freed by any thread */
    if (ptr == NULL) {
        out->failed = true;
        return false;
    }
    out->ptr = ptr;
    out->cap = cap;
    return true;
}

void tdpy_append(tdpy_text_buf *out, td_str text)
{
    if (text.len != 0 && reserve(out, text.len)) {
        memcpy(out->ptr + out->len, text.ptr, text.len);
        out->len += text.len;
    }
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

void tdpy_append_string(tdpy_text_buf *out, td_str text)
{
    tdpy_append(out, TD_STR("\""));
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len && is_plain((unsigned char)text.ptr[i]))
            i++;
        tdpy_append(out, (td_str){ text.ptr + start, i - start });
        if (i == text.len)
            break;
        char escape[8];
        int len = snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)text.ptr[i]);
        tdpy_append(out, (td_str){ escape, (size_t)len });
        i++;
    }
    tdpy_append(out, TD_STR("\""));
}

static void append_format(tdpy_text_buf *out, const char *format, ...)
{
    char number[NUMBER_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(number, sizeof number, format, args);
    va_end(args);
    tdpy_append(out, (td_str){ number, (size_t)len });
}

static void append_float(tdpy_text_buf *out, double value)
{
    if (isnan(value)) {
        tdpy_append(out, TD_STR("NaN"));
    } else if (isinf(value)) {
        tdpy_append(out, value < 0 ? TD_STR("-Infinity") : TD_STR("Infinity"));
    } else {
        size_t start = out->len;
        append_format(out, "%.17g", value);
        for (size_t i = start; i < out->len; i++) {
            if (out->ptr[i] == ',') /* of the locale */
                out->ptr[i] = '.';
        }
        if (!out->failed && memchr(out->ptr + start, '.', out->len - start) == NULL &&
            memchr(out->ptr + start, 'e', out->len - start) == NULL)
            tdpy_append(out, TD_STR(".0")); /* a float stays one */
    }
}

/* ---- types ---- */

static bool is(const arrow_schema *s, const char *format)
{
    return strcmp(s->format, format) == 0;
}

static bool is_text(const arrow_schema *s)
{
    return s->dictionary == NULL && (is(s, "u") || is(s, "U") || is(s, "z") || is(s, "Z"));
}

/* The number of items of each list of a "+w:N", else -1. */
static int64_t fixed_size(const arrow_schema *s)
{
    long long size;
    return sscanf(s->format, "+w:%lld", &size) == 1 && size >= 0 ? (int64_t)size : -1;
}

static bool is_integer(const arrow_schema *s)
{
    return s->format[0] != '\0' && s->format[1] == '\0' && strchr("cCsSiIlL", s->format[0]) != NULL;
}

static const char *unknown_format(const arrow_schema *s, int depth)
{
    if (s->dictionary != NULL)
        return is_integer(s) ? unknown_format(s->dictionary, depth) : s->format;
    if (is_integer(s) || is(s, "n") || is(s, "b") || is(s, "f") || is(s, "g") || is(s, "u") ||
        is(s, "U"))
        return NULL;
    bool nested = is(s, "+l") || is(s, "+L") || is(s, "+s") || fixed_size(s) >= 0;
    bool map = is(s, "+m") && s->n_children == 1 && s->children[0]->n_children == 2 &&
               is_text(s->children[0]->children[0]);
    if ((!nested && !map) || depth == DEPTH_MAX)
        return s->format;
    for (int64_t i = 0; i < s->n_children; i++) {
        const char *unknown = unknown_format(s->children[i], depth + 1);
        if (unknown != NULL)
            return unknown;
    }
    return NULL;
}

bool tdpy_column_known(const tdpy_column *column, const char **ret_format)
{
    *ret_format = is_text(column->schema) ? NULL : unknown_format(column->schema, 0);
    return *ret_format == NULL;
}

bool tdpy_column_is_text(const tdpy_column *column)
{
    return is_text(column->schema);
}

/* ---- values ---- */

static bool bit(const void *bits, int64_t at)
{
    return (((const uint8_t *)bits)[at / 8] >> (at % 8) & 1) != 0;
}

static bool is_null(const arrow_schema *s, const arrow_array *a, int64_t row)
{
    if (is(s, "n"))
        return true;
    return a->n_buffers > 0 && a->buffers[0] != NULL && !bit(a->buffers[0], a->offset + row);
}

bool tdpy_row_is_null(const tdpy_column *column, int64_t row)
{
    return is_null(column->schema, column->array, row);
}

/* Where the items of a row lie: offsets of four bytes, or eight when wide; false: out of order. */
static bool extent(const arrow_array *a, int64_t row, bool wide, int64_t *ret_start,
                   int64_t *ret_end)
{
    const void *offsets = a->buffers[1];
    int64_t at = a->offset + row, last = a->offset + a->length, end_of_all;
    if (offsets == NULL)
        return false;
    if (wide) {
        const int64_t *o = offsets;
        *ret_start = o[at];
        *ret_end = o[at + 1];
        end_of_all = o[last];
    } else {
        const int32_t *o = offsets;
        *ret_start = o[at];
        *ret_end = o[at + 1];
        end_of_all = o[last];
    }
    return *ret_start >= 0 && *ret_start <= *ret_end && *ret_end <= end_of_all;
}

static bool text_of(const arrow_schema *s, const arrow_array *a, int64_t row, td_str *ret)
{
    int64_t start, end;
    if (!extent(a, row, s->format[0] == 'U' || s->format[0] == 'Z', &start, &end))
        return false;
    *ret = start == end ? TD_STR("")
                        : (td_str){ (const char *)a->buffers[2] + start, (size_t)(end - start) };
    return true;
}

bool tdpy_row_text(const tdpy_column *column, int64_t row, td_str *ret)
{
    return text_of(column->schema, column->array, row, ret);
}

static int64_t signed_at(const arrow_schema *s, const arrow_array *a, int64_t row)
{
    const void *values = a->buffers[1];
    int64_t at = a->offset + row;
    switch (s->format[0]) {
    case 'c':
        return ((const int8_t *)values)[at];
    case 'C':
        return ((const uint8_t *)values)[at];
    case 's':
        return ((const int16_t *)values)[at];
    case 'S':
        return ((const uint16_t *)values)[at];
    case 'i':
        return ((const int32_t *)values)[at];
    case 'I':
        return ((const uint32_t *)values)[at];
    default:
        return ((const int64_t *)values)[at];
    }
}

static void put_number(const arrow_schema *s, const arrow_array *a, int64_t row, tdpy_text_buf *out)
{
    int64_t at = a->offset + row;
    if (is(s, "f"))
        append_float(out, (double)((const float *)a->buffers[1])[at]);
    else if (is(s, "g"))
        append_float(out, ((const double *)a->buffers[1])[at]);
    else if (is(s, "L"))
        append_format(out, "%llu", (unsigned long long)((const uint64_t *)a->buffers[1])[at]);
    else
        append_format(out, "%lld", (long long)signed_at(s, a, row));
}

static bool put(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth);

static tdpy_column child(const tdpy_column *c, int64_t i)
{
    return (tdpy_column){ c->schema->children[i], c->array->children[i], c->drop_nulls };
}

static bool put_list(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth)
{
    tdpy_column items = child(c, 0);
    int64_t fixed = fixed_size(c->schema), start, end;
    if (fixed >= 0) {
        start = (c->array->offset + row) * fixed;
        end = start + fixed;
    } else if (!extent(c->array, row, is(c->schema, "+L"), &start, &end)) {
        return false;
    }
    if (end > items.array->length)
        return false;
    tdpy_append(out, TD_STR("["));
    for (int64_t i = start; i < end; i++) {
        if (i != start)
            tdpy_append(out, TD_STR(","));
        if (!put(&items, i, out, depth))
            return false;
    }
    tdpy_append(out, TD_STR("]"));
    return true;
}

static bool put_struct(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth)
{
    bool first = true;
    int64_t at = c->array->offset + row;
    tdpy_append(out, TD_STR("{"));
    for (int64_t i = 0; i < c->schema->n_children; i++) {
        tdpy_column field = child(c, i);
        if (at >= field.array->length)
            return false;
        if (c->drop_nulls && is_null(field.schema, field.array, at))
            continue;
        const char *name = field.schema->name != NULL ? field.schema->name : "";
        tdpy_append(out, first ? TD_STR("") : TD_STR(","));
        tdpy_append_string(out, (td_str){ name, strlen(name) });
        tdpy_append(out, TD_STR(":"));
        if (!put(&field, at, out, depth))
            return false;
        first = false;
    }
    tdpy_append(out, TD_STR("}"));
    return true;
}

/* A map is a list of structs of a key and a value. */
static bool put_map(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth)
{
    tdpy_column entries = child(c, 0), keys = child(&entries, 0), values = child(&entries, 1);
    int64_t start, end;
    if (!extent(c->array, row, false, &start, &end) || end > entries.array->length)
        return false;
    tdpy_append(out, TD_STR("{"));
    for (int64_t i = start; i < end; i++) {
        int64_t at = entries.array->offset + i;
        td_str key;
        if (at >= keys.array->length || at >= values.array->length ||
            !text_of(keys.schema, keys.array, at, &key))
            return false;
        tdpy_append(out, i != start ? TD_STR(",") : TD_STR(""));
        tdpy_append_string(out, key);
        tdpy_append(out, TD_STR(":"));
        if (!put(&values, at, out, depth))
            return false;
    }
    tdpy_append(out, TD_STR("}"));
    return true;
}

static bool put_encoded(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth)
{
    tdpy_column dictionary = { c->schema->dictionary, c->array->dictionary, c->drop_nulls };
    int64_t index = signed_at(c->schema, c->array, row);
    return index >= 0 && index < dictionary.array->length && put(&dictionary, index, out, depth);
}

static bool put(const tdpy_column *c, int64_t row, tdpy_text_buf *out, int depth)
{
    const arrow_schema *s = c->schema;
    if (depth > DEPTH_MAX)
        return false;
    if (is_null(s, c->array, row)) {
        tdpy_append(out, TD_STR("null"));
        return true;
    }
    if (s->dictionary != NULL)
        return put_encoded(c, row, out, depth + 1);
    if (is_text(s)) {
        td_str text;
        if (!text_of(s, c->array, row, &text))
            return false;
        tdpy_append_string(out, text);
        return true;
    }
    if (is(s, "b")) {
        bool value = bit(c->array->buffers[1], c->array->offset + row);
        tdpy_append(out, value ? TD_STR("true") : TD_STR("false"));
        return true;
    }
    if (is(s, "+s"))
        return put_struct(c, row, out, depth + 1);
    if (is(s, "+m"))
        return put_map(c, row, out, depth + 1);
    if (s->format[0] == '+')
        return put_list(c, row, out, depth + 1);
    put_number(s, c->array, row, out);
    return true;
}

bool tdpy_row_json(const tdpy_column *column, int64_t row, tdpy_text_buf *out)
{
    return put(column, row, out, 0);
}

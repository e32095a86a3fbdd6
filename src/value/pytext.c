#include "value/pytext.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "unicode/unicode.h"
#include "value/bigint.h"
#include "value/number.h"

enum { DEPTH_MAX = 1000 };

/* ---- strings ---- */

static bool is_plain(unsigned char c, char quote)
{
    return c >= 0x20 && c < 0x7F && c != '\\' && c != (unsigned char)quote;
}

/* Appends what repr prints for c, which is not plain. */
static td_code put_char(td_buf *out, uint32_t c, char quote)
{
    static const char hex[] = "0123456789abcdef";
    char text[10] = { '\\' };
    if (c == '\\' || c == (unsigned char)quote)
        text[1] = (char)c;
    else if (c == '\n' || c == '\r' || c == '\t')
        text[1] = c == '\n' ? 'n' : c == '\r' ? 'r' : 't';
    if (text[1] != 0)
        return td_buf_append(out, text, 2);
    if (td_py_isprintable(c))
        return td_buf_code_point(out, c);
    unsigned digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    text[1] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
    for (unsigned i = 0; i < digits; i++)
        text[2 + i] = hex[c >> 4 * (digits - 1 - i) & 15];
    return td_buf_append(out, text, 2 + digits);
}

static td_code put_quoted(td_buf *out, td_str s)
{
    bool has_single = s.len != 0 && memchr(s.ptr, '\'', s.len) != NULL;
    bool has_double = s.len != 0 && memchr(s.ptr, '"', s.len) != NULL;
    char quote = has_single && !has_double ? '"' : '\'';
    const char *p = s.ptr, *end = s.ptr + s.len;
    TD_TRY(td_buf_byte(out, quote));
    while (p < end) {
        const char *run = p;
        while (p < end && is_plain((unsigned char)*p, quote))
            p++;
        TD_TRY(td_buf_append(out, run, (size_t)(p - run)));
        if (p < end)
            TD_TRY(put_char(out, td_utf8_next(&p, end), quote));
    }
    return td_buf_byte(out, quote);
}

td_code td_py_repr_str(td_buf *out, td_str s)
{
    size_t start = out->len;
    td_code code = put_quoted(out, s);
    if (code != TD_OK)
        out->len = start;
    return code;
}

/* ---- values ---- */

typedef struct printer {
    td_buf *out;
    const td_pytext *how;
    unsigned depth;
} printer;

static td_code print(printer *p, td_value v);

static td_code print_int(td_buf *out, int64_t i)
{
    char text[24], *p = text + sizeof text;
    uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
    do
        *--p = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) != 0);
    if (i < 0)
        *--p = '-';
    return td_buf_append(out, p, (size_t)(text + sizeof text - p));
}

static td_code print_number(td_buf *out, td_value v)
{
    char text[TD_FLOAT_TEXT_MAX];
    switch ((td_vtag)v.tag) {
    case TD_V_BOOL:
        return td_buf_put(out, v.as.integer ? TD_STR("True") : TD_STR("False"));
    case TD_V_INT:
        return print_int(out, v.as.integer);
    case TD_V_BIGINT:
        return td_bigint_print(out, v.as.bigint);
    default:
        return td_buf_append(out, text, td_float_repr(v.as.real, text));
    }
}

static td_code print_items(printer *p, td_value v)
{
    for (uint32_t i = 0; i < v.len; i++) {
        if (i > 0)
            TD_TRY(td_buf_put(p->out, TD_STR(", ")));
        TD_TRY(print(p, v.as.items[i]));
    }
    if (v.tag == TD_V_TUPLE && v.len == 1)
        return td_buf_byte(p->out, ',');
    return TD_OK;
}

static td_code print_entries(printer *p, const td_dict *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        if (i > 0)
            TD_TRY(td_buf_put(p->out, TD_STR(", ")));
        TD_TRY(print(p, d->entries[i].key));
        TD_TRY(td_buf_put(p->out, TD_STR(": ")));
        TD_TRY(print(p, d->entries[i].val));
    }
    return TD_OK;
}

static td_code print_container(printer *p, td_value v)
{
    const char *brackets = v.tag == TD_V_LIST ? "[]" : v.tag == TD_V_TUPLE ? "()" : "{}";
    if (p->depth == DEPTH_MAX)
        return TD_E_INPUT;
    p->depth++;
    TD_TRY(td_buf_byte(p->out, brackets[0]));
    TD_TRY(v.tag == TD_V_DICT ? print_entries(p, v.as.dict) : print_items(p, v));
    p->depth--;
    return td_buf_byte(p->out, brackets[1]);
}

static td_code print_str(td_buf *out, td_value v)
{
    if ((v.flags & TD_VF_MARKUP) == 0)
        return td_py_repr_str(out, td_as_str(v));
    TD_TRY(td_buf_put(out, TD_STR("Markup(")));
    TD_TRY(td_py_repr_str(out, td_as_str(v)));
    return td_buf_byte(out, ')');
}

static td_code print(printer *p, td_value v)
{
    switch ((td_vtag)v.tag) {
    case TD_V_UNDEFINED:
        return td_buf_put(p->out, TD_STR("Undefined"));
    case TD_V_NONE:
        return td_buf_put(p->out, TD_STR("None"));
    case TD_V_STR:
        return print_str(p->out, v);
    case TD_V_LIST:
    case TD_V_TUPLE:
    case TD_V_DICT:
        return print_container(p, v);
    case TD_V_OBJECT:
        if (p->how == NULL || p->how->object_repr == NULL)
            return TD_E_TEMPLATE;
        return p->how->object_repr(p->how->user, p->out, v.as.object);
    default:
        return print_number(p->out, v);
    }
}

td_code td_py_repr(td_buf *out, td_value v, const td_pytext *how)
{
    size_t start = out->len;
    printer p = { .out = out, .how = how };
    td_code code = print(&p, v);
    if (code != TD_OK)
        out->len = start;
    return code;
}

td_code td_py_str(td_buf *out, td_value v, const td_pytext *how)
{
    if (v.tag == TD_V_STR)
        return td_buf_put(out, td_as_str(v));
    if (v.tag == TD_V_UNDEFINED)
        return TD_OK;
    return td_py_repr(out, v, how);
}

/* json_write.c - values as json.dumps prints them.
 *
 * Strings are scanned in blocks of 64 bytes, as in the reader: a bit mask names the bytes to
 * escape, the pieces between them are copied whole. A string that came from JSON text often needs
 * no scan at all: its flags say that nothing is to be escaped, or that its source text is already
 * the answer. */
#include "value/json.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/json_scan.h"
#include "value/number.h"

/* ---- strings ---- */

enum { ESCAPE_MAX = 12, PIECE = 2048 };

static const char escape_letters[256] = {
    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'
};

static char *put_unicode_escape(char *out, uint32_t c)
{
    static const char hex[] = "0123456789abcdef";
    if (c >= 0x10000) {
        out = put_unicode_escape(out, 0xD800 + ((c - 0x10000) >> 10));
        return put_unicode_escape(out, 0xDC00 + (c & 0x3FF));
    }
    *out++ = '\\';
    *out++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *out++ = hex[c >> shift & 15];
    return out;
}

/* Writes the escape of the character at *p, at most ESCAPE_MAX bytes, and moves *p behind it. */
static inline char *put_escape(char *out, const char **p, const char *end)
{
    char letter = escape_letters[(unsigned char)**p];
    if (letter == 0)
        return put_unicode_escape(out, td_utf8_next(p, end));
    ++*p;
    *out++ = '\\';
    *out++ = letter;
    return out;
}

static bool needs_escape(char c, bool ensure_ascii)
{
    return json_is_special(c) || (ensure_ascii && (unsigned char)c >= 0x7F);
}

/* Writes s[0..n), which ends at a character boundary; there is room for the worst case. Inlined
 * for both forms, since most of the work is in masks that ensure_ascii makes. */
static inline char *write_piece_as(char *out, const char *s, size_t n, bool ensure_ascii)
{
    const char *p = s, *end = s + n;
    while (end - p >= JSON_BLOCK + JSON_OVERRUN) {
        const char *block = p, *block_end = p + JSON_BLOCK;
        json_mask mask = json_scan64(p);
        uint64_t m = mask.special | (ensure_ascii ? mask.high | mask.del : 0);
        while (m != 0) {
            const char *at = block + __builtin_ctzll(m);
            out = json_copy(out, p, (size_t)(at - p));
            p = at;
            out = put_escape(out, &p, end);
            if (ensure_ascii) /* the character may have more bytes in the mask */
                m &= p < block_end ? ~UINT64_C(0) << (p - block) : 0;
            else
                m &= m - 1;
        }
        if (p < block_end) {
            out = json_copy(out, p, (size_t)(block_end - p));
            p = block_end;
        }
    }
    while (p < end) {
        if (needs_escape(*p, ensure_ascii))
            out = put_escape(out, &p, end);
        else
            *out++ = *p++;
    }
    return out;
}

static char *write_piece(char *out, const char *s, size_t n, bool ensure_ascii)
{
    return ensure_ascii ? write_piece_as(out, s, n, true) : write_piece_as(out, s, n, false);
}

/* The same without any room to spare: byte by byte through checked appends. */
static td_code write_piece_exactly(td_buf *b, const char *s, size_t n, bool ensure_ascii)
{
    const char *p = s, *end = s + n;
    while (p < end) {
        char text[ESCAPE_MAX], *text_end = text + 1;
        if (needs_escape(*p, ensure_ascii))
            text_end = put_escape(text, &p, end);
        else
            text[0] = *p++;
        TD_TRY(td_buf_append(b, text, (size_t)(text_end - text)));
    }
    return TD_OK;
}

static td_code write_escaped(td_buf *b, td_str s, bool ensure_ascii)
{
    for (size_t at = 0; at < s.len;) {
        size_t n = s.len - at < PIECE ? s.len - at : PIECE;
        while (at + n < s.len && td_utf8_is_cont(s.ptr[at + n]))
            n--;
        /* A byte becomes six at most; a failure may only mean that the worst case is too much. */
        if (td_buf_reserve(b, 6 * n) == TD_OK) {
            char *out = b->ptr + b->len;
            b->len += (size_t)(write_piece(out, s.ptr + at, n, ensure_ascii) - out);
        } else {
            TD_TRY(write_piece_exactly(b, s.ptr + at, n, ensure_ascii));
        }
        at += n;
    }
    return TD_OK;
}

td_code td_json_write_string(td_buf *out, td_str s, bool ensure_ascii)
{
    size_t start = out->len;
    td_code code = td_buf_byte(out, '"');
    if (code == TD_OK)
        code = write_escaped(out, s, ensure_ascii);
    if (code == TD_OK)
        code = td_buf_byte(out, '"');
    if (code != TD_OK)
        out->len = start;
    return code;
}

td_code td_json_write_strict(td_buf *out, td_str s)
{
    TD_TRY(td_buf_byte(out, '"'));
    for (;;) {
        size_t good = td_utf8_check_strict(s);
        TD_TRY(write_escaped(out, (td_str){ s.ptr, good }, false));
        if (good == s.len)
            return td_buf_byte(out, '"');
        s = td_str_from_offset(s, good);
        const unsigned char *p = (const unsigned char *)s.ptr;
        if (s.len >= 3 && p[0] == 0xED && p[1] >= 0xA0 && (p[2] & 0xC0) == 0x80) {
            unsigned c = 0xD000U | (p[1] & 0x3FU) << 6 | (p[2] & 0x3FU);
            TD_TRY(td_buf_printf(out, "\\u%04x", c));
            s = td_str_from_offset(s, 3);
        } else {
            TD_TRY(td_buf_append(out, "\\ufffd", 6));
            s = td_str_from_offset(s, 1);
        }
    }
}

static td_code write_quoted(td_buf *out, td_str s)
{
    TD_TRY(td_buf_reserve(out, s.len + 2));
    char *p = out->ptr + out->len;
    *p++ = '"';
    if (s.len != 0)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '"';
    out->len += s.len + 2;
    return TD_OK;
}

/* ---- values ---- */

typedef struct writer {
    td_buf *out;
    const td_json_style *style;
    td_error *err;
    td_str item_separator, key_separator;
    unsigned depth;
} writer;

static td_code checked(writer *w, td_code code)
{
    return code == TD_OK ? TD_OK : td_buf_fail(w->out, w->err, code, "JSON text");
}

static td_code put(writer *w, td_str s)
{
    return checked(w, td_buf_put(w->out, s));
}

static td_code write_str(writer *w, td_value v)
{
    td_str s = td_as_str(v);
    if (w->style->ensure_ascii)
        return checked(w, td_json_write_string(w->out, s, true));
    if ((v.flags & TD_VF_JSON_RAW) != 0)
        return checked(w, write_quoted(w->out, s));
    if ((v.flags & TD_VF_JSON_SPAN) != 0) {
        td_json_span span;
        memcpy(&span, s.ptr - sizeof span, sizeof span);
        return checked(w, write_quoted(w->out, (td_str){ span.source, span.source_len }));
    }
    return checked(w, td_json_write_string(w->out, s, false));
}

static td_code write_int(writer *w, int64_t i)
{
    char text[24], *p = text + sizeof text;
    uint64_t magnitude = i < 0 ? -(uint64_t)i : (uint64_t)i;
    do
        *--p = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) != 0);
    if (i < 0)
        *--p = '-';
    return put(w, (td_str){ p, (size_t)(text + sizeof text - p) });
}

static td_code write_float(writer *w, double d)
{
    if (isnan(d))
        return put(w, TD_STR("NaN"));
    if (isinf(d))
        return put(w, d < 0 ? TD_STR("-Infinity") : TD_STR("Infinity"));
    char text[TD_FLOAT_TEXT_MAX];
    return put(w, (td_str){ text, td_float_repr(d, text) });
}

/* Everything that is neither text nor a container. */
static td_code write_scalar(writer *w, td_value v)
{
    td_code code;
    switch ((td_vtag)v.tag) {
    case TD_V_NONE:
        return put(w, TD_STR("null"));
    case TD_V_BOOL:
        return put(w, v.as.integer ? TD_STR("true") : TD_STR("false"));
    case TD_V_INT:
        return write_int(w, v.as.integer);
    case TD_V_FLOAT:
        return write_float(w, v.as.real);
    case TD_V_BIGINT:
        code = td_bigint_print(w->out, v.as.bigint);
        if (code == TD_E_TEMPLATE)
            return td_fail(w->err, code, "integer of more than %d digits", TD_INT_DIGITS_MAX);
        return checked(w, code);
    default:
        return td_fail(w->err, TD_E_TEMPLATE, "Object of type %s is not JSON serializable",
                       td_value_type_name(v));
    }
}

static td_code write_key(writer *w, td_value key)
{
    if (td_is_str(key))
        return write_str(w, key);
    if (key.tag < TD_V_NONE || key.tag > TD_V_FLOAT)
        return td_fail(w->err, TD_E_TEMPLATE, "keys must be str, int, float, bool or None, not %s",
                       td_value_type_name(key));
    TD_TRY(put(w, TD_STR("\"")));
    TD_TRY(write_scalar(w, key));
    return put(w, TD_STR("\""));
}

static td_code write_newline(writer *w)
{
    if (!w->style->has_indent)
        return TD_OK;
    TD_TRY(put(w, TD_STR("\n")));
    for (unsigned i = 0; i < w->depth; i++)
        TD_TRY(put(w, w->style->indent));
    return TD_OK;
}

/* ---- sorted keys ---- */

/* x < y of numbers as Python compares them, exactly. */
static bool number_less(td_value x, td_value y)
{
    bool bx = x.tag == TD_V_BIGINT, by = y.tag == TD_V_BIGINT;
    if (bx && by)
        return td_bigint_cmp(x.as.bigint, y.as.bigint) < 0;
    if (bx)
        return y.tag == TD_V_FLOAT ? td_bigint_cmp_double(x.as.bigint, y.as.real) < 0
                                   : x.as.bigint->negative;
    if (by) {
        int c = x.tag == TD_V_FLOAT ? td_bigint_cmp_double(y.as.bigint, x.as.real) : 0;
        return x.tag == TD_V_FLOAT ? c == 1 : !y.as.bigint->negative;
    }
    bool fx = x.tag == TD_V_FLOAT, fy = y.tag == TD_V_FLOAT;
    if (fx && fy)
        return x.as.real < y.as.real;
    if (!fx && !fy)
        return x.as.integer < y.as.integer;
    double d = fx ? x.as.real : y.as.real;
    int64_t i = fx ? y.as.integer : x.as.integer;
    if (isnan(d))
        return false;
    if (d >= 9223372036854775808.0 || d < -9223372036854775808.0)
        return fx ? d < 0 : d > 0;
    int64_t whole = (int64_t)floor(d);
    if (fx)
        return whole < i; /* d < i exactly when floor(d) < i */
    return whole > i || (whole == i && (double)whole < d);
}

static bool key_less(td_value x, td_value y)
{
    return td_is_str(x) ? td_str_cmp(td_as_str(x), td_as_str(y)) < 0 : number_less(x, y);
}

/* Keys of one dict can be ordered when all are texts or all are numbers. */
static bool orderable(const td_dict *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        uint8_t tag = d->entries[i].key.tag;
        bool number = tag >= TD_V_BOOL && tag <= TD_V_FLOAT;
        if (tag != TD_V_STR && !number)
            return d->count == 1;
        if (td_is_str(d->entries[i].key) != td_is_str(d->entries[0].key))
            return false;
    }
    return true;
}

/* Stable merge sort of pointers; spare has the same room. */
static void sort_entries(const td_entry **e, const td_entry **spare, size_t n)
{
    if (n < 2)
        return;
    size_t half = n / 2;
    sort_entries(e, spare, half);
    sort_entries(e + half, spare, n - half);
    memcpy(spare, e, half * sizeof(*e));
    for (size_t i = 0, j = half, to = 0; i < half; to++)
        e[to] = j < n && key_less(e[j]->key, spare[i]->key) ? e[j++] : spare[i++];
}

/* ---- containers ---- */

static td_code write_value(writer *w, td_value v);

static td_code write_items(writer *w, td_value v)
{
    for (uint32_t i = 0; i < v.len; i++) {
        if (i > 0)
            TD_TRY(put(w, w->item_separator));
        TD_TRY(write_newline(w));
        TD_TRY(write_value(w, v.as.items[i]));
    }
    return TD_OK;
}

static td_code write_entry(writer *w, const td_entry *e, bool first)
{
    if (!first)
        TD_TRY(put(w, w->item_separator));
    TD_TRY(write_newline(w));
    TD_TRY(write_key(w, e->key));
    TD_TRY(put(w, w->key_separator));
    return write_value(w, e->val);
}

static td_code write_sorted(writer *w, const td_dict *d)
{
    if (!orderable(d))
        return td_fail(w->err, TD_E_TEMPLATE, "sort_keys: keys of different types");
    const td_entry **order = td_malloc(2 * (size_t)d->count * sizeof(*order));
    if (order == NULL)
        return td_fail_nomem(w->err);
    for (uint32_t i = 0; i < d->count; i++)
        order[i] = &d->entries[i];
    sort_entries(order, order + d->count, d->count);
    td_code code = TD_OK;
    for (uint32_t i = 0; i < d->count && code == TD_OK; i++)
        code = write_entry(w, order[i], i == 0);
    td_free(order);
    return code;
}

static td_code write_entries(writer *w, const td_dict *d)
{
    if (w->style->sort_keys)
        return write_sorted(w, d);
    for (uint32_t i = 0; i < d->count; i++)
        TD_TRY(write_entry(w, &d->entries[i], i == 0));
    return TD_OK;
}

static td_code write_container(writer *w, td_value v)
{
    bool dict = v.tag == TD_V_DICT;
    if ((dict ? v.as.dict->count : v.len) == 0)
        return put(w, dict ? TD_STR("{}") : TD_STR("[]"));
    if (w->depth == TD_JSON_DEPTH_MAX)
        return td_fail(w->err, TD_E_LIMIT, "nesting deeper than %d", TD_JSON_DEPTH_MAX);
    TD_TRY(put(w, dict ? TD_STR("{") : TD_STR("[")));
    w->depth++;
    TD_TRY(dict ? write_entries(w, v.as.dict) : write_items(w, v));
    w->depth--;
    TD_TRY(write_newline(w));
    return put(w, dict ? TD_STR("}") : TD_STR("]"));
}

static td_code write_value(writer *w, td_value v)
{
    if (td_is_str(v))
        return write_str(w, v);
    if (v.tag == TD_V_LIST || v.tag == TD_V_TUPLE || v.tag == TD_V_DICT)
        return write_container(w, v);
    return write_scalar(w, v);
}

td_code td_json_write(td_buf *out, td_value v, const td_json_style *style, td_error *err)
{
    writer w = { .out = out, .style = style, .err = err };
    w.item_separator = style->has_indent ? TD_STR(",") : TD_STR(", ");
    w.key_separator = TD_STR(": ");
    if (style->has_separators) {
        w.item_separator = style->item_separator;
        w.key_separator = style->key_separator;
    }
    size_t start = out->len;
    td_code code = write_value(&w, v);
    if (code != TD_OK)
        out->len = start;
    return code;
}

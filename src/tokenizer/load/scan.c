/* scan.c - a small JSON walker for sections of many megabytes.
 *
 * Strings without an escape (nearly all of them) cost one vectorised search for the closing quote
 * and stay where they are. Skipping is iterative, so nesting cannot exhaust the stack; skipped
 * text is checked by whoever reads it later. */
#include "tokenizer/load/scan.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/load/skip.h"

enum { DEPTH_MAX = 1000 };

td_code tk_scan_fail(const tk_scan *s, const char *message)
{
    return td_fail_at(s->err, TD_E_INPUT, (uint64_t)(s->p - s->start), "%s", message);
}

void tk_scan_space_slow(tk_scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

td_code tk_scan_take_slow(tk_scan *s, char c)
{
    char message[] = "expected 'x' in JSON";
    message[10] = c;
    return tk_scan_fail(s, message);
}

/* The quote or backslash at or behind p; NULL when the text ends or has a control character. */
static const char *string_stop(const char *p, const char *end)
{
    for (; end - p >= TK_BLOCK; p += TK_BLOCK) {
        uint32_t stops = tk_block_stops(tk_block_load(p));
        if (stops != 0) {
            p += __builtin_ctz(stops);
            return (unsigned char)*p < 0x20 ? NULL : p;
        }
    }
    for (; p < end; p++) {
        if (*p == '"' || *p == '\\')
            return p;
        if ((unsigned char)*p < 0x20)
            return NULL;
    }
    return NULL;
}

static int hex4(const char *p, const char *end)
{
    if (end - p < 4)
        return -1;
    int v = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int d = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (d < 0)
            return -1;
        v = v * 16 + d;
    }
    return v;
}

/* \uXXXX with p behind the u; surrogates must come in pairs. Moves *p behind it. */
static const char *unicode_escape(const char **p, const char *end, uint32_t *ret)
{
    int hi = hex4(*p, end);
    if (hi < 0)
        return "bad \\u escape in JSON";
    *p += 4;
    *ret = (uint32_t)hi;
    if (hi < 0xD800 || hi > 0xDFFF)
        return NULL;
    int lo = end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u' ? hex4(*p + 2, end) : -1;
    if (hi > 0xDBFF || lo < 0xDC00 || lo > 0xDFFF)
        return "lone surrogate in a token";
    *p += 6;
    *ret = 0x10000 + ((uint32_t)(hi - 0xD800) << 10) + (uint32_t)(lo - 0xDC00);
    return NULL;
}

/* The escape whose backslash is at s->p; an error is there, too. */
static td_code escape(tk_scan *s)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *p = s->p + 1, *wrong = NULL;
    if (p == s->end)
        return tk_scan_fail(s, "unterminated string in JSON");
    char c = *p++;
    uint32_t value = 0;
    if (c == 'u') {
        wrong = unicode_escape(&p, s->end, &value);
    } else {
        const char *at = c != '\0' ? strchr(from, c) : NULL;
        if (at != NULL)
            value = (unsigned char)to[at - from];
        else
            wrong = "bad escape in JSON";
    }
    if (wrong != NULL)
        return tk_scan_fail(s, wrong);
    s->p = p;
    td_code code = td_buf_code_point(&s->text, value);
    return code == TD_OK ? TD_OK : td_buf_fail(&s->text, s->err, code, "JSON string");
}

/* Behind the opening quote. */
td_code tk_scan_string_slow(tk_scan *s, td_str *ret)
{
    const char *from = s->p;
    const char *stop = string_stop(from, s->end);
    if (stop != NULL && *stop == '"') {
        *ret = (td_str){ from, (size_t)(stop - from) };
        s->p = stop + 1;
        return TD_OK;
    }
    s->text.len = 0;
    for (;; stop = string_stop(s->p, s->end)) {
        if (stop == NULL)
            return tk_scan_fail(s, "unterminated string or control character in JSON");
        td_code code = td_buf_append(&s->text, s->p, (size_t)(stop - s->p));
        if (code != TD_OK)
            return td_buf_fail(&s->text, s->err, code, "JSON string");
        s->p = stop;
        if (*stop == '"')
            break;
        TD_TRY(escape(s));
    }
    s->p++;
    *ret = td_buf_view(&s->text);
    return TD_OK;
}

td_code tk_scan_uint(tk_scan *s, uint32_t *ret)
{
    tk_scan_space(s);
    const char *from = s->p, *p = from, *stop = s->end - from > 11 ? from + 11 : s->end;
    uint64_t v = 0;
    for (; p < stop && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    bool more = p < s->end && (*p == '.' || *p == 'e' || *p == 'E');
    if (p == from || v > UINT32_MAX || more || (p - from > 1 && *from == '0'))
        return tk_scan_fail(s, "expected an id (an integer from 0 to 4294967295)");
    s->p = p;
    *ret = (uint32_t)v;
    return TD_OK;
}

static td_code skip_string(tk_scan *s)
{
    s->p++;
    for (;;) {
        const char *stop = string_stop(s->p, s->end);
        if (stop == NULL)
            return tk_scan_fail(s, "unterminated string or control character in JSON");
        s->p = stop + 1;
        if (*stop == '"')
            return TD_OK;
        if (s->p < s->end)
            s->p++;
    }
}

td_code tk_scan_skip(tk_scan *s, td_str *ret)
{
    tk_scan_space(s);
    const char *from = s->p;
    int depth = 0;
    do {
        tk_scan_space(s);
        if (s->p == s->end)
            return tk_scan_fail(s, "unexpected end of JSON");
        char c = *s->p;
        if (c == '"') {
            TD_TRY(skip_string(s));
        } else if (c == '{' || c == '[') {
            if (++depth > DEPTH_MAX)
                return tk_scan_fail(s, "JSON is nested too deeply");
            s->p++;
        } else if (c == '}' || c == ']') {
            if (--depth < 0)
                return tk_scan_fail(s, "unexpected bracket in JSON");
            s->p++;
        } else if (c == ',' || c == ':') {
            if (depth == 0)
                return tk_scan_fail(s, "expected a JSON value");
            s->p++;
        } else {
            const char *word = s->p;
            while (s->p < s->end && strchr(" \t\r\n,:]}[{\"", *s->p) == NULL)
                s->p++;
            if (s->p == word)
                return tk_scan_fail(s, "expected a JSON value");
        }
    } while (depth > 0);
    *ret = (td_str){ from, (size_t)(s->p - from) };
    return TD_OK;
}

td_code tk_scan_skip_bulk(tk_scan *s, td_str *ret)
{
    tk_scan_space(s);
    if (s->p == s->end || (*s->p != '[' && *s->p != '{'))
        return tk_scan_skip(s, ret);
    const char *stop = tk_skip_brackets(s->p, s->end);
    if (stop == NULL)
        return tk_scan_fail(s, *s->p == '[' ? "unterminated array in JSON"
                                            : "unterminated object in JSON");
    *ret = (td_str){ s->p, (size_t)(stop - s->p) };
    s->p = stop;
    return TD_OK;
}

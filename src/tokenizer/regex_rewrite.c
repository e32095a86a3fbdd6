/* regex_rewrite.c - makes a pattern independent of the engine's Unicode version.
 *
 * Everything whose meaning comes from Unicode tables (\p{..}, \s, \d, \w, \b, [:alpha:] and their
 * negations) is written out as the ranges that the reference uses; all else is copied. What cannot
 * be written out (grapheme clusters, options that change the classes, extended syntax) is refused.
 * Inside brackets the ranges join the class, outside they make one. */
#include <string.h>

#include "base/str.h"
#include "tokenizer/regex.h"
#include "unicode/unicode.h"

typedef struct rewriter {
    const char *p, *end;
    td_buf *out;
    uint32_t depth; /* of [ */
    td_error *err;
} rewriter;

static td_code buf_code(rewriter *r, td_code code)
{
    return code == TD_OK ? TD_OK : td_buf_fail(r->out, r->err, code, "pattern");
}

static td_code put(rewriter *r, td_str s)
{
    return buf_code(r, td_buf_put(r->out, s));
}

static td_code put_range(rewriter *r, uint32_t first, uint32_t last)
{
    /* The engine knows no surrogates. */
    if (first < 0xD800 && last >= 0xD800)
        TD_TRY(put_range(r, first, 0xD7FF));
    if (first <= 0xDFFF && last >= 0xD800)
        first = 0xE000;
    if (first > last)
        return TD_OK;
    return buf_code(r, td_buf_printf(r->out, "\\x{%x}-\\x{%x}", first, last));
}

static td_code put_ranges(rewriter *r, const td_range *ranges, size_t count, bool negate)
{
    if (!negate) {
        for (size_t i = 0; i < count; i++)
            TD_TRY(put_range(r, ranges[i].first, ranges[i].last));
        return TD_OK;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (next < ranges[i].first)
            TD_TRY(put_range(r, next, ranges[i].first - 1));
        next = ranges[i].last + 1;
    }
    return next <= 0x10FFFF ? put_range(r, next, 0x10FFFF) : TD_OK;
}

static td_code put_class(rewriter *r, td_str name, bool negate)
{
    size_t count = 0;
    const td_range *ranges = td_re_class(name, &count);
    if (ranges == NULL)
        return td_fail(r->err, TD_E_TOKENIZER, "unsupported character class '%.*s' in a pattern",
                       name.len < 60 ? (int)name.len : 60, name.ptr);
    if (r->depth == 0)
        TD_TRY(put(r, negate ? TD_STR("[^") : TD_STR("[")));
    /* Outside brackets the engine negates; inside, the complement is written out. */
    TD_TRY(put_ranges(r, ranges, count, negate && r->depth != 0));
    return r->depth == 0 ? put(r, TD_STR("]")) : TD_OK;
}

/* \p{Name}, \p{^Name} or \P{Name}; p stands behind the p. */
static td_code property(rewriter *r, bool negate)
{
    const char *close = r->p < r->end && *r->p == '{'
                            ? memchr(r->p, '}', (size_t)(r->end - r->p))
                            : NULL;
    if (close == NULL)
        return td_fail(r->err, TD_E_TOKENIZER, "malformed \\p in a pattern");
    const char *name = r->p + 1;
    if (name < close && *name == '^') {
        negate = !negate;
        name++;
    }
    r->p = close + 1;
    return put_class(r, (td_str){ name, (size_t)(close - name) }, negate);
}

static td_code word_boundary(rewriter *r, bool negate)
{
    static const char *const parts[2][4] = {
        { "(?:(?<=", ")(?!", ")|(?<!", ")(?=" },
        { "(?:(?<=", ")(?=", ")|(?<!", ")(?!" },
    };
    for (int i = 0; i < 4; i++) {
        TD_TRY(put(r, td_str_from(parts[negate][i])));
        TD_TRY(put_class(r, TD_STR("word"), false));
    }
    return put(r, TD_STR("))"));
}

static td_code unsupported(rewriter *r, const char *what)
{
    return td_fail(r->err, TD_E_TOKENIZER, "unsupported in a pattern: %s", what);
}

/* p stands behind the backslash. */
static td_code escape(rewriter *r)
{
    if (r->p == r->end)
        return unsupported(r, "backslash at the end");
    char c = *r->p++;
    switch (c) {
    case 'p':
    case 'P':
        return property(r, c == 'P');
    case 's':
    case 'S':
        return put_class(r, TD_STR("space"), c == 'S');
    case 'd':
    case 'D':
        return put_class(r, TD_STR("Nd"), c == 'D');
    case 'w':
    case 'W':
        return put_class(r, TD_STR("word"), c == 'W');
    case 'b':
    case 'B':
        if (r->depth == 0)
            return word_boundary(r, c == 'B');
        break;
    case 'X':
    case 'y':
    case 'Y':
        if (r->depth == 0)
            return unsupported(r, "text segments (\\X, \\y)");
        break;
    default:
        break;
    }
    char both[2] = { '\\', c };
    TD_TRY(put(r, (td_str){ both, 2 }));
    if (c == 'c' && r->p < r->end)
        TD_TRY(put(r, (td_str){ r->p++, 1 }));
    return TD_OK;
}

/* [:name:] inside brackets; false: it is none. */
static bool posix_class(rewriter *r, td_code *ret_code)
{
    td_str rest = { r->p, (size_t)(r->end - r->p) };
    if (!td_str_starts(rest, TD_STR("[:")))
        return false;
    size_t close = td_str_find(rest, TD_STR(":]"), 2);
    if (close == TD_NOT_FOUND || close > 20)
        return false;
    td_str name = { r->p + 2, close - 2 };
    bool negate = name.len != 0 && name.ptr[0] == '^';
    if (negate)
        name = td_str_from_offset(name, 1);
    r->p += close + 2;
    *ret_code = put_class(r, name, negate);
    return true;
}

/* Options behind "(?": refuses those under which the rewriting would not hold. */
static td_code group(rewriter *r)
{
    const char *q = r->p + 2;
    for (; q < r->end && strchr("imxWDSPCILyaN-{}gw", *q) != NULL && *q != '\0'; q++) {
        if (strchr("imC-", *q) == NULL)
            return unsupported(r, "options other than i and m");
    }
    TD_TRY(put(r, (td_str){ r->p, 2 }));
    r->p += 2;
    if (r->p < r->end && *r->p == '#')
        return unsupported(r, "comments");
    return TD_OK;
}

static td_code open_bracket(rewriter *r)
{
    TD_TRY(put(r, TD_STR("[")));
    r->p++;
    r->depth++;
    if (r->p < r->end && *r->p == '^') {
        TD_TRY(put(r, TD_STR("^")));
        r->p++;
    }
    if (r->p < r->end && *r->p == ']') { /* a literal one */
        TD_TRY(put(r, TD_STR("\\]")));
        r->p++;
    }
    return TD_OK;
}

td_code tk_regex_rewrite(td_str pattern, td_buf *out, td_error *err)
{
    rewriter r = { pattern.ptr, pattern.ptr + pattern.len, out, 0, err };
    while (r.p < r.end) {
        td_code code = TD_OK;
        if (*r.p == '\\') {
            r.p++;
            TD_TRY(escape(&r));
        } else if (*r.p == '[') {
            if (r.depth == 0 || !posix_class(&r, &code))
                code = open_bracket(&r);
            TD_TRY(code);
        } else if (*r.p == ']' && r.depth != 0) {
            r.depth--;
            TD_TRY(put(&r, (td_str){ r.p++, 1 }));
        } else if (*r.p == '(' && r.depth == 0 && r.end - r.p > 1 && r.p[1] == '?') {
            TD_TRY(group(&r));
        } else {
            TD_TRY(put(&r, (td_str){ r.p++, 1 }));
        }
    }
    return TD_OK;
}

/* regex_rewrite.c - makes a pattern independent of the engine's Unicode version.
 *
 * Everything whose meaning comes from Unicode tables (\p{..}, \s, \d, \w, \b, [:alpha:] and their
 * negations) is written out as the ranges that the reference uses; all else is copied. What cannot
 * be written out (grapheme clusters, options that change the classes, extended syntax) is refused.
 * Inside brackets the ranges join the class, outside they make one. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/regex.h"
#include "unicode/unicode.h"
#include "unicode/unicode_ref.h"

enum { GROUPS_MAX = 250 };

typedef struct rewriter {
    const char *p, *end;
    td_buf *out;
    uint32_t depth; /* of [ */
    uint32_t groups;
    bool folds[GROUPS_MAX + 1]; /* of the groups around: whether case is ignored */
    td_error *err;
} rewriter;

static bool is_folding(const rewriter *r)
{
    return r->folds[r->groups];
}

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

/* What the engine's own table of Latin-1 adds to words where no brackets are around them. */
static const td_range latin_words[] = { { 0xB2, 0xB3 }, { 0xB9, 0xB9 }, { 0xBC, 0xBE } };

/* Case variants that the engine does not know yet, of a class whose case is ignored. */
static td_code put_new_variants(rewriter *r, const td_range *ranges, size_t count, bool negate)
{
    size_t pairs;
    const uint32_t(*pair)[2] = td_re_new_case_variants(&pairs);
    for (size_t i = 0; i < pairs; i++) {
        if (td_re_in_class(ranges, count, pair[i][0]) != negate &&
            td_re_in_class(ranges, count, pair[i][1]) == negate)
            TD_TRY(put_range(r, pair[i][1], pair[i][1]));
    }
    return TD_OK;
}

/* A class outside of brackets; the engine does not ignore its case. */
static td_code put_bare_class(rewriter *r, const td_range *ranges, size_t count, bool negate)
{
    if (is_folding(r))
        TD_TRY(put(r, TD_STR("(?-i:")));
    TD_TRY(put(r, negate ? TD_STR("[^") : TD_STR("[")));
    if (ranges == td_re_class(TD_STR("word"), &(size_t){ 0 }))
        TD_TRY(put_ranges(r, latin_words, sizeof latin_words / sizeof *latin_words, false));
    TD_TRY(put_ranges(r, ranges, count, false)); /* the engine negates */
    return put(r, is_folding(r) ? TD_STR("])") : TD_STR("]"));
}

static td_code put_class(rewriter *r, td_str name, bool negate)
{
    size_t count = 0;
    const td_range *ranges = td_re_class(name, &count);
    if (ranges == NULL)
        return td_fail(r->err, TD_E_TOKENIZER, "unsupported character class '%.*s' in a pattern",
                       name.len < 60 ? (int)name.len : 60, name.ptr);
    if (r->depth == 0)
        return put_bare_class(r, ranges, count, negate);
    TD_TRY(put_ranges(r, ranges, count, negate));
    return is_folding(r) ? put_new_variants(r, ranges, count, negate) : TD_OK;
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
    char own[32]; /* the list has [:name:] where that is not \p{name} */
    size_t count;
    int len = snprintf(own, sizeof own, "[:%.*s:]", (int)name.len, name.ptr);
    td_str full = { own, (size_t)len };
    *ret_code = put_class(r, td_re_class(full, &count) != NULL ? full : name, negate);
    return true;
}

static td_code push_group(rewriter *r, bool fold)
{
    if (r->groups == GROUPS_MAX)
        return unsupported(r, "groups nested so deeply");
    r->folds[++r->groups] = fold;
    return TD_OK;
}

/* Options behind "(?": refuses those under which the rewriting would not hold. "(?i)" is for the
 * rest of the group around it. */
static td_code group(rewriter *r)
{
    const char *q = r->p + 2;
    bool fold = is_folding(r), on = true;
    for (; q < r->end && strchr("imxWDSPCILyaN-{}gw", *q) != NULL && *q != '\0'; q++) {
        if (strchr("imC-", *q) == NULL)
            return unsupported(r, "options other than i and m");
        if (*q == '-')
            on = false;
        else if (*q == 'i')
            fold = on;
    }
    if (q < r->end && *q == '#')
        return unsupported(r, "comments");
    if (q < r->end && *q == ')')
        r->folds[r->groups] = fold;
    else
        TD_TRY(push_group(r, fold));
    size_t len = q < r->end && *q == ')' ? (size_t)(q + 1 - r->p) : 2;
    TD_TRY(put(r, (td_str){ r->p, len }));
    r->p += len;
    return TD_OK;
}

/* A character of the pattern, whose newer case variant the engine does not know. */
static td_code literal(rewriter *r)
{
    const char *from = r->p;
    uint32_t c = td_utf8_next(&r->p, r->end);
    uint32_t variant = is_folding(r) ? td_re_new_case_variant(c) : 0;
    if (variant == 0)
        return put(r, (td_str){ from, (size_t)(r->p - from) });
    if (r->depth != 0)
        return unsupported(r, "ignoring the case of such a character in brackets");
    TD_TRY(put(r, TD_STR("[")));
    TD_TRY(put_range(r, c, c));
    TD_TRY(put_range(r, variant, variant));
    return put(r, TD_STR("]"));
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
    rewriter r = { .p = pattern.ptr, .end = pattern.ptr + pattern.len, .out = out, .err = err };
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
        } else if (*r.p == '(' && r.depth == 0) {
            TD_TRY(push_group(&r, is_folding(&r)));
            TD_TRY(put(&r, (td_str){ r.p++, 1 }));
        } else if (*r.p == ')' && r.depth == 0) {
            r.groups -= r.groups != 0;
            TD_TRY(put(&r, (td_str){ r.p++, 1 }));
        } else {
            TD_TRY(literal(&r));
        }
    }
    return TD_OK;
}

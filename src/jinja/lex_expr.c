/* lex_expr.c - the lexer inside of tags: names, numbers, strings, operators, and the end of the
 * tag, which counts only while no bracket is open. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "jinja/token.h"
#include "unicode/unicode.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(td_str s, uint32_t at)
{
    return at < s.len ? s.ptr[at] : '\0';
}

static bool is_name_char(uint32_t c)
{
    if (c < 0x80)
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    return td_py_isalnum(c) || td_py_is_id_continue(c);
}

/* Digits with single underscores between them from at; the end, or at if there is none. */
static uint32_t digits(td_str s, uint32_t at)
{
    while (is_digit(peek(s, at))) {
        at++;
        if (peek(s, at) == '_' && is_digit(peek(s, at + 1)))
            at++;
    }
    return at;
}

/* The end of a float literal at at, 0 if there is none. One right behind a dot is none: a.0.1 */
static uint32_t match_float(td_str s, uint32_t at)
{
    if (at > 0 && s.ptr[at - 1] == '.')
        return 0;
    uint32_t end = digits(s, at), fraction = 0;
    if (end == at)
        return 0;
    if (peek(s, end) == '.' && is_digit(peek(s, end + 1)))
        fraction = digits(s, end + 1);
    uint32_t e = fraction != 0 ? fraction : end;
    if (peek(s, e) == 'e' || peek(s, e) == 'E') {
        uint32_t x = e + 1;
        if (peek(s, x) == '+' || peek(s, x) == '-')
            x++;
        if (is_digit(peek(s, x)))
            return digits(s, x);
    }
    return fraction;
}

static bool in_base(char c, int base)
{
    if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
        return true;
    return c >= '0' && c < '0' + (base < 10 ? base : 10);
}

static uint32_t match_integer(td_str s, uint32_t at)
{
    if (!is_digit(peek(s, at)))
        return 0;
    if (s.ptr[at] != '0')
        return digits(s, at);
    char x = (char)(peek(s, at + 1) | 0x20);
    int base = x == 'b' ? 2 : x == 'o' ? 8 : x == 'x' ? 16 : 0;
    if (base != 0) {
        uint32_t end = at + 2, i = end;
        for (;;) {
            i = end + (peek(s, end) == '_');
            if (!in_base(peek(s, i), base))
                break;
            end = i + 1;
        }
        if (end > at + 2)
            return end;
    }
    uint32_t end = at + 1;
    while (peek(s, end) == '0' || (peek(s, end) == '_' && peek(s, end + 1) == '0'))
        end += peek(s, end) == '0' ? 1 : 2;
    return end;
}

static uint32_t match_string(td_str s, uint32_t at)
{
    char quote = s.ptr[at];
    for (uint32_t i = at + 1; i < s.len; i++) {
        if (s.ptr[i] == '\\')
            i++;
        else if (s.ptr[i] == quote)
            return i + 1;
    }
    return 0;
}

static uint32_t match_name(td_str s, uint32_t at)
{
    const char *p = s.ptr + at, *end = s.ptr + s.len;
    while (p < end) {
        const char *q = p;
        if (!is_name_char(td_utf8_next(&q, end)))
            break;
        p = q;
    }
    return (uint32_t)(p - s.ptr);
}

static bool is_identifier(td_str name)
{
    const char *p = name.ptr, *end = name.ptr + name.len;
    uint32_t c = td_utf8_next(&p, end);
    if (c != '_' && !td_py_is_id_start(c))
        return false;
    while (p < end)
        if (!td_py_is_id_continue(td_utf8_next(&p, end)))
            return false;
    return true;
}

/* The operator at at; EOF if there is none. */
static jj_token_kind match_operator(td_str s, uint32_t at, uint32_t *ret_end)
{
    static const char singles[] = "+-/*%~[](){}><=.:|,;";
    static const uint8_t kinds[] = {
        JJ_T_ADD, JJ_T_SUB, JJ_T_DIV, JJ_T_MUL, JJ_T_MOD, JJ_T_TILDE, JJ_T_LBRACKET,
        JJ_T_RBRACKET, JJ_T_LPAREN, JJ_T_RPAREN, JJ_T_LBRACE, JJ_T_RBRACE, JJ_T_GT, JJ_T_LT,
        JJ_T_ASSIGN, JJ_T_DOT, JJ_T_COLON, JJ_T_PIPE, JJ_T_COMMA, JJ_T_SEMICOLON,
    };
    char c = s.ptr[at], d = peek(s, at + 1);
    *ret_end = at + 2;
    if (c == '/' && d == '/')
        return JJ_T_FLOORDIV;
    if (c == '*' && d == '*')
        return JJ_T_POW;
    if (d == '=') {
        switch (c) {
        case '=': return JJ_T_EQ;
        case '!': return JJ_T_NE;
        case '>': return JJ_T_GTEQ;
        case '<': return JJ_T_LTEQ;
        default: break;
        }
    }
    *ret_end = at + 1;
    const char *found = c != '\0' ? strchr(singles, c) : NULL;
    return found != NULL ? (jj_token_kind)kinds[found - singles] : JJ_T_EOF;
}

/* The end of the tag when it ends at at, else 0. */
static uint32_t match_tag_end(td_str s, uint32_t at, bool is_block)
{
    char close = is_block ? '%' : '}';
    char c = peek(s, at);
    if (c == '-' && peek(s, at + 1) == close && peek(s, at + 2) == '}')
        return jj_skip_space(s, at + 3);
    if (is_block && c == '+' && peek(s, at + 1) == '%' && peek(s, at + 2) == '}')
        return at + 3;
    if (c != close || peek(s, at + 1) != '}')
        return 0;
    return is_block && peek(s, at + 2) == '\n' ? at + 3 : at + 2;
}

/* Keeps track of open brackets; false: error pushed. */
static bool balance(jj_lexer *lx, jj_token_kind kind, uint32_t at, char *open, uint32_t *depth)
{
    static const char closers[] = { [JJ_T_LBRACE] = '}', [JJ_T_LPAREN] = ')',
                                    [JJ_T_LBRACKET] = ']' };
    if (kind == JJ_T_LBRACE || kind == JJ_T_LPAREN || kind == JJ_T_LBRACKET) {
        if (*depth == JJ_BRACKETS_MAX)
            return jj_lex_fail(lx, at, "more than %d nested brackets", JJ_BRACKETS_MAX);
        open[(*depth)++] = closers[kind];
    } else if (kind == JJ_T_RBRACE || kind == JJ_T_RPAREN || kind == JJ_T_RBRACKET) {
        char c = lx->source.ptr[at];
        if (*depth == 0)
            return jj_lex_fail(lx, at, "unexpected '%c'", c);
        if (open[--*depth] != c)
            return jj_lex_fail(lx, at, "unexpected '%c', expected '%c'", c, open[*depth]);
    }
    return true;
}

static bool lex_one(jj_lexer *lx, char *open, uint32_t *depth)
{
    td_str s = lx->source;
    uint32_t at = lx->pos, end;
    char c = s.ptr[at];
    jj_token_kind kind;
    if ((end = jj_skip_space(s, at)) != at) {
        lx->pos = end;
        return true;
    }
    if ((end = match_float(s, at)) != 0) {
        kind = JJ_T_FLOAT;
    } else if ((end = match_integer(s, at)) != 0) {
        kind = JJ_T_INTEGER;
    } else if ((end = match_name(s, at)) != at) {
        kind = JJ_T_NAME;
        if (!is_identifier((td_str){ s.ptr + at, end - at }))
            return jj_lex_fail(lx, at, "invalid character in identifier");
    } else if ((c == '\'' || c == '"') && (end = match_string(s, at)) != 0) {
        kind = JJ_T_STRING;
    } else {
        kind = match_operator(s, at, &end);
        if (kind == JJ_T_EOF) {
            const char *p = s.ptr + at;
            td_utf8_next(&p, s.ptr + s.len);
            return jj_lex_fail(lx, at, "unexpected character '%.*s'", (int)(p - s.ptr - at),
                               s.ptr + at);
        }
        if (!balance(lx, kind, at, open, depth))
            return false;
    }
    lx->pos = end;
    return jj_lex_push(lx, kind, at, end);
}

bool jj_lex_tag(jj_lexer *lx, bool is_block)
{
    uint32_t depth = 0;
    bool ok = true;
    while (ok && lx->pos < lx->source.len) {
        uint32_t end = depth == 0 ? match_tag_end(lx->source, lx->pos, is_block) : 0;
        if (end != 0) {
            ok = jj_lex_push(lx, is_block ? JJ_T_BLOCK_END : JJ_T_VAR_END, lx->pos, end);
            lx->pos = end;
            lx->line_starting = lx->source.ptr[end - 1] == '\n';
            break;
        }
        ok = lex_one(lx, lx->brackets, &depth);
    }
    return ok;
}

/* ---- string literals ---- */

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads exactly n hexadecimal digits at p; -1 if they are not there. */
static int64_t read_hex(const char *p, const char *end, int n)
{
    int64_t value = 0;
    if (end - p < n)
        return -1;
    for (int i = 0; i < n; i++) {
        int v = hex_value(p[i]);
        if (v < 0)
            return -1;
        value = value * 16 + v;
    }
    return value;
}

/* A backslash before a character that is not ASCII: the reference turns that character into the
 * text of its own escape first, and the two backslashes then pair up. */
static char *escape_text(char *to, uint32_t c)
{
    static const char hex[] = "0123456789abcdef";
    int n = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    *to++ = '\\';
    *to++ = n == 2 ? 'x' : n == 4 ? 'u' : 'U';
    while (n-- > 0)
        *to++ = hex[c >> (4 * n) & 15];
    return to;
}

static const char *simple_escape(char c)
{
    switch (c) {
    case '\n': return "";
    case '\\': return "\\";
    case '\'': return "'";
    case '"': return "\"";
    case 'a': return "\a";
    case 'b': return "\b";
    case 'f': return "\f";
    case 'n': return "\n";
    case 'r': return "\r";
    case 't': return "\t";
    case 'v': return "\v";
    default: return NULL;
    }
}

/* A character given by its code, with p at x, u or U; NULL: malformed. */
static const char *unescape_code(const char *p, const char *end, char **to, const char **ret_why)
{
    int n = *p == 'x' ? 2 : *p == 'u' ? 4 : 8;
    int64_t c = read_hex(p + 1, end, n);
    if (c < 0)
        *ret_why = n == 2   ? "truncated \\xXX escape"
                   : n == 4 ? "truncated \\uXXXX escape"
                            : "truncated \\UXXXXXXXX escape";
    if (c > 0x10FFFF)
        *ret_why = "illegal Unicode character";
    if (c < 0 || c > 0x10FFFF)
        return NULL;
    *to += td_utf8_put(*to, (uint32_t)c);
    return p + 1 + n;
}

/* A character given by its name, with p at the N; NULL: malformed, or not a name. */
static const char *unescape_name(const char *p, const char *end, char **to, const char **ret_why)
{
    const char *name = p + 2, *close = NULL;
    *ret_why = "malformed \\N character escape";
    if (name < end && p[1] == '{')
        close = memchr(name, '}', (size_t)(end - name));
    if (close == NULL || close == name)
        return NULL;
    int32_t c = td_py_named((td_str){ name, (size_t)(close - name) });
    if (c < 0) {
        *ret_why = "unknown Unicode character name";
        return NULL;
    }
    *to += td_utf8_put(*to, (uint32_t)c);
    return close + 1;
}

/* One escape with p behind its backslash; NULL when it is malformed. */
static const char *unescape_one(const char *p, const char *end, char **to, const char **ret_why)
{
    const char *simple = simple_escape(*p);
    if (simple != NULL) {
        if (*simple != '\0')
            *(*to)++ = *simple;
        return p + 1;
    }
    if (*p == 'x' || *p == 'u' || *p == 'U')
        return unescape_code(p, end, to, ret_why);
    if (*p == 'N')
        return unescape_name(p, end, to, ret_why);
    if (*p >= '0' && *p <= '7') {
        uint32_t c = 0;
        for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++)
            c = c * 8 + (uint32_t)(*p++ - '0');
        *to += td_utf8_put(*to, c);
        return p;
    }
    if ((unsigned char)*p < 0x80) {
        *(*to)++ = '\\';
        *(*to)++ = *p;
        return p + 1;
    }
    *to = escape_text(*to, td_utf8_next(&p, end));
    return p;
}

td_code jj_unescape(td_arena *a, td_str source, jj_token token, td_str *ret, td_error *err)
{
    const char *p = source.ptr + token.at + 1, *end = source.ptr + token.end - 1;
    if (p == end || memchr(p, '\\', (size_t)(end - p)) == NULL) {
        *ret = (td_str){ p, (size_t)(end - p) };
        return TD_OK;
    }
    /* the worst growth is a backslash and two bytes that become "\xe9" or the like */
    char *to = td_arena_alloc(a, (size_t)(end - p) * 2 + 8, 1);
    if (to == NULL)
        return td_arena_fail(a, err);
    char *begin = to;
    while (p < end) {
        if (*p != '\\') {
            *to++ = *p++;
            continue;
        }
        const char *at = p++, *why = "";
        p = unescape_one(p, end, &to, &why);
        if (p == NULL)
            return td_fail_at(err, TD_E_TEMPLATE, (uint64_t)(at - source.ptr), "%s", why);
    }
    *ret = (td_str){ begin, (size_t)(to - begin) };
    return TD_OK;
}

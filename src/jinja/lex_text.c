/* lex_text.c - the lexer outside of tags: text, comments, raw blocks, whitespace control.
 *
 * Idea: look for the next "{%", "{{" or "{#", cut the text before it as its sign and the
 * lstrip_blocks rule say, then hand tags to lex_expr.c. trim_blocks (one newline behind a block or
 * comment) is part of how an end is matched. The rules are those of the reference's environment:
 * trim_blocks and lstrip_blocks on. */
#include "jinja/token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "unicode/unicode.h"

static const char *const token_names[] = {
#define TOKEN(kind, text) [JJ_T_##kind] = text,
#include "jinja/token.def"
#undef TOKEN
};

const char *jj_token_name(jj_token_kind kind)
{
    return (unsigned)kind < JJ_T_COUNT_ ? token_names[kind] : "?";
}

bool jj_lex_push(jj_lexer *lx, jj_token_kind kind, uint32_t at, uint32_t end)
{
    jj_tokens *t = lx->out;
    if (t->count == t->cap) {
        uint32_t cap = t->cap != 0 ? t->cap * 2 : 256;
        jj_token *items = td_arena_array(lx->arena, jj_token, cap);
        if (items == NULL)
            return false;
        if (t->count != 0)
            memcpy(items, t->items, t->count * sizeof *items);
        t->items = items;
        t->cap = cap;
    }
    t->items[t->count++] = (jj_token){ .kind = (uint8_t)kind, .at = at, .end = end };
    return true;
}

bool jj_lex_fail(jj_lexer *lx, uint32_t at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(lx->out->error, sizeof lx->out->error, fmt, args);
    va_end(args);
    jj_lex_push(lx, JJ_T_ERROR, at, at);
    return false;
}

td_code jj_normalize(td_arena *a, td_str source, td_str *ret, td_error *err)
{
    if (source.len != 0 && memchr(source.ptr, '\r', source.len) != NULL) {
        char *to = td_arena_alloc(a, source.len, 1);
        if (to == NULL)
            return td_arena_fail(a, err);
        size_t n = 0;
        for (size_t i = 0; i < source.len; i++) {
            if (source.ptr[i] != '\r')
                to[n++] = source.ptr[i];
            else if (i + 1 == source.len || source.ptr[i + 1] != '\n')
                to[n++] = '\n';
        }
        source = (td_str){ to, n };
    }
    if (source.len != 0 && source.ptr[source.len - 1] == '\n')
        source.len--;
    *ret = source;
    return TD_OK;
}

uint32_t jj_skip_space(td_str source, uint32_t at)
{
    const char *p = source.ptr + at, *end = source.ptr + source.len;
    while (p < end) {
        const char *q = p;
        if (!td_py_isspace(td_utf8_next(&q, end)))
            break;
        p = q;
    }
    return (uint32_t)(p - source.ptr);
}

static bool at_text(const jj_lexer *lx, uint32_t at, const char *text)
{
    size_t n = strlen(text);
    return lx->source.len - at >= n && memcmp(lx->source.ptr + at, text, n) == 0;
}

/* Whether all of [at, end) is white space; an empty span is not. */
static bool is_space(td_str source, uint32_t at, uint32_t end)
{
    return at < end && jj_skip_space((td_str){ source.ptr, end }, at) == end;
}

/* The end of the text [at, end) before a tag with this sign. */
static uint32_t cut_text(const jj_lexer *lx, uint32_t at, uint32_t end, char sign, bool is_var)
{
    td_str text = { lx->source.ptr + at, end - at };
    if (sign == '-')
        return at + (uint32_t)td_py_rstrip(text).len;
    if (sign == '+' || is_var)
        return end;
    uint32_t line = end;
    while (line > at && lx->source.ptr[line - 1] != '\n')
        line--;
    if ((line > at || lx->line_starting) && is_space(lx->source, line, end))
        return line;
    return end;
}

/* Matches the end of a comment or raw block at pos, for which what is "#}" or "%}": "+#}" keeps,
 * "-#}" eats white space, "#}" eats one newline. Returns the position behind it, 0 if none. */
static uint32_t match_end(const jj_lexer *lx, uint32_t pos, const char *what)
{
    if (lx->source.ptr[pos] == '+' && at_text(lx, pos + 1, what))
        return pos + 3;
    if (lx->source.ptr[pos] == '-' && at_text(lx, pos + 1, what))
        return jj_skip_space(lx->source, pos + 3);
    if (!at_text(lx, pos, what))
        return 0;
    return pos + 2 < lx->source.len && lx->source.ptr[pos + 2] == '\n' ? pos + 3 : pos + 2;
}

static void finish_match(jj_lexer *lx, uint32_t pos)
{
    lx->pos = pos;
    lx->line_starting = lx->source.ptr[pos - 1] == '\n';
}

static bool lex_comment(jj_lexer *lx, uint32_t begin)
{
    for (uint32_t i = lx->pos; i < lx->source.len; i++) {
        if (lx->source.ptr[i] != '#' && lx->source.ptr[i] != '+' && lx->source.ptr[i] != '-')
            continue;
        uint32_t end = match_end(lx, i, "#}");
        if (end != 0) {
            finish_match(lx, end);
            return true;
        }
    }
    if (lx->pos < lx->source.len)
        return jj_lex_fail(lx, begin, "missing end of comment");
    return true; /* "{#" as the last characters is accepted by the reference */
}

/* The end of "{%- raw %}" that begins at begin, 0 if it is no raw tag. */
static uint32_t match_raw_begin(const jj_lexer *lx, uint32_t begin)
{
    uint32_t at = begin + 2;
    if (at < lx->source.len && (lx->source.ptr[at] == '-' || lx->source.ptr[at] == '+'))
        at++;
    at = jj_skip_space(lx->source, at);
    if (!at_text(lx, at, "raw"))
        return 0;
    at = jj_skip_space(lx->source, at + 3);
    if (at_text(lx, at, "-%}"))
        return jj_skip_space(lx->source, at + 3);
    return at_text(lx, at, "%}") ? at + 2 : 0;
}

static bool lex_raw(jj_lexer *lx, uint32_t begin)
{
    uint32_t text = lx->pos;
    for (uint32_t i = text; i < lx->source.len; i++) {
        if (!at_text(lx, i, "{%"))
            continue;
        char sign = i + 2 < lx->source.len ? lx->source.ptr[i + 2] : ' ';
        uint32_t at = i + 2 + (sign == '-' || sign == '+');
        at = jj_skip_space(lx->source, at);
        if (!at_text(lx, at, "endraw"))
            continue;
        at = jj_skip_space(lx->source, at + 6);
        uint32_t end = at < lx->source.len ? match_end(lx, at, "%}") : 0;
        if (end == 0)
            continue;
        uint32_t cut = cut_text(lx, text, i, sign, /* is_var= */ false);
        if (cut > text && !jj_lex_push(lx, JJ_T_DATA, text, cut))
            return false;
        finish_match(lx, end);
        return true;
    }
    if (text < lx->source.len)
        return jj_lex_fail(lx, begin, "missing end of raw block");
    return true;
}

/* One piece of text and the tag behind it; false: stop. */
static bool lex_root(jj_lexer *lx)
{
    td_str s = lx->source;
    uint32_t text = lx->pos, i = text;
    char kind = 0;
    for (;; i++) {
        const char *p = i < s.len ? memchr(s.ptr + i, '{', s.len - i) : NULL;
        if (p == NULL || p + 1 == s.ptr + s.len) {
            lx->pos = (uint32_t)s.len;
            return text == s.len || jj_lex_push(lx, JJ_T_DATA, text, (uint32_t)s.len);
        }
        i = (uint32_t)(p - s.ptr);
        kind = p[1];
        if (kind == '%' || kind == '{' || kind == '#')
            break;
    }
    char sign = i + 2 < s.len && (s.ptr[i + 2] == '-' || s.ptr[i + 2] == '+') ? s.ptr[i + 2] : 0;
    uint32_t cut = cut_text(lx, text, i, sign, kind == '{');
    if (cut > text && !jj_lex_push(lx, JJ_T_DATA, text, cut))
        return false;
    uint32_t raw = kind == '%' ? match_raw_begin(lx, i) : 0;
    if (raw != 0) {
        finish_match(lx, raw);
        return lex_raw(lx, i);
    }
    finish_match(lx, i + 2 + (sign != 0));
    if (kind == '#')
        return lex_comment(lx, i);
    if (!jj_lex_push(lx, kind == '%' ? JJ_T_BLOCK_BEGIN : JJ_T_VAR_BEGIN, i, lx->pos))
        return false;
    return jj_lex_tag(lx, kind == '%');
}

td_code jj_lex(td_arena *a, td_str source, jj_tokens *ret, td_error *err)
{
    *ret = (jj_tokens){ 0 };
    jj_lexer lx = { .arena = a, .source = source, .line_starting = true, .out = ret };
    lx.brackets = td_arena_alloc(a, JJ_BRACKETS_MAX, 1);
    if (lx.brackets == NULL)
        return td_arena_fail(a, err);
    while (lx.pos < source.len && lex_root(&lx)) {
    }
    if (ret->count != 0 && ret->items[ret->count - 1].kind == JJ_T_ERROR)
        return TD_OK;
    if (lx.pos < source.len ||
        !jj_lex_push(&lx, JJ_T_EOF, (uint32_t)source.len, (uint32_t)source.len))
        return td_arena_fail(a, err);
    return TD_OK;
}

/* pattern.c - the part of regular expression syntax that means the same in both engines:
 * alternatives, groups without names, look-ahead, (?i:...), classes without operators, the escapes
 * below, and greedy or lazy repetition. Left out are possessive repetition and anchors ('$' is the
 * end of a line here and the end of the text there), class operators, flags, and whatever is
 * rarer. */
#include "tokenizer/formats/pattern.h"

#include <string.h>

typedef struct checker {
    const char *p, *end;
    bool in_class, at_class_start;
} checker;

static bool starts(const checker *c, const char *text)
{
    size_t len = strlen(text);
    return (size_t)(c->end - c->p) >= len && memcmp(c->p, text, len) == 0;
}

/* p stands behind the backslash. */
static const char *escape(checker *c)
{
    if (c->p == c->end)
        return "a backslash at the end";
    char e = *c->p++;
    if (e == 'p' || e == 'P') {
        const char *close =
            c->p < c->end && *c->p == '{' ? memchr(c->p, '}', (size_t)(c->end - c->p)) : NULL;
        if (close == NULL)
            return "\\p without braces";
        c->p = close + 1;
        return NULL;
    }
    if (strchr("rntsSdD", e) != NULL && e != '\0')
        return NULL;
    /* Punctuation stands for itself. */
    if ((unsigned char)e < 0x80 && !(e >= 'a' && e <= 'z') && !(e >= 'A' && e <= 'Z') &&
        !(e >= '0' && e <= '9') && e != '<' && e != '>' && e >= ' ')
        return NULL;
    return "an escape that is not common to both engines";
}

static const char *in_class(checker *c, char one)
{
    if (one == '[')
        return "a class in a class";
    if (starts(c, "&") && one == '&')
        return "&& in a class";
    if ((one == '-' && starts(c, "-")) || (one == '~' && starts(c, "~")))
        return "an operator in a class";
    if (one == ']') {
        if (c->at_class_start)
            return "an empty class";
        c->in_class = false;
    }
    c->at_class_start = false;
    return NULL;
}

/* Behind '?', '*', '+' or '}'. */
static const char *repeated(checker *c, bool braces)
{
    if (starts(c, "+") || starts(c, "*") || (braces && starts(c, "?")))
        return "repetition of a repetition";
    if (starts(c, "?"))
        c->p++;
    if (starts(c, "?") || starts(c, "+") || starts(c, "*") || starts(c, "{"))
        return "repetition of a repetition";
    return NULL;
}

/* {n}, {n,} or {n,m}; p stands behind the brace. */
static const char *braces(checker *c)
{
    const char *from = c->p;
    while (c->p < c->end && ((*c->p >= '0' && *c->p <= '9') || (*c->p == ',' && c->p != from)))
        c->p++;
    if (c->p == from || c->p == c->end || *c->p != '}')
        return "a brace that is no repetition";
    c->p++;
    return repeated(c, true);
}

static const char *group(checker *c)
{
    static const char *const heads[] = { "?:", "?i:", "?=", "?!" };
    if (!starts(c, "?"))
        return NULL;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (starts(c, heads[i])) {
            c->p += strlen(heads[i]);
            return NULL;
        }
    }
    return "a kind of group";
}

static const char *outside(checker *c, char one)
{
    switch (one) {
    case '[':
        c->in_class = c->at_class_start = true;
        if (starts(c, "^"))
            c->p++;
        return NULL;
    case '(':
        return group(c);
    case '?':
    case '*':
    case '+':
        return repeated(c, false);
    case '{':
        return braces(c);
    case '^':
    case '$':
        return "an anchor";
    case '.':
        return "the dot";
    default:
        return NULL;
    }
}

const char *tk_pattern_portable(td_str pattern)
{
    checker c = { .p = pattern.ptr, .end = pattern.ptr + pattern.len };
    while (c.p < c.end) {
        char one = *c.p++;
        const char *wrong;
        if (one == '\\') {
            wrong = escape(&c);
            c.at_class_start = false;
        } else {
            wrong = c.in_class ? in_class(&c, one) : outside(&c, one);
        }
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* hide_tag.c - makes a template compile beyond an error, so that `check` finds the next one. */
#include "cli/hide_tag.h"

#include <string.h>

/* The last place before end where the two characters stand; NULL: none. */
static char *last_pair(char *text, const char *end, char a, char b)
{
    for (size_t i = (size_t)(end - text); i-- > 1;)
        if (text[i - 1] == a && text[i] == b)
            return text + i - 1;
    return NULL;
}

static char *next_pair(char *p, const char *end, char a, char b)
{
    for (; p + 1 < end; p++)
        if (p[0] == a && p[1] == b)
            return p;
    return NULL;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

/* Statements that others belong to: without them those would be errors, too. */
static bool has_partner(const char *word, size_t len)
{
    static const char *const words[] = { "if",   "elif", "else",       "for",   "macro",
                                         "call", "with", "autoescape", "block", "filter",
                                         "raw",  "set",  "generation" };
    if (len > 3 && memcmp(word, "end", 3) == 0)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
            return true;
    return false;
}

/* {% if ... %} keeps its place with another condition. */
static bool replace_condition(char *from, char *to)
{
    if (to - from < 2)
        return false;
    for (char *p = from; p < to; p++)
        if (*p != '\n')
            *p = ' ';
    from[1] = '1';
    return true;
}

static bool hide_statement(char *open, char *close)
{
    char *word = open + 2;
    if (*word == '-' || *word == '+')
        word++;
    while (word < close && (*word == ' ' || *word == '\n' || *word == '\t'))
        word++;
    size_t len = 0;
    while (word + len < close && is_word_char(word[len]))
        len++;
    bool is_set = len == 3 && memcmp(word, "set", 3) == 0 &&
                  memchr(word, '=', (size_t)(close - word)) != NULL;
    char *end = close > open + 2 && (close[-1] == '-' || close[-1] == '+') ? close - 1 : close;
    if ((len == 2 && memcmp(word, "if", 2) == 0) || (len == 4 && memcmp(word, "elif", 4) == 0))
        return replace_condition(word + len, end);
    if (has_partner(word, len) && !is_set)
        return false;
    open[1] = '#';
    close[0] = '#';
    return true;
}

bool cli_hide_tag(char *source, size_t len, size_t at)
{
    if (at >= len)
        return false;
    const char *end = source + len;
    char *error = source + at;
    const char *limit = at + 2 <= len ? error + 2 : end; /* the error may be the tag itself */
    char *print = last_pair(source, limit, '{', '{');
    char *statement = last_pair(source, limit, '{', '%');
    bool is_print = statement == NULL || (print != NULL && print > statement);
    char *open = is_print ? print : statement;
    if (open == NULL)
        return false;
    char *from = error > open + 2 ? error : open + 2;
    char *close = is_print ? next_pair(from, end, '}', '}') : next_pair(from, end, '%', '}');
    if (close == NULL)
        return false;
    if (!is_print)
        return hide_statement(open, close);
    open[1] = '#';
    close[0] = '#';
    return true;
}

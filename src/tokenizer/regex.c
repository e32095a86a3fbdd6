/* regex.c - Oniguruma behind tk_regex, and plain search for patterns that are plain texts or one
 * character again and again.
 *
 * Iterating follows the reference: matches do not overlap, and an empty match right behind the
 * match before it is passed over by one character. The engine's own limits (stack, retries) come
 * back as errors, as they do there. */
#include "tokenizer/regex.h"

#include <oniguruma.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/str.h"

struct tk_regex {
    regex_t *onig; /* NULL: plain search for source */
    td_str source;
    bool is_string;
    char again;       /* the pattern is this character of ASCII, at least so many times; */
    size_t again_min; /* 0: it is another */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_engine(void)
{
    OnigEncoding use[] = { ONIG_ENCODING_UTF8 };
    onig_initialize(use, 1);
}

void tk_regex_free(void *regex)
{
    tk_regex *re = regex;
    if (re == NULL)
        return;
    if (re->onig != NULL)
        onig_free(re->onig);
    td_free((char *)re->source.ptr);
    td_free(re);
}

static td_code engine_error(int code, OnigErrorInfo *info, const char *what, td_error *err)
{
    if (code == ONIGERR_MEMORY)
        return td_fail_nomem(err);
    UChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
    int n = info != NULL ? onig_error_code_to_str(text, code, info)
                         : onig_error_code_to_str(text, code);
    return td_fail(err, TD_E_TOKENIZER, "%s: %.*s", what, n, (const char *)text);
}

static td_code compile(tk_regex *re, td_str pattern, td_error *err)
{
    pthread_once(&once, start_engine);
    td_buf text = { .limit = 16 * 1024 * 1024 };
    td_code code = tk_regex_rewrite(pattern, &text, err);
    if (code == TD_OK) {
        OnigErrorInfo info;
        const UChar *start = (const UChar *)(text.ptr != NULL ? text.ptr : "");
        int r = onig_new(&re->onig, start, start + text.len, ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
                         OnigDefaultSyntax, &info);
        if (r != ONIG_NORMAL) {
            re->onig = NULL;
            code = engine_error(r, &info, "pattern", err);
        }
    }
    td_buf_done(&text);
    return code;
}

static const char meta[] = "\\^$.[](){}*+?|";

/* Whether the pattern is c+ or c{n,}. */
static void see_again(tk_regex *re)
{
    td_str s = re->source;
    size_t n = 0;
    if (s.len < 2 || (unsigned char)s.ptr[0] >= 0x80 || memchr(meta, s.ptr[0], sizeof meta) != NULL)
        return;
    td_str q = td_str_from_offset(s, 1);
    if (td_str_eq(q, TD_STR("+"))) {
        n = 1;
    } else if (q.len == 4 && q.ptr[0] == '{' && q.ptr[2] == ',' && q.ptr[3] == '}') {
        n = (size_t)(unsigned char)q.ptr[1] - '0';
    }
    re->again = s.ptr[0];
    re->again_min = n <= 9 ? n : 0;
}

static td_code make(td_str pattern, bool is_string, tk_regex **ret, td_error *err)
{
    tk_regex *re = td_calloc(1, sizeof *re);
    char *copy = td_strndup(pattern.ptr, pattern.len);
    if (re == NULL || copy == NULL) {
        td_free(re);
        td_free(copy);
        return td_fail_nomem(err);
    }
    re->source = (td_str){ copy, pattern.len };
    re->is_string = is_string;
    if (!is_string || pattern.len == 0) {
        td_code code = compile(re, pattern, err);
        if (code != TD_OK) {
            tk_regex_free(re);
            return code;
        }
        if (!is_string)
            see_again(re);
    }
    *ret = re;
    return TD_OK;
}

td_code tk_regex_new(td_str pattern, tk_regex **ret, td_error *err)
{
    return make(pattern, false, ret, err);
}

td_code tk_regex_load(const tk_at *at, const char *key, const tk_regex **ret)
{
    bool is_regex;
    td_str source;
    TD_TRY(tk_get_pattern(at, key, &is_regex, &source));
    tk_regex *re = NULL;
    td_error why = TD_ERROR_INIT;
    if (make(source, !is_regex, &re, &why) != TD_OK) {
        td_code code = why.code == TD_E_TOKENIZER ? tk_at_fail(at, key, "%s", why.message)
                                                  : tk_load_nomem(at->load);
        td_error_clear(&why);
        return code;
    }
    *ret = re;
    return tk_on_free(at->load, tk_regex_free, re);
}

td_str tk_regex_source(const tk_regex *re, bool *ret_is_string)
{
    *ret_is_string = re->is_string;
    return re->source;
}

/* +, or {n} and {n,m} with n above 0; or nothing. */
static bool repeats_once(td_str q)
{
    if (q.len == 0 || td_str_eq(q, TD_STR("+")))
        return true;
    if (q.len < 3 || q.ptr[0] != '{' || q.ptr[q.len - 1] != '}' || q.ptr[1] < '1' || q.ptr[1] > '9')
        return false;
    bool comma = false;
    for (size_t i = 2; i + 1 < q.len; i++) {
        bool digit = q.ptr[i] >= '0' && q.ptr[i] <= '9';
        if (!digit && (q.ptr[i] != ',' || comma))
            return false;
        comma |= !digit;
    }
    return true;
}

bool tk_regex_takes_text(const tk_regex *re)
{
    static const char kinds[] = "sSwWdDnrt";
    td_str s = re->source;
    if (s.len == 0 || re->is_string)
        return s.len != 0;
    if (s.ptr[0] == '\\')
        return s.len > 1 && memchr(kinds, s.ptr[1], sizeof kinds - 1) != NULL &&
               repeats_once(td_str_from_offset(s, 2));
    return (unsigned char)s.ptr[0] < 0x80 && memchr(meta, s.ptr[0], sizeof meta - 1) == NULL &&
           repeats_once(td_str_from_offset(s, 1));
}

void tk_regex_release(tk_ctx *ctx)
{
    if (ctx->region != NULL)
        onig_region_free(ctx->region, 1);
    ctx->region = NULL;
}

/* Adds a hit and the gap before it. */
static td_code add_hit(tk_ctx *ctx, tk_matches *m, size_t *done, size_t start, size_t end,
                       td_error *err)
{
    if (*done != start)
        TD_TRY(tk_matches_add(ctx, m, (uint32_t)*done, (uint32_t)start, false, err));
    *done = end;
    return tk_matches_add(ctx, m, (uint32_t)start, (uint32_t)end, true, err);
}

static td_code find_plain(const tk_regex *re, tk_ctx *ctx, td_str text, tk_matches *m,
                          size_t *done, td_error *err)
{
    for (size_t from = 0; (from = td_str_find(text, re->source, from)) != TD_NOT_FOUND;) {
        TD_TRY(add_hit(ctx, m, done, from, from + re->source.len, err));
        from += re->source.len;
    }
    return TD_OK;
}

enum { BLOCK = 32 };

/* The first place from a place on where a character stands at least min times, up to two; the
 * length of the text: there is none. Most texts are full of spaces, but not of two of them. */
static size_t find_start(td_str text, size_t at, char c, size_t min)
{
    const char *p = text.ptr;
    if (min == 1) {
        const char *hit = at < text.len ? memchr(p + at, c, text.len - at) : NULL;
        return hit != NULL ? (size_t)(hit - p) : text.len;
    }
    for (; text.len - at > BLOCK; at += BLOCK) {
        unsigned char both = 0;
        for (size_t i = at; i < at + BLOCK; i++)
            both |= (unsigned char)((p[i] == c) & (p[i + 1] == c));
        if (both != 0)
            break;
    }
    while (at + 1 < text.len && (p[at] != c || p[at + 1] != c))
        at++;
    return at + 1 < text.len ? at : text.len;
}

static td_code find_again(const tk_regex *re, tk_ctx *ctx, td_str text, tk_matches *m,
                          size_t *done, td_error *err)
{
    size_t start = 0, end;
    while ((start = find_start(text, start, re->again, re->again_min)) < text.len) {
        for (end = start + 1; end < text.len && text.ptr[end] == re->again;)
            end++;
        if (end - start >= re->again_min)
            TD_TRY(add_hit(ctx, m, done, start, end, err));
        start = end;
    }
    return TD_OK;
}

static size_t next_char(td_str text, size_t at)
{
    if (at >= text.len)
        return at + 1;
    at++;
    while (at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static td_code find_onig(const tk_regex *re, tk_ctx *ctx, td_str text, tk_matches *m, size_t *done,
                         td_error *err)
{
    if (ctx->region == NULL && (ctx->region = onig_region_new()) == NULL)
        return td_fail_nomem(err);
    OnigRegion *region = ctx->region;
    const UChar *start = (const UChar *)text.ptr, *end = start + text.len;
    size_t from = 0, last = SIZE_MAX;
    while (from <= text.len) {
        int r = onig_search(re->onig, start, end, start + from, end, region, ONIG_OPTION_NONE);
        if (r == ONIG_MISMATCH)
            break;
        if (r < 0)
            return engine_error(r, NULL, "pattern cannot be matched", err);
        size_t hit = (size_t)region->beg[0], hit_end = (size_t)region->end[0];
        if (hit == hit_end && hit_end == last) {
            from = next_char(text, from);
            continue;
        }
        from = last = hit_end;
        TD_TRY(add_hit(ctx, m, done, hit, hit_end, err));
    }
    return TD_OK;
}

td_code tk_regex_matches(const tk_regex *re, tk_ctx *ctx, td_str text, tk_matches *ret,
                         td_error *err)
{
    if (text.len == 0)
        return tk_matches_add(ctx, ret, 0, 0, false, err);
    size_t done = 0;
    if (re->onig == NULL)
        TD_TRY(find_plain(re, ctx, text, ret, &done, err));
    else if (re->again_min != 0)
        TD_TRY(find_again(re, ctx, text, ret, &done, err));
    else
        TD_TRY(find_onig(re, ctx, text, ret, &done, err));
    if (done != text.len)
        TD_TRY(tk_matches_add(ctx, ret, (uint32_t)done, (uint32_t)text.len, false, err));
    return TD_OK;
}

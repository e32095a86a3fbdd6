/* Python's whole-string case methods and strip().
 *
 * Each character is mapped on its own, but for two contexts: a capital sigma becomes a final one
 * by what stands around it (lower, and all that lowers), and title() by whether the character in
 * front is cased. Runs of ASCII need no tables. On failure the output gets its old length back. */
#include "base/utf8.h"
#include "unicode/unicode.h"

enum { SIGMA = 0x3A3, SMALL_SIGMA = 0x3C3, FINAL_SIGMA = 0x3C2 };

typedef int (*map_fn)(uint32_t c, uint32_t out[3]);

static td_code put(td_buf *out, const uint32_t *c, int n)
{
    char bytes[12];
    size_t len = 0;
    for (int i = 0; i < n; i++)
        len += td_utf8_put(bytes + len, c[i]);
    return td_buf_append(out, bytes, len);
}

/* Is the sigma in front of after (and behind before) the end of a word? Characters that case
 * ignores are looked through on both sides. */
static bool is_final_sigma(const char *start, const char *before, const char *after,
                           const char *end)
{
    bool cased = false;
    while (before > start) {
        uint32_t c = td_utf8_prev(start, &before);
        if (!td_py_is_case_ignorable(c)) {
            cased = td_py_is_cased(c);
            break;
        }
    }
    if (!cased)
        return false;
    while (after < end) {
        uint32_t c = td_utf8_next(&after, end);
        if (!td_py_is_case_ignorable(c))
            return !td_py_is_cased(c);
    }
    return true;
}

/* Lower case of the character c of s that ends at next. */
static int lower_in(td_str s, const char *next, uint32_t c, uint32_t out[3])
{
    if (c != SIGMA)
        return td_py_to_lower(c, out);
    bool final = is_final_sigma(s.ptr, next - 2, next, s.ptr + s.len);
    out[0] = final ? FINAL_SIGMA : SMALL_SIGMA;
    return 1;
}

/* Appends n bytes of ASCII with the letters from first to first + 25 changed in case. */
static td_code put_ascii(td_buf *out, const char *p, size_t n, unsigned char first)
{
    td_code code = td_buf_reserve(out, n);
    if (code != TD_OK)
        return code;
    char *to = out->ptr + out->len;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        to[i] = (char)(c ^ ((unsigned char)(c - first) < 26 ? 0x20 : 0));
    }
    out->len += n;
    return TD_OK;
}

/* Appends s with each character mapped by map (lower_in where it is NULL); first is the letter
 * that begins the ASCII letters that change. */
static td_code map_all(td_buf *out, td_str s, map_fn map, unsigned char first)
{
    size_t old = out->len;
    const char *p = s.ptr, *end = s.ptr + s.len;
    td_code code = TD_OK;
    while (code == TD_OK && p < end) {
        if (((unsigned char)*p & 0x80) == 0) {
            size_t run = td_utf8_ascii_run((td_str){ p, (size_t)(end - p) });
            code = put_ascii(out, p, run, first);
            p += run;
            continue;
        }
        uint32_t c = td_utf8_next(&p, end), to[3];
        int n = map != NULL ? map(c, to) : lower_in(s, p, c, to);
        code = put(out, to, n);
    }
    if (code != TD_OK)
        out->len = old;
    return code;
}

td_code td_py_upper(td_buf *out, td_str s)
{
    return map_all(out, s, td_py_to_upper, 'a');
}

td_code td_py_lower(td_buf *out, td_str s)
{
    return map_all(out, s, NULL, 'A');
}

td_code td_py_casefold(td_buf *out, td_str s)
{
    return map_all(out, s, td_py_to_fold, 'A');
}

td_code td_py_title(td_buf *out, td_str s)
{
    size_t old = out->len;
    const char *p = s.ptr, *end = s.ptr + s.len;
    td_code code = TD_OK;
    bool after_cased = false;
    while (code == TD_OK && p < end) {
        uint32_t c = td_utf8_next(&p, end), to[3];
        int n = after_cased ? lower_in(s, p, c, to) : td_py_to_title(c, to);
        code = put(out, to, n);
        after_cased = td_py_is_cased(c);
    }
    if (code != TD_OK)
        out->len = old;
    return code;
}

td_code td_py_capitalize(td_buf *out, td_str s)
{
    size_t old = out->len;
    const char *p = s.ptr, *end = s.ptr + s.len;
    td_code code = TD_OK;
    uint32_t to[3];
    if (p < end) {
        int n = td_py_to_title(td_utf8_next(&p, end), to);
        code = put(out, to, n);
    }
    while (code == TD_OK && p < end) {
        uint32_t c = td_utf8_next(&p, end);
        int n = lower_in(s, p, c, to);
        code = put(out, to, n);
    }
    if (code != TD_OK)
        out->len = old;
    return code;
}

td_code td_py_swapcase(td_buf *out, td_str s)
{
    size_t old = out->len;
    const char *p = s.ptr, *end = s.ptr + s.len;
    td_code code = TD_OK;
    while (code == TD_OK && p < end) {
        uint32_t c = td_utf8_next(&p, end), to[3] = { c };
        int n = 1;
        if (td_py_isupper(c))
            n = lower_in(s, p, c, to);
        else if (td_py_islower(c))
            n = td_py_to_upper(c, to);
        code = put(out, to, n);
    }
    if (code != TD_OK)
        out->len = old;
    return code;
}

static bool is_ascii_space(unsigned char c)
{
    return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
}

td_str td_py_lstrip(td_str s)
{
    const char *p = s.ptr, *end = s.ptr + s.len;
    while (p < end) {
        const char *next = p;
        if ((unsigned char)*p < 0x80) {
            if (!is_ascii_space((unsigned char)*p))
                break;
            next++;
        } else if (!td_py_isspace(td_utf8_next(&next, end))) {
            break;
        }
        p = next;
    }
    return (td_str){ p, (size_t)(end - p) };
}

td_str td_py_rstrip(td_str s)
{
    const char *end = s.ptr + s.len;
    while (end > s.ptr) {
        const char *last = end - 1;
        if ((unsigned char)*last < 0x80) {
            if (!is_ascii_space((unsigned char)*last))
                break;
        } else {
            last = end;
            if (!td_py_isspace(td_utf8_prev(s.ptr, &last)))
                break;
        }
        end = last;
    }
    return (td_str){ s.ptr, (size_t)(end - s.ptr) };
}

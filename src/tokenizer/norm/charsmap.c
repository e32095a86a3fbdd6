/* charsmap.c - reading and asking a double array of 32-bit units.
 *
 * From the unit at place p the children lie at p xor offset(unit) xor byte; the child's low byte
 * says for which byte it was put there. A unit that ends a sequence has a value at its base: where
 * the replacement starts. Places come from the file, so each is checked against the size. */
#include "tokenizer/norm/charsmap.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

static int sextet(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Base64 into out, which has room for 3/4 of it; padding may be left out. false: it is not exactly
 * that. */
static bool from_base64(td_str s, unsigned char *out, size_t *ret_len)
{
    size_t len = s.len, n = 0;
    while (len > 0 && s.ptr[len - 1] == '=')
        len--;
    size_t rest = len % 4; /* characters in the last group: 2 have 1 byte, 3 have 2 */
    if (rest == 1 || s.len - len > (rest != 0 ? 4 - rest : 0))
        return false;
    uint32_t bits = 0;
    for (size_t i = 0; i < len; i++) {
        int v = sextet(s.ptr[i]);
        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        if (i % 4 != 0)
            out[n++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    *ret_len = n;
    return rest == 0 || (bits & (rest == 2 ? 15u : 3u)) == 0;
}

static uint32_t u32_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

static bool has_value(uint32_t unit)
{
    return (unit >> 8 & 1) != 0;
}

/* Whether unit, at the place of a child for byte, is that child. */
static bool is_child(uint32_t unit, unsigned char byte)
{
    return (unit & (1u << 31 | 0xFF)) == byte;
}

static void set_front(tk_charsmap *m)
{
    uint32_t base = offset(m->units[0]);
    for (unsigned b = 1; b < 256; b++) {
        uint32_t at = base ^ b;
        m->front[b] = at >= m->unit_count || is_child(m->units[at], (unsigned char)b);
    }
}

td_code tk_charsmap_load(const tk_at *at, const char *key, tk_charsmap *ret)
{
    td_str text;
    TD_TRY(tk_get_str(at, key, &text));
    size_t len = 0;
    unsigned char *bytes = tk_new(at->load, text.len + 4);
    if (bytes == NULL)
        return TD_E_INTERNAL;
    if (!from_base64(text, bytes, &len))
        return tk_at_fail(at, key, "not base64");
    uint32_t count = len >= 4 ? u32_at(bytes) / 4 : 0;
    if (count == 0 || count > (len - 4) / 4)
        return tk_at_fail(at, key, "not a character map");
    uint32_t *units = tk_new(at->load, (size_t)count * sizeof *units);
    if (units == NULL)
        return TD_E_INTERNAL;
    for (uint32_t i = 0; i < count; i++)
        units[i] = u32_at(bytes + 4 + (size_t)i * 4);
    size_t head = 4 + (size_t)count * 4;
    td_str texts = { (const char *)bytes + head, len - head };
    if (td_utf8_check_strict(texts) != texts.len)
        return tk_at_fail(at, key, "replacements are not UTF-8");
    *ret = (tk_charsmap){ .units = units, .unit_count = count, .texts = texts };
    set_front(ret);
    return TD_OK;
}

static td_code broken(td_error *err)
{
    return td_fail(err, TD_E_TOKENIZER, "the character map of a normalizer is broken");
}

static td_code replacement(const tk_charsmap *m, size_t at, td_str *ret, td_error *err)
{
    td_str t = m->texts;
    if (at > t.len || (at < t.len && td_utf8_is_cont(t.ptr[at])))
        return broken(err);
    const char *stop = at < t.len ? memchr(t.ptr + at, '\0', t.len - at) : NULL;
    *ret = (td_str){ t.ptr + at, stop != NULL ? (size_t)(stop - t.ptr) - at : t.len - at };
    return TD_OK;
}

td_code tk_charsmap_find(const tk_charsmap *m, td_str s, bool *ret_found, td_str *ret,
                         td_error *err)
{
    uint32_t at = offset(m->units[0]);
    *ret_found = false;
    for (size_t i = 0; i < s.len && s.ptr[i] != '\0'; i++) {
        unsigned char byte = (unsigned char)s.ptr[i];
        at ^= byte;
        if (at >= m->unit_count)
            return broken(err);
        uint32_t unit = m->units[at];
        if (!is_child(unit, byte))
            return TD_OK;
        at ^= offset(unit);
        if (!has_value(unit))
            continue;
        if (at >= m->unit_count)
            return broken(err);
        *ret_found = true;
        return replacement(m, m->units[at] & ~(1u << 31), ret, err);
    }
    return TD_OK;
}

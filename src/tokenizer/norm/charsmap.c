/* charsmap.c - reading and asking a double array of 32-bit units.
 *
 * From the unit at place p the children lie at p xor offset(unit) xor byte; the child's low byte
 * says for which byte it was put there. A unit that ends a sequence has a value at its base: where
 * the replacement starts. Places come from the file, so each is checked against the size. */
#include "tokenizer/norm/charsmap.h"

#include <string.h>

#include "base/base64.h"
#include "base/str.h"
#include "base/utf8.h"

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

/* NULL: bytes are a map, which needs their memory; else what is wrong with them. */
static const char *set_map(tk_load *load, td_str bytes, tk_charsmap *ret, td_code *ret_code)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr;
    uint32_t count = bytes.len >= 4 ? u32_at(p) / 4 : 0;
    if (count == 0 || count > (bytes.len - 4) / 4)
        return "not a character map";
    uint32_t *units = tk_new(load, (size_t)count * sizeof *units);
    if (units == NULL) {
        *ret_code = TD_E_INTERNAL;
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        units[i] = u32_at(p + 4 + (size_t)i * 4);
    size_t head = 4 + (size_t)count * 4;
    td_str texts = { bytes.ptr + head, bytes.len - head };
    if (td_utf8_check_strict(texts) != texts.len)
        return "replacements are not UTF-8";
    *ret = (tk_charsmap){ .units = units, .unit_count = count, .texts = texts };
    set_front(ret);
    return NULL;
}

td_code tk_charsmap_load(const tk_at *at, const char *key, tk_charsmap *ret)
{
    td_str text;
    TD_TRY(tk_get_str(at, key, &text));
    size_t len = 0;
    unsigned char *bytes = tk_new(at->load, td_base64_room(text.len));
    if (bytes == NULL)
        return TD_E_INTERNAL;
    if (!td_base64_read(text, bytes, &len))
        return tk_at_fail(at, key, "not base64");
    td_code code = TD_OK;
    const char *wrong = set_map(at->load, (td_str){ (const char *)bytes, len }, ret, &code);
    return wrong != NULL ? tk_at_fail(at, key, "%s", wrong) : code;
}

td_code tk_charsmap_make(const tk_at *at, td_str bytes, tk_charsmap *ret)
{
    td_code code = TD_OK;
    const char *wrong = set_map(at->load, bytes, ret, &code);
    return wrong != NULL ? tk_at_fail(at, NULL, "%s", wrong) : code;
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

/* The walk of both searches: whether the shortest sequence that s starts with is found, or the
 * longest; its length and the place of its replacement. */
static td_code walk(const tk_charsmap *m, td_str s, bool longest, size_t *ret_len, size_t *ret_at,
                    td_error *err)
{
    uint32_t at = offset(m->units[0]);
    *ret_len = 0;
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
        *ret_len = i + 1;
        *ret_at = m->units[at] & ~(1u << 31);
        if (!longest)
            return TD_OK;
    }
    return TD_OK;
}

td_code tk_charsmap_find(const tk_charsmap *m, td_str s, bool *ret_found, td_str *ret,
                         td_error *err)
{
    size_t len, at = 0;
    TD_TRY(walk(m, s, false, &len, &at, err));
    *ret_found = len != 0;
    return len != 0 ? replacement(m, at, ret, err) : TD_OK;
}

td_code tk_charsmap_longest(const tk_charsmap *m, td_str s, size_t *ret_len, td_str *ret,
                            td_error *err)
{
    size_t at = 0;
    TD_TRY(walk(m, s, true, ret_len, &at, err));
    return *ret_len != 0 ? replacement(m, at, ret, err) : TD_OK;
}

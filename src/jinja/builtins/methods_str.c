/* methods_str.c - str methods that search, cut and split. Results are views where they can be. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

/* ---- strip ---- */

/* The characters to strip: a table for ASCII, a search for others. */
typedef struct char_set {
    bool ascii[128];
    td_str chars;
} char_set;

static td_code make_set(jj_vm *vm, td_str s, td_str chars, char_set *set)
{
    *set = (char_set){ .chars = chars };
    bool others = false;
    for (size_t i = 0; i < chars.len; i++) {
        unsigned char c = (unsigned char)chars.ptr[i];
        if (c < 128)
            set->ascii[c] = true;
        others |= c >= 128;
    }
    /* at worst each character of s is searched for in all of chars */
    return jj_charge(vm, chars.len / 64 + (others ? s.len / 64 * (chars.len / 64) : 0));
}

static bool in_set(const char_set *set, const char *p, size_t len)
{
    if (len == 1)
        return set->ascii[(unsigned char)*p];
    return td_str_find(set->chars, (td_str){ p, len }, 0) != TD_NOT_FOUND;
}

static td_str lstrip_set(td_str s, const char_set *set)
{
    const char *p = s.ptr, *end = s.ptr + s.len;
    while (p < end) {
        const char *next = p;
        td_utf8_next(&next, end);
        if (!in_set(set, p, (size_t)(next - p)))
            break;
        p = next;
    }
    return (td_str){ p, (size_t)(end - p) };
}

static td_str rstrip_set(td_str s, const char_set *set)
{
    const char *end = s.ptr + s.len;
    while (end > s.ptr) {
        const char *at = end;
        td_utf8_prev(s.ptr, &at);
        if (!in_set(set, at, (size_t)(end - at)))
            break;
        end = at;
    }
    return (td_str){ s.ptr, (size_t)(end - s.ptr) };
}

enum { LEFT = 1, RIGHT = 2 };

static td_code strip(jj_vm *vm, td_value self, const jj_args *args, int sides, td_value *ret)
{
    td_str s = td_as_str(self);
    td_value chars = jj_arg(args, 0, td_none());
    if (td_is_none(chars)) {
        if ((sides & LEFT) != 0)
            s = td_py_lstrip(s);
        if ((sides & RIGHT) != 0)
            s = td_py_rstrip(s);
    } else if (chars.tag != TD_V_STR) {
        return jj_raise(vm, JJ_TYPE_ERROR, "strip arg must be None or str");
    } else {
        char_set set;
        TD_TRY(make_set(vm, s, td_as_str(chars), &set));
        if ((sides & LEFT) != 0)
            s = lstrip_set(s, &set);
        if ((sides & RIGHT) != 0)
            s = rstrip_set(s, &set);
    }
    *ret = s.len == self.len ? self : jj_sub(self, s);
    return TD_OK;
}

td_code jj_m_str_strip(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return strip(vm, self, args, LEFT | RIGHT, ret);
}

td_code jj_m_str_lstrip(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return strip(vm, self, args, LEFT, ret);
}

td_code jj_m_str_rstrip(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return strip(vm, self, args, RIGHT, ret);
}

td_code jj_m_str_removeprefix(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value fix;
    TD_TRY(jj_arg_text(vm, args, 0, "removeprefix()", &fix));
    *ret = self;
    if (td_str_starts(td_as_str(self), td_as_str(fix)))
        *ret = jj_sub(self, td_str_from_offset(td_as_str(self), fix.len));
    return TD_OK;
}

td_code jj_m_str_removesuffix(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value fix;
    TD_TRY(jj_arg_text(vm, args, 0, "removesuffix()", &fix));
    *ret = self;
    if (td_str_ends(td_as_str(self), td_as_str(fix)))
        *ret = jj_sub(self, (td_str){ self.as.str, self.len - fix.len });
    return TD_OK;
}

/* ---- find ---- */

typedef struct window {
    td_value text;  /* the part between start and stop */
    int64_t start;  /* its first code point in the whole */
    bool possible;  /* false: start lies behind stop, nothing can be found */
    td_value needle;
} window;

/* The needle and the part of self that the optional bounds leave. */
static td_code open_window(jj_vm *vm, td_value self, const jj_args *args, const char *what,
                           window *w)
{
    TD_TRY(jj_arg_text(vm, args, 0, what, &w->needle));
    w->text = self;
    w->start = 0;
    w->possible = true;
    if (!jj_given(args, 1))
        return TD_OK;
    int64_t stop, count = jj_text_count(self);
    TD_TRY(jj_arg_bounds(vm, args, 1, count, &w->start, &stop));
    w->possible = w->start <= stop;
    if (w->possible)
        w->text = jj_text_slice(self, w->start, stop);
    return TD_OK;
}

static td_code find(jj_vm *vm, td_value self, const jj_args *args, bool last, int64_t *ret)
{
    window w;
    TD_TRY(open_window(vm, self, args, "find()", &w));
    *ret = -1;
    if (!w.possible)
        return TD_OK;
    td_str text = td_as_str(w.text), needle = td_as_str(w.needle);
    size_t at = last ? td_str_rfind(text, needle) : td_str_find(text, needle, 0);
    if (at != TD_NOT_FOUND)
        *ret = w.start + jj_text_count(jj_sub(w.text, (td_str){ text.ptr, at }));
    return TD_OK;
}

td_code jj_m_str_find(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t at;
    TD_TRY(find(vm, self, args, false, &at));
    *ret = td_int(at);
    return TD_OK;
}

td_code jj_m_str_rfind(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t at;
    TD_TRY(find(vm, self, args, true, &at));
    *ret = td_int(at);
    return TD_OK;
}

static td_code found(jj_vm *vm, int64_t at, td_value *ret)
{
    if (at < 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "substring not found");
    *ret = td_int(at);
    return TD_OK;
}

td_code jj_m_str_index(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t at;
    TD_TRY(find(vm, self, args, false, &at));
    return found(vm, at, ret);
}

td_code jj_m_str_rindex(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t at;
    TD_TRY(find(vm, self, args, true, &at));
    return found(vm, at, ret);
}

td_code jj_m_str_count(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    window w;
    TD_TRY(open_window(vm, self, args, "count()", &w));
    int64_t n = 0;
    td_str text = td_as_str(w.text), needle = td_as_str(w.needle);
    if (w.possible && needle.len == 0) {
        n = jj_text_count(w.text) + 1;
    } else if (w.possible) {
        for (size_t at = 0; (at = td_str_find(text, needle, at)) != TD_NOT_FOUND; n++)
            at += needle.len;
    }
    *ret = td_int(n);
    return TD_OK;
}

/* ---- startswith, endswith ---- */

static td_code has_affix(jj_vm *vm, td_value self, const jj_args *args, bool tail, td_value *ret)
{
    td_value affix = jj_arg(args, 0, td_none());
    const td_value *choices = affix.tag == TD_V_TUPLE ? affix.as.items : &affix;
    uint32_t n = affix.tag == TD_V_TUPLE ? affix.len : 1;
    *ret = td_bool(false);
    for (uint32_t i = 0; i < n; i++) {
        if (choices[i].tag != TD_V_STR)
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "%s first arg must be str or a tuple of str, not %s",
                            tail ? "endswith" : "startswith", jj_type_name(choices[i]));
        td_str s = td_as_str(self), fix = td_as_str(choices[i]);
        if (jj_given(args, 1)) {
            jj_args one = { (td_value[3]){ choices[i], args->pos[1],
                                           jj_arg(args, 2, td_none()) }, 3, NULL, 0 };
            window w;
            TD_TRY(open_window(vm, self, &one, "startswith()", &w));
            if (!w.possible)
                continue;
            s = td_as_str(w.text);
        }
        if (tail ? td_str_ends(s, fix) : td_str_starts(s, fix)) {
            *ret = td_bool(true);
            return TD_OK;
        }
    }
    return TD_OK;
}

td_code jj_m_str_startswith(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return has_affix(vm, self, args, false, ret);
}

td_code jj_m_str_endswith(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return has_affix(vm, self, args, true, ret);
}

/* ---- partition ---- */

static td_code partition(jj_vm *vm, td_value self, const jj_args *args, bool last, td_value *ret)
{
    td_value sep;
    TD_TRY(jj_arg_text(vm, args, 0, "partition()", &sep));
    if (sep.len == 0)
        return jj_raise(vm, JJ_VALUE_ERROR, "empty separator");
    td_str s = td_as_str(self), empty = { s.ptr, 0 };
    size_t at = last ? td_str_rfind(s, td_as_str(sep)) : td_str_find(s, td_as_str(sep), 0);
    td_value parts[3];
    if (at == TD_NOT_FOUND) {
        parts[0] = parts[1] = parts[2] = jj_sub(self, empty);
        parts[last ? 2 : 0] = self;
    } else {
        parts[0] = jj_sub(self, (td_str){ s.ptr, at });
        parts[1] = jj_sub(self, (td_str){ s.ptr + at, sep.len });
        parts[2] = jj_sub(self, td_str_from_offset(s, at + sep.len));
    }
    return jj_new_tuple(vm, parts, 3, ret);
}

td_code jj_m_str_partition(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return partition(vm, self, args, false, ret);
}

td_code jj_m_str_rpartition(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return partition(vm, self, args, true, ret);
}

/* ---- split ---- */

static td_code split_space(jj_vm *vm, td_value self, int64_t max, jj_items *out)
{
    td_str rest = td_py_lstrip(td_as_str(self));
    while (rest.len != 0) {
        if (max-- == 0)
            return jj_items_push(vm, out, jj_sub(self, rest));
        const char *p = rest.ptr, *end = rest.ptr + rest.len, *stop = end;
        while (p < end) {
            const char *at = p;
            if (td_py_isspace(td_utf8_next(&p, end))) {
                stop = at;
                break;
            }
        }
        td_str word = { rest.ptr, (size_t)(stop - rest.ptr) };
        TD_TRY(jj_items_push(vm, out, jj_sub(self, word)));
        rest = td_py_lstrip(td_str_from_offset(rest, word.len));
    }
    return TD_OK;
}

/* From the right; the pieces come out in reverse. */
static td_code rsplit_space(jj_vm *vm, td_value self, int64_t max, jj_items *out)
{
    td_str rest = td_py_rstrip(td_as_str(self));
    while (rest.len != 0) {
        if (max-- == 0)
            return jj_items_push(vm, out, jj_sub(self, rest));
        const char *end = rest.ptr + rest.len, *at = end, *start = rest.ptr;
        while (at > rest.ptr) {
            const char *before = at;
            if (td_py_isspace(td_utf8_prev(rest.ptr, &at))) {
                start = before;
                break;
            }
        }
        TD_TRY(jj_items_push(vm, out, jj_sub(self, (td_str){ start, (size_t)(end - start) })));
        rest = td_py_rstrip((td_str){ rest.ptr, (size_t)(start - rest.ptr) });
    }
    return TD_OK;
}

static td_code split_sep(jj_vm *vm, td_value self, td_str sep, int64_t max, jj_items *out)
{
    td_str s = td_as_str(self);
    size_t from = 0, at;
    while (max-- != 0 && (at = td_str_find(s, sep, from)) != TD_NOT_FOUND) {
        TD_TRY(jj_items_push(vm, out, jj_sub(self, (td_str){ s.ptr + from, at - from })));
        from = at + sep.len;
    }
    return jj_items_push(vm, out, jj_sub(self, td_str_from_offset(s, from)));
}

static td_code rsplit_sep(jj_vm *vm, td_value self, td_str sep, int64_t max, jj_items *out)
{
    td_str s = td_as_str(self);
    size_t at;
    while (max-- != 0 && (at = td_str_rfind(s, sep)) != TD_NOT_FOUND) {
        TD_TRY(jj_items_push(vm, out, jj_sub(self, td_str_from_offset(s, at + sep.len))));
        s.len = at;
    }
    return jj_items_push(vm, out, jj_sub(self, s));
}

static void reverse(jj_items *l)
{
    for (uint32_t i = 0, j = l->count; i + 1 < j; i++) {
        td_value tmp = l->items[i];
        l->items[i] = l->items[--j];
        l->items[j] = tmp;
    }
}

static td_code split(jj_vm *vm, td_value self, const jj_args *args, bool right, td_value *ret)
{
    td_value sep = jj_arg(args, 0, td_none());
    int64_t max = -1;
    if (jj_given(args, 1))
        TD_TRY(jj_arg_int(vm, args->pos[1], &max));
    jj_items out = { 0 };
    if (td_is_none(sep)) {
        TD_TRY(right ? rsplit_space(vm, self, max, &out) : split_space(vm, self, max, &out));
    } else if (sep.tag != TD_V_STR) {
        return jj_raise(vm, JJ_TYPE_ERROR, "must be str or None, not %s", jj_type_name(sep));
    } else if (sep.len == 0) {
        return jj_raise(vm, JJ_VALUE_ERROR, "empty separator");
    } else {
        td_str by = td_as_str(sep);
        TD_TRY(right ? rsplit_sep(vm, self, by, max, &out) : split_sep(vm, self, by, max, &out));
    }
    TD_TRY(jj_charge(vm, out.count / 16));
    if (right)
        reverse(&out);
    *ret = jj_items_list(&out);
    return TD_OK;
}

td_code jj_m_str_split(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return split(vm, self, args, false, ret);
}

td_code jj_m_str_rsplit(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return split(vm, self, args, true, ret);
}

/* str.splitlines' idea of the end of a line. */
static bool is_line_end(uint32_t c)
{
    return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
           c == 0x2029;
}

td_code jj_m_str_splitlines(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool keep = false;
    TD_TRY(jj_arg_flag(vm, args, 0, false, &keep));
    jj_items out = { 0 };
    const char *p = self.as.str, *end = p + self.len, *line = p;
    while (p < end) {
        const char *at = p;
        uint32_t c = td_utf8_next(&p, end);
        if (!is_line_end(c))
            continue;
        if (c == '\r' && p < end && *p == '\n')
            p++;
        td_str text = { line, (size_t)((keep ? p : at) - line) };
        TD_TRY(jj_items_push(vm, &out, jj_sub(self, text)));
        line = p;
    }
    if (line < end)
        TD_TRY(jj_items_push(vm, &out, jj_sub(self, (td_str){ line, (size_t)(end - line) })));
    *ret = jj_items_list(&out);
    return TD_OK;
}

/* methods_str_pad.c - str methods that build a text: padding, replacing, joining, translating. */
#include "jinja/builtins/util.h"

/* ---- padding ---- */

/* The width and fill arguments; a Markup escapes the fill first, so that & as fill is refused. */
static td_code pad_args(jj_vm *vm, td_value self, const jj_args *args, int64_t *ret_extra,
                        uint32_t *ret_fill)
{
    int64_t width;
    TD_TRY(jj_arg_int(vm, args->pos[0], &width));
    *ret_fill = ' ';
    if (jj_given(args, 1)) {
        td_value fill = args->pos[1];
        if (jj_is_markup(self))
            TD_TRY(jj_escape(vm, fill, &fill));
        if (fill.tag != TD_V_STR)
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "The fill character must be a unicode character, not %s",
                            jj_type_name(fill));
        if (jj_text_count(fill) != 1)
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "The fill character must be exactly one character long");
        *ret_fill = td_utf8_next(&(const char *){ fill.as.str }, fill.as.str + fill.len);
    }
    int64_t count = jj_text_count(self);
    *ret_extra = width > count ? width - count : 0;
    return TD_OK;
}

static td_code pad(jj_vm *vm, td_value self, uint32_t fill, int64_t left, int64_t right,
                   td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    TD_TRY(jj_put_fill(vm, b, fill, left));
    PUT(td_buf_put(b, td_as_str(self)));
    TD_TRY(jj_put_fill(vm, b, fill, right));
    return jj_take(vm, b, jj_is_markup(self), ret);
}

td_code jj_m_str_center(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t extra = 0;
    uint32_t fill = 0;
    TD_TRY(pad_args(vm, self, args, &extra, &fill));
    int64_t width = extra + jj_text_count(self);
    int64_t left = extra / 2 + (extra & width & 1);
    return pad(vm, self, fill, left, extra - left, ret);
}

td_code jj_m_str_ljust(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t extra = 0;
    uint32_t fill = 0;
    TD_TRY(pad_args(vm, self, args, &extra, &fill));
    return pad(vm, self, fill, 0, extra, ret);
}

td_code jj_m_str_rjust(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t extra = 0;
    uint32_t fill = 0;
    TD_TRY(pad_args(vm, self, args, &extra, &fill));
    return pad(vm, self, fill, extra, 0, ret);
}

td_code jj_m_str_zfill(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t width, count = jj_text_count(self);
    TD_TRY(jj_arg_int(vm, args->pos[0], &width));
    td_str s = td_as_str(self);
    td_buf *b = jj_scratch(vm);
    if (width > count && s.len != 0 && (*s.ptr == '+' || *s.ptr == '-')) {
        PUT(td_buf_byte(b, *s.ptr));
        s = td_str_from_offset(s, 1);
    }
    TD_TRY(jj_put_fill(vm, b, '0', width > count ? width - count : 0));
    PUT(td_buf_put(b, s));
    return jj_take(vm, b, jj_is_markup(self), ret);
}

td_code jj_m_str_expandtabs(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    int64_t size = 8, column = 0;
    if (jj_given(args, 0))
        TD_TRY(jj_arg_int(vm, args->pos[0], &size));
    if (size > INT32_MAX || size < INT32_MIN)
        return jj_raise(vm, JJ_OVERFLOW_ERROR, "Python int too large to convert to C int");
    td_buf *b = jj_scratch(vm);
    const char *p = self.as.str, *end = p + self.len;
    while (p < end) {
        const char *at = p;
        uint32_t c = td_utf8_next(&p, end);
        if (c == '\t') {
            if (size > 0) {
                int64_t n = size - column % size;
                TD_TRY(jj_put_fill(vm, b, ' ', n));
                column += n;
            }
            continue;
        }
        column = c == '\n' || c == '\r' ? 0 : column + 1;
        PUT(td_buf_append(b, at, (size_t)(p - at)));
    }
    return jj_take(vm, b, jj_is_markup(self), ret);
}

/* ---- replace ---- */

/* s.replace('', new): new before each character and at the end. */
static td_code interleave(jj_vm *vm, td_buf *b, td_value self, td_str by, int64_t max)
{
    const char *p = self.as.str, *end = p + self.len;
    for (; max != 0; max--) {
        PUT(td_buf_put(b, by));
        if (p == end)
            break;
        const char *at = p;
        td_utf8_next(&p, end);
        PUT(td_buf_append(b, at, (size_t)(p - at)));
    }
    PUT(td_buf_append(b, p, (size_t)(end - p)));
    return TD_OK;
}

static td_code replace(jj_vm *vm, td_value self, td_str old, td_str by, int64_t max,
                       td_value *ret)
{
    td_str s = td_as_str(self);
    size_t at = old.len == 0 ? 0 : td_str_find(s, old, 0), from = 0;
    *ret = self;
    if (at == TD_NOT_FOUND || max == 0)
        return TD_OK;
    td_buf *b = jj_scratch(vm);
    if (old.len == 0) {
        TD_TRY(interleave(vm, b, self, by, max));
    } else {
        for (; at != TD_NOT_FOUND && max != 0; max--) {
            PUT(td_buf_append(b, s.ptr + from, at - from));
            PUT(td_buf_put(b, by));
            from = at + old.len;
            at = td_str_find(s, old, from);
        }
        PUT(td_buf_put(b, td_str_from_offset(s, from)));
    }
    TD_TRY(jj_charge(vm, b->len / 1024));
    return jj_take(vm, b, jj_is_markup(self), ret);
}

td_code jj_m_str_replace(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value old, by;
    int64_t max = -1;
    TD_TRY(jj_arg_text(vm, args, 0, "replace()", &old));
    by = args->pos[1];
    if (jj_is_markup(self))
        TD_TRY(jj_escape(vm, by, &by));
    if (by.tag != TD_V_STR)
        return jj_raise(vm, JJ_TYPE_ERROR, "replace() argument 2 must be str, not %s",
                        jj_type_name(by));
    if (jj_given(args, 2))
        TD_TRY(jj_arg_int(vm, args->pos[2], &max));
    return replace(vm, self, td_as_str(old), td_as_str(by), max, ret);
}

/* ---- join ---- */

td_code jj_m_str_join(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value list;
    bool markup = jj_is_markup(self);
    TD_TRY(jj_to_list(vm, args->pos[0], &list));
    if (markup && list.len != 0) { /* escaping may run code: all of it before scratch is used */
        td_value *escaped = td_arena_array(jj_arena(vm), td_value, list.len);
        if (escaped == NULL)
            return jj_nomem(vm);
        for (uint32_t i = 0; i < list.len; i++)
            TD_TRY(jj_escape(vm, list.as.items[i], &escaped[i]));
        list = td_list_of(escaped, list.len);
    }
    td_buf *b = jj_scratch(vm);
    for (uint32_t i = 0; i < list.len; i++) {
        td_value item = list.as.items[i];
        if (item.tag != TD_V_STR)
            return jj_raise(vm, JJ_TYPE_ERROR, "sequence item %u: expected str instance, %s found",
                            i, jj_type_name(item));
        if (i != 0)
            PUT(td_buf_put(b, td_as_str(self)));
        PUT(td_buf_put(b, td_as_str(item)));
    }
    return jj_take(vm, b, markup, ret);
}

/* ---- translate ---- */

/* What the table says for c: none deletes, int and str replace, *ret_found false keeps. */
static td_code table_entry(jj_vm *vm, td_value table, uint32_t c, td_value *ret, bool *ret_found)
{
    *ret_found = true;
    if (table.tag == TD_V_DICT) {
        const td_value *found = td_dict_get(table.as.dict, td_int(c));
        *ret_found = found != NULL;
        if (found != NULL)
            *ret = *found;
        return TD_OK;
    }
    if (table.tag == TD_V_LIST || table.tag == TD_V_TUPLE) {
        *ret_found = c < table.len;
        if (*ret_found)
            *ret = table.as.items[c];
        return TD_OK;
    }
    if (table.tag == TD_V_STR) {
        *ret_found = c < (uint64_t)jj_text_count(table);
        if (*ret_found)
            *ret = jj_text_slice(table, c, (int64_t)c + 1);
        return TD_OK;
    }
    if (jj_is_object(table, &jj_range_type)) {
        const jj_range *r = (const jj_range *)table.as.object;
        *ret_found = c < r->count;
        *ret = td_int(*ret_found ? r->start + r->step * (int64_t)c : 0);
        return TD_OK;
    }
    if (table.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, table);
    return jj_raise(vm, JJ_TYPE_ERROR, "'%s' object is not subscriptable", jj_type_name(table));
}

td_code jj_m_str_translate(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    const char *p = self.as.str, *end = p + self.len;
    while (p < end) {
        const char *at = p;
        uint32_t c = td_utf8_next(&p, end);
        td_value to = td_none();
        bool found;
        TD_TRY(table_entry(vm, args->pos[0], c, &to, &found));
        if (!found) {
            PUT(td_buf_append(b, at, (size_t)(p - at)));
        } else if (to.tag == TD_V_STR) {
            PUT(td_buf_put(b, td_as_str(to)));
        } else if (to.tag == TD_V_INT || to.tag == TD_V_BOOL) {
            if (to.as.integer < 0 || to.as.integer > 0x10FFFF)
                return jj_raise(vm, JJ_VALUE_ERROR,
                                "character mapping must be in range(0x110000)");
            PUT(td_buf_code_point(b, (uint32_t)to.as.integer));
        } else if (!td_is_none(to)) {
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "character mapping must return integer, None or str");
        }
    }
    return jj_take(vm, b, jj_is_markup(self), ret);
}

static td_code maketrans_dict(jj_vm *vm, td_value from, td_dict *to)
{
    if (from.tag != TD_V_DICT)
        return jj_raise(vm, JJ_TYPE_ERROR,
                        "if you give only one argument to maketrans it must be a dict");
    const td_dict *d = from.as.dict;
    for (uint32_t i = 0; i < d->count; i++) {
        td_value key = d->entries[i].key;
        if (key.tag == TD_V_STR) {
            if (jj_text_count(key) != 1)
                return jj_raise(vm, JJ_VALUE_ERROR,
                                "string keys in translate table must be of length 1");
            const char *p = key.as.str;
            key = td_int(td_utf8_next(&p, p + key.len));
        } else if (!jj_is_int(key)) {
            return jj_raise(vm, JJ_TYPE_ERROR,
                            "keys in translate table must be strings or integers");
        }
        TD_TRY(jj_dict_set(vm, to, key, d->entries[i].val));
    }
    return TD_OK;
}

td_code jj_m_str_maketrans(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    td_dict *d = td_dict_new(jj_arena(vm), 0);
    if (d == NULL)
        return jj_nomem(vm);
    *ret = td_dict_of(d);
    if (!jj_given(args, 1))
        return maketrans_dict(vm, args->pos[0], d);
    td_value from, to, drop;
    TD_TRY(jj_arg_text(vm, args, 0, "maketrans()", &from));
    TD_TRY(jj_arg_text(vm, args, 1, "maketrans()", &to));
    if (jj_text_count(from) != jj_text_count(to))
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "the first two maketrans arguments must have equal length");
    const char *p = from.as.str, *end = p + from.len, *q = to.as.str;
    while (p < end) {
        td_value key = td_int(td_utf8_next(&p, end));
        TD_TRY(jj_dict_set(vm, d, key, td_int(td_utf8_next(&q, to.as.str + to.len))));
    }
    if (!jj_given(args, 2))
        return TD_OK;
    TD_TRY(jj_arg_text(vm, args, 2, "maketrans()", &drop));
    for (p = drop.as.str, end = p + drop.len; p < end;)
        TD_TRY(jj_dict_set(vm, d, td_int(td_utf8_next(&p, end)), td_none()));
    return TD_OK;
}

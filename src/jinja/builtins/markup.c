/* markup.c - escaping, safe, striptags, xmlattr: what makes or takes a Markup. */
#include "jinja/builtins/util.h"
#include "jinja/builtins/entities.h"
#include "unicode/unicode.h"

static const char *replacement(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\'':
        return "&#39;";
    case '"':
        return "&#34;";
    default:
        return NULL;
    }
}

td_code jj_escape_text(td_buf *out, td_str s)
{
    size_t from = 0;
    for (size_t i = 0; i < s.len; i++) {
        const char *by = replacement(s.ptr[i]);
        if (by == NULL)
            continue;
        TD_TRY(td_buf_append(out, s.ptr + from, i - from));
        TD_TRY(td_buf_put(out, td_str_from(by)));
        from = i + 1;
    }
    return td_buf_put(out, td_str_from_offset(s, from));
}

static bool needs_escape(td_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (replacement(s.ptr[i]) != NULL)
            return true;
    return false;
}

td_code jj_escape(jj_vm *vm, td_value v, td_value *ret)
{
    if (jj_is_markup(v)) {
        *ret = v;
        return TD_OK;
    }
    TD_TRY(jj_soft_str(vm, v, &v));
    if (!needs_escape(td_as_str(v))) {
        *ret = jj_as_markup(v, true);
        return TD_OK;
    }
    td_buf *b = jj_scratch(vm);
    PUT(jj_escape_text(b, td_as_str(v)));
    return jj_take(vm, b, true, ret);
}

td_code jj_f_escape(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_escape(vm, self, ret);
}

td_code jj_f_forceescape(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_escape(vm, jj_as_markup(self, false), ret);
}

td_code jj_f_safe(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    *ret = jj_as_markup(self, true);
    return TD_OK;
}

td_code jj_m_markup_escape(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)self;
    return jj_escape(vm, args->pos[0], ret);
}

/* ---- entities ---- */

/* &#...; as HTML 5 reads it: some code points are replaced, some vanish. */
static td_code put_numeric(td_buf *b, uint64_t c)
{
    uint32_t mapped;
    if (jj_entity_invalid_ref((uint32_t)(c > UINT32_MAX ? UINT32_MAX : c), &mapped))
        return td_buf_code_point(b, mapped);
    if ((c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF)
        return td_buf_code_point(b, 0xFFFD);
    if (jj_entity_invalid_code_point((uint32_t)c))
        return TD_OK;
    return td_buf_code_point(b, (uint32_t)c);
}

static int digit_of(char c, bool hex)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (hex && c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (hex && c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* s follows "&#"; gives the bytes read, 0 when there is no number. */
static size_t numeric_entity(td_str s, uint64_t *ret)
{
    bool hex = s.len != 0 && (s.ptr[0] == 'x' || s.ptr[0] == 'X');
    size_t i = hex, digits = 0;
    for (*ret = 0; i < s.len && digit_of(s.ptr[i], hex) >= 0; i++, digits++)
        if (*ret <= UINT32_MAX)
            *ret = *ret * (hex ? 16 : 10) + (unsigned)digit_of(s.ptr[i], hex);
    if (digits == 0)
        return 0;
    return i < s.len && s.ptr[i] == ';' ? i + 1 : i;
}

/* The characters that may follow & in a name: up to 32, none of \t\n\f <&#; and one ;. */
static size_t name_length(td_str s)
{
    size_t n = 0, chars = 0;
    while (n < s.len && chars < 32 && memchr("\t\n\f <&#;", s.ptr[n], 8) == NULL) {
        n++;
        while (n < s.len && td_utf8_is_cont(s.ptr[n]))
            n++;
        chars++;
    }
    return n != 0 && n < s.len && s.ptr[n] == ';' ? n + 1 : n;
}

/* html.unescape. */
static td_code put_unescaped(td_buf *b, td_str s)
{
    size_t from = 0, at;
    while ((at = td_str_find(s, TD_STR("&"), from)) != TD_NOT_FOUND) {
        TD_TRY(td_buf_append(b, s.ptr + from, at - from));
        from = at + 1;
        td_str rest = td_str_from_offset(s, from);
        uint64_t number;
        size_t used = 0;
        if (rest.len != 0 && *rest.ptr == '#' &&
            (used = numeric_entity(td_str_from_offset(rest, 1), &number)) != 0) {
            TD_TRY(put_numeric(b, number));
            from += 1 + used;
            continue;
        }
        td_str text = { NULL, 0 };
        for (used = name_length(rest); used > 1; used--)
            if ((text = jj_entity((td_str){ rest.ptr, used })).len != 0)
                break;
        if (text.len != 0) {
            TD_TRY(td_buf_put(b, text));
            from += used;
        } else {
            TD_TRY(td_buf_byte(b, '&'));
        }
    }
    return td_buf_put(b, td_str_from_offset(s, from));
}

td_code jj_m_markup_unescape(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    td_buf *b = jj_scratch(vm);
    PUT(put_unescaped(b, td_as_str(self)));
    return jj_take(vm, b, false, ret);
}

/* Tags and comments cut out of s; an unclosed one stays. */
static td_code put_without_tags(td_buf *b, td_str s)
{
    size_t from = 0, at;
    while ((at = td_str_find(s, TD_STR("<"), from)) != TD_NOT_FOUND) {
        td_str rest = td_str_from_offset(s, at);
        size_t end;
        if (td_str_starts(rest, TD_STR("<!--"))) {
            end = rest.len >= 4 ? td_str_find(s, TD_STR("-->"), at + 4) : TD_NOT_FOUND;
            if (end == TD_NOT_FOUND)
                break;
            end += 3;
        } else {
            end = td_str_find(s, TD_STR(">"), at);
            if (end == TD_NOT_FOUND)
                break;
            end += 1;
        }
        TD_TRY(td_buf_append(b, s.ptr + from, at - from));
        from = end;
    }
    return td_buf_put(b, td_str_from_offset(s, from));
}

td_code jj_m_markup_striptags(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_buf *b = jj_scratch(vm);
    PUT(put_without_tags(b, td_as_str(self)));
    TD_TRY(jj_take(vm, b, false, &self));
    td_value words;
    TD_TRY(jj_m_str_split(vm, self, &(jj_args){ NULL, 0, NULL, 0 }, &words));
    b = jj_scratch(vm);
    for (uint32_t i = 0; i < words.len; i++) {
        if (i != 0)
            PUT(td_buf_byte(b, ' '));
        PUT(td_buf_put(b, td_as_str(words.as.items[i])));
    }
    TD_TRY(jj_take(vm, b, false, &self));
    return jj_m_markup_unescape(vm, self, args, ret);
}

td_code jj_f_striptags(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_markup_striptags(vm, self, args, ret);
}

/* ---- xmlattr ---- */

static td_code put_attribute(jj_vm *vm, td_buf *out, const td_entry *e)
{
    td_value key, val;
    if (e->key.tag != TD_V_STR)
        return jj_raise(vm, JJ_TYPE_ERROR, "expected string or bytes-like object, got '%s'",
                        jj_type_name(e->key));
    for (uint32_t i = 0; i < e->key.len; i++)
        if (memchr(" \t\n\r\f\v/>=", e->key.as.str[i], 9) != NULL)
            return jj_raise(vm, JJ_VALUE_ERROR, "Invalid character in attribute name");
    TD_TRY(jj_escape(vm, e->key, &key));
    TD_TRY(jj_escape(vm, e->val, &val));
    td_code code = td_buf_byte(out, ' ');
    if (code == TD_OK)
        code = td_buf_put(out, td_as_str(key));
    if (code == TD_OK)
        code = td_buf_append(out, "=\"", 2);
    if (code == TD_OK)
        code = td_buf_put(out, td_as_str(val));
    if (code == TD_OK)
        code = td_buf_byte(out, '"');
    return code == TD_OK ? TD_OK : jj_buf_fail(vm, out, code);
}

td_code jj_f_xmlattr(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    bool space;
    TD_TRY(jj_arg_bool(vm, args, 0, true, &space));
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (self.tag != TD_V_DICT)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'items'",
                        jj_type_name(self));
    /* escape() uses the scratch buffer, so the text grows in one of its own */
    td_buf own = { .limit = jj_scratch(vm)->limit };
    td_code code = TD_OK;
    for (uint32_t i = 0; i < self.as.dict->count && code == TD_OK; i++) {
        const td_entry *e = &self.as.dict->entries[i];
        if (!td_is_none(e->val) && e->val.tag != TD_V_UNDEFINED)
            code = put_attribute(vm, &own, e);
    }
    if (code == TD_OK) {
        td_str text = td_buf_view(&own);
        if (!space && text.len != 0)
            text = td_str_from_offset(text, 1);
        code = jj_new_text(vm, text, ret);
        *ret = jj_as_markup(*ret, jj_autoescape(vm));
    }
    td_buf_done(&own);
    return code;
}

/* filters_str.c - filters that make a text of one value: case, trim, replace, indent, truncate. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

static const jj_args no_args;

td_code jj_f_string(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    return jj_soft_str(vm, self, ret);
}

td_code jj_f_upper(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_upper(vm, self, &no_args, ret);
}

td_code jj_f_lower(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_lower(vm, self, &no_args, ret);
}

td_code jj_f_capitalize(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_capitalize(vm, self, &no_args, ret);
}

td_code jj_f_trim(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_strip(vm, self, args, ret);
}

td_code jj_f_center(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value width = jj_arg(args, 0, td_int(80));
    TD_TRY(jj_soft_str(vm, self, &self));
    return jj_m_str_center(vm, self, &(jj_args){ &width, 1, NULL, 0 }, ret);
}

static bool starts_word(uint32_t c)
{
    return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || td_py_isspace(c);
}

/* One run of separators or of other characters: its first upper, the rest lower. */
static td_code put_title(td_buf *out, td_str run)
{
    const char *p = run.ptr;
    if (run.len == 0)
        return TD_OK;
    td_utf8_next(&p, run.ptr + run.len);
    size_t head = (size_t)(p - run.ptr);
    TD_TRY(td_py_upper(out, (td_str){ run.ptr, head }));
    return td_py_lower(out, td_str_from_offset(run, head));
}

td_code jj_f_title(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    td_buf *b = jj_scratch(vm);
    const char *p = self.as.str, *end = p + self.len, *from = p;
    bool separators = false;
    while (p < end) {
        const char *at = p;
        bool now = starts_word(td_utf8_next(&p, end));
        if (now != separators) {
            PUT(put_title(b, (td_str){ from, (size_t)(at - from) }));
            from = at;
            separators = now;
        }
    }
    PUT(put_title(b, (td_str){ from, (size_t)(end - from) }));
    return jj_take(vm, b, false, ret);
}

/* ---- replace ---- */

td_code jj_f_replace(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value pos[3] = { args->pos[0], args->pos[1], jj_arg(args, 2, td_none()) };
    bool autoescape = jj_autoescape(vm);
    if (td_is_none(pos[2]))
        pos[2] = td_int(-1);
    bool escape = jj_is_markup(pos[0]) || (jj_is_markup(pos[1]) && !jj_is_markup(self));
    TD_TRY(jj_soft_str(vm, self, &self));
    for (int i = 0; i < 2; i++)
        TD_TRY(jj_soft_str(vm, pos[i], &pos[i]));
    if (!autoescape) {
        self = jj_as_markup(self, false);
        pos[1] = jj_as_markup(pos[1], false);
    } else if (escape) {
        TD_TRY(jj_escape(vm, self, &self));
    }
    return jj_m_str_replace(vm, self, &(jj_args){ pos, 3, NULL, 0 }, ret);
}

/* ---- indent ---- */

/* The indentation of a filter call as text; Markup if the value is or the width argument is. */
static td_code indentation(jj_vm *vm, td_value self, td_value width, td_value *ret)
{
    if (width.tag == TD_V_STR) {
        *ret = jj_as_markup(width, jj_is_markup(width) || jj_is_markup(self));
        return TD_OK;
    }
    int64_t n;
    TD_TRY(jj_arg_int(vm, width, &n));
    td_buf *b = jj_scratch(vm);
    TD_TRY(jj_put_fill(vm, b, ' ', n));
    return jj_take(vm, b, jj_is_markup(self), ret);
}

td_code jj_f_indent(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value by, lines;
    bool first, blank;
    TD_TRY(jj_arg_bool(vm, args, 1, false, &first));
    TD_TRY(jj_arg_bool(vm, args, 2, false, &blank));
    if (self.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(vm, self);
    if (self.tag != TD_V_STR)
        return jj_raise(vm, JJ_TYPE_ERROR, "indent of %s: a str is needed", jj_type_name(self));
    TD_TRY(indentation(vm, self, jj_arg(args, 0, td_int(4)), &by));
    TD_TRY(jj_add(vm, self, td_string(TD_STR("\n")), &self));
    TD_TRY(jj_m_str_splitlines(vm, self, &no_args, &lines));
    /* a plain text under a Markup indentation is escaped where the two meet */
    bool escape = jj_is_markup(by) && !jj_is_markup(self);
    td_buf *b = jj_scratch(vm);
    for (uint32_t i = 0; i < lines.len; i++) {
        td_str line = td_as_str(lines.as.items[i]);
        bool indented = i != 0 && (blank || line.len != 0);
        if (i != 0)
            PUT(td_buf_byte(b, '\n'));
        if (indented)
            PUT(td_buf_put(b, td_as_str(by)));
        PUT(escape && (indented || blank) ? jj_escape_text(b, line) : td_buf_put(b, line));
    }
    bool markup = jj_is_markup(self) || (escape && blank);
    TD_TRY(jj_take(vm, b, markup, &self));
    if (first)
        return jj_add(vm, by, self, ret);
    *ret = self;
    return TD_OK;
}

/* ---- truncate ---- */

/* a >= b or an AssertionError. */
static td_code assert_not_less(jj_vm *vm, td_value a, td_value b)
{
    bool less, equal;
    TD_TRY(jj_less(vm, b, a, &less));
    TD_TRY(jj_eq(vm, a, b, &equal));
    if (less || equal)
        return TD_OK;
    return jj_raise(vm, JJ_VALUE_ERROR, "truncate: length or leeway is too small");
}

td_code jj_f_truncate(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value length = jj_arg(args, 0, td_int(255)), end = jj_arg(args, 2, td_string(TD_STR("...")));
    td_value leeway = jj_arg(args, 3, td_none()), room;
    bool killwords, longer;
    int64_t end_length, own;
    if (td_is_none(leeway))
        leeway = td_int(5);
    TD_TRY(jj_length(vm, end, &end_length));
    TD_TRY(assert_not_less(vm, length, td_int(end_length)));
    TD_TRY(assert_not_less(vm, leeway, td_int(0)));
    TD_TRY(jj_length(vm, self, &own));
    TD_TRY(jj_add(vm, length, leeway, &room));
    TD_TRY(jj_less(vm, room, td_int(own), &longer));
    *ret = self;
    if (!longer)
        return TD_OK;
    TD_TRY(jj_binop(vm, JJ_SUB, length, td_int(end_length), &room));
    TD_TRY(jj_slice(vm, self, td_none(), room, td_none(), &self));
    TD_TRY(jj_arg_bool(vm, args, 1, false, &killwords));
    if (killwords)
        return jj_add(vm, self, end, ret);
    if (self.tag != TD_V_STR)
        return jj_raise(vm, JJ_ATTRIBUTE_ERROR, "'%s' object has no attribute 'rsplit'",
                        jj_type_name(self));
    size_t blank = td_str_rfind(td_as_str(self), TD_STR(" "));
    if (blank != TD_NOT_FOUND)
        self = jj_sub(self, (td_str){ self.as.str, blank });
    return jj_add(vm, self, end, ret);
}

/* ---- others ---- */

td_code jj_f_wordcount(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    TD_TRY(jj_soft_str(vm, self, &self));
    int64_t n = 0;
    bool inside = false;
    const char *p = self.as.str, *end = p + self.len;
    while (p < end) {
        uint32_t c = td_utf8_next(&p, end);
        bool word = c == '_' || td_py_isalnum(c);
        n += word && !inside;
        inside = word;
    }
    *ret = td_int(n);
    return TD_OK;
}

td_code jj_f_format(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value arg;
    if (args->npos != 0 && args->nkw != 0)
        return jj_raise(vm, JJ_FILTER_ARGUMENT,
                        "can't handle positional and keyword arguments at the same time");
    TD_TRY(jj_soft_str(vm, self, &self));
    if (args->nkw == 0) {
        TD_TRY(jj_new_tuple(vm, args->pos, args->npos, &arg));
        return jj_percent(vm, self, arg, ret);
    }
    td_dict *d = td_dict_new(jj_arena(vm), args->nkw);
    if (d == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < args->nkw; i++) {
        if (td_str_eq(td_as_str(args->kw[i].key), TD_STR("value")))
            return jj_raise(vm, JJ_TYPE_ERROR, "format() got multiple values for argument 'value'");
        TD_TRY(jj_dict_set(vm, d, args->kw[i].key, args->kw[i].val));
    }
    return jj_percent(vm, self, td_dict_of(d), ret);
}

td_code jj_f_attr(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_value name = args->pos[0];
    bool found;
    if (name.tag != TD_V_STR)
        return jj_raise(vm, JJ_TYPE_ERROR, "attribute name must be string, not '%s'",
                        jj_type_name(name));
    /* an undefined value has dunder attributes, all of them unsafe, and raises for others */
    if (self.tag == TD_V_UNDEFINED && !td_str_starts(td_as_str(name), TD_STR("__")))
        return jj_raise_undefined(vm, self);
    TD_TRY(jj_attr_only(vm, self, td_as_str(name), ret, &found));
    return found ? TD_OK : jj_undefined_attr(vm, self, name, ret);
}

/* ---- urlencode ---- */

static bool url_safe(unsigned char c, bool query)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           memchr("_.-~", c, 4) != NULL || (c == '/' && !query);
}

static td_code put_quoted(jj_vm *vm, td_buf *b, td_value text, bool query)
{
    static const char hex[] = "0123456789ABCDEF";
    td_str s = td_as_str(text);
    if (td_utf8_check_strict(s) != s.len)
        return jj_raise(vm, JJ_VALUE_ERROR, "'utf-8' codec can't encode surrogates");
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (url_safe(c, query)) {
            PUT(td_buf_byte(b, (char)c));
        } else if (c == ' ' && query) {
            PUT(td_buf_byte(b, '+'));
        } else {
            const char triple[3] = { '%', hex[c >> 4], hex[c & 15] };
            PUT(td_buf_append(b, triple, 3));
        }
    }
    return TD_OK;
}

/* str(v), or the bytes themselves. */
static td_code quotable(jj_vm *vm, td_value v, td_value *ret)
{
    if (jj_is_bytes(v)) {
        const jj_bytes *raw = (const jj_bytes *)v.as.object;
        *ret = td_string(raw->data);
        return TD_OK;
    }
    return jj_soft_str(vm, v, ret);
}

/* The pairs of a query as plain texts, key and value in turn. */
static td_code query_texts(jj_vm *vm, td_value self, jj_items *out)
{
    td_value pairs = self;
    if (self.tag == TD_V_DICT)
        TD_TRY(jj_m_dict_items(vm, self, &no_args, &pairs));
    jj_iter it;
    TD_TRY(jj_iter_init(vm, pairs, &it));
    for (;;) {
        td_value item, pair;
        bool more;
        TD_TRY(jj_iter_next(vm, &it, &item, &more));
        if (!more)
            return TD_OK;
        TD_TRY(jj_to_list(vm, item, &pair));
        if (pair.len != 2)
            return jj_raise(vm, JJ_VALUE_ERROR, "urlencode: expected pairs, got %u values",
                            pair.len);
        for (int i = 0; i < 2; i++) {
            TD_TRY(quotable(vm, pair.as.items[i], &item));
            TD_TRY(jj_items_push(vm, out, item));
        }
    }
}

td_code jj_f_urlencode(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    (void)args;
    bool iterable = self.tag != TD_V_STR && jj_is_iterable(self);
    jj_items texts = { 0 };
    if (iterable)
        TD_TRY(query_texts(vm, self, &texts));
    else
        TD_TRY(quotable(vm, self, &self));
    td_buf *b = jj_scratch(vm);
    if (!iterable)
        TD_TRY(put_quoted(vm, b, self, false));
    for (uint32_t i = 0; i < texts.count; i += 2) {
        if (i != 0)
            PUT(td_buf_byte(b, '&'));
        TD_TRY(put_quoted(vm, b, texts.items[i], true));
        PUT(td_buf_byte(b, '='));
        TD_TRY(put_quoted(vm, b, texts.items[i + 1], true));
    }
    return jj_take(vm, b, false, ret);
}

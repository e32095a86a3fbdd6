/* format_str.c - str.format and str.format_map, as the sandbox's formatter (string.Formatter)
 * does them: fields are looked up through the engine's own getattr and getitem.
 *
 * Results of fields are made before they are appended, because looking them up may use the
 * scratch buffer; the text grows in a buffer of its own. */
#include "jinja/builtins/util.h"
#include "unicode/unicode.h"

typedef struct formatter {
    jj_vm *vm;
    const jj_args *args;
    bool has_map, markup;
    td_value map;
    int64_t next;  /* of automatic numbering */
    bool manual;   /* a field number was given: no automatic numbering any more */
} formatter;

typedef struct field {
    td_str literal;
    bool present;
    td_str name, spec;
    uint32_t conversion; /* 0: none */
} field;

static td_code bad(jj_vm *vm, const char *message)
{
    return jj_raise(vm, JJ_VALUE_ERROR, "%s", message);
}

/* ---- parsing ---- */

/* The inside of a field; *p stands behind its brace and is moved behind its end. */
static td_code parse_field(jj_vm *vm, const char **p, const char *end, field *f)
{
    const char *start = *p;
    char c = 0;
    for (bool inside = true; inside && *p < end;) {
        c = *(*p)++;
        if (c == '{')
            return bad(vm, "unexpected '{' in field name");
        if (c == '[')
            while (*p < end && **p != ']')
                ++*p;
        inside = c != '}' && c != ':' && c != '!';
        if (inside && *p == end)
            c = 0;
    }
    if (c != '}' && c != ':' && c != '!')
        return bad(vm, "expected '}' before end of string");
    f->name = (td_str){ start, (size_t)(*p - 1 - start) };
    f->spec = (td_str){ *p, 0 };
    if (c == '}')
        return TD_OK;
    if (c == '!') {
        if (*p >= end)
            return bad(vm, "end of string while looking for conversion specifier");
        f->conversion = td_utf8_next(p, end);
        if (*p < end) {
            c = *(*p)++;
            if (c == '}')
                return TD_OK;
            if (c != ':')
                return bad(vm, "expected ':' after conversion specifier");
        }
    }
    f->spec.ptr = *p;
    for (int depth = 1; *p < end;) {
        c = *(*p)++;
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (depth == 0) {
            f->spec.len = (size_t)(*p - 1 - f->spec.ptr);
            return TD_OK;
        }
    }
    return bad(vm, "unmatched '{' in format spec");
}

/* The next literal and, behind it, the next field. */
static td_code next_part(jj_vm *vm, const char **p, const char *end, field *f)
{
    *f = (field){ .literal = { *p, 0 } };
    while (*p < end && **p != '{' && **p != '}')
        ++*p;
    f->literal.len = (size_t)(*p - f->literal.ptr);
    if (*p == end)
        return TD_OK;
    char c = *(*p)++;
    if (*p < end && **p == c) { /* doubled: one of them belongs to the literal */
        f->literal.len++;
        ++*p;
        return TD_OK;
    }
    if (c == '}')
        return bad(vm, "Single '}' encountered in format string");
    if (*p == end)
        return bad(vm, "Single '{' encountered in format string");
    f->present = true;
    return parse_field(vm, p, end, f);
}

/* ---- looking up ---- */

/* A number as the field syntax reads one: decimal digits only; -1: it is a name. */
static td_code field_number(jj_vm *vm, td_str s, int64_t *ret)
{
    *ret = s.len == 0 ? -1 : 0;
    for (const char *p = s.ptr, *end = p + s.len; p < end;) {
        int d = td_py_decimal_value(td_utf8_next(&p, end));
        if (d < 0) {
            *ret = -1;
            return TD_OK;
        }
        if (*ret > (INT64_MAX - d) / 10)
            return bad(vm, "Too many decimal digits in format string");
        *ret = *ret * 10 + d;
    }
    return TD_OK;
}

static td_code first_value(formatter *f, td_str name, td_value *ret)
{
    int64_t number;
    TD_TRY(field_number(f->vm, name, &number));
    if (number >= 0) {
        if (f->has_map || number >= f->args->npos)
            return jj_raise(f->vm, JJ_INDEX_ERROR,
                            "Replacement index %lld out of range for positional args tuple",
                            (long long)number);
        *ret = f->args->pos[number];
        return TD_OK;
    }
    const td_value *found = NULL;
    if (f->has_map) {
        if (f->map.tag == TD_V_UNDEFINED)
            return jj_raise_undefined(f->vm, f->map);
        if (f->map.tag != TD_V_DICT)
            return jj_raise(f->vm, JJ_TYPE_ERROR, "format_map() of a %s has no names",
                            jj_type_name(f->map));
        found = td_dict_find(f->map.as.dict, name);
    }
    for (uint32_t i = 0; !f->has_map && i < f->args->nkw; i++)
        if (td_str_eq(td_as_str(f->args->kw[i].key), name))
            found = &f->args->kw[i].val;
    if (found == NULL)
        return jj_raise(f->vm, JJ_KEY_ERROR, "'%.*s'", (int)name.len, name.ptr);
    *ret = *found;
    return TD_OK;
}

/* The .attr and [item] parts behind the first name. */
static td_code follow(formatter *f, td_str rest, td_value *v)
{
    size_t at = 0;
    while (at < rest.len) {
        char c = rest.ptr[at++];
        size_t from = at;
        if (c == '.') {
            while (at < rest.len && rest.ptr[at] != '.' && rest.ptr[at] != '[')
                at++;
        } else if (c == '[') {
            while (at < rest.len && rest.ptr[at] != ']')
                at++;
            if (at == rest.len)
                return bad(f->vm, "Missing ']' in format string");
        } else {
            return bad(f->vm, "Only '.' or '[' may follow ']' in format field specifier");
        }
        td_str name = { rest.ptr + from, at - from };
        if (name.len == 0)
            return bad(f->vm, "Empty attribute in format string");
        if (c == '.') {
            TD_TRY(jj_getattr(f->vm, *v, name, v));
            continue;
        }
        int64_t number;
        at++;
        TD_TRY(field_number(f->vm, name, &number));
        TD_TRY(jj_getitem(f->vm, *v, number >= 0 ? td_int(number) : td_key(name), v));
    }
    return TD_OK;
}

static bool all_digits(td_str s)
{
    for (const char *p = s.ptr, *end = p + s.len; p < end;)
        if (!td_py_isdigit(td_utf8_next(&p, end)))
            return false;
    return s.len != 0;
}

static td_code field_value(formatter *f, td_str name, td_value *ret)
{
    if (name.len == 0) {
        if (f->manual)
            return bad(f->vm, "cannot switch from manual field specification to automatic field "
                              "numbering");
        int64_t number = f->next++;
        if (f->has_map || number >= f->args->npos)
            return jj_raise(f->vm, JJ_INDEX_ERROR,
                            "Replacement index %lld out of range for positional args tuple",
                            (long long)number);
        *ret = f->args->pos[number];
        return TD_OK;
    }
    if (all_digits(name)) {
        if (f->next != 0)
            return bad(f->vm, "cannot switch from manual field specification to automatic field "
                              "numbering");
        f->manual = true;
    }
    size_t split = 0;
    while (split < name.len && name.ptr[split] != '.' && name.ptr[split] != '[')
        split++;
    TD_TRY(first_value(f, (td_str){ name.ptr, split }, ret));
    return follow(f, td_str_from_offset(name, split), ret);
}

static td_code convert(formatter *f, uint32_t conversion, td_value *v)
{
    td_buf *b = jj_scratch(f->vm);
    jj_vm *vm = f->vm;
    switch (conversion) {
    case 0:
        return TD_OK;
    case 's':
        TD_TRY(jj_str(vm, *v, v));
        *v = jj_as_markup(*v, false);
        return TD_OK;
    case 'r':
        PUT(jj_append_repr(vm, b, *v));
        return jj_take(vm, b, false, v);
    case 'a':
        TD_TRY(jj_put_ascii(vm, b, *v));
        return jj_take(vm, b, false, v);
    default:
        return bad(vm, "Unknown conversion specifier");
    }
}

/* One formatted field; escaped when the format is a Markup. */
static td_code format_field(formatter *f, td_buf *out, td_value v, td_str spec)
{
    jj_vm *vm = f->vm;
    td_buf *b = jj_scratch(vm);
    if (f->markup && jj_is_markup(v)) {
        if (spec.len != 0)
            return bad(vm, "Unsupported format specification for Markup.");
        td_code code = td_buf_put(out, td_as_str(v));
        return code == TD_OK ? TD_OK : jj_buf_fail(vm, out, code);
    }
    if (v.tag == TD_V_STR)
        v = jj_as_markup(v, false);
    TD_TRY(jj_format_value(vm, b, v, spec));
    td_str text = td_buf_view(b);
    td_code code = f->markup ? jj_escape_text(out, text) : td_buf_put(out, text);
    b->len = 0;
    return code == TD_OK ? TD_OK : jj_buf_fail(vm, out, code);
}

static td_code format_text(formatter *f, td_buf *out, td_str text, int depth)
{
    if (depth < 0)
        return bad(f->vm, "Max string recursion exceeded");
    for (const char *p = text.ptr, *end = p + text.len; p < end;) {
        field part;
        TD_TRY(next_part(f->vm, &p, end, &part));
        TD_TRY(jj_charge(f->vm, 1));
        td_code code = td_buf_put(out, part.literal);
        if (code != TD_OK)
            return jj_buf_fail(f->vm, out, code);
        if (!part.present)
            continue;
        td_value v;
        TD_TRY(field_value(f, part.name, &v));
        TD_TRY(convert(f, part.conversion, &v));
        td_buf spec = { .limit = out->limit };
        code = format_text(f, &spec, part.spec, depth - 1);
        if (code == TD_OK)
            code = format_field(f, out, v, td_buf_view(&spec));
        td_buf_done(&spec);
        TD_TRY(code);
    }
    return TD_OK;
}

td_code jj_str_format(jj_vm *vm, td_value format, const jj_args *args, bool has_map, td_value map,
                      td_value *ret)
{
    formatter f = { vm, args, has_map, jj_is_markup(format), map, 0, false };
    td_buf out = { .limit = jj_scratch(vm)->limit };
    td_code code = format_text(&f, &out, td_as_str(format), 2);
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&out), ret);
    td_buf_done(&out);
    if (code == TD_OK)
        *ret = jj_as_markup(*ret, f.markup);
    return code;
}

td_code jj_m_str_format(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    return jj_str_format(vm, self, args, false, td_none(), ret);
}

td_code jj_m_str_format_map(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    if (args->nkw != 0)
        return jj_raise(vm, JJ_TYPE_ERROR, "format_map() takes no keyword arguments");
    if (args->npos != 1)
        return jj_raise(vm, JJ_TYPE_ERROR, "format_map() takes exactly one argument (%u given)",
                        args->npos);
    return jj_str_format(vm, self, args, true, args->pos[0], ret);
}

/* format_percent.c - printf-style formatting: format % values.
 *
 * Texts of the values are made in the scratch buffer one at a time and appended to the result's
 * own buffer. A Markup format escapes each text and reads numbers through int() and float(), as
 * markupsafe's helper objects do. */
#include "jinja/builtins/util.h"
#include "value/bigint.h"

#include <limits.h>
#include <math.h>

typedef struct printf_state {
    jj_vm *vm;
    const char *p, *end;
    td_buf *out;
    bool markup;
    td_value mapping; /* what %(name)s looks into; absent tag: nothing */
    td_value args;
    int64_t at;   /* next of a tuple; -2: the one value is there; -1: it is used */
    bool is_tuple;
} printf_state;

typedef struct conversion {
    bool left, plus, blank, alternate, zero;
    int64_t width, precision; /* -1: none */
    char type;
} conversion;

static td_code fail(printf_state *s, const char *message)
{
    return jj_raise(s->vm, JJ_TYPE_ERROR, "%s", message);
}

static td_code next_arg(printf_state *s, td_value *ret)
{
    if (s->is_tuple ? s->at >= s->args.len : s->at != -2)
        return fail(s, "not enough arguments for format string");
    if (s->is_tuple) {
        *ret = s->args.as.items[s->at++];
    } else {
        *ret = s->args;
        s->at = -1;
    }
    return TD_OK;
}

/* What can be subscripted and is no tuple or str. */
static bool is_mapping(td_value v)
{
    return v.tag == TD_V_DICT || v.tag == TD_V_LIST || v.tag == TD_V_UNDEFINED ||
           (v.tag == TD_V_OBJECT && v.as.object->type->getitem != NULL);
}

/* mapping[key] as Python's own subscript: a missing key is an error. */
static td_code subscript(printf_state *s, td_str key, td_value *ret)
{
    td_value m = s->mapping;
    if (m.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(s->vm, m);
    if (m.tag == TD_V_OBJECT)
        return m.as.object->type->getitem(s->vm, m.as.object, td_key(key), ret);
    if (m.tag != TD_V_DICT)
        return jj_raise(s->vm, JJ_TYPE_ERROR, "%s indices must be integers, not str",
                        jj_type_name(m));
    const td_value *found = td_dict_find(m.as.dict, key);
    if (found == NULL)
        return jj_raise(s->vm, JJ_KEY_ERROR, "'%.*s'", (int)key.len, key.ptr);
    *ret = *found;
    return TD_OK;
}

/* ---- parsing ---- */

static td_code parse_key(printf_state *s)
{
    const char *start = ++s->p;
    int depth = 1;
    if (s->mapping.tag == JJ_ABSENT)
        return fail(s, "format requires a mapping");
    while (depth > 0 && s->p < s->end) {
        if (*s->p == ')')
            depth--;
        else if (*s->p == '(')
            depth++;
        s->p++;
    }
    if (depth > 0)
        return jj_raise(s->vm, JJ_VALUE_ERROR, "incomplete format key");
    TD_TRY(subscript(s, (td_str){ start, (size_t)(s->p - 1 - start) }, &s->args));
    s->is_tuple = false;
    s->at = -2;
    return TD_OK;
}

/* A width or precision: digits or *. */
static td_code parse_amount(printf_state *s, bool *ret_star, int64_t *ret)
{
    *ret_star = s->p < s->end && *s->p == '*';
    if (*ret_star) {
        td_value v;
        s->p++;
        TD_TRY(next_arg(s, &v));
        if (!jj_is_int(v))
            return fail(s, "* wants int");
        TD_TRY(jj_arg_int(s->vm, v, ret));
        return TD_OK;
    }
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
        if (*ret < 0)
            *ret = 0;
        *ret = *ret * 10 + (*s->p++ - '0');
        if (*ret > INT_MAX)
            return jj_raise(s->vm, JJ_VALUE_ERROR, "width or precision too big");
    }
    return TD_OK;
}

static void parse_flags(printf_state *s, conversion *c)
{
    for (; s->p < s->end; s->p++) {
        switch (*s->p) {
        case '-':
            c->left = true;
            break;
        case '+':
            c->plus = true;
            break;
        case ' ':
            c->blank = true;
            break;
        case '#':
            c->alternate = true;
            break;
        case '0':
            c->zero = true;
            break;
        default:
            return;
        }
    }
}

static td_code parse(printf_state *s, conversion *c)
{
    bool star;
    *c = (conversion){ .width = -1, .precision = -1 };
    if (s->p < s->end && *s->p == '(')
        TD_TRY(parse_key(s));
    parse_flags(s, c);
    TD_TRY(parse_amount(s, &star, &c->width));
    if (star && c->width < 0) {
        c->left = true;
        c->width = c->width == INT64_MIN ? INT64_MAX : -c->width;
    }
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        c->precision = 0;
        TD_TRY(parse_amount(s, &star, &c->precision));
        if (c->precision < 0)
            c->precision = 0;
        if (c->precision > INT_MAX)
            return jj_raise(s->vm, JJ_OVERFLOW_ERROR, "precision too big");
    }
    if (s->p < s->end && (*s->p == 'h' || *s->p == 'l' || *s->p == 'L'))
        s->p++;
    if (s->p == s->end)
        return jj_raise(s->vm, JJ_VALUE_ERROR, "incomplete format");
    c->type = *s->p;
    const char *next = s->p;
    td_utf8_next(&next, s->end);
    s->p = next;
    return TD_OK;
}

/* ---- output ---- */

static td_code put(printf_state *s, td_str text)
{
    td_code code = td_buf_put(s->out, text);
    return code == TD_OK ? TD_OK : jj_buf_fail(s->vm, s->out, code);
}

/* sign and prefix, then text, in the field that c asks for. */
static td_code put_field(printf_state *s, const conversion *c, char sign, td_str prefix,
                         td_str text, bool numeric)
{
    int64_t count = (sign != 0) + (int64_t)prefix.len + (int64_t)td_utf8_count(text);
    int64_t extra = c->width > count ? c->width - count : 0;
    bool zeros = numeric && c->zero && !c->left;
    if (!zeros && !c->left)
        TD_TRY(jj_put_fill(s->vm, s->out, ' ', extra));
    if (sign != 0)
        TD_TRY(put(s, (td_str){ &sign, 1 }));
    TD_TRY(put(s, prefix));
    if (zeros)
        TD_TRY(jj_put_fill(s->vm, s->out, '0', extra));
    TD_TRY(put(s, text));
    return c->left ? jj_put_fill(s->vm, s->out, ' ', extra) : TD_OK;
}

static char sign_of(const conversion *c, bool negative)
{
    return negative ? '-' : c->plus ? '+' : c->blank ? ' ' : 0;
}

/* %s, %r, %a */
static td_code put_text(printf_state *s, const conversion *c, td_value v)
{
    jj_vm *vm = s->vm;
    td_value text;
    if (c->type == 's' && !s->markup) {
        TD_TRY(jj_soft_str(vm, v, &text));
    } else if (c->type == 's') {
        TD_TRY(jj_escape(vm, v, &text));
    } else {
        td_buf *b = jj_scratch(vm);
        PUT(jj_append_repr(vm, b, v));
        TD_TRY(jj_take(vm, b, false, &text));
        if (s->markup)
            TD_TRY(jj_escape(vm, text, &text));
        if (c->type == 'a') { /* escapes of the repr's own non-ASCII characters */
            b = jj_scratch(vm);
            for (const char *p = text.as.str, *end = p + text.len; p < end;) {
                uint32_t cp = td_utf8_next(&p, end);
                if (cp < 0x80)
                    PUT(td_buf_byte(b, (char)cp));
                else
                    PUT(td_buf_printf(b, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x"
                                                                              : "\\U%08x", cp));
            }
            TD_TRY(jj_take(vm, b, false, &text));
        }
    }
    if (c->precision >= 0 && c->precision < jj_text_count(text))
        text = jj_text_slice(text, 0, c->precision);
    return put_field(s, c, 0, TD_STR(""), td_as_str(text), false);
}

/* int(v) as %d takes it. */
static td_code as_int(printf_state *s, const conversion *c, td_value v, td_value *ret)
{
    bool ok;
    bool exact = c->type == 'x' || c->type == 'X' || c->type == 'o';
    if (v.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(s->vm, v);
    if (s->markup && exact)
        return fail(s, "an integer is required, not _MarkupEscapeHelper");
    if (jj_is_int(v))
        return jj_pos(s->vm, v, ret);
    if (s->markup && v.tag == TD_V_STR) {
        TD_TRY(jj_parse_int(s->vm, td_as_str(v), 10, ret, &ok));
        return ok ? TD_OK : jj_raise(s->vm, JJ_VALUE_ERROR, "invalid literal for int()");
    }
    if (v.tag != TD_V_FLOAT || exact)
        return jj_raise(s->vm, JJ_TYPE_ERROR, "%%%c format: a number is required, not %s", c->type,
                        jj_type_name(v));
    return jj_int_of_double(s->vm, v.as.real, ret);
}

static td_code put_int(printf_state *s, const conversion *c, td_value v)
{
    TD_TRY(as_int(s, c, v, &v));
    unsigned base = c->type == 'o' ? 8 : c->type == 'x' || c->type == 'X' ? 16 : 10;
    td_str prefix = TD_STR("");
    if (c->alternate && base != 10)
        prefix = base == 8 ? TD_STR("0o") : c->type == 'X' ? TD_STR("0X") : TD_STR("0x");
    td_buf raw = { .limit = s->out->limit }, digits = { .limit = s->out->limit };
    td_code code = jj_put_int_digits(s->vm, &raw, v, base, c->type == 'X');
    if (code == TD_OK)
        code = jj_put_fill(s->vm, &digits, '0', c->precision - (int64_t)raw.len);
    if (code == TD_OK && (code = td_buf_put(&digits, td_buf_view(&raw))) != TD_OK)
        code = jj_buf_fail(s->vm, &digits, code);
    if (code == TD_OK)
        code = put_field(s, c, sign_of(c, jj_int_negative(v)), prefix, td_buf_view(&digits), true);
    td_buf_done(&raw);
    td_buf_done(&digits);
    return code;
}

static td_code put_float(printf_state *s, const conversion *c, td_value v)
{
    double d = 0;
    bool ok = jj_is_number(v);
    if (v.tag == TD_V_UNDEFINED)
        return jj_raise_undefined(s->vm, v);
    if (ok)
        TD_TRY(jj_number_to_double(s->vm, v, &d));
    else if (s->markup && v.tag == TD_V_STR)
        TD_TRY(jj_parse_float(s->vm, td_as_str(v), &d, &ok));
    if (!ok)
        return jj_raise(s->vm, JJ_TYPE_ERROR, "must be real number, not %s", jj_type_name(v));
    jj_float_style style = { .type = c->type, .alternate = c->alternate,
                             .precision = c->precision < 0 ? 6 : (unsigned)c->precision };
    TD_TRY(jj_charge(s->vm, style.precision / 16));
    td_buf text = { .limit = s->out->limit };
    td_code code = jj_put_float(&text, d, &style);
    if (code != TD_OK)
        code = jj_buf_fail(s->vm, &text, code);
    else
        code = put_field(s, c, sign_of(c, signbit(d) != 0 && !isnan(d)), TD_STR(""),
                         td_buf_view(&text), true);
    td_buf_done(&text);
    return code;
}

static td_code put_char(printf_state *s, const conversion *c, td_value v)
{
    char unit[4];
    if (s->markup)
        return fail(s, "%c requires int or char");
    if (v.tag == TD_V_STR) {
        if (jj_text_count(v) != 1)
            return fail(s, "%c requires int or char");
        return put_field(s, c, 0, TD_STR(""), td_as_str(v), false);
    }
    if (!jj_is_int(v))
        return fail(s, "%c requires int or char");
    if (v.tag == TD_V_BIGINT || v.as.integer < 0 || v.as.integer > 0x10FFFF)
        return jj_raise(s->vm, JJ_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
    size_t n = td_utf8_put(unit, (uint32_t)v.as.integer);
    return put_field(s, c, 0, TD_STR(""), (td_str){ unit, n }, false);
}

static td_code convert(printf_state *s)
{
    conversion c;
    td_value v;
    TD_TRY(jj_charge(s->vm, 1));
    if (s->p < s->end && *s->p == '%') {
        s->p++;
        return put(s, TD_STR("%"));
    }
    TD_TRY(parse(s, &c));
    TD_TRY(next_arg(s, &v));
    switch (c.type) {
    case 's':
    case 'r':
    case 'a':
        return put_text(s, &c, v);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return put_int(s, &c, v);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        return put_float(s, &c, v);
    case 'c':
        return put_char(s, &c, v);
    default:
        return jj_raise(s->vm, JJ_VALUE_ERROR, "unsupported format character");
    }
}

static td_code format_all(printf_state *s)
{
    while (s->p < s->end) {
        const char *from = s->p;
        while (s->p < s->end && *s->p != '%')
            s->p++;
        TD_TRY(put(s, (td_str){ from, (size_t)(s->p - from) }));
        if (s->p == s->end)
            break;
        s->p++;
        TD_TRY(convert(s));
    }
    if (s->mapping.tag == JJ_ABSENT && (s->is_tuple ? s->at < s->args.len : s->at == -2))
        return fail(s, "not all arguments converted during string formatting");
    return TD_OK;
}

td_code jj_percent(jj_vm *vm, td_value format, td_value arg, td_value *ret)
{
    td_buf out = { .limit = jj_scratch(vm)->limit };
    printf_state s = { .vm = vm, .p = format.as.str, .end = format.as.str + format.len,
                       .out = &out, .markup = jj_is_markup(format),
                       .mapping = { .tag = JJ_ABSENT }, .args = arg };
    s.is_tuple = arg.tag == TD_V_TUPLE;
    s.at = s.is_tuple ? 0 : -2;
    if (is_mapping(arg))
        s.mapping = arg;
    td_code code = format_all(&s);
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&out), ret);
    td_buf_done(&out);
    if (code == TD_OK)
        *ret = jj_as_markup(*ret, s.markup);
    return code;
}

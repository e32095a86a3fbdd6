/* util.h - what the built-ins share: access to arguments, texts by code point, scratch text. */
#ifndef TD_SRC_JINJA_BUILTINS_UTIL_H
#define TD_SRC_JINJA_BUILTINS_UTIL_H

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "jinja/builtins.h"

/* Forwards an append's failure as the error of the render; b and vm are in scope. */
#define PUT(expr)                                                                                  \
    do {                                                                                           \
        td_code put_ = (expr);                                                                     \
        if (put_ != TD_OK)                                                                         \
            return jj_buf_fail(vm, b, put_);                                                       \
    } while (0)

/* ---- texts ---- */

static inline bool jj_is_markup(td_value v)
{
    return v.tag == TD_V_STR && (v.flags & TD_VF_MARKUP) != 0;
}

/* A view into the text of parent; inherits what is true of any part of it. */
static inline td_value jj_sub(td_value parent, td_str part)
{
    td_value v = td_string(part);
    v.flags = parent.flags & (TD_VF_ASCII | TD_VF_MARKUP | TD_VF_JSON_RAW);
    return v;
}

/* The same, never a Markup. */
static inline td_value jj_sub_plain(td_value parent, td_str part)
{
    td_value v = jj_sub(parent, part);
    v.flags &= (uint8_t)~TD_VF_MARKUP;
    return v;
}

/* v as Markup if like is one, as a plain str otherwise. v must be a str. */
static inline td_value jj_as_markup(td_value v, bool markup)
{
    if (markup)
        v.flags |= TD_VF_MARKUP;
    else
        v.flags &= (uint8_t)~TD_VF_MARKUP;
    return v;
}

bool jj_text_ascii(td_value v);
int64_t jj_text_count(td_value v); /* code points */
/* Byte offset of code point number at, which is between 0 and the count. */
size_t jj_text_offset(td_value v, int64_t at);
/* s[start:stop] by code points, both within bounds. */
td_value jj_text_slice(td_value v, int64_t start, int64_t stop);

/* soft_str(v): v itself when it is a str (also a Markup), else str(v). */
td_code jj_soft_str(jj_vm *vm, td_value v, td_value *ret);
/* Ends a text in scratch as a value, Markup or not. */
td_code jj_take(jj_vm *vm, td_buf *b, bool markup, td_value *ret);
/* Appends n copies of a code point; charges for long ones. */
td_code jj_put_fill(jj_vm *vm, td_buf *b, uint32_t c, int64_t n);

/* ---- arguments ---- */

static inline td_value jj_arg(const jj_args *args, uint32_t i, td_value missing)
{
    return jj_given(args, i) ? args->pos[i] : missing;
}

/* Argument i must be a str. what names the function in the message. */
td_code jj_arg_text(jj_vm *vm, const jj_args *args, uint32_t i, const char *what, td_value *ret);
/* An int that must fit (OverflowError as Py_ssize_t). */
td_code jj_arg_int(jj_vm *vm, td_value v, int64_t *ret);
/* bool(an int argument) as C functions take it: an int that fits a C int; missing if not given. */
td_code jj_arg_flag(jj_vm *vm, const jj_args *args, uint32_t i, bool missing, bool *ret);
/* start and stop arguments first and first + 1 of s.find and others, brought into 0..count (start
 * may exceed count, then nothing is found). */
td_code jj_arg_bounds(jj_vm *vm, const jj_args *args, uint32_t first, int64_t count,
                      int64_t *ret_start, int64_t *ret_stop);
/* bool(argument i), or missing. */
td_code jj_arg_bool(jj_vm *vm, const jj_args *args, uint32_t i, bool missing, bool *ret);

/* environment.getattr without its fall-back to items: *ret_found tells. */
td_code jj_attr_only(jj_vm *vm, td_value v, td_str name, td_value *ret, bool *ret_found);

static inline bool jj_is_int(td_value v)
{
    return v.tag == TD_V_INT || v.tag == TD_V_BOOL || v.tag == TD_V_BIGINT;
}
static inline bool jj_is_number(td_value v)
{
    return jj_is_int(v) || v.tag == TD_V_FLOAT;
}

/* float(v) of a number; OverflowError for a too large int. */
td_code jj_number_to_double(jj_vm *vm, td_value v, double *ret);

/* ---- number.c: int() and float() ---- */

/* int(text, base) / float(text); *ret_ok false: ValueError. */
td_code jj_parse_int(jj_vm *vm, td_str text, int64_t base, td_value *ret, bool *ret_ok);
td_code jj_parse_float(jj_vm *vm, td_str text, double *ret, bool *ret_ok);
/* int(d); OverflowError for inf, ValueError for nan. */
td_code jj_int_of_double(jj_vm *vm, double d, td_value *ret);

/* ---- format ---- */

/* Appends format(v, spec) for a value of any type. b may be the scratch. */
td_code jj_format_value(jj_vm *vm, td_buf *b, td_value v, td_str spec);
/* Appends ascii(v). */
td_code jj_put_ascii(jj_vm *vm, td_buf *b, td_value v);
/* str.format (map none) and format_map. */
td_code jj_str_format(jj_vm *vm, td_value format, const jj_args *args, bool has_map, td_value map,
                      td_value *ret);

/* ---- numtext.c: digits of numbers for both formatters ---- */

typedef struct jj_float_style {
    char type;          /* e E f F g G r (repr) */
    bool alternate;     /* # */
    bool add_dot_0;     /* as repr does */
    unsigned precision;
} jj_float_style;
/* Appends |d| (no sign) as PyOS_double_to_string writes it. */
td_code jj_put_float(td_buf *b, double d, const jj_float_style *style);
/* Appends |v| in base 2, 8, 10 or 16, no prefix; v is an int. */
td_code jj_put_int_digits(jj_vm *vm, td_buf *b, td_value v, unsigned base, bool upper);
bool jj_int_negative(td_value v);

/* ---- others ---- */

/* The own attributes getter of filters: "a.b.0". */
typedef struct jj_getter {
    td_value *parts;
    uint32_t count;
    bool has_default;
    td_value fallback;
    bool fold_case; /* ignore_case */
} jj_getter;
td_code jj_getter_init(jj_vm *vm, td_value attribute, jj_getter *g);
td_code jj_getter_get(jj_vm *vm, const jj_getter *g, td_value item, td_value *ret);
td_code jj_fold_case(jj_vm *vm, td_value v, td_value *ret);

/* Stable sort of items by keys (both arrays of n are reordered); compares as Python's list.sort
 * would (identical or equal one-element keys first when list_keys). */
typedef struct jj_keyed {
    td_value key, item;
} jj_keyed;
td_code jj_sort(jj_vm *vm, jj_keyed *items, uint32_t n, bool reverse, bool list_keys);

/* An iterator object with state of its own. step gives the next value. */
typedef struct jj_generator jj_generator;
struct jj_generator {
    td_object base;
    td_code (*step)(jj_vm *vm, jj_generator *g, td_value *ret, bool *ret_more);
    const char *name;
    bool started, done, running;
};
extern const td_object_type jj_generator_type;
/* An iterator over items that are known already (reversed(...)), printed under that name. */
td_code jj_new_list_iterator(jj_vm *vm, td_value items, const char *name, td_value *ret);

/* bytes objects */
typedef struct jj_bytes {
    td_object base;
    td_str data;
} jj_bytes;
td_code jj_new_bytes(jj_vm *vm, td_str data, td_value *ret); /* data must live in the arena */
/* The methods that bytes share with str; undefined: name is none of them. */
td_code jj_bytes_text_method(jj_vm *vm, td_object *self, td_str name, td_value *ret);
static inline bool jj_is_bytes(td_value v)
{
    return v.tag == TD_V_OBJECT && v.as.object->type == &jj_bytes_type;
}

/* complex numbers */
static inline bool jj_is_complex(td_value v)
{
    return v.tag == TD_V_OBJECT && v.as.object->type == &jj_complex_type;
}

/* The types that METHOD lines name, in the order of builtins.def. */
typedef enum jj_method_type {
    JJ_TYPE_str,
    JJ_TYPE_markup,
    JJ_TYPE_list,
    JJ_TYPE_tuple,
    JJ_TYPE_group,
    JJ_TYPE_dict,
    JJ_TYPE_int,
    JJ_TYPE_float,
    JJ_TYPE_complex,
    JJ_TYPE_range,
    JJ_TYPE_bytes,
    JJ_TYPE_view,
    JJ_TYPE_cycler,
    JJ_TYPE_dictclass,
} jj_method_type;
const jj_builtin *jj_type_method(jj_method_type type, td_str name);
/* getattr of an object by the methods of a type; undefined when there is none. */
td_code jj_object_attr(jj_vm *vm, jj_method_type type, td_object *self, td_str name,
                       td_value *ret);

static inline bool jj_is_object(td_value v, const td_object_type *type)
{
    return v.tag == TD_V_OBJECT && v.as.object->type == type;
}

/* Tuples of groupby's result have the attributes grouper and list. */
enum { JJ_VF_GROUP = 1u << 0 };

/* ---- declarations of every built-in ---- */
#define FILTER(name, id, min, max, flags, kw, doc)                                                 \
    td_code jj_f_##id(jj_vm *vm, td_value self, const jj_args *args, td_value *ret);
#define TEST(name, id, min, max, flags, kw, doc)                                                   \
    td_code jj_t_##id(jj_vm *vm, td_value self, const jj_args *args, td_value *ret);
#define GLOBAL(name, id, min, max, flags, kw, doc)                                                 \
    td_code jj_g_##id(jj_vm *vm, td_value self, const jj_args *args, td_value *ret);
#define METHOD(type, name, min, max, flags, kw, doc)                                               \
    td_code jj_m_##type##_##name(jj_vm *vm, td_value self, const jj_args *args, td_value *ret);
#define REFUSED(type, name)
#include "jinja/builtins.def"
#undef FILTER
#undef TEST
#undef GLOBAL
#undef METHOD
#undef REFUSED

#endif

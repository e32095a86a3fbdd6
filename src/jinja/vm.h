/* vm.h - what built-ins (filters, tests, methods, globals) see of a running template.
 *
 * One jj_vm is one render: its arena, its output, its limits, its error. A built-in gets the
 * evaluated arguments, computes into the arena and returns TD_OK with *ret set, or raises through
 * jj_raise. Everything that may run long (loops over data, copies of long texts) charges steps. */
#ifndef TD_SRC_JINJA_VM_H
#define TD_SRC_JINJA_VM_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "jinja/jinja.h"
#include "value/value.h"

typedef struct jj_vm jj_vm;

/* Evaluated arguments. Positional first; keywords as name (a td_key) and value. For a built-in
 * from builtins.def, the caller has already bound keywords to positions by that table: pos then
 * holds max entries, missing ones have tag JJ_ABSENT, and nkw is 0 unless the table says KWARGS. */
typedef struct jj_args {
    const td_value *pos;
    uint32_t npos;
    const td_entry *kw;
    uint32_t nkw;
} jj_args;

enum { JJ_ABSENT = 0xFF }; /* tag of an argument that was not given */

static inline bool jj_given(const jj_args *args, uint32_t i)
{
    return i < args->npos && args->pos[i].tag != JJ_ABSENT;
}

/* self: the filtered or tested value, or the receiver of a method; none for globals. */
typedef td_code (*jj_fn)(jj_vm *vm, td_value self, const jj_args *args, td_value *ret);

/* The Python exception that the reference would raise; the text is ours. */
typedef enum jj_exc {
    JJ_TYPE_ERROR,
    JJ_VALUE_ERROR,
    JJ_UNDEFINED_ERROR,
    JJ_SECURITY_ERROR,
    JJ_RUNTIME_ERROR, /* TemplateRuntimeError */
    JJ_TEMPLATE_ERROR, /* raise_exception */
    JJ_OVERFLOW_ERROR,
    JJ_ATTRIBUTE_ERROR,
    JJ_KEY_ERROR,
    JJ_INDEX_ERROR,
    JJ_ZERO_DIVISION,
    JJ_FILTER_ARGUMENT, /* FilterArgumentError */
} jj_exc;

/* Sets the error of the render (TD_E_TEMPLATE at the running instruction) and returns its code.
 * The error's message is the text alone, without the exception's name. */
td_code jj_raise(jj_vm *vm, jj_exc exc, const char *fmt, ...) TD_PRINTF(3, 4);
td_code jj_raise_text(jj_vm *vm, jj_exc exc, td_str message); /* whole text, no format */
td_code jj_nomem(jj_vm *vm);                                  /* the arena refused: limit or heap */
td_code jj_buf_fail(jj_vm *vm, const td_buf *b, td_code code);
/* Counts n steps against the limit (and looks at the clock and the cancel flag now and then). */
td_code jj_charge(jj_vm *vm, uint64_t n);

/* What going over long texts costs: the clock is looked at in between. Built-ins need not charge
 * for their receiver and arguments, which whoever calls them has charged for. */
enum { JJ_LONG_TEXT = 4096 };
static inline td_code jj_charge_texts(jj_vm *vm, const td_value *v, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (v[i].tag == TD_V_STR && v[i].len >= JJ_LONG_TEXT)
            TD_TRY(jj_charge(vm, v[i].len / 256));
    return TD_OK;
}

/* For code that catches Python exceptions: when code is TD_E_TEMPLATE and the pending exception is
 * one of mask (1u << jj_exc, or'ed), drops it and gives true; else leaves everything as it is. */
bool jj_catch(jj_vm *vm, td_code code, unsigned mask);

/* Guards recursion in built-ins (RecursionError as TD_E_LIMIT); pair them. */
td_code jj_enter(jj_vm *vm);
void jj_leave(jj_vm *vm);

td_arena *jj_arena(jj_vm *vm);
/* A scratch buffer, empty, to build a text in; jj_take_text copies it into the arena as a value
 * and empties it. Built-ins that call back into the VM must not hold text in it meanwhile. */
td_buf *jj_scratch(jj_vm *vm);
td_code jj_take_text(jj_vm *vm, td_buf *scratch, td_value *ret);
td_code jj_new_text(jj_vm *vm, td_str copied, td_value *ret);

/* A list being built in the arena; zeroed is ready. jj_items_list gives it as a list value (which
 * stays valid if more is pushed). */
typedef struct jj_items {
    td_value *items;
    uint32_t count, cap;
} jj_items;
td_code jj_items_push(jj_vm *vm, jj_items *l, td_value v);
static inline td_value jj_items_list(const jj_items *l)
{
    return td_list_of(l->items, l->count);
}
td_code jj_new_tuple(jj_vm *vm, const td_value *items, uint32_t count, td_value *ret); /* copies */
td_code jj_new_pair(jj_vm *vm, td_value a, td_value b, td_value *ret);
/* td_dict_set that raises: TypeError (unhashable type), or out of memory. */
td_code jj_dict_set(jj_vm *vm, td_dict *d, td_value key, td_value val);

/* The JSON text of v when it was written before; it is to be copied. */
bool jj_known_json(const jj_vm *vm, td_value v, const td_json_style *style, td_str *ret);
/* Remembers the text that was written for v. */
td_code jj_note_json(jj_vm *vm, td_value v, const td_json_style *style, td_str text);

/* ---- undefined ---- */

/* What an undefined value remembers for the error that its use raises. */
struct td_undefined {
    jj_exc exc;       /* JJ_UNDEFINED_ERROR or JJ_SECURITY_ERROR */
    td_str hint;      /* the whole message; empty: made from the rest */
    td_value name;    /* the missing name, attribute or item */
    const char *type; /* "dict object": what had no such attribute; NULL: a variable */
};

/* The undefined that getattr/getitem of obj gives for a missing name. */
td_code jj_undefined_attr(jj_vm *vm, td_value obj, td_value name, td_value *ret);
/* One with a message of its own (a string literal or arena text). */
td_code jj_undefined_hint(jj_vm *vm, jj_exc exc, td_str hint, td_value *ret);
/* The sandbox's refusal: access to attribute NAME of TYPE object is unsafe. */
td_code jj_undefined_unsafe(jj_vm *vm, td_value obj, td_str name, td_value *ret);
/* Raises what using v does; v is TD_V_UNDEFINED. */
td_code jj_raise_undefined(jj_vm *vm, td_value v);

/* ---- protocol of values ---- */

td_code jj_truth(jj_vm *vm, td_value v, bool *ret);
td_code jj_str(jj_vm *vm, td_value v, td_value *ret); /* str(v); undefined gives '' */
td_code jj_append_str(jj_vm *vm, td_buf *out, td_value v);
td_code jj_append_repr(jj_vm *vm, td_buf *out, td_value v);
td_code jj_length(jj_vm *vm, td_value v, int64_t *ret);           /* len(v) */
td_code jj_getattr(jj_vm *vm, td_value v, td_str name, td_value *ret); /* environment.getattr */
td_code jj_getitem(jj_vm *vm, td_value v, td_value key, td_value *ret); /* environment.getitem */
td_code jj_eq(jj_vm *vm, td_value a, td_value b, bool *ret);
td_code jj_less(jj_vm *vm, td_value a, td_value b, bool *ret);   /* a < b, TypeError as Python */
td_code jj_contains(jj_vm *vm, td_value needle, td_value haystack, bool *ret); /* in */
td_code jj_add(jj_vm *vm, td_value a, td_value b, td_value *ret); /* a + b, Markup included */
/* + - * / // % ** on any two values, as Python; op is the operator's first letter here: */
typedef enum jj_op { JJ_ADD, JJ_SUB, JJ_MUL, JJ_DIV, JJ_FLOORDIV, JJ_MOD, JJ_POW } jj_op;
td_code jj_binop(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret);
td_code jj_neg(jj_vm *vm, td_value a, td_value *ret);
td_code jj_pos(jj_vm *vm, td_value a, td_value *ret);
/* v[start:stop:step]; none for a part that was left out. */
td_code jj_slice(jj_vm *vm, td_value v, td_value start, td_value stop, td_value step,
                 td_value *ret);
/* Python's hash exists; TypeError "unhashable type: 'list'" if not. */
td_code jj_hashable(jj_vm *vm, td_value v);
/* As an index: int or bool to int64 (saturated); TypeError for others. */
td_code jj_index(jj_vm *vm, td_value v, int64_t *ret);
bool jj_is_callable(td_value v);
bool jj_is_iterable(td_value v); /* iter(v) would work */
td_code jj_call(jj_vm *vm, td_value callee, const jj_args *args, td_value *ret);
const char *jj_type_name(td_value v); /* Python's, objects included */

/* ---- iteration ---- */

/* An iterator over anything that Python could iterate: list, tuple, str (code points), dict (keys),
 * range, views, generators, undefined (nothing). Lives on the caller's C stack. */
typedef struct jj_iter {
    td_value source;
    uint64_t at, end;
    int kind; /* private to iter.c */
} jj_iter;
td_code jj_iter_init(jj_vm *vm, td_value source, jj_iter *it); /* TypeError: not iterable */
td_code jj_iter_next(jj_vm *vm, jj_iter *it, td_value *ret, bool *ret_more);
/* All items as a list (also of a generator). */
td_code jj_to_list(jj_vm *vm, td_value v, td_value *ret);

/* ---- objects ---- */

/* What an object of the engine can do; NULL members: it cannot (TypeError, or the default). */
struct td_object_type {
    td_object_key key; /* stands first: the value model reads it */
    const char *name;  /* Python's type name */
    td_code (*getattr)(jj_vm *vm, td_object *self, td_str name, td_value *ret); /* undefined:none */
    td_code (*getitem)(jj_vm *vm, td_object *self, td_value key, td_value *ret);
    td_code (*call)(jj_vm *vm, td_object *self, const jj_args *args, td_value *ret);
    td_code (*length)(jj_vm *vm, td_object *self, int64_t *ret);
    td_code (*next)(jj_vm *vm, td_object *self, td_value *ret, bool *ret_more); /* an iterator */
    td_code (*iter)(jj_vm *vm, td_object *self, td_value *ret); /* a fresh iterator or list */
    td_code (*contains)(jj_vm *vm, td_object *self, td_value needle, bool *ret);
    td_code (*eq)(jj_vm *vm, td_object *self, td_value other, bool *ret);
    td_code (*repr)(jj_vm *vm, td_object *self, td_buf *out);
    td_code (*truth)(jj_vm *vm, td_object *self, bool *ret); /* NULL: by length, else true */
    /* Operators of two values of which one is this object; *ret_done false: not supported. */
    td_code (*binop)(jj_vm *vm, jj_op op, td_value a, td_value b, td_value *ret, bool *ret_done);
    td_code (*less)(jj_vm *vm, td_value a, td_value b, bool or_equal, bool *ret, bool *ret_done);
    bool is_class;       /* a Python type: prints as <class ...> */
    bool is_generator;   /* its attributes gi_frame, gi_code, ... are refused */
    bool unhashable;     /* dict key and set item are TypeError */
};

#endif

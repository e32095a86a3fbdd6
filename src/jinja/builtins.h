/* builtins.h - the table of everything callable by name, and what the VM asks of it.
 *
 * builtins.def lists filters, tests, globals and methods with the names of their parameters; it is
 * also what docs/templates.md is generated from. All tables are constant: safe from any thread. */
#ifndef TD_SRC_JINJA_BUILTINS_H
#define TD_SRC_JINJA_BUILTINS_H

#include "jinja/jinja.h"
#include "jinja/vm.h"

enum {
    JJ_B_VARARGS = 1u << 0,  /* pos holds max entries and then any number of others */
    JJ_B_KWARGS = 1u << 1,   /* keywords that name no parameter are passed on in kw */
    JJ_B_PROPERTY = 1u << 2, /* methods: reading the attribute gives fn's result, nothing to call */
    JJ_B_REFUSED = 1u << 3,  /* methods: the sandbox gives an unsafe undefined; fn is NULL */
    JJ_B_IMPURE = 1u << 4,   /* may not be computed at compile time */
};

typedef struct jj_builtin {
    const char *name;
    jj_fn fn;
    uint8_t min, max; /* parameters that must, that may be given (self not counted) */
    uint8_t flags;    /* JJ_B_ */
    const char *kw;   /* names of the parameters, one blank between; "-": positional only */
} jj_builtin;

/* NULL: there is none. */
const jj_builtin *jj_find_filter(td_str name);
const jj_builtin *jj_find_test(td_str name);
/* A method or property of the value's Python type (str, Markup, int, bool, float, list, tuple,
 * dict). Objects answer through their type's getattr. */
const jj_builtin *jj_find_method(td_value receiver, td_str name);
/* range, dict, lipsum, cycler, joiner, namespace, raise_exception, strftime_now: a constant
 * function object. */
const td_value *jj_find_global(td_str name);

/* Binds keywords to positions, checks the number of arguments (TypeError) and calls. For any
 * caller that has not bound the arguments itself at compile time. */
td_code jj_call_builtin(jj_vm *vm, const jj_builtin *b, td_value self, const jj_args *args,
                        td_value *ret);
/* The bound method as a value: an object that can be called, is callable, and prints. */
td_code jj_bind_method(jj_vm *vm, const jj_builtin *b, td_value receiver, td_value *ret);

/* ---- pieces that operators need as well ---- */

/* format % arg, with Markup's escaping when format is one. */
td_code jj_percent(jj_vm *vm, td_value format, td_value arg, td_value *ret);
/* markupsafe.escape(v): a Markup. */
td_code jj_escape(jj_vm *vm, td_value v, td_value *ret);
/* Appends s with & < > ' " replaced. */
td_code jj_escape_text(td_buf *out, td_str s);

/* ---- objects that built-ins make and the VM iterates fast ---- */

extern const td_object_type jj_range_type;
typedef struct jj_range {
    td_object base;
    int64_t start, stop, step;
    int64_t count;
} jj_range;
td_code jj_new_range(jj_vm *vm, int64_t start, int64_t stop, int64_t step, td_value *ret);

extern const td_object_type jj_dict_keys_type, jj_dict_values_type, jj_dict_items_type;
typedef struct jj_dict_view {
    td_object base;
    const td_dict *dict;
} jj_dict_view;

extern const td_object_type jj_namespace_type;
typedef struct jj_namespace {
    td_object base;
    td_dict *attrs; /* grows in the arena of the render */
} jj_namespace;

extern const td_object_type jj_complex_type;
typedef struct jj_complex {
    td_object base;
    double re, im;
} jj_complex;
td_code jj_new_complex(jj_vm *vm, double re, double im, td_value *ret);
/* a ** b where no real number is the result; -v; abs(v) of a complex number. */
td_code jj_complex_pow(jj_vm *vm, double a, double b, td_value *ret);
td_code jj_complex_neg(jj_vm *vm, td_value v, td_value *ret);
td_code jj_complex_abs(jj_vm *vm, td_value v, td_value *ret);

extern const td_object_type jj_bytes_type;
td_code jj_bytes_slice(jj_vm *vm, td_value v, td_value start, td_value stop, td_value step,
                       td_value *ret);

/* ---- what the VM tells built-ins beyond vm.h (defined by the VM) ---- */

const jj_now *jj_vm_now(const jj_vm *vm);
bool jj_autoescape(const jj_vm *vm); /* inside {% autoescape true %} */

#endif

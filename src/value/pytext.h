/* pytext.h - str() and repr() of values as CPython prints them. */
#ifndef TD_SRC_VALUE_PYTEXT_H
#define TD_SRC_VALUE_PYTEXT_H

#include "base/buf.h"
#include "value/value.h"

/* How the engine prints its objects inside containers; NULL refuses them. */
typedef td_code (*td_object_repr_fn)(void *user, td_buf *out, const td_object *o);

typedef struct td_pytext {
    td_object_repr_fn object_repr;
    void *user;
} td_pytext;

/* Append str(v) / repr(v): "True", "1e+22", "{'a': [1, 'x', None]}", "(1,)". A Markup inside a
 * container prints as Markup('...'), undefined as "Undefined"; str(undefined) is "". Codes of
 * td_buf appends; TD_E_TEMPLATE when object_repr refuses or an integer has more than
 * TD_INT_DIGITS_MAX digits, TD_E_INPUT when depth exceeds 1000. After a failure out is as it was
 * before. */
td_code td_py_str(td_buf *out, td_value v, const td_pytext *how);
td_code td_py_repr(td_buf *out, td_value v, const td_pytext *how);
/* repr of a str: quotes, escapes, and isprintable() of Unicode 14. */
td_code td_py_repr_str(td_buf *out, td_str s);

#endif

/* convert.c - Python objects read straight into values.
 *
 * What a template may see is what transformers lets it see: dicts, lists, tuples, str, int, float,
 * bool and None as they are; anything else goes, one level at a time, through state->plain
 * (python/tokdrain/_plain.py), which knows subclasses, dataclasses, pydantic models and numpy.
 *
 * The functions call each other once a level; the builder refuses to go deeper than a reader of
 * JSON would, whatever is inside itself. */
#include "python/core.h"

/* Always false, so that callers can return it. A failure of the builder is told by the builder. */
static bool put_text(td_build *b, PyObject *obj)
{
    td_str text;
    bool ascii;
    PyObject *hold;
    if (!tdpy_utf8(obj, &text, &ascii, &hold))
        return false;
    bool ok = td_build_text(b, text, ascii);
    Py_XDECREF(hold);
    return ok;
}

static bool put_int(td_build *b, PyObject *obj)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(obj, &overflow);
    if (overflow == 0)
        return !(value == -1 && PyErr_Occurred()) && td_build_int(b, value);
    PyObject *hex = PyNumber_ToBase(obj, 16); /* [-]0x... */
    if (hex == NULL)
        return false;
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(hex, &size);
    bool ok = false;
    PyObject *digits = NULL;
    if (text != NULL)
        digits =
            text[0] == '-' ? PyBytes_FromFormat("-%s", text + 3) : PyBytes_FromString(text + 2);
    char *ptr;
    if (digits != NULL && PyBytes_AsStringAndSize(digits, &ptr, &size) == 0)
        ok = td_build_hex(b, (td_str){ ptr, (size_t)size });
    Py_XDECREF(digits);
    Py_DECREF(hex);
    return ok;
}

static bool put_dict(tdpy_state *state, td_build *b, PyObject *dict)
{
    if (!td_build_map(b))
        return false;
    Py_ssize_t at = 0, size = PyDict_Size(dict);
    PyObject *key, *value;
    while (PyDict_Next(dict, &at, &key, &value)) {
        Py_INCREF(key); /* what is called below may change the dict */
        Py_INCREF(value);
        bool ok = tdpy_put(state, b, key) && tdpy_put(state, b, value);
        Py_DECREF(key);
        Py_DECREF(value);
        if (!ok)
            return false;
        if (PyDict_Size(dict) != size) {
            PyErr_SetString(PyExc_RuntimeError, "dictionary changed size while it was read");
            return false;
        }
    }
    return td_build_end(b);
}

static bool put_list(tdpy_state *state, td_build *b, PyObject *list)
{
    bool ok = td_build_list(b);
    for (Py_ssize_t i = 0; ok && i < PyList_Size(list); i++) {
        PyObject *item = PyList_GetItem(list, i);
        Py_XINCREF(item);
        ok = item != NULL && tdpy_put(state, b, item);
        Py_XDECREF(item);
    }
    return ok && td_build_end(b);
}

static bool put_tuple(tdpy_state *state, td_build *b, PyObject *tuple)
{
    bool ok = td_build_tuple(b);
    Py_ssize_t size = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; ok && i < size; i++)
        ok = tdpy_put(state, b, PyTuple_GetItem(tuple, i));
    return ok && td_build_end(b);
}

/* 1: obj is of an exact built-in type and was put; 0: it is not; -1: failed. */
static int put_exact(tdpy_state *state, td_build *b, PyObject *obj)
{
    bool ok;
    if (PyUnicode_CheckExact(obj))
        ok = put_text(b, obj);
    else if (obj == Py_None)
        ok = td_build_null(b);
    else if (PyBool_Check(obj))
        ok = td_build_bool(b, obj == Py_True);
    else if (PyLong_CheckExact(obj))
        ok = put_int(b, obj);
    else if (PyFloat_CheckExact(obj))
        ok = td_build_float(b, PyFloat_AsDouble(obj));
    else if (PyDict_CheckExact(obj))
        ok = put_dict(state, b, obj);
    else if (PyList_CheckExact(obj))
        ok = put_list(state, b, obj);
    else if (PyTuple_CheckExact(obj))
        ok = put_tuple(state, b, obj);
    else
        return 0;
    return ok ? 1 : -1;
}

bool tdpy_put(tdpy_state *state, td_build *b, PyObject *obj)
{
    if (obj == NULL)
        return false;
    int done = put_exact(state, b, obj);
    if (done == 0) {
        PyObject *plain = PyObject_CallFunctionObjArgs(state->plain, obj, NULL);
        if (plain == NULL) {
            done = -1;
        } else {
            done = put_exact(state, b, plain);
            if (done == 0)
                PyErr_Format(PyExc_TypeError, "%R is no plain value", plain);
            Py_DECREF(plain);
        }
    }
    return done > 0;
}

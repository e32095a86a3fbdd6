/* request.c - Request: what one call asks for, read into the library's memory.
 *
 * A request may be given as a dict with the keys of a request line (docs/cli.md), a list of
 * messages, a str (a text), or bytes (a request line in JSON). */
#include <string.h>

#include "python/core.h"

typedef struct request_object {
    PyObject_HEAD
    td_request *request; /* NULL: taken */
} request_object;

static td_build *take_builder(td_build **builder)
{
    td_build *b = *builder;
    *builder = NULL; /* what reading calls may come here again */
    if (b == NULL)
        b = td_build_new();
    if (b == NULL)
        PyErr_NoMemory();
    return b;
}

static void give_builder(td_build **builder, td_build *b)
{
    td_build_reset(b);
    if (*builder == NULL)
        *builder = b;
    else
        td_build_free(b);
}

/* {"messages": list}: a tuple of messages is a list to the template, too. */
static bool put_messages(tdpy_state *state, td_build *b, PyObject *messages)
{
    if (!PyTuple_CheckExact(messages))
        return tdpy_put(state, b, messages);
    PyObject *list = PySequence_List(messages);
    bool ok = list != NULL && tdpy_put(state, b, list);
    Py_XDECREF(list);
    return ok;
}

static bool is_messages_key(PyObject *key)
{
    return PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, "messages") == 0;
}

static bool put_request(tdpy_state *state, td_build *b, PyObject *dict)
{
    bool ok = td_build_map(b);
    Py_ssize_t at = 0, size = PyDict_Size(dict);
    PyObject *key, *value;
    while (ok && PyDict_Next(dict, &at, &key, &value)) {
        Py_INCREF(key);
        Py_INCREF(value);
        ok = tdpy_put(state, b, key) &&
             (is_messages_key(key) ? put_messages(state, b, value) : tdpy_put(state, b, value));
        Py_DECREF(key);
        Py_DECREF(value);
        if (ok && PyDict_Size(dict) != size) {
            PyErr_SetString(PyExc_RuntimeError, "dictionary changed size while it was read");
            ok = false;
        }
    }
    return ok && td_build_end(b);
}

static bool put_whole(tdpy_state *state, td_build *b, PyObject *obj)
{
    if (PyDict_CheckExact(obj))
        return put_request(state, b, obj);
    if (PyDict_Check(obj)) {
        PyObject *copy = PyDict_New();
        bool ok = copy != NULL && PyDict_Update(copy, obj) == 0 && put_request(state, b, copy);
        Py_XDECREF(copy);
        return ok;
    }
    return td_build_map(b) && td_build_text(b, TD_STR("messages"), true) &&
           put_messages(state, b, obj) && td_build_end(b);
}

/* The functions below give NULL with either an exception raised or *err set. */

static td_request *of_object(tdpy_state *state, td_build **builder, PyObject *obj, td_error *err)
{
    td_build *b = take_builder(builder);
    if (b == NULL)
        return NULL;
    td_request *request = NULL;
    bool ok = put_whole(state, b, obj);
    if (ok || !PyErr_Occurred()) { /* a failure that is not raised is in the builder */
        if (td_build_request(b, &request, err) != TD_OK)
            request = NULL;
    }
    give_builder(builder, b);
    return request;
}

static td_request *of_text(PyObject *text, td_error *err)
{
    td_str utf8;
    bool ascii;
    PyObject *hold;
    if (!tdpy_utf8(text, &utf8, &ascii, &hold))
        return NULL;
    td_request *request = NULL;
    if (td_request_new_text(utf8, false, &request, err) != TD_OK)
        request = NULL;
    Py_XDECREF(hold);
    return request;
}

static td_request *of_json(PyObject *bytes, td_error *err)
{
    char *ptr;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(bytes, &ptr, &size) < 0)
        return NULL;
    td_request *request = NULL;
    if (td_request_new((td_str){ ptr, (size_t)size }, NULL, NULL, &request, err) != TD_OK)
        return NULL;
    return request;
}

static td_request *of_any(tdpy_state *state, td_build **builder, PyObject *obj, td_error *err)
{
    if (PyUnicode_Check(obj))
        return of_text(obj, err);
    if (PyBytes_Check(obj))
        return of_json(obj, err);
    if (PyDict_Check(obj) || PyList_Check(obj) || PyTuple_Check(obj))
        return of_object(state, builder, obj, err);
    if (Py_TYPE(obj) == state->request_type)
        return tdpy_request_take(obj);
    PyErr_Format(PyExc_TypeError, "a request is a dict, a list of messages, a str or bytes, not %R",
                 Py_TYPE(obj));
    return NULL;
}

td_request *tdpy_request(tdpy_state *state, td_build **builder, PyObject *obj)
{
    td_error err = TD_ERROR_INIT;
    td_request *request = of_any(state, builder, obj, &err);
    if (request == NULL && !PyErr_Occurred())
        tdpy_raise(state, &err);
    return request;
}

/* The exception that is raised, which is cleared, as an error: "ValueError: ...". */
static void take_exception(td_error *failure)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *name = type != NULL ? PyObject_GetAttrString(type, "__name__") : NULL;
    PyObject *text = name != NULL ? PyUnicode_FromFormat("%S: %S", name, value) : NULL;
    td_str utf8 = TD_STR("the request cannot be read");
    bool ascii;
    PyObject *hold = NULL;
    if (text == NULL || !tdpy_utf8(text, &utf8, &ascii, &hold))
        PyErr_Clear();
    td_error_set(failure, TD_E_INPUT, utf8);
    Py_XDECREF(hold);
    Py_XDECREF(text);
    Py_XDECREF(name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

td_request *tdpy_request_or_failed(tdpy_state *state, td_build **builder, PyObject *obj)
{
    td_error failure = TD_ERROR_INIT, err = TD_ERROR_INIT;
    td_request *request = of_any(state, builder, obj, &failure);
    if (request != NULL)
        return request;
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return NULL;
        take_exception(&failure);
    }
    if (td_request_new_failed(&failure, &request, &err) != TD_OK)
        tdpy_raise(state, &err);
    return request;
}

/* ---- the type ---- */

PyObject *tdpy_request_object(tdpy_state *state, td_request *request)
{
    if (request == NULL)
        return NULL;
    request_object *self = PyObject_New(request_object, state->request_type);
    if (self == NULL)
        td_request_free(request);
    else
        self->request = request;
    return (PyObject *)self;
}

td_request *tdpy_request_take(PyObject *obj)
{
    request_object *self = (request_object *)obj;
    td_request *request = self->request;
    self->request = NULL;
    if (request == NULL)
        PyErr_SetString(PyExc_ValueError, "the request was used before");
    return request;
}

void tdpy_request_give(PyObject *obj, td_request *request)
{
    ((request_object *)obj)->request = request;
}

static void request_dealloc(PyObject *obj)
{
    PyTypeObject *type = Py_TYPE(obj);
    td_request_free(((request_object *)obj)->request);
    PyObject_Free(obj);
    Py_DECREF(type);
}

static PyType_Slot request_slots[] = {
    { Py_tp_dealloc, request_dealloc },
    { Py_tp_doc, (void *)"One request, read and waiting to be processed." },
    { 0, NULL },
};

PyType_Spec tdpy_request_spec = {
    .name = "tokdrain._core.Request",
    .basicsize = sizeof(request_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = request_slots,
};

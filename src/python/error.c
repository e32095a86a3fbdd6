/* error.c - errors of the library as exceptions, texts to and fro. */
#include <string.h>

#include "python/core.h"

PyObject *tdpy_text(td_str text)
{
    const char *ptr = text.ptr != NULL ? text.ptr : "";
    PyObject *str = PyUnicode_DecodeUTF8(ptr, (Py_ssize_t)text.len, "surrogatepass");
    if (str == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear(); /* a name of a file, say */
        str = PyUnicode_DecodeUTF8(ptr, (Py_ssize_t)text.len, "replace");
    }
    return str;
}

static PyObject *text_or_none(const char *text)
{
    if (text == NULL)
        Py_RETURN_NONE;
    return tdpy_text((td_str){ text, strlen(text) });
}

static PyObject *number_or_none(bool known, uint64_t number)
{
    if (!known)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(number);
}

PyObject *tdpy_error(tdpy_state *state, td_error *err, int64_t index)
{
    PyObject *made = NULL;
    PyObject *message = tdpy_text((td_str){ err->message, err->message_len });
    PyObject *file = text_or_none(err->file);
    PyObject *excerpt = text_or_none(err->excerpt);
    PyObject *line = number_or_none(err->line != 0, err->line);
    PyObject *column = number_or_none(err->column != 0, err->column);
    PyObject *offset = number_or_none(err->offset != TD_NO_OFFSET, err->offset);
    PyObject *in_message = number_or_none(err->message_index >= 0, (uint64_t)err->message_index);
    PyObject *place = number_or_none(index >= 0, (uint64_t)index);
    if (message != NULL && file != NULL && excerpt != NULL && line != NULL && column != NULL &&
        offset != NULL && in_message != NULL && place != NULL)
        made =
            PyObject_CallFunction(state->make_error, "sOOOOOOOO", td_code_name(err->code), message,
                                  file, line, column, offset, in_message, place, excerpt);
    Py_XDECREF(message);
    Py_XDECREF(file);
    Py_XDECREF(excerpt);
    Py_XDECREF(line);
    Py_XDECREF(column);
    Py_XDECREF(offset);
    Py_XDECREF(in_message);
    Py_XDECREF(place);
    td_error_clear(err);
    return made;
}

PyObject *tdpy_raise(tdpy_state *state, td_error *err)
{
    PyObject *exception = tdpy_error(state, err, -1);
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

bool tdpy_utf8(PyObject *str, td_str *ret, bool *ret_ascii, PyObject **ret_hold)
{
    Py_ssize_t size;
    *ret_hold = NULL;
    const char *text = PyUnicode_AsUTF8AndSize(str, &size);
    if (text == NULL && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        PyErr_Clear();
        char *bytes;
        *ret_hold = PyUnicode_AsEncodedString(str, "utf-8", "surrogatepass");
        if (*ret_hold == NULL || PyBytes_AsStringAndSize(*ret_hold, &bytes, &size) < 0) {
            Py_CLEAR(*ret_hold);
            return false;
        }
        text = bytes;
    }
    if (text == NULL)
        return false;
    *ret = (td_str){ text, (size_t)size };
    *ret_ascii = PyUnicode_GetLength(str) == size;
    return true;
}

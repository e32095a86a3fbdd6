/* result.c - Result: one item's outcome, with what Python wants to see of it.
 *
 * A result of the library is large and holds native memory; what stands here is small, so that a
 * list of a million of them is no burden. */
#include "python/core.h"

#include "structmember.h" /* needs Python.h first */

typedef struct result_object {
    PyObject_HEAD
    uint64_t index, tokens, reused;
    char via; /* td_via */
    bool counted;
    PyObject *id_json;                                          /* NULL: none */
    PyObject *error;                                            /* an exception, NULL: none */
    PyObject *text, *generation, *ids, *mask, *offsets, *owned; /* NULL: not asked for */
} result_object;

/* ---- lists ---- */

static PyObject *list_of_ids(const td_result *r)
{
    PyObject *list = PyList_New((Py_ssize_t)r->ids_count);
    for (size_t i = 0; list != NULL && i < r->ids_count; i++) {
        PyObject *id = PyLong_FromLong((long)r->ids[i]);
        if (id == NULL || PyList_SetItem(list, (Py_ssize_t)i, id) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *bytes_of_ids(const td_result *r)
{
    return PyBytes_FromStringAndSize((const char *)r->ids,
                                     (Py_ssize_t)(r->ids_count * sizeof *r->ids));
}

static PyObject *list_of_mask(const td_result *r)
{
    PyObject *list = PyList_New((Py_ssize_t)r->ids_count);
    for (size_t i = 0; list != NULL && i < r->ids_count; i++) {
        PyObject *bit = PyLong_FromLong(r->mask[i] != 0);
        if (bit == NULL || PyList_SetItem(list, (Py_ssize_t)i, bit) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *list_of_offsets(const td_result *r)
{
    PyObject *list = PyList_New((Py_ssize_t)r->ids_count);
    for (size_t i = 0; list != NULL && i < r->ids_count; i++) {
        PyObject *pair = Py_BuildValue("(II)", r->starts[i], r->ends[i]);
        if (pair == NULL || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *list_of_generation(const td_result *r)
{
    PyObject *list = PyList_New((Py_ssize_t)r->generation_count);
    for (size_t i = 0; list != NULL && i < r->generation_count; i++) {
        PyObject *pair = Py_BuildValue("(KK)", (unsigned long long)r->generation[i].start,
                                       (unsigned long long)r->generation[i].end);
        if (pair == NULL || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *list_of_owned(const td_result *r)
{
    PyObject *list = PyList_New((Py_ssize_t)r->owned_count);
    for (size_t i = 0; list != NULL && i < r->owned_count; i++) {
        PyObject *triple =
            Py_BuildValue("(Lnn)", (long long)r->owned[i].message, (Py_ssize_t)r->owned[i].start,
                          (Py_ssize_t)r->owned[i].end);
        if (triple == NULL || PyList_SetItem(list, (Py_ssize_t)i, triple) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* ---- making ---- */

static bool fill(tdpy_state *state, result_object *self, td_result *r, bool packed)
{
    bool has_id = !(r->id.len == 4 && r->id.ptr[0] == 'n');
    if (has_id && (self->id_json = tdpy_text(r->id)) == NULL)
        return false;
    if (r->error.code != TD_OK &&
        (self->error = tdpy_error(state, &r->error, (int64_t)self->index)) == NULL)
        return false;
    if (r->text.ptr != NULL && (self->text = tdpy_text(r->text)) == NULL)
        return false;
    if (r->has_generation && (self->generation = list_of_generation(r)) == NULL)
        return false;
    if (r->ids != NULL && (self->ids = packed ? bytes_of_ids(r) : list_of_ids(r)) == NULL)
        return false;
    if (r->mask != NULL && (self->mask = list_of_mask(r)) == NULL)
        return false;
    if (r->owned != NULL && (self->owned = list_of_owned(r)) == NULL)
        return false;
    return r->ids == NULL || r->starts == NULL || r->ends == NULL ||
           (self->offsets = list_of_offsets(r)) != NULL;
}

PyObject *tdpy_result(tdpy_state *state, td_result *result, uint64_t index, bool packed)
{
    if (result == NULL)
        return PyErr_NoMemory();
    result_object *self = PyObject_GC_New(result_object, state->result_type);
    if (self != NULL) {
        self->index = index;
        self->tokens = result->counted ? result->tokens : 0;
        self->reused = result->counted ? result->reused : 0;
        self->via = (char)result->via;
        self->counted = result->counted;
        self->id_json = self->error = NULL;
        self->text = self->generation = self->ids = self->mask = self->offsets = NULL;
        self->owned = NULL;
        if (!fill(state, self, result, packed))
            Py_CLEAR(self);
        else
            PyObject_GC_Track(self);
    }
    td_result_free(result);
    return (PyObject *)self;
}

PyObject *tdpy_result_error(PyObject *result)
{
    return ((const result_object *)result)->error;
}

bool tdpy_result_tokens(PyObject *result, uint64_t *ret_tokens)
{
    *ret_tokens = ((const result_object *)result)->tokens;
    return ((const result_object *)result)->counted;
}

/* ---- the type ---- */

static int result_traverse(PyObject *obj, visitproc visit, void *arg)
{
    result_object *self = (result_object *)obj;
    Py_VISIT(Py_TYPE(obj));
    Py_VISIT(self->error);
    return 0;
}

static int result_clear(PyObject *obj)
{
    Py_CLEAR(((result_object *)obj)->error);
    return 0;
}

static void result_dealloc(PyObject *obj)
{
    result_object *self = (result_object *)obj;
    PyTypeObject *type = Py_TYPE(obj);
    PyObject_GC_UnTrack(obj);
    Py_XDECREF(self->id_json);
    Py_XDECREF(self->error);
    Py_XDECREF(self->text);
    Py_XDECREF(self->generation);
    Py_XDECREF(self->ids);
    Py_XDECREF(self->mask);
    Py_XDECREF(self->offsets);
    Py_XDECREF(self->owned);
    PyObject_GC_Del(obj);
    Py_DECREF(type);
}

static PyObject *or_none(PyObject *value)
{
    PyObject *given = value != NULL ? value : Py_None;
    Py_INCREF(given);
    return given;
}

static PyObject *get_id(PyObject *obj, void *closure)
{
    (void)closure;
    result_object *self = (result_object *)obj;
    if (self->id_json == NULL)
        Py_RETURN_NONE;
    return PyObject_CallFunctionObjArgs(tdpy_state_of(obj)->json_loads, self->id_json, NULL);
}

static PyObject *get_tokens(PyObject *obj, void *closure)
{
    (void)closure;
    const result_object *self = (result_object *)obj;
    if (!self->counted)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(self->tokens);
}

static PyObject *get_via(PyObject *obj, void *closure)
{
    (void)closure;
    td_via via = (td_via)((result_object *)obj)->via;
    if (via == TD_VIA_NONE)
        Py_RETURN_NONE;
    return PyUnicode_FromString(td_via_name(via));
}

/* closure: offset of the member. */
static PyObject *get_object(PyObject *obj, void *closure)
{
    return or_none(*(PyObject **)(void *)((char *)obj + (size_t)closure));
}

#define OBJECT(name, doc)                                                                          \
    {                                                                                              \
#name, get_object, NULL, doc, (void *)offsetof(result_object, name)                        \
    }

static PyGetSetDef result_getset[] = {
    { "id", get_id, NULL, "The request's id.", NULL },
    { "tokens", get_tokens, NULL, "The count; None when there is none.", NULL },
    { "via", get_via, NULL, "What was counted: messages, text, token_ids, message, fallback.",
      NULL },
    OBJECT(error, "What went wrong, as an exception; None: nothing."),
    OBJECT(text, "The rendered or decoded text."),
    OBJECT(generation, "Spans of generation blocks in the text, in code points."),
    OBJECT(ids, "Token ids."),
    OBJECT(mask, "1 for each id of an assistant, else 0."),
    OBJECT(offsets, "Start and end of each id in the text, in code points."),
    OBJECT(owned, "(message or -1, first id, end) for all ids."),
    { NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef result_members[] = {
    { "index", T_ULONGLONG, offsetof(result_object, index), READONLY, "Place in the batch." },
    { "reused", T_ULONGLONG, offsetof(result_object, reused), READONLY,
      "Tokens of segments that had been counted before." },
    { NULL, 0, 0, 0, NULL },
};

static PyObject *result_repr(PyObject *obj)
{
    const result_object *self = (result_object *)obj;
    if (self->error != NULL)
        return PyUnicode_FromFormat("Result(index=%llu, error=%R)", (unsigned long long)self->index,
                                    self->error);
    if (!self->counted)
        return PyUnicode_FromFormat("Result(index=%llu)", (unsigned long long)self->index);
    return PyUnicode_FromFormat("Result(index=%llu, tokens=%llu, via='%s', reused=%llu)",
                                (unsigned long long)self->index, (unsigned long long)self->tokens,
                                td_via_name((td_via)self->via), (unsigned long long)self->reused);
}

static PyType_Slot result_slots[] = {
    { Py_tp_dealloc, result_dealloc },
    { Py_tp_traverse, result_traverse },
    { Py_tp_clear, result_clear },
    { Py_tp_repr, result_repr },
    { Py_tp_getset, result_getset },
    { Py_tp_members, result_members },
    { Py_tp_doc, (void *)"One item's outcome." },
    { 0, NULL },
};

PyType_Spec tdpy_result_spec = {
    .name = "tokdrain.Result",
    .basicsize = sizeof(result_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = result_slots,
};

/* module.c - the extension module: its types and its state. */
#include <pthread.h>
#include <stdatomic.h>

#include "python/core.h"

static struct PyModuleDef definition;

tdpy_state *tdpy_module_state(PyObject *module)
{
    return PyModule_GetState(module);
}

tdpy_state *tdpy_state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* ---- forks ---- */

static atomic_uint forks;

static void note_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

unsigned tdpy_forks(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* ---- the module ---- */

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type == NULL)
        return NULL;
    Py_INCREF(type); /* one for the module, one for the state */
    if (PyModule_AddObject(module, name, type) < 0) {
        Py_DECREF(type);
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

static int exec(PyObject *module)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    tdpy_state *state = tdpy_module_state(module);
    state->model_type = add_type(module, &tdpy_model_spec, "Model");
    state->request_type = add_type(module, &tdpy_request_spec, "Request");
    state->result_type = add_type(module, &tdpy_result_spec, "Result");
    state->queue_type = add_type(module, &tdpy_queue_spec, "Queue");
    if (state->model_type == NULL || state->request_type == NULL || state->result_type == NULL ||
        state->queue_type == NULL)
        return -1;
    PyObject *json = PyImport_ImportModule("json");
    state->json_loads = json != NULL ? PyObject_GetAttrString(json, "loads") : NULL;
    Py_XDECREF(json);
    if (state->json_loads == NULL)
        return -1;
    return PyModule_AddStringConstant(module, "version", td_version());
}

/* set_helpers(make_error, plain): what the module calls back */
static PyObject *set_helpers(PyObject *module, PyObject *args)
{
    PyObject *make_error, *plain;
    if (!PyArg_ParseTuple(args, "OO:set_helpers", &make_error, &plain))
        return NULL;
    tdpy_state *state = tdpy_module_state(module);
    Py_INCREF(make_error);
    Py_INCREF(plain);
    Py_XDECREF(state->make_error);
    Py_XDECREF(state->plain);
    state->make_error = make_error;
    state->plain = plain;
    Py_RETURN_NONE;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    tdpy_state *state = tdpy_module_state(module);
    Py_VISIT(state->model_type);
    Py_VISIT(state->request_type);
    Py_VISIT(state->result_type);
    Py_VISIT(state->queue_type);
    Py_VISIT(state->make_error);
    Py_VISIT(state->plain);
    Py_VISIT(state->json_loads);
    return 0;
}

static int clear(PyObject *module)
{
    tdpy_state *state = tdpy_module_state(module);
    Py_CLEAR(state->model_type);
    Py_CLEAR(state->request_type);
    Py_CLEAR(state->result_type);
    Py_CLEAR(state->queue_type);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->plain);
    Py_CLEAR(state->json_loads);
    return 0;
}

static void release(void *module)
{
    clear(module);
}

static PyMethodDef methods[] = {
    { "set_helpers", set_helpers, METH_VARARGS, "Set the functions that the module calls." },
    { NULL, NULL, 0, NULL },
};

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, exec },
    { 0, NULL },
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tokdrain._core",
    .m_doc = "The native part of tokdrain; use the package tokdrain.",
    .m_size = sizeof(tdpy_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = release,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}

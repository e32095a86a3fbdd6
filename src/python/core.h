/* core.h - what the files of the extension module tokdrain._core share.
 *
 * The module is a thin layer: objects in, objects out, and the interpreter's lock given up while
 * the library works. Everything with a choice in it is Python (python/tokdrain). Only the stable
 * ABI of CPython 3.10 is used, so one binary serves all later versions. */
#ifndef TD_SRC_PYTHON_CORE_H
#define TD_SRC_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tokdrain/tokdrain.h"

/* The module's own state; types reach it through tdpy_state_of. */
typedef struct tdpy_state {
    PyTypeObject *model_type, *request_type, *result_type, *queue_type;
    PyObject *make_error; /* kind, message, file, line, ... -> exception */
    PyObject *plain;      /* object -> object of an exact built-in type, one level */
    PyObject *json_loads;
} tdpy_state;

tdpy_state *tdpy_state_of(PyObject *self); /* of an object of one of the module's types */
tdpy_state *tdpy_module_state(PyObject *module);

/* How often this process was forked since the library was loaded: threads and locks of the library
 * do not survive that, so who owns some makes them anew. */
unsigned tdpy_forks(void);

/* ---- errors (error.c) ---- */

/* A new exception for *err, which is empty afterwards; NULL: making it failed, with that raised.
 * index: place of the item in its batch, -1 when there is none. */
PyObject *tdpy_error(tdpy_state *state, td_error *err, int64_t index);
/* Raises it; gives NULL. */
PyObject *tdpy_raise(tdpy_state *state, td_error *err);
/* Text that may hold lone surrogates; what is no text at all is replaced. */
PyObject *tdpy_text(td_str text);
/* The UTF-8 of a str, lone surrogates included. *ret_hold keeps it alive (may be NULL); *ret_ascii
 * tells whether it is all ASCII. */
bool tdpy_utf8(PyObject *str, td_str *ret, bool *ret_ascii, PyObject **ret_hold);

/* ---- requests (request.c) ---- */

extern PyType_Spec tdpy_request_spec;
/* The request that obj says (request.c tells the forms); NULL: an exception is raised. *builder is
 * made when it is NULL. */
td_request *tdpy_request(tdpy_state *state, td_build **builder, PyObject *obj);
/* As above, but what is wrong with obj becomes the failure of the request; NULL: out of memory, or
 * an exception that is no Exception (KeyboardInterrupt). */
td_request *tdpy_request_or_failed(tdpy_state *state, td_build **builder, PyObject *obj);
/* Takes the request out of a tdpy Request object; NULL and an exception: it was taken before. */
td_request *tdpy_request_take(PyObject *self);
/* Puts a request that was taken back. */
void tdpy_request_give(PyObject *self, td_request *request);
PyObject *tdpy_request_object(tdpy_state *state, td_request *request);

/* ---- values (convert.c) ---- */

/* Appends obj and all that is in it; false: an exception is raised, or the builder failed. */
bool tdpy_put(tdpy_state *state, td_build *b, PyObject *obj);

/* ---- results (result.c) ---- */

extern PyType_Spec tdpy_result_spec;
/* Takes *result (NULL: out of memory). index replaces its own. packed: ids as bytes. */
PyObject *tdpy_result(tdpy_state *state, td_result *result, uint64_t index, bool packed);
PyObject *tdpy_result_error(PyObject *result);                   /* borrowed; NULL: none */
bool tdpy_result_tokens(PyObject *result, uint64_t *ret_tokens); /* false: not counted */

/* ---- models (model.c) ---- */

extern PyType_Spec tdpy_model_spec;
td_model *tdpy_model_of(PyObject *self); /* borrowed */

/* ---- queues (queue.c) ---- */

extern PyType_Spec tdpy_queue_spec;

/* Where the requests of a batch come from and where its results go. */
typedef struct tdpy_feed {
    td_request *(*request)(void *ctx, size_t at);           /* NULL: an exception is raised */
    bool (*result)(void *ctx, size_t at, PyObject *result); /* takes it; false: an exception */
    void *ctx;
} tdpy_feed;

/* Submits count requests and waits for all results, which come in order. false: an exception is
 * raised, and what was submitted is dropped. */
bool tdpy_queue_run(PyObject *queue, size_t count, const tdpy_feed *feed);

/* ---- columns of Arrow (columns.c) ---- */

/* columns(((key, is_json, schema, array), ...), drop_nulls) -> (counts as int64, validity bitmap,
 * [(row, exception), ...]). The schemas and arrays are capsules of the Arrow C data interface, not
 * changed by other threads meanwhile; key "": the one column holds whole requests. */
PyObject *tdpy_queue_columns(PyObject *queue, PyObject *args);

#endif

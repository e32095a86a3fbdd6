/* model.c - Model: a loaded model, and one request at a time on the thread that calls. */
#include <string.h>

#include "python/core.h"

typedef struct model_object {
    PyObject_HEAD
    td_model *model;
    td_counter_options options;
    td_direct *direct; /* NULL: not needed yet */
    td_build *builder; /* NULL: in use, or not needed yet */
    unsigned forks;    /* as of when direct was made */
} model_object;

td_model *tdpy_model_of(PyObject *self)
{
    return ((model_object *)self)->model;
}

static PyObject *wrap(tdpy_state *state, td_model *model)
{
    model_object *self = PyObject_New(model_object, state->model_type);
    if (self == NULL) {
        td_model_free(model);
        return NULL;
    }
    self->model = model;
    self->options = (td_counter_options){ 0 };
    self->direct = NULL;
    self->builder = NULL;
    self->forks = tdpy_forks();
    return (PyObject *)self;
}

/* The text of bytes; NULL for None. false: an exception is raised. */
static bool path_or_none(PyObject *bytes, const char **ret)
{
    char *text = NULL;
    if (bytes != Py_None && PyBytes_AsStringAndSize(bytes, &text, NULL) < 0)
        return false; /* no bytes, or there is a NUL in them */
    *ret = text;
    return true;
}

/* load(name or None, revision or None, hub_cache or None, as_file: bool); name and hub_cache are
 * bytes, as paths are to the system */
static PyObject *model_load(PyObject *type, PyObject *args)
{
    const char *name = NULL, *revision, *hub_cache = NULL;
    PyObject *name_bytes, *cache_bytes;
    int as_file;
    if (!PyArg_ParseTuple(args, "OzOp:load", &name_bytes, &revision, &cache_bytes, &as_file) ||
        !path_or_none(name_bytes, &name) || !path_or_none(cache_bytes, &hub_cache))
        return NULL;
    tdpy_state *state = PyType_GetModuleState((PyTypeObject *)type);
    td_model_options options = { .revision = revision,
                                 .hub_cache = hub_cache,
                                 .compat =
                                     as_file ? TD_COMPAT_TOKENIZER_JSON : TD_COMPAT_TRANSFORMERS };
    td_model *model = NULL;
    td_error err = TD_ERROR_INIT;
    td_code code;
    Py_BEGIN_ALLOW_THREADS /* args keeps the texts alive */
    code = td_model_new(name, &options, &model, &err);
    Py_END_ALLOW_THREADS
    return code == TD_OK ? wrap(state, model) : tdpy_raise(state, &err);
}

/* ---- parts ---- */

enum { PARTS_MAX = 64 };

/* Reads a list of (name, text); the texts live as long as the list. */
static bool named_texts(PyObject *list, td_named_text *out, size_t *ret_count)
{
    Py_ssize_t count = PyList_Size(list);
    if (count < 0 || count > PARTS_MAX) {
        PyErr_Format(PyExc_ValueError, "more than %d templates or special tokens", PARTS_MAX);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *name, *text;
        Py_ssize_t name_size, text_size;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "s#s#", &name, &name_size, &text,
                              &text_size))
            return false;
        out[i] = (td_named_text){ { name, (size_t)name_size }, { text, (size_t)text_size } };
    }
    *ret_count = (size_t)count;
    return true;
}

/* from_parts(name, tokenizer_json, templates, by_name, special, class_name, cleans_up_spaces,
 * cleans_up_bpe, split_special_tokens); texts are str, or bytes where they may hold surrogates */
static PyObject *model_from_parts(PyObject *type, PyObject *args)
{
    td_named_text templates[PARTS_MAX], special[PARTS_MAX];
    PyObject *template_list, *special_list;
    const char *json, *class_name, *name;
    Py_ssize_t json_size, class_size;
    int by_name, spaces, bpe, split;
    td_model_parts parts = { .templates = templates, .special = special };
    if (!PyArg_ParseTuple(args, "ys#O!pO!s#ppp:from_parts", &name, &json, &json_size, &PyList_Type,
                          &template_list, &by_name, &PyList_Type, &special_list, &class_name,
                          &class_size, &spaces, &bpe, &split) ||
        !named_texts(template_list, templates, &parts.template_count) ||
        !named_texts(special_list, special, &parts.special_count))
        return NULL;
    parts.name = name;
    parts.tokenizer_json = (td_str){ json, (size_t)json_size };
    parts.class_name = (td_str){ class_name, (size_t)class_size };
    parts.templates_by_name = by_name != 0;
    parts.cleans_up_spaces = spaces != 0;
    parts.cleans_up_bpe = bpe != 0;
    parts.split_special_tokens = split != 0;
    tdpy_state *state = PyType_GetModuleState((PyTypeObject *)type);
    td_model *model = NULL;
    td_error err = TD_ERROR_INIT;
    td_code code;
    Py_BEGIN_ALLOW_THREADS
    code = td_model_new_from_parts(&parts, &model, &err);
    Py_END_ALLOW_THREADS
    return code == TD_OK ? wrap(state, model) : tdpy_raise(state, &err);
}

/* with_options(memo bytes, reuse, output bytes, steps, memory bytes, timeout ns, moment...): the
 * same model with other limits */
static PyObject *model_with_options(PyObject *obj, PyObject *args)
{
    td_counter_options o = { 0 };
    unsigned long long memo, output, steps, memory, timeout;
    long long seconds;
    int reuse, fixed;
    if (!PyArg_ParseTuple(args, "KpKKKKpLIi:with_options", &memo, &reuse, &output, &steps, &memory,
                          &timeout, &fixed, &seconds, &o.now.microseconds,
                          &o.now.utc_offset_seconds))
        return NULL;
    o.memo_bytes = memo;
    o.no_reuse = reuse == 0;
    o.limits = (td_limits){ output, steps, memory, timeout };
    o.now.fixed = fixed != 0;
    o.now.unix_seconds = seconds;
    PyObject *made = wrap(tdpy_state_of(obj), td_model_ref(tdpy_model_of(obj)));
    if (made != NULL)
        ((model_object *)made)->options = o;
    return made;
}

/* ---- working ---- */

static td_direct *direct_of(tdpy_state *state, model_object *self)
{
    if (self->forks != tdpy_forks()) {
        self->direct = NULL; /* of the parent: its locks may be held for ever */
        self->forks = tdpy_forks();
    }
    td_error err = TD_ERROR_INIT;
    if (self->direct == NULL &&
        td_direct_new(self->model, &self->options, &self->direct, &err) != TD_OK)
        tdpy_raise(state, &err);
    return self->direct;
}

/* NULL: an exception is raised. */
static td_result *process(model_object *self, PyObject *obj, const td_direct_call *call)
{
    tdpy_state *state = tdpy_state_of((PyObject *)self);
    td_direct *direct = direct_of(state, self);
    td_request *request = direct != NULL ? tdpy_request(state, &self->builder, obj) : NULL;
    if (request == NULL)
        return NULL;
    td_result *result;
    Py_BEGIN_ALLOW_THREADS
    result = td_direct_run(direct, request, call);
    Py_END_ALLOW_THREADS
    if (result == NULL)
        PyErr_NoMemory();
    return result;
}

/* run(operation, request, offsets, skip_special_tokens, of_batch, owners) -> Result; its error is
 * raised */
static PyObject *model_run(PyObject *obj, PyObject *args)
{
    int operation, offsets, skip, of_batch, owners;
    PyObject *request;
    if (!PyArg_ParseTuple(args, "iOpppp:run", &operation, &request, &offsets, &skip, &of_batch,
                          &owners))
        return NULL;
    if (operation < TD_DO_COUNT || operation > TD_DO_DECODE) {
        PyErr_SetString(PyExc_ValueError, "no such operation");
        return NULL;
    }
    td_direct_call call = { .operation = (td_operation)operation,
                            .offsets = offsets != 0,
                            .skip_special_tokens = skip != 0,
                            .of_batch = of_batch != 0,
                            .owners = owners != 0 };
    td_result *result = process((model_object *)obj, request, &call);
    if (result == NULL)
        return NULL;
    tdpy_state *state = tdpy_state_of(obj);
    if (result->error.code == TD_OK)
        return tdpy_result(state, result, 0, false);
    tdpy_raise(state, &result->error);
    td_result_free(result);
    return NULL;
}

/* count(request) -> int: the same without a Result */
static PyObject *model_count(PyObject *obj, PyObject *request)
{
    td_direct_call call = { .operation = TD_DO_COUNT };
    td_result *result = process((model_object *)obj, request, &call);
    if (result == NULL)
        return NULL;
    PyObject *count = NULL;
    if (result->error.code == TD_OK)
        count = PyLong_FromUnsignedLongLong(result->tokens);
    else
        tdpy_raise(tdpy_state_of(obj), &result->error);
    td_result_free(result);
    return count;
}

/* ---- what is in it ---- */

static PyObject *model_describe(PyObject *obj, PyObject *unused)
{
    (void)unused;
    char *text = td_model_describe(tdpy_model_of(obj));
    if (text == NULL)
        return PyErr_NoMemory();
    PyObject *described = tdpy_text((td_str){ text, strlen(text) });
    td_text_free(text);
    return described;
}

static PyObject *model_templates(PyObject *obj, PyObject *unused)
{
    (void)unused;
    const td_model *model = tdpy_model_of(obj);
    size_t count = td_model_template_count(model);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        td_model_template t = td_model_template_at(model, i);
        PyObject *pair = Py_BuildValue("(NN)", tdpy_text(t.name), tdpy_text(t.source));
        if (pair == NULL || PyList_SetItem(list, (Py_ssize_t)i, pair) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_special(PyObject *obj, PyObject *unused)
{
    (void)unused;
    const td_model *model = tdpy_model_of(obj);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict != NULL && i < td_model_special_count(model); i++) {
        PyObject *name = tdpy_text(td_model_special_name(model, i));
        PyObject *text = tdpy_text(td_model_special_text(model, i));
        if (name == NULL || text == NULL || PyDict_SetItem(dict, name, text) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(text);
    }
    return dict;
}

static PyObject *model_token_id(PyObject *obj, PyObject *text)
{
    td_str utf8;
    bool ascii;
    PyObject *hold;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "a token is a str");
        return NULL;
    }
    if (!tdpy_utf8(text, &utf8, &ascii, &hold))
        return NULL;
    td_id id;
    bool found = td_token_id(td_model_tokenizer(tdpy_model_of(obj)), utf8, &id);
    Py_XDECREF(hold);
    if (!found)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(id);
}

static PyObject *model_token_text(PyObject *obj, PyObject *number)
{
    unsigned long id = PyLong_AsUnsignedLong(number);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return NULL;
    bool far = PyErr_Occurred() != NULL || id > UINT32_MAX;
    PyErr_Clear();
    td_str text = { NULL, 0 };
    if (!far)
        text = td_token_text(td_model_tokenizer(tdpy_model_of(obj)), (td_id)id);
    if (text.ptr == NULL)
        Py_RETURN_NONE;
    return tdpy_text(text);
}

static PyObject *model_vocab_size(PyObject *obj, PyObject *unused)
{
    (void)unused;
    return PyLong_FromSize_t(td_tokenizer_vocab_size(td_model_tokenizer(tdpy_model_of(obj))));
}

static PyObject *model_bytes(PyObject *obj, PyObject *unused)
{
    (void)unused;
    model_object *self = (model_object *)obj;
    td_direct *direct = direct_of(tdpy_state_of(obj), self);
    return direct != NULL ? PyLong_FromSize_t(td_direct_bytes(direct)) : NULL;
}

/* ---- the type ---- */

static void model_dealloc(PyObject *obj)
{
    model_object *self = (model_object *)obj;
    PyTypeObject *type = Py_TYPE(obj);
    if (self->forks == tdpy_forks())
        td_direct_free(self->direct);
    td_build_free(self->builder);
    td_model_free(self->model);
    PyObject_Free(obj);
    Py_DECREF(type);
}

static PyMethodDef model_methods[] = {
    { "load", model_load, METH_VARARGS | METH_CLASS, "Load a directory, file or cached name." },
    { "from_parts", model_from_parts, METH_VARARGS | METH_CLASS, "Take over a tokenizer." },
    { "with_options", model_with_options, METH_VARARGS, "The same model with other limits." },
    { "run", model_run, METH_VARARGS, "Process one request." },
    { "count", model_count, METH_O, "The tokens of one request." },
    { "describe", model_describe, METH_NOARGS, "What was loaded, as JSON." },
    { "templates", model_templates, METH_NOARGS, "Names and sources of chat templates." },
    { "special_tokens", model_special, METH_NOARGS, "Named special tokens." },
    { "token_id", model_token_id, METH_O, "The id of a token's text, or None." },
    { "token_text", model_token_text, METH_O, "The text of an id, or None." },
    { "vocab_size", model_vocab_size, METH_NOARGS, "Entries, added tokens included." },
    { "held_bytes", model_bytes, METH_NOARGS, "Memory of counted segments and scratch." },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot model_slots[] = {
    { Py_tp_dealloc, model_dealloc },
    { Py_tp_methods, model_methods },
    { Py_tp_doc, (void *)"A loaded model." },
    { 0, NULL },
};

PyType_Spec tdpy_model_spec = {
    .name = "tokdrain._core.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = model_slots,
};

/* columns.c - Queue.columns: counts of rows that lie in Arrow arrays.
 *
 * Each row becomes the JSON text of a request, {"messages": ..., "tools": ...}, made of one piece a
 * column; the workers read it. A piece that is JSON text already is copied as it stands, once it is
 * known to be one bracketed value: then nothing in it can reach into what is beside it, and what is
 * wrong inside is found by the reader. */
#include <stdlib.h>
#include <string.h>

#include "python/arrow_json.h"

enum { COLUMNS_MAX = 32, SLACK = 64 /* readers may look a vector ahead */ };

typedef struct source {
    tdpy_column column;
    td_str key;   /* empty: the row is the whole request */
    bool is_json; /* its texts are JSON */
} source;

typedef struct job {
    tdpy_state *state;
    source sources[COLUMNS_MAX];
    size_t count;
    int64_t rows;
    int64_t *tokens;
    uint8_t *valid;
    PyObject *errors; /* list of (row, exception) */
} job;

/* ---- one row ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static td_str trim(td_str text)
{
    while (text.len != 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len != 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* The first bracket is closed by the last byte and not before. Brackets inside of strings do not
 * count; those of the other kind do, which the reader refuses. */
static bool is_one_container(td_str text)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            if (depth == 0 || --depth == 0)
                return i + 1 == text.len && (text.ptr[0] == '[' || text.ptr[0] == '{');
        }
    }
    return false;
}

static void release_text(void *user, const char *bytes)
{
    (void)user;
    free((void *)(uintptr_t)bytes);
}

static td_request *failed(tdpy_state *state, const char *what)
{
    td_error failure = TD_ERROR_INIT, err = TD_ERROR_INIT;
    td_request *request = NULL;
    td_error_set(&failure, TD_E_INPUT, (td_str){ what, strlen(what) });
    if (td_request_new_failed(&failure, &request, &err) != TD_OK)
        tdpy_raise(state, &err);
    return request;
}

/* Takes the text. */
static td_request *of_text(tdpy_state *state, tdpy_text_buf *text)
{
    static const char zeros[SLACK] = { 0 };
    size_t len = text->len;
    tdpy_append(text, (td_str){ zeros, SLACK });
    td_request *request = NULL;
    td_error err = TD_ERROR_INIT;
    if (text->failed) {
        free(text->ptr);
        PyErr_NoMemory();
    } else if (td_request_new((td_str){ text->ptr, len }, release_text, NULL, &request, &err) !=
               TD_OK) {
        free(text->ptr);
        tdpy_raise(state, &err);
        request = NULL;
    }
    return request;
}

/* Appends the piece of a row. false: the array contradicts itself, or (*ret_whole, of JSON texts)
 * the text is to be read alone: it is a whole request, or malformed. */
static bool put_piece(const source *s, int64_t row, tdpy_text_buf *out, td_str *ret_whole)
{
    if (!s->is_json || tdpy_row_is_null(&s->column, row))
        return tdpy_row_json(&s->column, row, out);
    td_str text;
    if (!tdpy_row_text(&s->column, row, &text))
        return false;
    td_str inner = trim(text);
    bool is_null = inner.len == 4 && memcmp(inner.ptr, "null", 4) == 0;
    if (!is_null && !is_one_container(inner)) {
        *ret_whole = text;
        return false;
    }
    tdpy_append(out, inner);
    return true;
}

/* A single column of JSON texts: those that are objects are whole requests. */
static bool is_whole(const job *j, int64_t row, td_str *ret)
{
    const source *s = &j->sources[0];
    if (j->count != 1 || !s->is_json || tdpy_row_is_null(&s->column, row) ||
        !tdpy_row_text(&s->column, row, ret))
        return false;
    td_str inner = trim(*ret);
    return s->key.len == 0 || (inner.len != 0 && inner.ptr[0] == '{');
}

static td_request *request_of_row(void *ctx, size_t at)
{
    const job *j = ctx;
    int64_t row = (int64_t)at;
    tdpy_text_buf out = { 0 };
    td_str whole = { 0 };
    bool ok = true;
    if (is_whole(j, row, &whole)) {
        tdpy_append(&out, whole);
    } else if (j->sources[0].key.len == 0) {
        ok = put_piece(&j->sources[0], row, &out, &whole);
    } else {
        for (size_t i = 0; ok && i < j->count; i++) {
            tdpy_append(&out, i == 0 ? TD_STR("{") : TD_STR(","));
            tdpy_append_string(&out, j->sources[i].key);
            tdpy_append(&out, TD_STR(":"));
            ok = put_piece(&j->sources[i], row, &out, &whole);
        }
        tdpy_append(&out, TD_STR("}"));
    }
    if (!ok && whole.ptr == NULL) {
        free(out.ptr);
        return failed(j->state, "the array's offsets are out of order, or it is nested too deep");
    }
    if (!ok) { /* its error shall tell places in the text itself */
        out.len = 0;
        tdpy_append(&out, whole);
    }
    return of_text(j->state, &out);
}

static bool take_result(void *ctx, size_t row, PyObject *result)
{
    job *j = ctx;
    uint64_t tokens;
    PyObject *error = tdpy_result_error(result); /* borrowed */
    bool ok = true;
    if (tdpy_result_tokens(result, &tokens)) {
        j->tokens[row] = (int64_t)tokens;
        j->valid[row / 8] |= (uint8_t)(1U << (row % 8));
    }
    if (error != NULL) {
        PyObject *pair = Py_BuildValue("(nO)", (Py_ssize_t)row, error);
        ok = pair != NULL && PyList_Append(j->errors, pair) == 0;
        Py_XDECREF(pair);
    }
    Py_DECREF(result);
    return ok;
}

/* ---- the call ---- */

/* (key, is_json, schema capsule, array capsule) */
static bool read_source(PyObject *tuple, bool drop_nulls, source *ret)
{
    PyObject *schema, *array;
    const char *key;
    Py_ssize_t key_size;
    int is_json;
    if (!PyArg_ParseTuple(tuple, "s#pOO:column", &key, &key_size, &is_json, &schema, &array))
        return false;
    ret->key = (td_str){ key, (size_t)key_size };
    ret->is_json = is_json != 0;
    ret->column.drop_nulls = drop_nulls;
    ret->column.schema = PyCapsule_GetPointer(schema, "arrow_schema");
    ret->column.array =
        ret->column.schema != NULL ? PyCapsule_GetPointer(array, "arrow_array") : NULL;
    if (ret->column.array == NULL)
        return false;
    if (ret->column.schema->release == NULL || ret->column.array->release == NULL) {
        PyErr_SetString(PyExc_ValueError, "the array was released");
        return false;
    }
    const char *format;
    if (!tdpy_column_known(&ret->column, &format)) {
        PyErr_Format(PyExc_TypeError, "Arrow's type \"%s\" cannot be in a request", format);
        return false;
    }
    if (ret->is_json && !tdpy_column_is_text(&ret->column)) {
        PyErr_SetString(PyExc_TypeError, "JSON must be in a column of texts");
        return false;
    }
    return true;
}

static bool read_sources(PyObject *columns, bool drop_nulls, job *j)
{
    Py_ssize_t count = PyTuple_Size(columns);
    if (count < 1 || count > COLUMNS_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd columns: 1 to %d are possible", count, COLUMNS_MAX);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        source *s = &j->sources[i];
        if (!read_source(PyTuple_GetItem(columns, i), drop_nulls, s))
            return false;
        if (s->column.array->length != j->sources[0].column.array->length ||
            (s->key.len == 0 && count != 1)) {
            PyErr_SetString(PyExc_ValueError, "columns that do not go together");
            return false;
        }
    }
    j->count = (size_t)count;
    j->rows = j->sources[0].column.array->length;
    return true;
}

PyObject *tdpy_queue_columns(PyObject *queue, PyObject *args)
{
    job j = { .state = tdpy_state_of(queue) };
    PyObject *columns, *made = NULL;
    int drop_nulls;
    if (!PyArg_ParseTuple(args, "O!p:columns", &PyTuple_Type, &columns, &drop_nulls) ||
        !read_sources(columns, drop_nulls != 0, &j))
        return NULL;
    size_t rows = (size_t)j.rows;
    PyObject *tokens = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(rows * sizeof *j.tokens));
    PyObject *valid = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(rows / 8 + 1));
    j.errors = PyList_New(0);
    if (tokens != NULL && valid != NULL && j.errors != NULL) {
        j.tokens = (int64_t *)(void *)PyBytes_AsString(tokens);
        j.valid = (uint8_t *)PyBytes_AsString(valid);
        memset(j.tokens, 0, rows * sizeof *j.tokens);
        memset(j.valid, 0, rows / 8 + 1);
        tdpy_feed feed = { request_of_row, take_result, &j };
        if (tdpy_queue_run(queue, rows, &feed))
            made = Py_BuildValue("(OOO)", tokens, valid, j.errors);
    }
    Py_XDECREF(tokens);
    Py_XDECREF(valid);
    Py_XDECREF(j.errors);
    return made;
}

/* vm_core.c - the state of one render: errors, limits, scratch text, and jj_render itself. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "jinja/selfcheck.h"
#include "jinja/vm_internal.h"
#include "value/bigint.h"
#include "value/pytext.h"

enum { LOOK_STEPS = 1 << 16, SEGMENT = 4096 };

static const jj_limits default_limits = {
    .steps_max = 100000000,
    .output_bytes_max = (size_t)256 << 20,
    .memory_bytes_max = (size_t)1 << 30,
};

struct jj_workspace {
    td_arena arena;
    td_buf scratch;
    jj_marks *marks; /* NULL: not asked for */
    td_json_texts *texts;
    bool check_texts;
};

/* ---- errors ---- */

td_code jj_raise(jj_vm *vm, jj_exc exc, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    return jj_raise_text(vm, exc, (td_str){ text, len });
}

td_code jj_raise_text(jj_vm *vm, jj_exc exc, td_str message)
{
    vm->exc = exc;
    return td_fail_text(vm->err, TD_E_TEMPLATE, TD_NO_OFFSET, message);
}

td_code jj_nomem(jj_vm *vm)
{
    return td_arena_fail(vm->arena, vm->err);
}

td_code jj_buf_fail(jj_vm *vm, const td_buf *b, td_code code)
{
    if (vm->err->code != TD_OK)
        return vm->err->code; /* raised by what was being printed */
    return td_buf_fail(b, vm->err, code, b == vm->out ? "output" : "text");
}

bool jj_catch(jj_vm *vm, td_code code, unsigned mask)
{
    if (code != TD_E_TEMPLATE || (mask >> vm->exc & 1) == 0)
        return false;
    td_error_clear(vm->err);
    return true;
}

void jj_vm_clear_error(jj_vm *vm)
{
    td_error_clear(vm->err);
}

/* ---- limits ---- */

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static td_code look_around(jj_vm *vm)
{
    vm->steps_next_look = vm->steps_left > LOOK_STEPS ? vm->steps_left - LOOK_STEPS : 0;
    if (vm->limits.cancel != NULL &&
        atomic_load_explicit(vm->limits.cancel, memory_order_relaxed))
        return td_fail(vm->err, TD_E_TIMEOUT, "rendering was cancelled");
    if (vm->limits.deadline_ns != 0 && now_ns() > vm->limits.deadline_ns)
        return td_fail(vm->err, TD_E_TIMEOUT, "the time for rendering is up");
    return TD_OK;
}

td_code jj_charge(jj_vm *vm, uint64_t n)
{
    if (n > vm->steps_left) {
        vm->steps_left = 0;
        return td_fail(vm->err, TD_E_LIMIT, "the template takes more than %llu steps",
                       (unsigned long long)vm->limits.steps_max);
    }
    vm->steps_left -= n;
    return vm->steps_left < vm->steps_next_look ? look_around(vm) : TD_OK;
}

td_code jj_enter(jj_vm *vm)
{
    if (vm->depth >= JJ_DEPTH_MAX - JJ_DEPTH_BASE)
        return td_fail(vm->err, TD_E_LIMIT, "calls nested too deeply");
    vm->depth++;
    return TD_OK;
}

void jj_leave(jj_vm *vm)
{
    vm->depth--;
}

/* ---- what built-ins ask for ---- */

td_arena *jj_arena(jj_vm *vm)
{
    return vm->arena;
}

bool jj_autoescape(const jj_vm *vm)
{
    return vm->autoescape;
}

const jj_now *jj_vm_now(const jj_vm *vm)
{
    return &vm->now;
}

td_buf *jj_scratch(jj_vm *vm)
{
    vm->scratch.len = 0;
    vm->scratch.limit = vm->limits.output_bytes_max;
    return &vm->scratch;
}

td_code jj_new_text(jj_vm *vm, td_str copied, td_value *ret)
{
    if (copied.len > UINT32_MAX)
        return td_fail(vm->err, TD_E_LIMIT, "text of %zu bytes", copied.len);
    td_str copy = td_arena_copy(vm->arena, copied);
    if (copy.ptr == NULL)
        return jj_nomem(vm);
    *ret = td_string(copy);
    return TD_OK;
}

td_code jj_take_text(jj_vm *vm, td_buf *scratch, td_value *ret)
{
    TD_TRY(jj_new_text(vm, td_buf_view(scratch), ret));
    scratch->len = 0;
    return TD_OK;
}

td_code jj_items_push(jj_vm *vm, jj_items *l, td_value v)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap != 0 ? l->cap * 2 : 8;
        td_value *items = cap > l->cap ? td_arena_array(vm->arena, td_value, cap) : NULL;
        if (items == NULL)
            return jj_nomem(vm);
        if (l->count != 0)
            memcpy(items, l->items, l->count * sizeof *items);
        l->items = items;
        l->cap = cap;
    }
    l->items[l->count++] = v;
    return TD_OK;
}

td_code jj_new_tuple(jj_vm *vm, const td_value *items, uint32_t count, td_value *ret)
{
    td_value *copy = td_arena_array(vm->arena, td_value, count + (size_t)1);
    if (copy == NULL)
        return jj_nomem(vm);
    if (count != 0)
        memcpy(copy, items, count * sizeof *items);
    *ret = td_tuple_of(copy, count);
    return TD_OK;
}

td_code jj_new_pair(jj_vm *vm, td_value a, td_value b, td_value *ret)
{
    td_value pair[2] = { a, b };
    return jj_new_tuple(vm, pair, 2, ret);
}

td_code jj_hashable(jj_vm *vm, td_value v)
{
    TD_TRY(jj_charge_texts(vm, &v, 1));
    if (v.tag == TD_V_TUPLE) {
        TD_TRY(jj_charge(vm, (uint64_t)v.len + 1)); /* shared parts are hashed once more each */
        TD_TRY(jj_enter(vm));
        td_code code = TD_OK;
        for (uint32_t i = 0; code == TD_OK && i < v.len; i++)
            code = jj_hashable(vm, v.as.items[i]);
        jj_leave(vm);
        return code;
    }
    if (v.tag == TD_V_OBJECT && v.as.object->type->key.hash != NULL &&
        v.as.object->type->length != NULL) {
        int64_t length;
        TD_TRY(v.as.object->type->length(vm, v.as.object, &length));
        TD_TRY(jj_charge(vm, (uint64_t)length / 256));
    }
    if (v.tag == TD_V_LIST || v.tag == TD_V_DICT ||
        (v.tag == TD_V_OBJECT && v.as.object->type->unhashable))
        return jj_raise(vm, JJ_TYPE_ERROR, "unhashable type: '%s'", jj_type_name(v));
    return TD_OK;
}

td_code jj_dict_set(jj_vm *vm, td_dict *d, td_value key, td_value val)
{
    TD_TRY(jj_hashable(vm, key));
    if (td_is_str(key) && key.hash == 0)
        key.hash = td_key_hash(td_as_str(key));
    return td_dict_set(vm->arena, d, key, val) ? TD_OK : jj_nomem(vm);
}

/* ---- text of values ---- */

const char *jj_type_name(td_value v)
{
    if (v.tag == TD_V_OBJECT)
        return v.as.object->type->name;
    return jj_is_markup(v) ? "Markup" : td_value_type_name(v);
}

static td_code object_repr(void *user, td_buf *out, const td_object *o)
{
    jj_vm *vm = user;
    td_object *self = (td_object *)(uintptr_t)o;
    if (o->type->repr == NULL)
        return td_buf_printf(out, "<%s object at 0x7f0000000000>", o->type->name);
    TD_TRY(jj_enter(vm));
    td_code code = o->type->repr(vm, self, out);
    jj_leave(vm);
    return code;
}

/* What a failure of td_py_str is in a template. */
static td_code no_text(jj_vm *vm, td_code code)
{
    if (vm->err->code != TD_OK)
        return code; /* raised by an object on the way */
    if (code == TD_E_TEMPLATE)
        return jj_raise(vm, JJ_VALUE_ERROR,
                        "Exceeds the limit (%d digits) for integer string conversion",
                        TD_INT_DIGITS_MAX);
    if (code == TD_E_INPUT)
        return td_fail(vm->err, TD_E_LIMIT, "value nested too deeply to print");
    return code;
}

td_code jj_append_str(jj_vm *vm, td_buf *out, td_value v)
{
    td_pytext how = { object_repr, vm };
    td_code code = td_is_str(v) ? td_buf_put(out, td_as_str(v)) : td_py_str(out, v, &how);
    return code == TD_OK ? TD_OK : no_text(vm, code);
}

td_code jj_append_repr(jj_vm *vm, td_buf *out, td_value v)
{
    td_pytext how = { object_repr, vm };
    td_code code = td_py_repr(out, v, &how);
    return code == TD_OK ? TD_OK : no_text(vm, code);
}

td_code jj_str(jj_vm *vm, td_value v, td_value *ret)
{
    if (td_is_str(v)) {
        *ret = v;
        ret->flags = (uint8_t)(v.flags & ~TD_VF_MARKUP);
        return TD_OK;
    }
    td_buf text = { .limit = vm->limits.output_bytes_max };
    td_code code = jj_append_str(vm, &text, v);
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&text), ret);
    else
        code = jj_buf_fail(vm, &text, code);
    td_buf_done(&text);
    return code;
}

/* ---- the stack ---- */

td_code jj_stack_take(jj_vm *vm, uint32_t n, td_value **ret)
{
    if ((size_t)(vm->stack_end - vm->stack) < n) {
        size_t size = n > SEGMENT ? n : SEGMENT;
        td_value *segment = td_arena_array(vm->arena, td_value, size);
        if (segment == NULL)
            return jj_nomem(vm);
        vm->stack = segment;
        vm->stack_end = segment + size;
    }
    *ret = vm->stack;
    vm->stack += n;
    return TD_OK;
}

/* ---- rendering ---- */

void jj_vm_init(jj_vm *vm, const td_template *t, td_arena *arena, td_buf *out, td_error *err)
{
    *vm = (jj_vm){ .t = t, .arena = arena, .out = out, .err = err, .limits = default_limits };
    vm->steps_left = vm->limits.steps_max;
}

void jj_vm_done(jj_vm *vm)
{
    td_buf_done(&vm->scratch);
}

jj_workspace *jj_workspace_new(void)
{
    return td_calloc(1, sizeof(jj_workspace));
}

void jj_workspace_set_marks(jj_workspace *ws, jj_marks *marks)
{
    ws->marks = marks;
}

void jj_workspace_set_texts(jj_workspace *ws, td_json_texts *texts, bool check)
{
    ws->texts = texts;
    ws->check_texts = check;
}

void jj_workspace_free(jj_workspace *ws)
{
    if (ws == NULL)
        return;
    td_arena_done(&ws->arena);
    td_buf_done(&ws->scratch);
    td_free(ws);
}

size_t jj_workspace_bytes(const jj_workspace *ws)
{
    return sizeof *ws + ws->arena.total + ws->scratch.cap;
}

static void set_limits(jj_vm *vm, const jj_limits *limits, size_t out_base)
{
    if (limits != NULL) {
        if (limits->steps_max != 0)
            vm->limits.steps_max = limits->steps_max;
        if (limits->output_bytes_max != 0)
            vm->limits.output_bytes_max = limits->output_bytes_max;
        if (limits->memory_bytes_max != 0)
            vm->limits.memory_bytes_max = limits->memory_bytes_max;
        vm->limits.deadline_ns = limits->deadline_ns;
        vm->limits.cancel = limits->cancel;
    }
    vm->steps_left = vm->limits.steps_max;
    vm->steps_next_look = vm->steps_left;
    vm->arena->limit = vm->limits.memory_bytes_max;
    vm->out->limit = out_base + vm->limits.output_bytes_max;
}

/* Looks every variable of the template up, once. */
static td_code load_context(jj_vm *vm, const td_dict *vars, td_value **ret)
{
    const td_template *t = vm->t;
    td_value *ctx = td_arena_array(vm->arena, td_value, t->ctx_count + (size_t)1);
    if (ctx == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < t->ctx_count; i++) {
        const td_value *v = jj_find(vars, t->ctx[i].key);
        if (v == NULL)
            v = t->ctx[i].global;
        ctx[i] = v != NULL ? *v : jj_missing_value(&t->ctx[i].missing);
    }
    if (t->ctx_messages != UINT32_MAX && ctx[t->ctx_messages].tag == TD_V_LIST) {
        vm->messages = ctx[t->ctx_messages].as.items;
        vm->message_count = ctx[t->ctx_messages].len;
    }
    *ret = ctx;
    return TD_OK;
}

static td_code run_root(jj_vm *vm, const td_dict *vars, jj_marks *marks)
{
    td_value *ctx = NULL;
    jj_frame *root = NULL;
    TD_TRY(load_context(vm, vars, &ctx));
    if (marks != NULL)
        TD_TRY(jj_owners_begin(vm, marks));
    TD_TRY(jj_frame_new(vm, &vm->t->funcs[0], NULL, ctx, &root));
    return jj_run(vm, root, vm->t->funcs[0].entry, NULL, 0);
}

/* The byte after count code points of text. */
static size_t code_points_to_bytes(td_str text, size_t at, size_t count)
{
    while (count > 0 && at < text.len) {
        at++;
        while (at < text.len && td_utf8_is_cont(text.ptr[at]))
            at++;
        count--;
    }
    return at;
}

/* Ends of spans are recorded in code points, the reference's unit; a block inside a macro is
 * counted from where the macro's own output begins, so its end is only known now. */
static void finish_spans(jj_vm *vm, size_t first)
{
    td_str text = { "", 0 };
    if (vm->out->len > vm->out_base)
        text = (td_str){ vm->out->ptr + vm->out_base, vm->out->len - vm->out_base };
    for (size_t i = first; i < vm->spans->count; i++) {
        jj_span *s = &vm->spans->items[i];
        s->end = code_points_to_bytes(text, s->start, s->end_code_points - s->start_code_points);
    }
}

td_code jj_render(const td_template *t, const td_dict *vars, const jj_limits *limits,
                  const jj_now *now, jj_workspace *ws, td_buf *out, jj_spans *spans,
                  td_error *err)
{
    jj_vm vm;
    size_t base = out->len, limit = out->limit, first_span = spans != NULL ? spans->count : 0;
    td_error local = TD_ERROR_INIT;
    jj_vm_init(&vm, t, &ws->arena, out, &local);
    td_arena_reset(&ws->arena);
    set_limits(&vm, limits, base);
    vm.scratch = ws->scratch;
    vm.out_base = base;
    vm.spans = spans;
    vm.texts = ws->texts;
    vm.check_texts = ws->check_texts;
    if (ws->marks != NULL)
        ws->marks->count = 0;
    if (now != NULL)
        vm.now = *now;
    jj_check_template(t);
    td_code code = run_root(&vm, vars, ws->marks);
    ws->scratch = vm.scratch;
    out->limit = limit;
    if (code == TD_OK) {
        if (spans != NULL)
            finish_spans(&vm, first_span);
        return TD_OK;
    }
    out->len = base;
    if (spans != NULL)
        spans->count = first_span;
    td_error_locate(&local, t->source);
    if (t->name != NULL)
        td_error_in_file(&local, t->name);
    td_error_move(err, &local);
    return code;
}

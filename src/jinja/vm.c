/* vm.c - the run loop.
 *
 * A stack machine: sp points behind the top value. jj_verify has proved operands and depth, so
 * nothing is checked here. What can fail returns a code, and the one place at the end adds where
 * it happened. Values are copied freely; nothing is counted or freed before the render ends. */
#include <string.h>

#include "base/str.h"
#include "jinja/vm_internal.h"

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        code = (expr);                                                                             \
        if (code != TD_OK)                                                                         \
            goto failed;                                                                           \
    } while (0)

/* ---- output ---- */

static td_code emit_text(jj_vm *vm, td_str s)
{
    if (vm->owners != NULL)
        TD_TRY(jj_owners_text(vm, s));
    td_code code = td_buf_put(vm->out, s);
    return code == TD_OK ? TD_OK : jj_buf_fail(vm, vm->out, code);
}

td_code jj_emit_value(jj_vm *vm, td_value v)
{
    td_code code = jj_append_str(vm, vm->out, v);
    return code == TD_OK ? TD_OK : jj_buf_fail(vm, vm->out, code);
}

static bool escapes(const jj_vm *vm, jj_escape_mode mode)
{
    return mode == JJ_ESCAPED || (mode == JJ_VOLATILE && vm->autoescape);
}

static td_code emit_escaped(jj_vm *vm, td_value v)
{
    TD_TRY(jj_escape(vm, v, &v));
    return jj_emit_value(vm, v);
}

/* While output is collected: if nothing but this piece comes, the collected text is that piece. */
static td_code emit_piece(jj_vm *vm, td_value v)
{
    vm->piece = v;
    vm->piece_at = vm->out->len;
    return emit_text(vm, td_as_str(v));
}

/* Short constants are copied as two vectors: both sides have slack for them. */
static td_code emit_const(jj_vm *vm, td_value v)
{
    td_buf *out = vm->out;
    if (v.len > 32 || out->ptr == NULL || v.len > out->cap - out->len)
        return emit_text(vm, td_as_str(v));
    memcpy(out->ptr + out->len, v.as.str, 32);
    out->len += v.len;
    return TD_OK;
}

static bool is_plain_text(td_value v)
{
    return v.tag == TD_V_STR && (v.flags & TD_VF_MARKUP) == 0;
}

/* Adds next to the sum *sum. While all pieces are plain text they go to the output at once and the
 * sum is but a note of where they begin. */
static td_code add_emit(jj_vm *vm, td_value *sum, td_value next)
{
    if (is_plain_text(next) && vm->spans == NULL) {
        if (sum->tag == JJ_V_EMITTED)
            return emit_text(vm, td_as_str(next));
        if (is_plain_text(*sum)) {
            size_t mark = vm->out->len;
            TD_TRY(emit_text(vm, td_as_str(*sum)));
            *sum = (td_value){ .tag = JJ_V_EMITTED, .as.integer = (int64_t)mark };
            return emit_text(vm, td_as_str(next));
        }
    }
    if (sum->tag == JJ_V_EMITTED) {
        size_t mark = (size_t)sum->as.integer;
        td_str text = { vm->out->ptr + mark, vm->out->len - mark };
        TD_TRY(jj_new_text(vm, text, sum));
        vm->out->len = mark;
    }
    return jj_binop(vm, JJ_ADD, *sum, next, sum);
}

/* What call and filter blocks give is joined as it is, so it has to be text already. */
static td_code emit_raw(jj_vm *vm, td_value v)
{
    if (!td_is_str(v))
        return jj_raise(vm, JJ_TYPE_ERROR, "expected str to print, %s found", jj_type_name(v));
    return emit_text(vm, td_as_str(v));
}

td_code jj_concat(jj_vm *vm, jj_escape_mode mode, const td_value *items, uint32_t count,
                  td_value *ret)
{
    bool markup = false;
    td_buf text = { .limit = vm->limits.output_bytes_max };
    td_code code = TD_OK;
    for (uint32_t i = 0; escapes(vm, mode) && i < count; i++)
        markup = markup || jj_is_markup(items[i]);
    for (uint32_t i = 0; code == TD_OK && i < count; i++) {
        td_value v = items[i];
        if (markup)
            code = jj_escape(vm, v, &v);
        if (code == TD_OK)
            code = jj_append_str(vm, &text, v);
    }
    if (code == TD_OK)
        code = jj_new_text(vm, td_buf_view(&text), ret);
    else
        code = jj_buf_fail(vm, &text, code);
    if (code == TD_OK && markup)
        ret->flags |= TD_VF_MARKUP;
    td_buf_done(&text);
    return code;
}

/* ---- larger instructions ---- */

static td_code make_dict(jj_vm *vm, const td_value *pairs, uint32_t count, td_value *ret)
{
    td_dict *d = td_dict_new(vm->arena, count);
    if (d == NULL)
        return jj_nomem(vm);
    for (uint32_t i = 0; i < count; i++)
        TD_TRY(jj_dict_set(vm, d, pairs[2 * i], pairs[2 * i + 1]));
    *ret = td_dict_of(d);
    return TD_OK;
}

/* Pushes the items of v, the first on top; to has room for exactly count. */
static td_code unpack(jj_vm *vm, td_value v, uint32_t count, td_value *to)
{
    jj_iter it;
    td_value extra;
    bool more = true;
    if ((v.tag == TD_V_LIST || v.tag == TD_V_TUPLE) && v.len == count) {
        for (uint32_t i = 0; i < count; i++)
            to[count - 1 - i] = v.as.items[i];
        return TD_OK;
    }
    TD_TRY(jj_iter_init(vm, v, &it));
    for (uint32_t i = 0; i < count; i++) {
        TD_TRY(jj_iter_next(vm, &it, &to[count - 1 - i], &more));
        if (!more)
            return jj_raise(vm, JJ_VALUE_ERROR,
                            "not enough values to unpack (expected %u, got %u)", count, i);
    }
    TD_TRY(jj_iter_next(vm, &it, &extra, &more));
    if (more)
        return jj_raise(vm, JJ_VALUE_ERROR, "too many values to unpack (expected %u)", count);
    return TD_OK;
}

static td_code extend_list(jj_vm *vm, td_value list, td_value more, td_value *ret)
{
    td_value tail;
    TD_TRY(jj_to_list(vm, more, &tail));
    td_value *items = td_arena_array(vm->arena, td_value, (size_t)list.len + tail.len + 1);
    if (items == NULL)
        return jj_nomem(vm);
    if (list.len != 0)
        memcpy(items, list.as.items, list.len * sizeof *items);
    if (tail.len != 0)
        memcpy(items + list.len, tail.as.items, tail.len * sizeof *items);
    *ret = td_list_of(items, list.len + tail.len);
    return TD_OK;
}

static td_code call_builtin_dynamic(jj_vm *vm, const jj_builtin *b, td_value *at, bool is_test,
                                    td_value *ret)
{
    const td_dict *kw = at[2].as.dict;
    jj_args args = { .pos = at[1].as.items, .npos = at[1].len, .kw = kw->entries,
                     .nkw = kw->count };
    bool yes;
    TD_TRY(jj_call_builtin(vm, b, at[0], &args, ret));
    if (!is_test)
        return TD_OK;
    TD_TRY(jj_truth(vm, *ret, &yes));
    return TD_OK;
}

static td_code call_dynamic(jj_vm *vm, td_value *at, td_value *ret)
{
    const td_dict *kw = at[2].as.dict;
    jj_args args = { .pos = at[1].as.items, .npos = at[1].len, .kw = kw->entries,
                     .nkw = kw->count };
    return jj_call(vm, at[0], &args, ret);
}

/* value.name(arguments): straight to the built-in where the value's type has that method. */
static td_code call_method(jj_vm *vm, const jj_attr *attr, td_value *at, uint32_t npos,
                           td_value *ret)
{
    td_value self = at[0], callee;
    const jj_builtin *b = NULL;
    if (self.tag < TD_V_OBJECT)
        b = jj_is_markup(self) ? attr->markup_method : attr->methods[self.tag];
    if (b != NULL && (b->flags & (JJ_B_PROPERTY | JJ_B_REFUSED)) == 0 && b->min <= npos &&
        (npos <= b->max || (b->flags & JJ_B_VARARGS))) {
        for (uint32_t i = npos; i < b->max; i++)
            at[1 + i] = (td_value){ .tag = JJ_ABSENT };
        jj_args args = { .pos = at + 1, .npos = npos > b->max ? npos : b->max };
        TD_TRY(jj_charge_texts(vm, at, npos + 1));
        return b->fn(vm, self, &args, ret);
    }
    TD_TRY(jj_attr_get(vm, self, attr, &callee));
    return jj_call_values(vm, callee, at + 1, npos, 0, td_none(), ret);
}

static td_code include(jj_vm *vm, td_value name, bool known_name, bool ignore_missing)
{
    bool any = true;
    if (!known_name && !td_is_str(name)) {
        if (name.tag == TD_V_UNDEFINED)
            return jj_raise_undefined(vm, name);
        TD_TRY(jj_truth(vm, name, &any));
    }
    if (!any && ignore_missing)
        return TD_OK;
    if (!any)
        return jj_raise(vm, JJ_RUNTIME_ERROR, "no template to include was named");
    return jj_raise(vm, JJ_TYPE_ERROR, "no other template can be loaded");
}

static td_value undefined_value(const td_undefined *u, uint8_t flags)
{
    return (td_value){ .tag = TD_V_UNDEFINED, .flags = flags, .as.undefined = u };
}

/* A loop over the messages of the conversation tells which one an error belongs to. */
static void note_message(jj_vm *vm, const td_value *stack, const td_value *sp)
{
    if (vm->err->message_index >= 0 || vm->messages == NULL)
        return;
    while (sp > stack) {
        sp--;
        if (sp->tag != JJ_V_LOOP)
            continue;
        const jj_loop *loop = (const jj_loop *)sp->as.object;
        if (loop->it.source.tag != TD_V_LIST || loop->index0 < 0)
            continue;
        const td_value *items = loop->it.source.as.items;
        uintptr_t first = (uintptr_t)vm->messages;
        uintptr_t item = (uintptr_t)(items + loop->index0);
        if (item >= first && item < first + vm->message_count * sizeof *items) {
            vm->err->message_index = (int64_t)((item - first) / sizeof *items);
            return;
        }
    }
}

static td_code locate(jj_vm *vm, td_code code, const jj_insn *pc, const td_value *stack,
                      const td_value *sp)
{
    if (vm->err->offset == TD_NO_OFFSET)
        vm->err->offset = vm->t->offsets[pc - 1 - vm->t->code];
    note_message(vm, stack, sp);
    return code;
}

static inline void prefetch_item(td_value v)
{
#ifdef __GNUC__
    if (v.tag == TD_V_DICT)
        __builtin_prefetch(v.as.dict);
#else
    (void)v;
#endif
}

/* The next item of a loop over a list that nobody looked ahead in. */
static inline bool next_item(jj_loop *loop, td_value *ret)
{
    if (!jj_iter_has_item(&loop->it) || loop->has_after || loop->filter != NULL)
        return false;
    loop->index0++;
    loop->before = loop->current;
    const td_value *items = loop->it.source.as.items;
    *ret = loop->current = items[loop->it.at++];
    if (jj_iter_has_item(&loop->it)) /* the next one is used soon, and often far away */
        prefetch_item(items[loop->it.at]);
    return true;
}

/* Attributes of loops and namespaces that are at hand. */
static inline bool quick_attr(td_object *o, const jj_attr *attr, td_value *ret)
{
    if (o->type == &jj_namespace_type) {
        const td_value *found = jj_find(((jj_namespace *)o)->attrs, attr->key);
        if (found != NULL)
            *ret = *found;
        return found != NULL;
    }
    if (o->type != &jj_loop_type)
        return false;
    const jj_loop *loop = (const jj_loop *)o;
    switch (attr->loop_field) {
    case JJ_LOOP_INDEX:
        *ret = td_int(loop->index0 + 1);
        return true;
    case JJ_LOOP_INDEX0:
        *ret = td_int(loop->index0);
        return true;
    case JJ_LOOP_FIRST:
        *ret = td_bool(loop->index0 == 0);
        return true;
    case JJ_LOOP_LAST:
        *ret = td_bool(false);
        return loop->filter == NULL && (loop->has_after || jj_iter_has_item(&loop->it));
    default:
        return false;
    }
}

/* ---- the loop ---- */

/* With GNU C each instruction jumps to the next one's code itself, which processors predict better;
 * elsewhere, and with JJ_SWITCH defined, the same source is a switch. */
#if defined(__GNUC__) && !defined(JJ_SWITCH)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#define CASE(name) L_##name:
#define NEXT goto *labels[(in = *pc++).op]
#define DISPATCH NEXT;
#define END_DISPATCH
#define OP(name, operands, pops, pushes) &&L_##name,
#define LABELS                                                                                     \
    static const void *const labels[] = {
#define LABELS_END };
#else
#define CASE(name) case JJ_O_##name:
#define NEXT break
#define DISPATCH                                                                                   \
    for (;;) {                                                                                     \
        in = *pc++;                                                                                \
        switch ((jj_opcode)in.op) {
#define END_DISPATCH                                                                               \
    case JJ_O_COUNT_:                                                                              \
        break;                                                                                     \
        }                                                                                          \
        }
#endif

static td_code run(jj_vm *vm, jj_frame *frame, const jj_insn *pc, td_value *sp)
{
    const td_template *t = vm->t;
    const td_value *consts = t->consts;
    td_value *slots = frame->slots, *const stack = sp;
    const jj_insn *const code_start = t->code;
    jj_frame *other;
    td_code code;
    jj_insn in;
    int64_t number;
    bool yes;
#ifdef LABELS
    LABELS
#include "jinja/opcodes.def"
    LABELS_END
#undef OP
#endif
    DISPATCH
        CASE(EMIT_CONST)
            TRY(emit_const(vm, consts[in.c]));
            NEXT;
        CASE(EMIT)
            sp--;
            if (sp->tag == JJ_V_EMITTED)
                NEXT;
            if (in.a != JJ_PLAIN && escapes(vm, (jj_escape_mode)in.a))
                TRY(emit_escaped(vm, *sp));
            else if (sp->tag == TD_V_STR && vm->buffered == 0)
                TRY(emit_text(vm, td_as_str(*sp)));
            else if (sp->tag == TD_V_STR)
                TRY(emit_piece(vm, *sp));
            else
                TRY(jj_emit_value(vm, *sp));
            NEXT;
        CASE(ADD_EMIT)
            sp--;
            TRY(add_emit(vm, &sp[-1], sp[0]));
            NEXT;
        CASE(ADD_CONST_EMIT)
            TRY(add_emit(vm, &sp[-1], consts[in.c]));
            NEXT;
        CASE(TOJSON_EMIT)
            TRY(jj_emit_json(vm, t->builtins[in.c], *--sp));
            NEXT;
        CASE(EMIT_RAW)
            TRY(emit_raw(vm, *--sp));
            NEXT;
        CASE(CAPTURE)
            *sp++ = (td_value){ .tag = JJ_V_MARK, .as.integer = (int64_t)jj_capture_begin(vm) };
            NEXT;
        CASE(CAPTURED)
            TRY(jj_capture_end(vm, (size_t)sp[-1].as.integer,
                               escapes(vm, (jj_escape_mode)in.a), &sp[-1]));
            NEXT;
        CASE(MARKUP)
            if (escapes(vm, (jj_escape_mode)in.a)) {
                TRY(jj_str(vm, sp[-1], &sp[-1]));
                sp[-1].flags |= TD_VF_MARKUP;
            }
            NEXT;
        CASE(CAPTURE_DROP)
            jj_capture_drop(vm, (size_t)(--sp)->as.integer);
            NEXT;
        CASE(GENERATION)
            TRY(jj_run_generation(vm, &t->funcs[in.c], frame));
            NEXT;

        CASE(CONST)
            *sp++ = consts[in.c];
            NEXT;
        CASE(LOAD)
            *sp++ = slots[in.c];
            NEXT;
        CASE(LOAD_UP)
            other = frame;
            for (unsigned i = 0; i < in.b; i++)
                other = other->up;
            *sp++ = other->slots[in.c];
            NEXT;
        CASE(LOAD_CTX)
            *sp++ = frame->ctx[in.c];
            NEXT;
        CASE(STORE)
            slots[in.c] = *--sp;
            if (sp->tag == TD_V_UNDEFINED)
                slots[in.c].flags &= (uint8_t)~(JJ_UF_MISSING | JJ_UF_ABSENT);
            NEXT;
        CASE(EXPORT)
            frame->ctx[in.c] = slots[in.b];
            NEXT;
        CASE(COPY)
            slots[in.b] = slots[in.c];
            NEXT;
        CASE(COPY_UP)
            other = frame;
            for (unsigned i = 0; i < in.a; i++)
                other = other->up;
            slots[in.b] = other->slots[in.c];
            NEXT;
        CASE(COPY_CTX)
            slots[in.b] = frame->ctx[in.c];
            NEXT;
        CASE(UNDEF)
            slots[in.b] = undefined_value(&t->missing[in.c], JJ_UF_MISSING);
            NEXT;
        CASE(IF_GIVEN)
            if (slots[in.b].tag != TD_V_UNDEFINED || !(slots[in.b].flags & JJ_UF_ABSENT))
                pc = code_start + in.c;
            NEXT;
        CASE(NO_PARAM)
            if (slots[in.b].tag == TD_V_UNDEFINED && (slots[in.b].flags & JJ_UF_ABSENT))
                slots[in.b] = undefined_value(&t->missing[in.c], 0);
            NEXT;
        CASE(POP)
            sp--;
            NEXT;

        CASE(LOAD_ATTR)
            *sp++ = slots[in.b];
            /* falls through */
        CASE(ATTR) {
            const jj_attr *attr = &t->attrs[in.c];
            td_value v = sp[-1];
            if (v.tag == TD_V_DICT && attr->methods[TD_V_DICT] == NULL && !attr->unsafe) {
                const td_value *found = jj_find(v.as.dict, attr->key);
                if (found != NULL)
                    sp[-1] = *found;
                else
                    sp[-1] = undefined_value(&attr->missing, (TD_V_DICT + 1) << JJ_UF_TYPE);
                NEXT;
            }
            if (v.tag == TD_V_OBJECT && !attr->unsafe && quick_attr(v.as.object, attr, &sp[-1]))
                NEXT;
            TRY(jj_attr_get(vm, v, attr, &sp[-1]));
            NEXT;
        }
        CASE(LOAD_ITEM)
            *sp++ = slots[in.b];
            /* falls through */
        CASE(ITEM_KEY) {
            const jj_attr *attr = &t->attrs[in.c];
            if (sp[-1].tag == TD_V_DICT) {
                const td_value *found = jj_find(sp[-1].as.dict, attr->key);
                if (found != NULL) {
                    sp[-1] = *found;
                    NEXT;
                }
                if (attr->methods[TD_V_DICT] == NULL && !attr->unsafe) {
                    sp[-1] = undefined_value(&attr->missing, (TD_V_DICT + 1) << JJ_UF_TYPE);
                    NEXT;
                }
            }
            TRY(jj_getitem(vm, sp[-1], attr->key, &sp[-1]));
            NEXT;
        }
        CASE(ITEM)
            sp--;
            TRY(jj_getitem(vm, sp[-1], sp[0], &sp[-1]));
            NEXT;
        CASE(SLICE)
            sp -= 3;
            TRY(jj_slice(vm, sp[-1], sp[0], sp[1], sp[2], &sp[-1]));
            NEXT;
        CASE(BINARY)
            sp--;
            if (in.a == JJ_ADD && sp[-1].tag == TD_V_INT && sp[0].tag == TD_V_INT &&
                !__builtin_add_overflow(sp[-1].as.integer, sp[0].as.integer, &number)) {
                sp[-1].as.integer = number;
                NEXT;
            }
            TRY(jj_binop(vm, (jj_op)in.a, sp[-1], sp[0], &sp[-1]));
            NEXT;
        CASE(NEG)
            TRY(jj_neg(vm, sp[-1], &sp[-1]));
            NEXT;
        CASE(POS)
            TRY(jj_pos(vm, sp[-1], &sp[-1]));
            NEXT;
        CASE(NOT)
            TRY(jj_truth(vm, sp[-1], &yes));
            sp[-1] = td_bool(!yes);
            NEXT;
        CASE(CONCAT)
            sp -= in.b;
            TRY(jj_concat(vm, (jj_escape_mode)in.a, sp, in.b, sp));
            sp++;
            NEXT;
        CASE(COMPARE)
            sp--;
            TRY(jj_compare(vm, (jj_cmp)in.a, sp[-1], sp[0], &yes));
            sp[-1] = td_bool(yes);
            NEXT;
        CASE(CHAIN)
            sp--;
            TRY(jj_compare(vm, (jj_cmp)in.a, sp[-1], sp[0], &yes));
            sp[-1] = yes ? sp[0] : td_bool(false);
            if (!yes)
                pc = code_start + in.c;
            NEXT;
        CASE(LIST)
        CASE(TUPLE)
            sp -= in.c;
            TRY(jj_new_tuple(vm, sp, in.c, sp));
            if (in.op == JJ_O_LIST)
                sp->tag = TD_V_LIST;
            sp++;
            NEXT;
        CASE(DICT)
            sp -= 2 * (size_t)in.c;
            TRY(make_dict(vm, sp, in.c, sp));
            sp++;
            NEXT;
        CASE(ABSENT)
            *sp++ = (td_value){ .tag = JJ_ABSENT };
            NEXT;
        CASE(UNDEF_VALUE)
            *sp++ = undefined_value(&t->missing[in.c], 0);
            NEXT;
        CASE(FILTER)
        CASE(TEST) {
            const jj_builtin *b = t->builtins[in.c];
            for (unsigned i = in.b; i < b->max; i++)
                sp[i - in.b] = (td_value){ .tag = JJ_ABSENT };
            sp -= in.b;
            jj_args args = { .pos = sp, .npos = b->max };
            TRY(jj_charge_texts(vm, sp - 1, in.b + 1u));
            TRY(b->fn(vm, sp[-1], &args, &sp[-1]));
            NEXT;
        }
        CASE(CALL)
            sp -= in.a + in.b;
            TRY(jj_call_values(vm, sp[-1], sp, in.b, in.a, in.a != 0 ? consts[in.c] : td_none(),
                               &sp[-1]));
            NEXT;
        CASE(CALL_EMIT)
            sp -= in.a + in.b + 1;
            TRY(jj_call_output(vm, sp[0], sp + 1, in.b, in.a,
                               in.a != 0 ? consts[in.c] : td_none()));
            NEXT;
        CASE(METHOD)
            sp -= in.b;
            TRY(call_method(vm, &t->attrs[in.c], sp - 1, in.b, &sp[-1]));
            NEXT;
        CASE(EXTEND)
            sp--;
            TRY(extend_list(vm, sp[-1], sp[0], &sp[-1]));
            NEXT;
        CASE(MERGE)
            sp--;
            TRY(jj_merge_keywords(vm, sp[-1].as.dict, sp[0]));
            NEXT;
        CASE(CALL_DYN)
            sp -= 2;
            TRY(call_dynamic(vm, sp - 1, &sp[-1]));
            NEXT;
        CASE(FILTER_DYN)
            sp -= 2;
            TRY(call_builtin_dynamic(vm, t->builtins[in.c], sp - 1, in.a != 0, &sp[-1]));
            NEXT;
        CASE(MACRO)
            TRY(jj_macro_new(vm, &t->funcs[in.c], frame, sp));
            sp++;
            NEXT;

        CASE(JUMP)
            pc = code_start + in.c;
            NEXT;
        CASE(JUMP_FALSE)
        CASE(JUMP_TRUE)
            sp--;
            if (sp->tag == TD_V_BOOL)
                yes = sp->as.integer != 0;
            else
                TRY(jj_truth(vm, *sp, &yes));
            if (yes == (in.op == JJ_O_JUMP_TRUE))
                pc = code_start + in.c;
            NEXT;
        CASE(JUMP_CONST) {
            td_value v = *--sp, k = consts[in.b];
            jj_cmp op = (jj_cmp)(in.a & 0x7F);
            if (op <= JJ_NE && v.tag == TD_V_STR && v.len < JJ_LONG_TEXT)
                yes = jj_text_eq(v, k) == (op == JJ_EQ);
            else if (op == JJ_IN || op == JJ_NOT_IN)
                TRY(jj_compare(vm, op, k, v, &yes));
            else
                TRY(jj_compare(vm, op, v, k, &yes));
            if (yes == (in.a >> 7))
                pc = code_start + in.c;
            NEXT;
        }
        CASE(JUMP_COMPARE)
            sp -= 2;
            TRY(jj_compare(vm, (jj_cmp)(in.a & 0x7F), sp[0], sp[1], &yes));
            if (yes == (in.a >> 7))
                pc = code_start + in.c;
            NEXT;
        CASE(JUMP_KIND)
            sp--;
            if (sp->tag < TD_V_OBJECT) {
                yes = in.b >> sp->tag & 1;
            } else {
                jj_args none = { 0 };
                TRY(t->builtins[in.a / 2]->fn(vm, *sp, &none, sp));
                yes = sp->as.integer != 0;
            }
            if (yes == (in.a & 1))
                pc = code_start + in.c;
            NEXT;
        CASE(AND)
        CASE(OR)
            TRY(jj_truth(vm, sp[-1], &yes));
            if (yes == (in.op == JJ_O_OR))
                pc = code_start + in.c;
            NEXT;
        CASE(FOR)
        CASE(FOR_FILTER) {
            jj_loop *loop;
            TRY(jj_loop_new(vm, frame, sp[-1], in.a & 3, &loop));
            if (in.op == JJ_O_FOR_FILTER)
                TRY(jj_loop_set_filter(vm, loop, frame, &t->funcs[in.c]));
            sp[-1] = (td_value){ .tag = JJ_V_LOOP, .as.object = &loop->base };
            NEXT;
        }
        CASE(NEXT)
            number = (int64_t)in.c - (pc - code_start) + 1;
            if (vm->steps_left - (uint64_t)number > vm->steps_next_look &&
                vm->steps_left > (uint64_t)number)
                vm->steps_left -= (uint64_t)number;
            else
                TRY(jj_charge(vm, (uint64_t)number));
            yes = next_item((jj_loop *)sp[-1].as.object, sp);
            if (!yes)
                TRY(jj_loop_next(vm, (jj_loop *)sp[-1].as.object, sp, &yes));
            if (yes && vm->owners != NULL)
                TRY(jj_owners_item(vm, (jj_loop *)sp[-1].as.object, *sp));
            if (yes)
                sp++;
            else
                pc = code_start + in.c;
            NEXT;
        CASE(LOOP_VAR)
            slots[in.c] = td_object_of(sp[-1].as.object);
            NEXT;
        CASE(RAN)
            ((jj_loop *)sp[-1].as.object)->ran = true;
            NEXT;
        CASE(IF_RAN)
            sp--;
            if (((jj_loop *)sp->as.object)->ran)
                pc = code_start + in.c;
            if (vm->owners != NULL)
                TRY(jj_owners_end(vm, (jj_loop *)sp->as.object));
            jj_loop_end(vm, *sp);
            NEXT;
        CASE(END_FOR)
            sp--;
            if (vm->owners != NULL)
                TRY(jj_owners_end(vm, (jj_loop *)sp->as.object));
            jj_loop_end(vm, *sp);
            NEXT;
        CASE(UNPACK) {
            td_value v = *--sp;
            TRY(unpack(vm, v, in.c, sp));
            sp += in.c;
            NEXT;
        }
        CASE(RECURSE)
            TRY(jj_run_recursive(vm, &t->funcs[in.c], frame, sp[-1], 0,
                                 escapes(vm, (jj_escape_mode)in.a), &sp[-1]));
            NEXT;
        CASE(KEEP)
            vm->result = *--sp;
            vm->kept = true;
            return TD_OK;
        CASE(SKIP)
            vm->kept = false;
            return TD_OK;
        CASE(NS_CHECK)
            sp--;
            if (sp->tag != TD_V_OBJECT || sp->as.object->type != &jj_namespace_type)
                TRY(jj_raise(vm, JJ_RUNTIME_ERROR,
                             "cannot assign attribute on non-namespace object"));
            NEXT;
        CASE(NS_SET)
            sp -= 2;
            TRY(jj_namespace_set(vm, sp[1], t->attrs[in.c].key, sp[0]));
            NEXT;
        CASE(SELF)
            TRY(jj_self_new(vm, frame, sp));
            sp++;
            NEXT;
        CASE(BLOCK)
            sp -= 2 * (size_t)in.a;
            TRY(jj_run_block(vm, in.c, frame, sp, in.a));
            NEXT;
        CASE(INCLUDE)
            TRY(include(vm, *--sp, in.a != 0, in.c != 0));
            NEXT;
        CASE(RAISE)
            TRY(jj_raise_text(vm, (jj_exc)in.a, td_as_str(consts[in.c])));
            NEXT;
        CASE(AUTOESCAPE)
            TRY(jj_truth(vm, sp[-1], &yes));
            sp[-1] = (td_value){ .tag = JJ_V_MARK, .as.integer = vm->autoescape };
            vm->autoescape = yes;
            NEXT;
        CASE(AUTOESCAPE_END)
            vm->autoescape = (--sp)->as.integer != 0;
            NEXT;
        CASE(RETURN)
            return TD_OK;
    END_DISPATCH
failed:
    return locate(vm, code, pc, stack, sp);
}

#ifdef LABELS
#pragma GCC diagnostic pop
#endif

td_code jj_run(jj_vm *vm, jj_frame *frame, uint32_t pc, const td_value *args, uint32_t count)
{
    td_value *stack = vm->stack, *stack_end = vm->stack_end, *sp;
    TD_TRY(jj_stack_take(vm, frame->func->stack_max + 1, &sp));
    for (uint32_t i = 0; i < count; i++)
        sp[i] = args[i];
    td_code code = run(vm, frame, vm->t->code + pc, sp + count);
    vm->stack = stack;
    vm->stack_end = stack_end;
    return code;
}

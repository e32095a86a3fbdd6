/* vm_internal.h - one running render, as the files of the VM share it. */
#ifndef TD_SRC_JINJA_VM_INTERNAL_H
#define TD_SRC_JINJA_VM_INTERNAL_H

#include <string.h>

#include "base/error.h"
#include "jinja/ast.h"
#include "jinja/bytecode.h"

enum {
    /* flags of TD_V_UNDEFINED */
    JJ_UF_MISSING = 1u << 0, /* a variable that was never set, not an undefined value */
    JJ_UF_ABSENT = 1u << 1,  /* a parameter that was not given */
    JJ_UF_TYPE = 2,          /* from this bit on: 1 + tag of the value that lacks the attribute */

    JJ_V_MARK = 0xFE, /* tag of a capture's mark or saved state on the stack; integer in as */
    JJ_V_LOOP = 0xFD, /* tag of a loop on the stack; object in as */
    JJ_V_EMITTED = 0xFC, /* tag of a sum whose text is in the output from as.integer on */

    JJ_DEPTH_MAX = 1000, /* CPython's recursion limit, counted in its frames */
    JJ_DEPTH_CALL = 5,   /* its frames for one call of a macro */
    JJ_DEPTH_BASE = 15,  /* and for what is around the template */
};

typedef struct jj_frame jj_frame;
struct jj_frame {
    jj_frame *up; /* frame of the function around: closures read it */
    const jj_func *func;
    td_value *slots;
    td_value *ctx; /* the context's variables as this function sees them */
    uint32_t loop_depth;
};

typedef struct jj_loop {
    td_object base;
    bool shared; /* the template has it in a variable, so it may outlive the loop */
    bool has_after, exhausted, ran, filter_started;
    uint32_t depth0;
    int64_t index0, length; /* length -1: not known yet */
    jj_iter it;
    td_value iterable, before, current, after, changed;
    jj_frame *filter;          /* NULL: none */
    union {
        jj_frame *env;        /* of the function that holds the loop */
        struct jj_loop *next; /* of spare ones */
    };
    const jj_func *recurse;    /* NULL: not recursive */
    int64_t outer_owner;       /* vm->owner where the loop stands */
} jj_loop;
extern const td_object_type jj_loop_type;

typedef struct jj_macro {
    td_object base;
    const jj_func *func;
    jj_frame *env;
} jj_macro;
extern const td_object_type jj_macro_type, jj_self_type;

/* A text with room behind it that a sum may grow into. */
typedef struct jj_growing {
    char *end, *limit;
} jj_growing;
enum { JJ_GROWING = 4 };

struct jj_vm {
    const td_template *t;
    jj_growing growing[JJ_GROWING];
    unsigned next_growing;
    td_arena *arena;
    td_buf *out;
    td_error *err;
    jj_exc exc;
    jj_limits limits;
    jj_now now;
    uint64_t steps_left, steps_next_look;
    uint32_t depth;
    bool autoescape;
    td_value *stack, *stack_end; /* the segment in use */
    td_buf scratch;
    td_value result; /* of a loop filter */
    bool kept;
    jj_loop *spare; /* ended loops that nobody sees any more */
    td_value piece; /* the last text printed while output is collected, and where; len 0: none */
    size_t piece_at;
    const td_value *messages; /* the items of the variable messages, for error reports */
    uint32_t message_count;
    td_json_texts *texts; /* NULL: none are remembered */
    bool check_texts;
    struct jj_owners *owners; /* NULL: nobody wants to know whose output is whose */
    int64_t owner;            /* the message that a loop is at; -1: none */
    /* generation blocks */
    jj_spans *spans;
    uint32_t buffered;  /* > 0: output is being collected, not yielded */
    size_t yielded;     /* where output stood when collecting began */
    size_t out_base;    /* where this render's output begins */
    size_t counted, counted_code_points;
};

/* ---- vm_core.c ---- */

void jj_vm_init(jj_vm *vm, const td_template *t, td_arena *arena, td_buf *out, td_error *err);
void jj_vm_done(jj_vm *vm);
void jj_vm_clear_error(jj_vm *vm);
/* Room for n values on the VM's stack. The caller gives it back by restoring stack, stack_end. */
td_code jj_stack_take(jj_vm *vm, uint32_t n, td_value **ret);

/* ---- vm.c ---- */

/* Runs from pc with the given values on the stack until the function returns. */
td_code jj_run(jj_vm *vm, jj_frame *frame, uint32_t pc, const td_value *args, uint32_t count);
td_code jj_concat(jj_vm *vm, jj_escape_mode mode, const td_value *items, uint32_t count,
                  td_value *ret);
td_code jj_emit_value(jj_vm *vm, td_value v);

/* ---- json_text.c ---- */

/* Appends the text of v as tojson without arguments, which is b, gives it. */
td_code jj_emit_json(jj_vm *vm, const jj_builtin *b, td_value v);

/* ---- vm_frame.c ---- */

typedef enum jj_loop_field {
    JJ_LOOP_NONE,
    JJ_LOOP_INDEX,
    JJ_LOOP_INDEX0,
    JJ_LOOP_REVINDEX,
    JJ_LOOP_REVINDEX0,
    JJ_LOOP_FIRST,
    JJ_LOOP_LAST,
    JJ_LOOP_LENGTH,
    JJ_LOOP_PREVITEM,
    JJ_LOOP_NEXTITEM,
    JJ_LOOP_DEPTH,
    JJ_LOOP_DEPTH0,
    JJ_LOOP_CYCLE,
    JJ_LOOP_CHANGED,
} jj_loop_field;

uint8_t jj_loop_field_of(td_str name); /* JJ_LOOP_NONE: no such field */
td_code jj_loop_get(jj_vm *vm, jj_loop *loop, jj_loop_field field, td_value *ret);
/* kind: bit 0, it has a variable; bit 1, it is recursive. */
td_code jj_loop_new(jj_vm *vm, jj_frame *frame, td_value iterable, unsigned kind, jj_loop **ret);
void jj_frame_init(jj_frame *f, const jj_func *func, jj_frame *up, td_value *ctx);
td_code jj_loop_set_filter(jj_vm *vm, jj_loop *loop, jj_frame *frame, const jj_func *func);
td_code jj_loop_next(jj_vm *vm, jj_loop *loop, td_value *ret, bool *ret_more);
td_code jj_frame_new(jj_vm *vm, const jj_func *func, jj_frame *up, td_value *ctx,
                     jj_frame **ret);

/* ---- owners.c: called only while vm->owners is set ---- */

typedef struct jj_owners jj_owners;

/* Begins to note owners, once the variables are there. */
td_code jj_owners_begin(jj_vm *vm, jj_marks *marks);
/* The loop came to this item; it is over; text is about to be printed. */
td_code jj_owners_item(jj_vm *vm, const jj_loop *loop, td_value item);
td_code jj_owners_end(jj_vm *vm, const jj_loop *loop);
td_code jj_owners_text(jj_vm *vm, td_str text);

static inline void jj_loop_end(jj_vm *vm, td_value v)
{
    jj_loop *loop = (jj_loop *)v.as.object;
    if (!loop->shared) {
        loop->next = vm->spare;
        vm->spare = loop;
    }
}

/* Whether the iterator goes over a list or tuple and is not at its end. */
static inline bool jj_iter_has_item(const jj_iter *it)
{
    return (it->source.tag == TD_V_LIST || it->source.tag == TD_V_TUPLE) && it->at < it->end;
}

/* ---- vm_call.c ---- */

/* Calls with keywords named by a tuple; their values follow the positional ones. */
td_code jj_call_values(jj_vm *vm, td_value callee, const td_value *values, uint32_t npos,
                       uint32_t nkw, td_value names, td_value *ret);
/* The same, its text appended to the output. */
td_code jj_call_output(jj_vm *vm, td_value callee, const td_value *values, uint32_t npos,
                       uint32_t nkw, td_value names);
td_code jj_macro_new(jj_vm *vm, const jj_func *func, jj_frame *env, td_value *ret);
td_code jj_run_generation(jj_vm *vm, const jj_func *func, jj_frame *env);
td_code jj_run_block(jj_vm *vm, uint32_t block, jj_frame *from, const td_value *pairs,
                     uint32_t count);
td_code jj_run_recursive(jj_vm *vm, const jj_func *func, jj_frame *env, td_value iterable,
                         uint32_t depth, bool markup, td_value *ret);
td_code jj_self_new(jj_vm *vm, jj_frame *frame, td_value *ret);
td_code jj_merge_keywords(jj_vm *vm, td_dict *d, td_value mapping);

/* Output from a mark on, as a value; the output ends at the mark again. */
size_t jj_capture_begin(jj_vm *vm);
td_code jj_capture_end(jj_vm *vm, size_t mark, bool markup, td_value *ret);
void jj_capture_drop(jj_vm *vm, size_t mark);

/* ---- value_ops.c, value_cmp.c, access.c ---- */

td_code jj_compare(jj_vm *vm, jj_cmp op, td_value a, td_value b, bool *ret);
td_code jj_attr_get(jj_vm *vm, td_value v, const jj_attr *attr, td_value *ret);
td_code jj_no_attr(jj_vm *vm, td_value v, const jj_attr *attr, td_value *ret);
td_code jj_namespace_set(jj_vm *vm, td_value ns, td_value name, td_value v);
td_value jj_missing_value(const td_undefined *u);

/* memcmp == 0 without the call for the short texts that keys and roles are. */
static inline bool jj_bytes_eq(const char *a, const char *b, size_t n)
{
    uint64_t x, y;
    uint32_t u, v;
    if (n > 64)
        return memcmp(a, b, n) == 0;
    if (n >= 8) {
        for (size_t i = 0; i + 8 <= n; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y)
                return false;
        }
        memcpy(&x, a + n - 8, 8);
        memcpy(&y, b + n - 8, 8);
        return x == y;
    }
    if (n >= 4) {
        memcpy(&u, a, 4);
        memcpy(&v, b, 4);
        if (u != v)
            return false;
        memcpy(&u, a + n - 4, 4);
        memcpy(&v, b + n - 4, 4);
        return u == v;
    }
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* td_dict_find_key with the search of small dicts in place. */
static inline const td_value *jj_find(const td_dict *d, td_value key)
{
    if (d->index != NULL)
        return td_dict_find_key(d, key);
    const td_entry *e = d->entries;
    for (uint32_t left = d->count; left != 0; left--, e++)
        if (e->key.hash == key.hash && e->key.len == key.len && e->key.tag == TD_V_STR &&
            jj_bytes_eq(e->key.as.str, key.as.str, key.len))
            return &e->val;
    return NULL;
}

static inline bool jj_text_eq(td_value a, td_value b)
{
    return a.len == b.len && jj_bytes_eq(a.as.str, b.as.str, a.len);
}

static inline bool jj_is_markup(td_value v)
{
    return v.tag == TD_V_STR && (v.flags & TD_VF_MARKUP) != 0;
}

#endif

/* build.c - a request from values that are pushed one by one.
 *
 * Works as the readers do (value/builder.h): finished items wait on a stack, a container that ends
 * takes its items from the top. The first failure is kept and answers everything after it. */
#include "tokdrain/build.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "chat/request.h"
#include "value/bigint.h"
#include "value/builder.h"
#include "value/json.h"

typedef struct frame {
    size_t start; /* of its items on the stack */
    td_vtag tag;
} frame;

struct td_build {
    td_arena arena;
    td_builder items;
    td_error error;
    uint32_t depth;
    frame frames[TD_JSON_DEPTH_MAX];
};

td_build *td_build_new(void)
{
    td_build *b = td_malloc(sizeof *b);
    if (b == NULL)
        return NULL;
    b->arena = (td_arena){ 0 };
    b->error = (td_error)TD_ERROR_INIT;
    b->depth = 0;
    td_builder_start(&b->items, &b->arena);
    return b;
}

void td_build_free(td_build *b)
{
    if (b == NULL)
        return;
    td_builder_done(&b->items);
    td_arena_done(&b->arena);
    td_error_clear(&b->error);
    td_free(b);
}

void td_build_reset(td_build *b)
{
    b->items.count = 0;
    b->depth = 0;
    td_arena_reset(&b->arena);
    td_error_clear(&b->error);
}

static bool no_memory(td_build *b)
{
    td_fail_nomem(&b->error);
    return false;
}

/* The next item is a key of a map. */
static bool key_is_next(const td_build *b)
{
    const frame *top = b->depth != 0 ? &b->frames[b->depth - 1] : NULL;
    return top != NULL && top->tag == TD_V_DICT && (b->items.count - top->start) % 2 == 0;
}

static bool push(td_build *b, td_value v)
{
    if (b->error.code != TD_OK)
        return false;
    if (b->depth == 0 && b->items.count != 0) {
        td_fail(&b->error, TD_E_INPUT, "more than one value");
        return false;
    }
    td_value *slot = td_builder_push(&b->items);
    if (slot == NULL)
        return no_memory(b);
    *slot = v;
    return true;
}

bool td_build_null(td_build *b)
{
    return push(b, td_none());
}

bool td_build_bool(td_build *b, bool value)
{
    return push(b, td_bool(value));
}

bool td_build_int(td_build *b, int64_t value)
{
    return push(b, td_int(value));
}

bool td_build_float(td_build *b, double value)
{
    return push(b, td_float(value));
}

bool td_build_hex(td_build *b, td_str digits)
{
    td_value v;
    size_t sign = digits.len != 0 && (digits.ptr[0] == '-' || digits.ptr[0] == '+');
    bool good = digits.len > sign;
    for (size_t i = sign; i < digits.len; i++) {
        char c = digits.ptr[i], low = (char)(c | 0x20);
        good = good && ((c >= '0' && c <= '9') || (low >= 'a' && low <= 'f'));
    }
    if (b->error.code != TD_OK)
        return false;
    if (!good) {
        td_fail(&b->error, TD_E_INPUT, "no hexadecimal number");
        return false;
    }
    if (digits.len - sign > TD_BIGINT_BITS_MAX / 4) {
        td_fail(&b->error, TD_E_LIMIT, "an integer of more than %d bits", TD_BIGINT_BITS_MAX);
        return false;
    }
    if (!td_bigint_parse(&b->arena, digits, 16, &v))
        return no_memory(b);
    return push(b, v);
}

bool td_build_text(td_build *b, td_str text, bool ascii)
{
    if (b->error.code != TD_OK)
        return false;
    if (text.len >= UINT32_MAX) {
        td_fail(&b->error, TD_E_LIMIT, "a text of more than 4 GiB");
        return false;
    }
    td_str own = td_arena_copy(&b->arena, text);
    if (own.ptr == NULL)
        return no_memory(b);
    td_value v = key_is_next(b) ? td_key(own) : td_string(own);
    v.flags |= ascii ? TD_VF_ASCII : 0;
    return push(b, v);
}

static bool begin(td_build *b, td_vtag tag)
{
    if (b->error.code != TD_OK)
        return false;
    if (b->depth == TD_JSON_DEPTH_MAX) {
        td_fail(&b->error, TD_E_LIMIT, "nested more than %d deep", TD_JSON_DEPTH_MAX);
        return false;
    }
    if (b->depth == 0 && b->items.count != 0) {
        td_fail(&b->error, TD_E_INPUT, "more than one value");
        return false;
    }
    b->frames[b->depth++] = (frame){ b->items.count, tag };
    return true;
}

bool td_build_list(td_build *b)
{
    return begin(b, TD_V_LIST);
}

bool td_build_tuple(td_build *b)
{
    return begin(b, TD_V_TUPLE);
}

bool td_build_map(td_build *b)
{
    return begin(b, TD_V_DICT);
}

/* Keys that are no texts are rare; each must have a hash. */
static bool check_keys(td_build *b, size_t start)
{
    if ((b->items.count - start) % 2 != 0) {
        td_fail(&b->error, TD_E_INPUT, "a key without a value");
        return false;
    }
    for (size_t i = start; i < b->items.count; i += 2) {
        bool hashable = true;
        td_value key = b->items.stack[i];
        if (!td_is_str(key))
            td_value_hash(key, &hashable);
        if (!hashable) {
            td_fail(&b->error, TD_E_INPUT, "unhashable type: '%s'", td_value_type_name(key));
            return false;
        }
    }
    return true;
}

bool td_build_end(td_build *b)
{
    if (b->error.code != TD_OK)
        return false;
    if (b->depth == 0) {
        td_fail(&b->error, TD_E_INPUT, "an end without a beginning");
        return false;
    }
    frame top = b->frames[b->depth - 1];
    if (top.tag == TD_V_DICT && !check_keys(b, top.start))
        return false;
    b->depth--;
    bool ok = top.tag == TD_V_DICT ? td_builder_dict(&b->items, top.start)
                                   : td_builder_sequence(&b->items, top.start, top.tag);
    return ok || no_memory(b);
}

static td_code whole_map(const td_build *b, td_error *err)
{
    if (b->depth != 0 || b->items.count != 1)
        return td_fail(err, TD_E_INPUT, "the value is not complete");
    if (b->items.stack[0].tag != TD_V_DICT)
        return td_fail(err, TD_E_INPUT, "a request must be a map, not %s",
                       td_value_type_name(b->items.stack[0]));
    return TD_OK;
}

td_code td_build_request(td_build *b, td_request **ret_request, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_code code = b->error.code;
    if (code != TD_OK)
        td_error_move(&local, &b->error);
    else
        code = whole_map(b, &local);
    if (code == TD_OK)
        code = td_request_of_map(b->items.stack[0].as.dict, &b->arena, ret_request, &local);
    td_build_reset(b);
    if (code != TD_OK && err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

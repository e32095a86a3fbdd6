/* msgpack.h - reading and writing MessagePack, strictly by its specification.
 *
 * Two ways to read: a cursor that gives one item after the other and allocates nothing, for records
 * whose shape is known; and values, for what is only handed on. Text must be valid UTF-8 where it
 * is turned into a value; the cursor gives its bytes unchecked, so that skipping is free. */
#ifndef TD_SRC_VALUE_MSGPACK_H
#define TD_SRC_VALUE_MSGPACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

enum { TD_MSGPACK_DEPTH_MAX = 1000 };

/* ---- cursor ---- */

typedef enum td_mp_kind {
    TD_MP_NIL,
    TD_MP_BOOL,
    TD_MP_INT,
    TD_MP_UINT, /* above INT64_MAX */
    TD_MP_FLOAT,
    TD_MP_STR,
    TD_MP_BIN,
    TD_MP_ARRAY,
    TD_MP_MAP,
    TD_MP_EXT,
} td_mp_kind;

typedef struct td_mp_item {
    td_mp_kind kind;
    uint32_t count;  /* ARRAY: items that follow; MAP: pairs that follow */
    int8_t ext_type; /* EXT */
    union {
        bool boolean;
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
        td_str bytes; /* STR, BIN, EXT: borrowed from the input */
    } as;
} td_mp_item;

/* Start with all three set: start == at, end behind the last byte. */
typedef struct td_mp_cursor {
    const char *start, *at, *end;
} td_mp_cursor;

static inline td_mp_cursor td_mp_cursor_of(td_str bytes)
{
    const char *start = bytes.ptr != NULL ? bytes.ptr : "";
    return (td_mp_cursor){ start, start, start + bytes.len };
}

/* Reads one item and moves behind it; of an array or map only the head, so that its items come
 * next. TD_E_INPUT with the offset of the item: cut short, the reserved byte C1, or a count that
 * cannot be true. */
TD_NODISCARD td_code td_mp_next(td_mp_cursor *c, td_mp_item *ret, td_error *err);
/* Moves behind one whole value, whatever it holds. TD_E_LIMIT when nested too deeply. */
TD_NODISCARD td_code td_mp_skip(td_mp_cursor *c, td_error *err);

/* ---- values ---- */

/* Reads one whole value and moves behind it. Borrows text from the input; the rest lives in a.
 * Of a duplicate key the last value stays at the first place; array keys become tuples. TD_E_INPUT
 * also for what has no place among values: bin, extension types, maps as keys, invalid UTF-8. */
TD_NODISCARD td_code td_mp_read(td_mp_cursor *c, td_arena *a, td_value *ret, td_error *err);
/* The same for bytes that must hold one value and nothing else. */
TD_NODISCARD td_code td_msgpack_read(td_arena *a, td_str bytes, td_value *ret, td_error *err);

/* ---- writing: each appends one item in its shortest form; codes of td_buf appends ---- */

td_code td_mp_put_nil(td_buf *b);
td_code td_mp_put_bool(td_buf *b, bool v);
td_code td_mp_put_int(td_buf *b, int64_t v);
td_code td_mp_put_uint(td_buf *b, uint64_t v);
td_code td_mp_put_float(td_buf *b, double v); /* always float 64 */
td_code td_mp_put_str(td_buf *b, td_str s);   /* below 4 GiB, as everything here */
td_code td_mp_put_bin(td_buf *b, td_str s);
td_code td_mp_put_array(td_buf *b, uint32_t count); /* the items come next */
td_code td_mp_put_map(td_buf *b, uint32_t count);   /* count pairs come next */
/* Appends a whole value. TD_E_INPUT for undefined, objects, and integers beyond 64 bits;
 * TD_E_LIMIT for nesting beyond TD_MSGPACK_DEPTH_MAX or a full buffer. */
TD_NODISCARD td_code td_msgpack_write(td_buf *b, td_value v, td_error *err);

#endif

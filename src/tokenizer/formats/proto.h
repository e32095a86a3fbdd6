/* proto.h - reading Protocol Buffers messages, field by field.
 *
 *     tk_proto p = tk_proto_of(bytes);
 *     for (tk_field f; tk_proto_next(&p, &f);) ...
 *     if (p.wrong != NULL) the message is broken at byte p.wrong_at of bytes
 *
 * Nothing is copied and nothing recursive: an inner message is read by another tk_proto. */
#ifndef TD_SRC_TOKENIZER_FORMATS_PROTO_H
#define TD_SRC_TOKENIZER_FORMATS_PROTO_H

#include "tokdrain/base.h"

typedef enum tk_wire {
    TK_WIRE_VARINT = 0,
    TK_WIRE_64 = 1,
    TK_WIRE_BYTES = 2,
    TK_WIRE_32 = 5
} tk_wire;

typedef struct tk_field {
    uint32_t number;
    tk_wire wire;
    uint64_t value; /* of VARINT, 64 and 32 */
    td_str bytes;   /* of BYTES: a view */
} tk_field;

typedef struct tk_proto {
    td_str bytes;
    size_t at;
    const char *wrong; /* NULL: all is well */
    size_t wrong_at;
} tk_proto;

static inline tk_proto tk_proto_of(td_str bytes)
{
    return (tk_proto){ .bytes = bytes };
}

/* The next field; false: the end, or something is wrong. */
bool tk_proto_next(tk_proto *p, tk_field *ret);

/* The 32 bits of a field as a float. */
float tk_field_float(const tk_field *f);

#endif

/* proto.c - tags, varints and lengths, each checked against the end of the message. */
#include "tokenizer/formats/proto.h"

#include <string.h>

static bool fail(tk_proto *p, size_t at, const char *what)
{
    p->wrong = what;
    p->wrong_at = at;
    return false;
}

static bool varint(tk_proto *p, uint64_t *ret)
{
    size_t start = p->at;
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p->at == p->bytes.len)
            return fail(p, start, "a number is cut off");
        unsigned char b = (unsigned char)p->bytes.ptr[p->at++];
        if (shift < 64)
            v |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) {
            *ret = v;
            return true;
        }
    }
    return fail(p, start, "a number is longer than 10 bytes");
}

static bool fixed(tk_proto *p, size_t size, uint64_t *ret)
{
    if (p->bytes.len - p->at < size)
        return fail(p, p->at, "a number is cut off");
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
        v |= (uint64_t)(unsigned char)p->bytes.ptr[p->at + i] << (8 * i);
    p->at += size;
    *ret = v;
    return true;
}

bool tk_proto_next(tk_proto *p, tk_field *ret)
{
    uint64_t tag, len;
    size_t start = p->at;
    if (p->wrong != NULL || p->at == p->bytes.len || !varint(p, &tag))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return fail(p, start, "a field number is out of range");
    *ret = (tk_field){ .number = (uint32_t)(tag >> 3), .wire = (tk_wire)(tag & 7) };
    switch (tag & 7) {
    case TK_WIRE_VARINT:
        return varint(p, &ret->value);
    case TK_WIRE_64:
        return fixed(p, 8, &ret->value);
    case TK_WIRE_32:
        return fixed(p, 4, &ret->value);
    case TK_WIRE_BYTES:
        start = p->at;
        if (!varint(p, &len))
            return false;
        if (len > p->bytes.len - p->at)
            return fail(p, start, "a field is longer than its message");
        ret->bytes = (td_str){ p->bytes.ptr + p->at, (size_t)len };
        p->at += (size_t)len;
        return true;
    default:
        return fail(p, start, "a field of a kind that is not used here");
    }
}

float tk_field_float(const tk_field *f)
{
    uint32_t bits = (uint32_t)f->value;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

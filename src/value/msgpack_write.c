#include "base/error.h"
#include "base/str.h"
#include "value/bigint.h"
#include "value/msgpack.h"

/* Appends the first byte and width bytes of v, most significant first. */
static td_code put_head(td_buf *b, unsigned type, uint64_t v, unsigned width)
{
    char text[9] = { (char)(unsigned char)type };
    for (unsigned i = 0; i < width; i++)
        text[1 + i] = (char)(unsigned char)(v >> 8 * (width - 1 - i));
    return td_buf_append(b, text, 1 + width);
}

/* Bytes needed for v, as a power of two that is at least min. */
static unsigned width_of(uint64_t v, unsigned min)
{
    unsigned width = v <= UINT8_MAX ? 1 : v <= UINT16_MAX ? 2 : v <= UINT32_MAX ? 4 : 8;
    return width < min ? min : width;
}

/* 0, 1, 2, 3 for 1, 2, 4, 8 */
static unsigned log2_width(unsigned width)
{
    return (unsigned)__builtin_ctz(width);
}

td_code td_mp_put_nil(td_buf *b)
{
    return put_head(b, 0xC0, 0, 0);
}

td_code td_mp_put_bool(td_buf *b, bool v)
{
    return put_head(b, v ? 0xC3 : 0xC2, 0, 0);
}

td_code td_mp_put_uint(td_buf *b, uint64_t v)
{
    if (v < 0x80)
        return put_head(b, (unsigned)v, 0, 0);
    unsigned width = width_of(v, 1);
    return put_head(b, 0xCC + log2_width(width), v, width);
}

td_code td_mp_put_int(td_buf *b, int64_t v)
{
    if (v >= 0)
        return td_mp_put_uint(b, (uint64_t)v);
    if (v >= -32)
        return put_head(b, (unsigned char)v, 0, 0);
    unsigned width = v >= INT8_MIN ? 1 : v >= INT16_MIN ? 2 : v >= INT32_MIN ? 4 : 8;
    return put_head(b, 0xD0 + log2_width(width), (uint64_t)v, width);
}

td_code td_mp_put_float(td_buf *b, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return put_head(b, 0xCB, bits, 8);
}

static td_code put_bytes(td_buf *b, td_code head, td_str s, size_t start)
{
    if (head == TD_OK)
        head = td_buf_put(b, s);
    if (head != TD_OK)
        b->len = start;
    return head;
}

td_code td_mp_put_str(td_buf *b, td_str s)
{
    size_t start = b->len;
    unsigned width = width_of(s.len, 1);
    td_code code = s.len < 32 ? put_head(b, 0xA0 | (unsigned)s.len, 0, 0)
                              : put_head(b, 0xD9 + log2_width(width), s.len, width);
    return put_bytes(b, code, s, start);
}

td_code td_mp_put_bin(td_buf *b, td_str s)
{
    size_t start = b->len;
    unsigned width = width_of(s.len, 1);
    return put_bytes(b, put_head(b, 0xC4 + log2_width(width), s.len, width), s, start);
}

td_code td_mp_put_array(td_buf *b, uint32_t count)
{
    if (count < 16)
        return put_head(b, 0x90 | count, 0, 0);
    unsigned width = width_of(count, 2);
    return put_head(b, 0xDB + log2_width(width), count, width);
}

td_code td_mp_put_map(td_buf *b, uint32_t count)
{
    if (count < 16)
        return put_head(b, 0x80 | count, 0, 0);
    unsigned width = width_of(count, 2);
    return put_head(b, 0xDD + log2_width(width), count, width);
}

/* ---- values ---- */

static td_code checked(td_buf *b, td_error *err, td_code code)
{
    return code == TD_OK ? TD_OK : td_buf_fail(b, err, code, "MessagePack data");
}

static td_code write_bigint(td_buf *b, const td_bigint *x, td_error *err)
{
    if (x->negative || x->count > 2)
        return td_fail(err, TD_E_INPUT, "MessagePack has no integers beyond 64 bits");
    uint64_t v = (uint64_t)x->limbs[1] << 32 | x->limbs[0];
    return checked(b, err, td_mp_put_uint(b, v));
}

static td_code write_value(td_buf *b, td_value v, unsigned depth, td_error *err);

static td_code write_container(td_buf *b, td_value v, unsigned depth, td_error *err)
{
    if (depth == TD_MSGPACK_DEPTH_MAX)
        return td_fail(err, TD_E_LIMIT, "nesting deeper than %d", TD_MSGPACK_DEPTH_MAX);
    if (v.tag != TD_V_DICT) {
        TD_TRY(checked(b, err, td_mp_put_array(b, v.len)));
        for (uint32_t i = 0; i < v.len; i++)
            TD_TRY(write_value(b, v.as.items[i], depth + 1, err));
        return TD_OK;
    }
    const td_dict *d = v.as.dict;
    TD_TRY(checked(b, err, td_mp_put_map(b, d->count)));
    for (uint32_t i = 0; i < d->count; i++) {
        TD_TRY(write_value(b, d->entries[i].key, depth + 1, err));
        TD_TRY(write_value(b, d->entries[i].val, depth + 1, err));
    }
    return TD_OK;
}

static td_code write_value(td_buf *b, td_value v, unsigned depth, td_error *err)
{
    switch ((td_vtag)v.tag) {
    case TD_V_NONE:
        return checked(b, err, td_mp_put_nil(b));
    case TD_V_BOOL:
        return checked(b, err, td_mp_put_bool(b, v.as.integer != 0));
    case TD_V_INT:
        return checked(b, err, td_mp_put_int(b, v.as.integer));
    case TD_V_BIGINT:
        return write_bigint(b, v.as.bigint, err);
    case TD_V_FLOAT:
        return checked(b, err, td_mp_put_float(b, v.as.real));
    case TD_V_STR:
        return checked(b, err, td_mp_put_str(b, td_as_str(v)));
    case TD_V_LIST:
    case TD_V_TUPLE:
    case TD_V_DICT:
        return write_container(b, v, depth, err);
    default:
        return td_fail(err, TD_E_INPUT, "MessagePack cannot hold a value of type %s",
                       td_value_type_name(v));
    }
}

td_code td_msgpack_write(td_buf *b, td_value v, td_error *err)
{
    size_t start = b->len;
    td_code code = write_value(b, v, 0, err);
    if (code != TD_OK)
        b->len = start;
    return code;
}

/* msgpack_read.c - MessagePack to items and values.
 *
 * Heads are decoded by one switch on the first byte. A count is believed only as far as the bytes
 * that are left could hold it, and containers grow with the items that were really read. */
#include "value/msgpack.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "value/bigint.h"
#include "value/builder.h"

static uint64_t big_endian(const char *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

/* ---- items ---- */

static td_code cut_short(const td_mp_cursor *c, td_error *err)
{
    return td_fail_at(err, TD_E_INPUT, (uint64_t)(c->at - c->start),
                      "MessagePack: the data ends inside an item");
}

/* The n bytes (1, 2, 4, 8) of a number behind the first byte. */
static bool number_at(const td_mp_cursor *c, unsigned n, uint64_t *ret)
{
    if ((size_t)(c->end - c->at) < 1 + (size_t)n)
        return false;
    *ret = big_endian(c->at + 1, n);
    return true;
}

/* Finishes a STR, BIN or EXT whose text of len bytes starts head bytes behind the cursor. */
static td_code take_bytes(td_mp_cursor *c, size_t head, uint64_t len, td_mp_item *ret,
                          td_error *err)
{
    if (len > (size_t)(c->end - c->at) - head)
        return cut_short(c, err);
    ret->as.bytes = (td_str){ c->at + head, (size_t)len };
    c->at += head + len;
    return TD_OK;
}

static td_code take_count(td_mp_cursor *c, size_t head, uint64_t count, td_mp_item *ret,
                          td_error *err)
{
    size_t left = (size_t)(c->end - c->at) - head;
    if (count > (ret->kind == TD_MP_MAP ? left / 2 : left))
        return cut_short(c, err);
    ret->count = (uint32_t)count;
    c->at += head;
    return TD_OK;
}

/* C4..C6 bin, C7..C9 and D4..D8 ext, D9..DB str, DC..DD array, DE..DF map */
static td_code next_sized(td_mp_cursor *c, unsigned char type, td_mp_item *ret, td_error *err)
{
    static const unsigned char widths[] = { 1, 2, 4, 1, 2, 4 }; /* of C4..C9 */
    unsigned width = 0;
    uint64_t len = 0;
    if (type >= 0xD4 && type <= 0xD8)
        len = UINT64_C(1) << (type - 0xD4);
    else
        width = type <= 0xC9   ? widths[type - 0xC4]
                : type <= 0xDB ? 1u << (type - 0xD9)
                               : 2u << (type & 1);
    if (width != 0 && !number_at(c, width, &len))
        return cut_short(c, err);
    size_t head = 1 + (size_t)width;
    if (type >= 0xDC) {
        ret->kind = type <= 0xDD ? TD_MP_ARRAY : TD_MP_MAP;
        return take_count(c, head, len, ret, err);
    }
    if (type >= 0xD9 || type <= 0xC6) {
        ret->kind = type >= 0xD9 ? TD_MP_STR : TD_MP_BIN;
        return take_bytes(c, head, len, ret, err);
    }
    if ((size_t)(c->end - c->at) <= head)
        return cut_short(c, err);
    ret->kind = TD_MP_EXT;
    ret->ext_type = (int8_t)(unsigned char)c->at[head];
    return take_bytes(c, head + 1, len, ret, err);
}

static td_mp_item signed_item(uint64_t bits, unsigned width)
{
    unsigned unused = 64 - 8 * width;
    return (td_mp_item){ .kind = TD_MP_INT, .as.integer = (int64_t)(bits << unused) >> unused };
}

static td_mp_item unsigned_item(uint64_t v)
{
    if (v > INT64_MAX)
        return (td_mp_item){ .kind = TD_MP_UINT, .as.unsigned_integer = v };
    return (td_mp_item){ .kind = TD_MP_INT, .as.integer = (int64_t)v };
}

static td_mp_item float_item(uint64_t bits, unsigned width)
{
    td_mp_item item = { .kind = TD_MP_FLOAT };
    if (width == 8) {
        memcpy(&item.as.real, &bits, sizeof item.as.real);
    } else {
        uint32_t narrow = (uint32_t)bits;
        float f;
        memcpy(&f, &narrow, sizeof f);
        item.as.real = (double)f;
    }
    return item;
}

/* CA..CB float, CC..CF unsigned, D0..D3 signed */
static td_code next_number(td_mp_cursor *c, unsigned char type, td_mp_item *ret, td_error *err)
{
    unsigned width = type <= 0xCB ? 4u << (type - 0xCA) : 1u << (type & 3);
    uint64_t bits;
    if (!number_at(c, width, &bits))
        return cut_short(c, err);
    if (type <= 0xCB)
        *ret = float_item(bits, width);
    else
        *ret = type <= 0xCF ? unsigned_item(bits) : signed_item(bits, width);
    c->at += 1 + width;
    return TD_OK;
}

td_code td_mp_next(td_mp_cursor *c, td_mp_item *ret, td_error *err)
{
    if (c->at == c->end)
        return cut_short(c, err);
    unsigned char type = (unsigned char)*c->at;
    *ret = (td_mp_item){ .kind = TD_MP_INT };
    if (type < 0x80 || type >= 0xE0) {
        ret->as.integer = (int8_t)type;
        c->at++;
        return TD_OK;
    }
    if (type < 0xA0) {
        ret->kind = type < 0x90 ? TD_MP_MAP : TD_MP_ARRAY;
        return take_count(c, 1, type & 0x0F, ret, err);
    }
    if (type < 0xC0) {
        ret->kind = TD_MP_STR;
        return take_bytes(c, 1, type & 0x1F, ret, err);
    }
    if (type >= 0xCA && type <= 0xD3)
        return next_number(c, type, ret, err);
    if (type >= 0xC4)
        return next_sized(c, type, ret, err);
    if (type == 0xC1)
        return td_fail_at(err, TD_E_INPUT, (uint64_t)(c->at - c->start),
                          "MessagePack: C1 is no type");
    c->at++;
    ret->kind = type == 0xC0 ? TD_MP_NIL : TD_MP_BOOL;
    if (type != 0xC0)
        ret->as.boolean = type == 0xC3;
    return TD_OK;
}

static td_code too_deep(const td_mp_cursor *c, td_error *err)
{
    return td_fail_at(err, TD_E_LIMIT, (uint64_t)(c->at - c->start),
                      "MessagePack: nesting deeper than %d", TD_MSGPACK_DEPTH_MAX);
}

td_code td_mp_skip(td_mp_cursor *c, td_error *err)
{
    uint64_t left[TD_MSGPACK_DEPTH_MAX + 1]; /* items still to skip on each level */
    size_t depth = 0;
    left[0] = 1;
    for (;;) {
        while (left[depth] == 0) {
            if (depth == 0)
                return TD_OK;
            depth--;
        }
        left[depth]--;
        const char *at = c->at;
        td_mp_item item;
        TD_TRY(td_mp_next(c, &item, err));
        if (item.kind != TD_MP_ARRAY && item.kind != TD_MP_MAP)
            continue;
        if (depth == TD_MSGPACK_DEPTH_MAX) {
            c->at = at;
            return too_deep(c, err);
        }
        left[++depth] = item.kind == TD_MP_MAP ? 2 * (uint64_t)item.count : item.count;
    }
}

/* ---- values ---- */

typedef struct frame {
    size_t start;  /* of its items on the stack */
    uint64_t left; /* items to come; of a map keys and values count apart */
    bool is_map, is_key;
} frame;

typedef struct reader {
    td_mp_cursor *cursor;
    td_error *err;
    size_t depth;
    frame frames[TD_MSGPACK_DEPTH_MAX];
    td_builder builder;
} reader;

static td_code fail_memory(const reader *r)
{
    return td_arena_fail(r->builder.arena, r->err);
}

static bool at_key(const reader *r)
{
    const frame *f = r->depth > 0 ? &r->frames[r->depth - 1] : NULL;
    return f != NULL && ((f->is_map && f->left % 2 == 0) || f->is_key);
}

static td_code refuse(const reader *r, const char *at, const char *what)
{
    return td_fail_at(r->err, TD_E_INPUT, (uint64_t)(at - r->cursor->start),
                      "MessagePack: %s cannot be part of a value", what);
}

static td_code text_value(const reader *r, td_str s, td_value *ret)
{
    bool ascii = td_utf8_is_ascii(s);
    if (!ascii) {
        size_t valid = td_utf8_check_strict(s);
        if (valid != s.len)
            return td_fail_at(r->err, TD_E_INPUT, (uint64_t)(s.ptr + valid - r->cursor->start),
                              "MessagePack: invalid UTF-8");
    }
    *ret = td_string(s);
    ret->flags = ascii ? TD_VF_ASCII : TD_VF_NONASCII;
    if (at_key(r))
        ret->hash = td_key_hash(s);
    return TD_OK;
}

static td_code big_value(const reader *r, uint64_t v, td_value *ret)
{
    char digits[20];
    size_t at = sizeof digits;
    for (; v != 0; v /= 10)
        digits[--at] = (char)('0' + v % 10);
    td_str text = { digits + at, sizeof digits - at };
    return td_bigint_parse(r->builder.arena, text, 10, ret) ? TD_OK : fail_memory(r);
}

static td_code scalar_value(const reader *r, const char *at, const td_mp_item *item, td_value *ret)
{
    switch (item->kind) {
    case TD_MP_NIL:
        *ret = td_none();
        return TD_OK;
    case TD_MP_BOOL:
        *ret = td_bool(item->as.boolean);
        return TD_OK;
    case TD_MP_INT:
        *ret = td_int(item->as.integer);
        return TD_OK;
    case TD_MP_UINT:
        return big_value(r, item->as.unsigned_integer, ret);
    case TD_MP_FLOAT:
        *ret = td_float(item->as.real);
        return TD_OK;
    case TD_MP_STR:
        return text_value(r, item->as.bytes, ret);
    case TD_MP_BIN:
        return refuse(r, at, "binary data");
    default:
        return td_fail_at(r->err, TD_E_INPUT, (uint64_t)(at - r->cursor->start),
                          "MessagePack: extension type %d cannot be part of a value",
                          item->ext_type);
    }
}

static td_code open_container(reader *r, const char *at, const td_mp_item *item)
{
    bool key = at_key(r), map = item->kind == TD_MP_MAP;
    if (key && map)
        return refuse(r, at, "a map as key");
    if (r->depth == TD_MSGPACK_DEPTH_MAX) {
        r->cursor->at = at;
        return too_deep(r->cursor, r->err);
    }
    r->frames[r->depth++] = (frame){ .start = r->builder.count,
                                     .left = map ? 2 * (uint64_t)item->count : item->count,
                                     .is_map = map,
                                     .is_key = key };
    return TD_OK;
}

/* Closes the containers that are complete. */
static td_code close_containers(reader *r)
{
    while (r->depth > 0 && r->frames[r->depth - 1].left == 0) {
        const frame *f = &r->frames[--r->depth];
        bool ok = f->is_map ? td_builder_dict(&r->builder, f->start)
                            : td_builder_sequence(&r->builder, f->start,
                                                  f->is_key ? TD_V_TUPLE : TD_V_LIST);
        if (!ok)
            return fail_memory(r);
        if (r->depth > 0)
            r->frames[r->depth - 1].left--;
    }
    return TD_OK;
}

static td_code read_value(reader *r)
{
    do {
        const char *at = r->cursor->at;
        td_mp_item item;
        TD_TRY(td_mp_next(r->cursor, &item, r->err));
        if (item.kind == TD_MP_ARRAY || item.kind == TD_MP_MAP) {
            TD_TRY(open_container(r, at, &item));
        } else {
            td_value v;
            TD_TRY(scalar_value(r, at, &item, &v));
            td_value *slot = td_builder_push(&r->builder);
            if (slot == NULL)
                return fail_memory(r);
            *slot = v;
            if (r->depth > 0)
                r->frames[r->depth - 1].left--;
        }
        TD_TRY(close_containers(r));
    } while (r->depth > 0);
    return TD_OK;
}

td_code td_mp_read(td_mp_cursor *c, td_arena *a, td_value *ret, td_error *err)
{
    if ((size_t)(c->end - c->at) >= UINT32_MAX)
        return td_fail(err, TD_E_LIMIT, "MessagePack: 4 GiB or more");
    reader r;
    r.cursor = c;
    r.err = err;
    r.depth = 0;
    td_builder_start(&r.builder, a);
    td_code code = read_value(&r);
    if (code == TD_OK)
        *ret = r.builder.stack[0];
    td_builder_done(&r.builder);
    return code;
}

td_code td_msgpack_read(td_arena *a, td_str bytes, td_value *ret, td_error *err)
{
    td_mp_cursor c = td_mp_cursor_of(bytes);
    td_value v;
    TD_TRY(td_mp_read(&c, a, &v, err));
    if (c.at != c.end)
        return td_fail_at(err, TD_E_INPUT, (uint64_t)(c.at - c.start),
                          "MessagePack: bytes behind the value");
    *ret = v;
    return TD_OK;
}

#include "metrics/pack.h"

/* A type byte and the low bytes of value, big-endian. */
static td_code put(td_buf *out, unsigned type, uint64_t value, unsigned bytes)
{
    char text[9] = { (char)type };
    for (unsigned i = 0; i < bytes; i++)
        text[1 + i] = (char)(value >> (8 * (bytes - 1 - i)));
    return td_buf_append(out, text, 1 + bytes);
}

td_code td_pack_nil(td_buf *out)
{
    return put(out, 0xC0, 0, 0);
}

static td_code pack_unsigned(td_buf *out, uint64_t value)
{
    if (value < 0x80)
        return put(out, (unsigned)value, 0, 0);
    if (value <= UINT8_MAX)
        return put(out, 0xCC, value, 1);
    if (value <= UINT16_MAX)
        return put(out, 0xCD, value, 2);
    if (value <= UINT32_MAX)
        return put(out, 0xCE, value, 4);
    return put(out, 0xCF, value, 8);
}

td_code td_pack_int(td_buf *out, td_wide value)
{
    if (value >= 0)
        return pack_unsigned(out, value > UINT64_MAX ? UINT64_MAX : (uint64_t)value);
    int64_t v = td_wide_to_i64(value);
    if (v >= -32)
        return put(out, (unsigned)v & 0xFF, 0, 0);
    if (v >= INT8_MIN)
        return put(out, 0xD0, (uint64_t)v, 1);
    if (v >= INT16_MIN)
        return put(out, 0xD1, (uint64_t)v, 2);
    if (v >= INT32_MIN)
        return put(out, 0xD2, (uint64_t)v, 4);
    return put(out, 0xD3, (uint64_t)v, 8);
}

td_code td_pack_double(td_buf *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put(out, 0xCB, bits, 8);
}

td_code td_pack_str(td_buf *out, td_str text)
{
    td_code code;
    if (text.len < 32)
        code = put(out, 0xA0 | (unsigned)text.len, 0, 0);
    else if (text.len <= UINT8_MAX)
        code = put(out, 0xD9, text.len, 1);
    else if (text.len <= UINT16_MAX)
        code = put(out, 0xDA, text.len, 2);
    else
        code = text.len <= UINT32_MAX ? put(out, 0xDB, text.len, 4) : TD_E_LIMIT;
    return code != TD_OK ? code : td_buf_put(out, text);
}

static td_code pack_count(td_buf *out, unsigned fix, unsigned wide, uint32_t count)
{
    if (count < 16)
        return put(out, fix | count, 0, 0);
    return count <= UINT16_MAX ? put(out, wide, count, 2) : put(out, wide + 1, count, 4);
}

td_code td_pack_array(td_buf *out, uint32_t count)
{
    return pack_count(out, 0x90, 0xDC, count);
}

td_code td_pack_map(td_buf *out, uint32_t count)
{
    return pack_count(out, 0x80, 0xDE, count);
}

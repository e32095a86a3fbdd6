/* worker_protocol.c - frames to and from external tokenizer processes. Answers are untrusted: every
 * key that is known has its type checked, and there must be nothing behind the map. */
#include "count/worker_protocol.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/msgpack.h"

/* ---- to the worker ---- */

static td_code put_key(td_buf *b, const char *key)
{
    return td_mp_put_str(b, td_str_from(key));
}

static td_code put_bytes(td_buf *b, const char *key, td_str value)
{
    TD_TRY(put_key(b, key));
    return value.ptr != NULL ? td_mp_put_bin(b, value) : td_mp_put_nil(b);
}

static td_code start_frame(td_buf *b)
{
    b->len = 0;
    return td_buf_append(b, "\0\0\0\0", TD_WORKER_HEAD_BYTES);
}

static td_code end_frame(td_buf *b)
{
    size_t len = b->len - TD_WORKER_HEAD_BYTES;
    if (len > UINT32_MAX)
        return TD_E_LIMIT;
    for (int i = 0; i < TD_WORKER_HEAD_BYTES; i++)
        b->ptr[i] = (char)(unsigned char)(len >> 8 * (TD_WORKER_HEAD_BYTES - 1 - i));
    return TD_OK;
}

td_code td_worker_put_hello(td_buf *b, const td_worker_hello *hello)
{
    TD_TRY(start_frame(b));
    TD_TRY(td_mp_put_map(b, 6));
    TD_TRY(put_key(b, "protocol"));
    TD_TRY(td_mp_put_uint(b, TD_WORKER_PROTOCOL));
    TD_TRY(put_bytes(b, "model", hello->model));
    TD_TRY(put_bytes(b, "revision", hello->revision));
    TD_TRY(put_bytes(b, "chat_template", hello->chat_template));
    TD_TRY(put_bytes(b, "chat_template_kwargs", hello->chat_template_kwargs));
    TD_TRY(put_key(b, "parse_arguments"));
    TD_TRY(td_mp_put_bool(b, hello->parse_arguments));
    return end_frame(b);
}

void td_worker_pack_ids(const td_id *ids, size_t count, char *bytes)
{
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++)
            bytes[4 * i + (size_t)k] = (char)(unsigned char)(ids[i] >> 8 * (3 - k));
}

void td_worker_unpack_ids(td_str bytes, td_id *ids)
{
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    for (size_t i = 0; i < bytes.len / 4; i++, b += 4)
        ids[i] = (td_id)b[0] << 24 | (td_id)b[1] << 16 | (td_id)b[2] << 8 | b[3];
}

static const char *name_of(td_operation operation)
{
    switch (operation) {
    case TD_DO_RENDER:
        return "render";
    case TD_DO_ENCODE:
        return "encode";
    case TD_DO_DECODE:
        return "decode";
    case TD_DO_COUNT:
        break;
    }
    return "count";
}

td_code td_worker_put_item(td_buf *b, const td_worker_item *item, uint64_t seq)
{
    bool text = item->via == TD_VIA_TEXT, ids = item->via == TD_VIA_TOKEN_IDS;
    bool other = item->operation != TD_DO_COUNT;
    if (item->text.len > UINT32_MAX - 128)
        return TD_E_LIMIT;
    TD_TRY(start_frame(b));
    TD_TRY(td_mp_put_map(b, 3 + (uint32_t)(text || ids) + (uint32_t)other));
    TD_TRY(put_key(b, "seq"));
    TD_TRY(td_mp_put_uint(b, seq));
    TD_TRY(put_key(b, "via"));
    TD_TRY(put_key(b, td_via_name(item->via)));
    TD_TRY(put_key(b, text ? "text" : ids ? "ids" : "request"));
    TD_TRY(td_mp_put_bin(b, item->text));
    if (text || ids) {
        TD_TRY(put_key(b, text ? "add_special_tokens" : "skip_special_tokens"));
        TD_TRY(td_mp_put_bool(b, text ? item->add_special_tokens : item->skip_special_tokens));
    }
    if (other) {
        TD_TRY(put_key(b, "do"));
        TD_TRY(put_key(b, name_of(item->operation)));
    }
    return end_frame(b);
}

/* ---- from the worker ---- */

uint32_t td_worker_frame_length(const char head[TD_WORKER_HEAD_BYTES])
{
    uint32_t len = 0;
    for (int i = 0; i < TD_WORKER_HEAD_BYTES; i++)
        len = len << 8 | (unsigned char)head[i];
    return len;
}

typedef struct reader {
    td_mp_cursor cursor;
    td_worker_answer *answer;
    bool has_seq, has_tokens, has_ids, has_text, has_error, has_protocol, has_model, has_kind;
    bool has_message;
} reader;

static td_code read_uint(reader *r, const char *key, uint64_t *ret, bool *seen, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(&r->cursor, &item, err));
    if (*seen)
        return td_fail(err, TD_E_INPUT, "\"%s\" stands twice", key);
    if (item.kind != TD_MP_INT || item.as.integer < 0)
        return td_fail(err, TD_E_INPUT, "\"%s\" is no number from 0 up", key);
    *seen = true;
    *ret = (uint64_t)item.as.integer;
    return TD_OK;
}

static td_code read_text(reader *r, const char *key, td_str *ret, bool *seen, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(&r->cursor, &item, err));
    if (*seen)
        return td_fail(err, TD_E_INPUT, "\"%s\" stands twice", key);
    if (item.kind != TD_MP_STR)
        return td_fail(err, TD_E_INPUT, "\"%s\" is no text", key);
    *seen = true;
    *ret = item.as.bytes;
    return TD_OK;
}

static td_code read_bytes(reader *r, const char *key, td_str *ret, bool *seen, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(&r->cursor, &item, err));
    if (*seen)
        return td_fail(err, TD_E_INPUT, "\"%s\" stands twice", key);
    if (item.kind != TD_MP_BIN)
        return td_fail(err, TD_E_INPUT, "\"%s\" is no bytes", key);
    *seen = true;
    *ret = item.as.bytes;
    return TD_OK;
}

/* The kinds that a worker may give to an item. */
static td_code read_kind(reader *r, td_error *err)
{
    static const td_code kinds[] = { TD_E_INPUT, TD_E_TEMPLATE, TD_E_LIMIT, TD_E_TOKENIZER,
                                     TD_E_WORKER };
    td_str name = { NULL, 0 };
    TD_TRY(read_text(r, "kind", &name, &r->has_kind, err));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (td_str_eq(name, td_str_from(td_code_name(kinds[i])))) {
            r->answer->code = kinds[i];
            return TD_OK;
        }
    }
    return td_fail(err, TD_E_INPUT, "an error of an unknown kind");
}

static td_code read_error(reader *r, td_error *err)
{
    td_mp_item map, key;
    TD_TRY(td_mp_next(&r->cursor, &map, err));
    if (map.kind != TD_MP_MAP || r->has_error)
        return td_fail(err, TD_E_INPUT, "\"error\" is no map, or stands twice");
    r->has_error = true;
    for (uint32_t i = 0; i < map.count; i++) {
        TD_TRY(td_mp_next(&r->cursor, &key, err));
        if (key.kind != TD_MP_STR)
            return td_fail(err, TD_E_INPUT, "a key is no text");
        if (td_str_eq(key.as.bytes, TD_STR("kind")))
            TD_TRY(read_kind(r, err));
        else if (td_str_eq(key.as.bytes, TD_STR("message")))
            TD_TRY(read_text(r, "message", &r->answer->message, &r->has_message, err));
        else
            TD_TRY(td_mp_skip(&r->cursor, err));
    }
    if (!r->has_kind || !r->has_message)
        return td_fail(err, TD_E_INPUT, "an error needs \"kind\" and \"message\"");
    r->answer->failed = true;
    return TD_OK;
}

static td_code read_member(reader *r, td_str key, td_error *err)
{
    td_worker_answer *a = r->answer;
    if (td_str_eq(key, TD_STR("seq")))
        return read_uint(r, "seq", &a->seq, &r->has_seq, err);
    if (td_str_eq(key, TD_STR("tokens")))
        return read_uint(r, "tokens", &a->tokens, &r->has_tokens, err);
    if (td_str_eq(key, TD_STR("ids")))
        return read_bytes(r, "ids", &a->ids, &r->has_ids, err);
    if (td_str_eq(key, TD_STR("text")))
        return read_bytes(r, "text", &a->text, &r->has_text, err);
    if (td_str_eq(key, TD_STR("protocol")))
        return read_uint(r, "protocol", &a->protocol, &r->has_protocol, err);
    if (td_str_eq(key, TD_STR("model")))
        return read_text(r, "model", &a->model, &r->has_model, err);
    if (td_str_eq(key, TD_STR("error")))
        return read_error(r, err);
    return td_mp_skip(&r->cursor, err);
}

static td_code read_map(td_str payload, reader *r, td_worker_answer *ret, td_error *err)
{
    *ret = (td_worker_answer){ 0 };
    *r = (reader){ .cursor = td_mp_cursor_of(payload), .answer = ret };
    td_mp_item map, key;
    TD_TRY(td_mp_next(&r->cursor, &map, err));
    if (map.kind != TD_MP_MAP)
        return td_fail(err, TD_E_INPUT, "not a map");
    for (uint32_t i = 0; i < map.count; i++) {
        TD_TRY(td_mp_next(&r->cursor, &key, err));
        if (key.kind != TD_MP_STR)
            return td_fail(err, TD_E_INPUT, "a key is no text");
        TD_TRY(read_member(r, key.as.bytes, err));
    }
    if (r->cursor.at != r->cursor.end)
        return td_fail(err, TD_E_INPUT, "bytes behind the map");
    return TD_OK;
}

td_code td_worker_read_hello(td_str payload, td_worker_answer *ret, td_error *err)
{
    reader r;
    TD_TRY(read_map(payload, &r, ret, err));
    if (!r.has_protocol)
        return td_fail(err, TD_E_INPUT, "no \"protocol\"");
    if (!r.has_error && (!r.has_model || ret->model.len == 0))
        return td_fail(err, TD_E_INPUT, "no \"model\"");
    return TD_OK;
}

td_code td_worker_read_answer(td_str payload, td_operation operation, td_worker_answer *ret,
                              td_error *err)
{
    reader r;
    TD_TRY(read_map(payload, &r, ret, err));
    if (!r.has_seq)
        return td_fail(err, TD_E_INPUT, "no \"seq\"");
    bool counts = operation == TD_DO_COUNT, encodes = operation == TD_DO_ENCODE;
    if ((counts ? r.has_tokens : encodes ? r.has_ids : r.has_text) == r.has_error)
        return td_fail(err, TD_E_INPUT, "either \"%s\" or \"error\" is needed",
                       counts    ? "tokens"
                       : encodes ? "ids"
                                 : "text");
    if (ret->ids.len % 4 != 0)
        return td_fail(err, TD_E_INPUT, "\"ids\" are cut short");
    if (td_utf8_check(ret->text) != ret->text.len)
        return td_fail(err, TD_E_INPUT, "\"text\" is no UTF-8");
    return TD_OK;
}

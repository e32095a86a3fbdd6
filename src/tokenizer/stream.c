/* stream.c - decoding step by step, by the reference's rule.
 *
 * Idea:  the ids of the last step that gave text out are kept, and their text: the prefix. A step's
 *        text is what decoding them together with the new ids puts behind the prefix. A decoded
 *        text that ends with U+FFFD is taken for an incomplete character and waits.
 * Holds: prefix is the text of the first prefix_count ids, or empty. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "tokdrain/tokenizer.h"

struct td_decode_stream {
    td_encoder *enc;
    unsigned flags;
    td_id *ids;
    size_t count, cap;
    td_buf prefix, out;
    size_t prefix_count;
};

static td_code add_ids(td_decode_stream *s, const td_id *ids, size_t count, td_error *err)
{
    if (count > s->cap - s->count) {
        size_t cap = (s->count + count) * 2 + 8;
        td_id *to = cap < SIZE_MAX / sizeof *to ? td_realloc(s->ids, cap * sizeof *to) : NULL;
        if (to == NULL)
            return td_fail_nomem(err);
        s->ids = to;
        s->cap = cap;
    }
    if (count != 0)
        memcpy(s->ids + s->count, ids, count * sizeof *ids);
    s->count += count;
    return TD_OK;
}

td_decode_stream *td_decode_stream_new(td_tokenizer *tok, const td_id *ids, size_t count,
                                       unsigned flags)
{
    td_error err = TD_ERROR_INIT;
    td_decode_stream *s = td_calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->flags = flags;
    s->enc = td_encoder_new(tok);
    if (s->enc != NULL && add_ids(s, ids, count, &err) == TD_OK)
        return s;
    td_error_clear(&err);
    td_decode_stream_free(s);
    return NULL;
}

void td_decode_stream_free(td_decode_stream *stream)
{
    if (stream == NULL)
        return;
    td_encoder_free(stream->enc);
    td_free(stream->ids);
    td_buf_done(&stream->prefix);
    td_buf_done(&stream->out);
    td_free(stream);
}

static bool is_complete(td_str text)
{
    return !td_str_ends(text, TD_STR("\xEF\xBF\xBD"));
}

static td_code decode(td_decode_stream *s, td_str *ret, td_error *err)
{
    return td_decode(s->enc, s->ids, s->count, s->flags, ret, err);
}

static td_code keep(td_buf *to, td_str text, td_error *err)
{
    to->len = 0;
    td_code code = td_buf_put(to, text);
    return code == TD_OK ? TD_OK : td_buf_fail(to, err, code, "decoded text");
}

/* What came before the stream is the first prefix, once it is complete. */
static td_code start(td_decode_stream *s, td_error *err)
{
    td_str text;
    if (s->prefix.len != 0 || s->count == 0)
        return TD_OK;
    TD_TRY(decode(s, &text, err));
    if (!is_complete(text))
        return TD_OK;
    s->prefix_count = s->count;
    return keep(&s->prefix, text, err);
}

/* The ids behind the prefix become the next prefix. */
static td_code advance(td_decode_stream *s, td_error *err)
{
    td_str text;
    size_t rest = s->count - s->prefix_count;
    memmove(s->ids, s->ids + s->prefix_count, rest * sizeof *s->ids);
    s->count = s->prefix_count = rest;
    s->prefix.len = 0;
    TD_TRY(decode(s, &text, err));
    return keep(&s->prefix, text, err);
}

static td_code step(td_decode_stream *s, const td_id *ids, size_t count, td_str *ret, td_error *err)
{
    td_str text;
    TD_TRY(start(s, err));
    TD_TRY(add_ids(s, ids, count, err));
    TD_TRY(decode(s, &text, err));
    *ret = (td_str){ NULL, 0 };
    if (text.len <= s->prefix.len || !is_complete(text))
        return TD_OK;
    if (!td_str_starts(text, td_buf_view(&s->prefix)))
        return td_fail(err, TD_E_TOKENIZER,
                       "the decoder changes text that the stream has given out");
    TD_TRY(keep(&s->out, td_str_from_offset(text, s->prefix.len), err));
    TD_TRY(advance(s, err));
    *ret = td_buf_view(&s->out);
    return TD_OK;
}

td_code td_decode_stream_step(td_decode_stream *stream, const td_id *ids, size_t count,
                              td_str *ret_text, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_str text;
    td_code code = step(stream, ids, count, &text, &local);
    if (code == TD_OK)
        *ret_text = text;
    else if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

#include "aggregator/frame.h"

#include "base/error.h"
#include "base/str.h"

/* Records from here on are large: prompts and answers, not the chunks between them. */
enum { LARGE_BYTES = 4096 };

static const char batch_topic[TD_TOPIC_BYTES] = "batch";

/* One pass ahead: a batch is good as a whole or not used at all. */
static td_code check_batch(td_mp_cursor c, uint32_t *ret_count, size_t *ret_large_min,
                           td_error *err)
{
    size_t large_bytes = 0, all_bytes = (size_t)(c.end - c.at);
    td_mp_item item;
    TD_TRY(td_mp_next(&c, &item, err));
    if (item.kind != TD_MP_ARRAY)
        return td_fail(err, TD_E_INPUT, "a batch must be an array");
    uint32_t count = item.count;
    for (uint32_t i = 0; i < count; i++) {
        TD_TRY(td_mp_next(&c, &item, err));
        if (item.kind != TD_MP_BIN)
            return td_fail(err, TD_E_INPUT, "element %u of a batch is not bin", i);
        large_bytes += item.as.bytes.len >= LARGE_BYTES ? item.as.bytes.len : 0;
    }
    if (c.at != c.end)
        return td_fail(err, TD_E_INPUT, "bytes behind the batch");
    *ret_count = count;
    *ret_large_min = large_bytes >= all_bytes - all_bytes / 4 ? LARGE_BYTES : SIZE_MAX;
    return TD_OK;
}

td_code td_frame_read(td_str frame, td_records *ret, td_error *err)
{
    *ret = (td_records){ 0 };
    bool is_batch =
        frame.len >= TD_TOPIC_BYTES && memcmp(frame.ptr, batch_topic, TD_TOPIC_BYTES) == 0;
    if (frame.len < TD_TOPIC_BYTES || (frame.len == TD_TOPIC_BYTES && !is_batch))
        return TD_OK;
    td_str payload = td_str_from_offset(frame, TD_TOPIC_BYTES);
    if (!is_batch) {
        ret->single = payload;
        return TD_OK;
    }
    td_mp_cursor c = td_mp_cursor_of(payload);
    uint32_t count = 0;
    TD_TRY(check_batch(c, &count, &ret->large_min, err));
    td_mp_item head;
    TD_TRY(td_mp_next(&c, &head, err));
    ret->cursor = c;
    ret->left = count;
    return TD_OK;
}

bool td_frame_next(td_records *r, td_str *ret_record)
{
    if (r->single.ptr != NULL) {
        *ret_record = r->single;
        r->single.ptr = NULL;
        return true;
    }
    td_error err = TD_ERROR_INIT;
    td_mp_item item;
    while (r->left != 0) {
        r->left--;
        if (td_mp_next(&r->cursor, &item, &err) != TD_OK) { /* checked before: cannot fail */
            td_error_clear(&err);
            r->left = 0;
            return false;
        }
        if (item.as.bytes.len != 0) {
            *ret_record = item.as.bytes;
            return true;
        }
    }
    return false;
}

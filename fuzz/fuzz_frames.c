/* fuzz_frames.c - what arrives on the event socket: frames, batches, records, and the requests to
 * the counting pool that are made from them.
 *
 * Beyond not crashing: every view of an event lies in its record, and a request that was made reads
 * the same text when it shares the frame as when it has a copy. */
#include <stdlib.h>

#include "aggregator/event.h"
#include "aggregator/frame.h"
#include "aggregator/item.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "chat/request.h"
#include "fuzz.h"
#include "value/json.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Messages without a socket. */
struct td_message {
    int owners;
};

td_message *td_message_ref(td_message *m)
{
    m->owners++;
    return m;
}

void td_message_unref(td_message *m)
{
    m->owners--;
}

static void check_within(td_str record, td_str view)
{
    CHECK(view.len == 0 ||
          (view.ptr >= record.ptr && view.len <= record.len - (size_t)(view.ptr - record.ptr)));
}

typedef td_code (*make_fn)(const td_event *e, td_record record, td_request **ret, td_error *err);

static td_code make_prompt(const td_event *e, td_record record, td_request **ret, td_error *err)
{
    return td_item_prompt(&e->prompt, record, ret, err);
}

static td_code make_output(const td_event *e, td_record record, td_request **ret, td_error *err)
{
    return td_item_output(&e->output, record, ret, err);
}

static td_code make_rest(const td_event *e, td_record record, td_request **ret, td_error *err)
{
    return td_item_rest(&e->output, record, ret, err);
}

/* The request's input as JSON text, or nothing. */
static td_buf written(make_fn make, const td_event *e, td_str record, bool may_share)
{
    td_message message = { 1 };
    td_error err = TD_ERROR_INIT;
    td_request *r = NULL;
    td_buf out = { 0 };
    td_json_style style = { 0 };
    td_code code = make(e, (td_record){ &message, record, may_share }, &r, &err);
    CHECK((code == TD_OK) == (err.code == TD_OK));
    if (r != NULL) {
        CHECK(code == TD_OK && r->decoded);
        const td_value *v = r->via == TD_VIA_TEXT      ? &r->keys.text
                            : r->via == TD_VIA_MESSAGE ? &r->keys.message
                                                       : &r->keys.messages;
        if (td_json_write(&out, *v, &style, &err) != TD_OK) {
            CHECK(err.code == TD_E_TEMPLATE); /* an array as a key has no JSON text */
            out.len = 0;
        }
    }
    td_request_free(r);
    td_error_clear(&err);
    CHECK(message.owners == 1);
    return out;
}

static void check_item(make_fn make, const td_event *e, td_str record)
{
    td_buf shared = written(make, e, record, true);
    td_buf copied = written(make, e, record, false);
    CHECK(td_str_eq(td_buf_view(&shared), td_buf_view(&copied)));
    td_buf_done(&shared);
    td_buf_done(&copied);
}

static void check_record(td_str record)
{
    td_error err = TD_ERROR_INIT;
    td_event e;
    if (td_event_read(record, 1, &e, &err) == TD_OK) {
        check_within(record, e.sample);
        check_within(record, e.finish_reason);
        if (e.data == TD_DATA_PROMPT) {
            check_within(record, e.prompt.text);
            check_within(record, e.prompt.messages);
            check_item(make_prompt, &e, record);
        } else if (e.data == TD_DATA_OUTPUT) {
            check_within(record, e.output.calls);
            check_item(make_output, &e, record);
            check_item(make_rest, &e, record);
        }
    }
    td_error_clear(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    td_str frame = { (const char *)data, size }, record;
    td_records records;
    td_error err = TD_ERROR_INIT;
    check_record(frame); /* most mutations break the frame around a record */
    if (td_frame_read(frame, &records, &err) == TD_OK)
        while (td_frame_next(&records, &record))
            check_record(record);
    td_error_clear(&err);
    return 0;
}

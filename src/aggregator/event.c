/* event.c - decoding by hand along the record's schema.
 *
 * The reader walks the map once; what it does not know it skips, what it knows it checks strictly
 * (no number is a string, no bool a number). Subtrees that are only handed on are checked to be
 * values that text can be made of, with a stack of counters instead of recursion. */
#include "aggregator/event.h"

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "value/msgpack.h"

#define TOPIC(text, kind) { { text, sizeof(text) - 1 }, kind }

static const struct {
    td_str topic;
    td_event_kind kind;
} topics[] = {
    TOPIC("sample.recv_non_first", TD_EV_RECV_NON_FIRST),
    TOPIC("sample.recv_first", TD_EV_RECV_FIRST),
    TOPIC("sample.issued", TD_EV_ISSUED),
    TOPIC("sample.complete", TD_EV_COMPLETE),
    TOPIC("session.started", TD_EV_STARTED),
    TOPIC("session.ended", TD_EV_ENDED),
    TOPIC("session.stop_loadgen", TD_EV_STOP_LOADGEN),
    TOPIC("session.start_performance_tracking", TD_EV_START_TRACKING),
    TOPIC("session.stop_performance_tracking", TD_EV_STOP_TRACKING),
    TOPIC("error.generic", TD_EV_ERROR),
    TOPIC("error.loadgen", TD_EV_ERROR),
    TOPIC("error.session", TD_EV_ERROR),
    TOPIC("error.client", TD_EV_ERROR),
};

/* ---- parts ---- */

static td_code read_text(td_mp_cursor *c, const char *what, td_str *ret, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(c, &item, err));
    if (item.kind != TD_MP_STR)
        return td_fail(err, TD_E_INPUT, "%s must be a string", what);
    if (td_utf8_check_strict(item.as.bytes) != item.as.bytes.len)
        return td_fail(err, TD_E_INPUT, "%s is not valid UTF-8", what);
    *ret = item.as.bytes.ptr != NULL ? item.as.bytes : TD_STR("");
    return TD_OK;
}

static bool at_nil(const td_mp_cursor *c)
{
    return c->at < c->end && *c->at == '\xC0';
}

/* Moves over a nil; false when something else comes. */
static bool take_nil(td_mp_cursor *c)
{
    if (!at_nil(c))
        return false;
    c->at++;
    return true;
}

static td_code read_int(td_mp_cursor *c, const char *what, td_wide *ret, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(c, &item, err));
    if (item.kind == TD_MP_INT)
        *ret = item.as.integer;
    else if (item.kind == TD_MP_UINT)
        *ret = (td_wide)item.as.unsigned_integer;
    else
        return td_fail(err, TD_E_INPUT, "%s must be an integer", what);
    return TD_OK;
}

static td_code read_array(td_mp_cursor *c, const char *what, uint32_t *ret, td_error *err)
{
    td_mp_item item;
    TD_TRY(td_mp_next(c, &item, err));
    if (item.kind != TD_MP_ARRAY)
        return td_fail(err, TD_E_INPUT, "%s must be an array", what);
    *ret = item.count;
    return TD_OK;
}

/* Moves over a value that will be handed on: valid text everywhere, nothing unhashable as a key. */
static td_code check_any(td_mp_cursor *c, td_error *err)
{
    struct {
        uint64_t left; /* items to come; keys and values both count */
        bool map;
    } open[TD_MSGPACK_DEPTH_MAX];
    size_t depth = 0;
    do {
        bool is_key = false;
        if (depth != 0) {
            is_key = open[depth - 1].map && open[depth - 1].left % 2 == 0;
            open[depth - 1].left--;
        }
        td_mp_item item;
        TD_TRY(td_mp_next(c, &item, err));
        if (item.kind == TD_MP_STR &&
            td_utf8_check_strict(item.as.bytes) != item.as.bytes.len)
            return td_fail(err, TD_E_INPUT, "a string is not valid UTF-8");
        if (item.kind == TD_MP_MAP && is_key)
            return td_fail(err, TD_E_INPUT, "a map cannot be a key");
        if (item.kind == TD_MP_ARRAY || item.kind == TD_MP_MAP) {
            if (depth == TD_MSGPACK_DEPTH_MAX)
                return td_fail(err, TD_E_LIMIT, "nested deeper than %d", TD_MSGPACK_DEPTH_MAX);
            open[depth].map = item.kind == TD_MP_MAP;
            open[depth++].left = (uint64_t)item.count * (item.kind == TD_MP_MAP ? 2 : 1);
        }
        while (depth != 0 && open[depth - 1].left == 0)
            depth--;
    } while (depth != 0);
    return TD_OK;
}

static td_str since(const char *start, const td_mp_cursor *c)
{
    return (td_str){ start, (size_t)(c->at - start) };
}

/* A map whose own keys are strings; its values are anything. */
static td_code read_object(td_mp_cursor *c, const char *what, td_str *ret, td_error *err)
{
    const char *start = c->at;
    td_mp_item item;
    TD_TRY(td_mp_next(c, &item, err));
    if (item.kind != TD_MP_MAP)
        return td_fail(err, TD_E_INPUT, "%s must be a map", what);
    for (uint32_t i = 0; i < item.count; i++) {
        td_str key;
        TD_TRY(read_text(c, "a key", &key, err));
        TD_TRY(check_any(c, err));
    }
    *ret = since(start, c);
    return TD_OK;
}

/* nil or an array of such maps. */
static td_code read_objects(td_mp_cursor *c, const char *what, td_str *ret, td_error *err)
{
    if (take_nil(c))
        return TD_OK;
    const char *start = c->at;
    uint32_t count = 0;
    TD_TRY(read_array(c, what, &count, err));
    for (uint32_t i = 0; i < count; i++) {
        td_str object;
        TD_TRY(read_object(c, what, &object, err));
    }
    *ret = since(start, c);
    return TD_OK;
}

static td_code read_pieces(td_mp_cursor *c, const char *what, td_pieces *ret, td_error *err)
{
    td_mp_cursor ahead = *c;
    td_mp_item item;
    TD_TRY(td_mp_next(&ahead, &item, err));
    if (item.kind != TD_MP_ARRAY) {
        ret->kind = TD_PIECES_ONE;
        return read_text(c, what, &ret->one, err);
    }
    *c = ahead;
    const char *start = c->at;
    for (uint32_t i = 0; i < item.count; i++) {
        td_str piece;
        TD_TRY(read_text(c, what, &piece, err));
    }
    *ret = (td_pieces){ .kind = TD_PIECES_MANY, .count = item.count, .items = since(start, c) };
    return TD_OK;
}

/* ---- the three kinds of data; count elements follow the tag ---- */

static td_code read_output(td_mp_cursor *c, uint32_t count, td_output *o, td_error *err)
{
    *o = (td_output){ .text = { .kind = TD_PIECES_ONE, .one = TD_STR("") } };
    if (count > 0)
        TD_TRY(read_pieces(c, "output", &o->text, err));
    if (count > 1 && !take_nil(c))
        TD_TRY(read_pieces(c, "reasoning", &o->reasoning, err));
    if (count > 2 && !take_nil(c)) {
        const char *start = c->at;
        TD_TRY(read_array(c, "tool_calls", &o->call_count, err));
        for (uint32_t i = 0; i < o->call_count; i++)
            TD_TRY(check_any(c, err));
        o->calls = since(start, c);
    }
    return TD_OK;
}

static td_code read_ids(td_mp_cursor *c, td_prompt *p, td_error *err)
{
    TD_TRY(read_array(c, "token_ids", &p->id_count, err));
    p->has_ids = true;
    for (uint32_t i = 0; i < p->id_count; i++) {
        td_wide id;
        TD_TRY(read_int(c, "a token id", &id, err));
    }
    return TD_OK;
}

static td_code read_prompt(td_mp_cursor *c, uint32_t count, td_prompt *p, td_error *err)
{
    *p = (td_prompt){ 0 };
    if (count > 0 && !take_nil(c))
        TD_TRY(read_text(c, "text", &p->text, err));
    if (count > 1 && !take_nil(c))
        TD_TRY(read_ids(c, p, err));
    if (count > 2)
        TD_TRY(read_objects(c, "messages", &p->messages, err));
    if (count > 3)
        TD_TRY(read_objects(c, "tools", &p->tools, err));
    if (count > 4 && !take_nil(c))
        TD_TRY(read_object(c, "chat_template_kwargs", &p->kwargs, err));
    if (count > 5 && !take_nil(c))
        TD_TRY(read_text(c, "chat_template", &p->chat_template, err));
    if (count > 6 && !take_nil(c)) {
        const char *start = c->at;
        td_mp_cursor ahead = *c;
        td_mp_item item;
        TD_TRY(td_mp_next(&ahead, &item, err));
        if (item.kind == TD_MP_MAP)
            return read_object(c, "tool_choice", &p->tool_choice, err);
        td_str text;
        TD_TRY(read_text(c, "tool_choice", &text, err));
        p->tool_choice = since(start, c);
    }
    return TD_OK;
}

static td_code read_error(td_mp_cursor *c, uint32_t count, td_error *err)
{
    td_str text;
    if (count < 1)
        return td_fail(err, TD_E_INPUT, "ErrorData needs an error_type");
    TD_TRY(read_text(c, "error_type", &text, err));
    return count > 1 ? read_text(c, "error_message", &text, err) : TD_OK;
}

static td_code read_data(td_mp_cursor *c, td_event *e, td_error *err)
{
    e->data = TD_DATA_NONE;
    if (take_nil(c))
        return TD_OK;
    uint32_t count = 0, known;
    td_str tag = { 0 };
    TD_TRY(read_array(c, "data", &count, err));
    if (count == 0)
        return td_fail(err, TD_E_INPUT, "data must have a tag");
    TD_TRY(read_text(c, "the tag of data", &tag, err));
    count--;
    if (td_str_eq(tag, TD_STR("TextModelOutput"))) {
        e->data = TD_DATA_OUTPUT;
        known = 3;
        TD_TRY(read_output(c, count, &e->output, err));
    } else if (td_str_eq(tag, TD_STR("PromptData"))) {
        e->data = TD_DATA_PROMPT;
        known = 7;
        TD_TRY(read_prompt(c, count, &e->prompt, err));
    } else if (td_str_eq(tag, TD_STR("ErrorData"))) {
        e->data = TD_DATA_ERROR;
        known = 2;
        TD_TRY(read_error(c, count, err));
    } else {
        return td_fail(err, TD_E_INPUT, "unknown kind of data");
    }
    for (; known < count; known++)
        TD_TRY(td_mp_skip(c, err));
    return TD_OK;
}

/* ---- the record ---- */

static td_code read_kind(td_mp_cursor *c, td_event_kind *ret, td_error *err)
{
    td_str text = { 0 };
    TD_TRY(read_text(c, "event_type", &text, err));
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        if (td_str_eq(text, topics[i].topic)) {
            *ret = topics[i].kind;
            return TD_OK;
        }
    }
    return td_fail(err, TD_E_INPUT, "unknown event type");
}

static td_code read_field(td_mp_cursor *c, td_str key, td_event *e, bool *has_kind, td_error *err)
{
    td_str text;
    td_wide number;
    if (td_str_eq(key, TD_STR("event_type"))) {
        *has_kind = true;
        return read_kind(c, &e->kind, err);
    }
    if (td_str_eq(key, TD_STR("timestamp_ns")))
        return read_int(c, "timestamp_ns", &e->timestamp_ns, err);
    if (td_str_eq(key, TD_STR("sample_uuid")))
        return read_text(c, "sample_uuid", &e->sample, err);
    if (td_str_eq(key, TD_STR("data")))
        return read_data(c, e, err);
    if (td_str_eq(key, TD_STR("finish_reason")))
        return read_text(c, "finish_reason", &e->finish_reason, err);
    if (td_str_eq(key, TD_STR("conversation_id")))
        return read_text(c, "conversation_id", &text, err);
    if (td_str_eq(key, TD_STR("turn")))
        return take_nil(c) ? TD_OK : read_int(c, "turn", &number, err);
    if (td_str_eq(key, TD_STR("worker_id")))
        return read_int(c, "worker_id", &number, err);
    return td_mp_skip(c, err);
}

td_code td_event_read(td_str record, int64_t now_ns, td_event *ret, td_error *err)
{
    td_mp_cursor c = td_mp_cursor_of(record);
    td_mp_item item;
    bool has_kind = false;
    TD_TRY(td_mp_next(&c, &item, err));
    if (item.kind != TD_MP_MAP)
        return td_fail(err, TD_E_INPUT, "a record must be a map");
    ret->timestamp_ns = now_ns;
    ret->sample = TD_STR("");
    ret->finish_reason = (td_str){ 0 };
    ret->data = TD_DATA_NONE;
    for (uint32_t i = 0; i < item.count; i++) {
        td_mp_item key;
        TD_TRY(td_mp_next(&c, &key, err));
        if (key.kind != TD_MP_STR)
            return td_fail(err, TD_E_INPUT, "a key of the record must be a string");
        TD_TRY(read_field(&c, key.as.bytes, ret, &has_kind, err));
    }
    if (c.at != c.end)
        return td_fail(err, TD_E_INPUT, "bytes behind the record");
    return has_kind ? TD_OK : td_fail(err, TD_E_INPUT, "event_type is missing");
}

td_event td_event_unreadable(int64_t now_ns)
{
    return (td_event){ .kind = TD_EV_ERROR,
                       .timestamp_ns = now_ns,
                       .sample = TD_STR(""),
                       .data = TD_DATA_ERROR };
}

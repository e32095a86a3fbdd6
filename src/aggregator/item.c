#include "aggregator/item.h"

#include <assert.h>

#include "aggregator/tool_calls.h"
#include "base/error.h"
#include "base/str.h"
#include "chat/request.h"
#include "value/msgpack.h"

/* ---- bytes ---- */

static void release_message(void *user, const char *bytes)
{
    (void)bytes;
    td_message_unref(user);
}

/* A request that holds the record's bytes, in one of the two ways. */
static td_code new_request(td_record record, td_request **ret, td_error *err)
{
    if (!record.may_share)
        return td_request_new(record.bytes, NULL, NULL, ret, err);
    td_message_ref(record.message);
    td_code code =
        td_request_new(record.bytes, release_message, record.message, ret, err);
    if (code != TD_OK)
        td_message_unref(record.message);
    return code;
}

/* The same bytes as view, which lies in record, where the request has them. */
static td_str held(const td_request *r, td_record record, td_str view)
{
    if (view.len == 0 || view.ptr < record.bytes.ptr ||
        view.ptr > record.bytes.ptr + record.bytes.len)
        return view; /* an empty literal */
    return (td_str){ r->json.ptr + (view.ptr - record.bytes.ptr), view.len };
}

/* ---- parts ---- */

static td_code join_text(td_request *r, td_record record, const td_pieces *p, uint32_t skip,
                         td_value *ret, td_error *err)
{
    if (p->kind == TD_PIECES_ONE) {
        *ret = td_string(skip == 0 ? held(r, record, p->one) : TD_STR(""));
        return TD_OK;
    }
    char *text = td_arena_array(&r->arena, char, p->items.len + 32);
    if (text == NULL)
        return td_arena_fail(&r->arena, err);
    size_t len = 0;
    td_mp_cursor c = td_mp_cursor_of(p->items);
    for (uint32_t i = 0; i < p->count; i++) {
        td_mp_item item;
        TD_TRY(td_mp_next(&c, &item, err));
        if (i < skip || item.as.bytes.len == 0)
            continue;
        memcpy(text + len, item.as.bytes.ptr, item.as.bytes.len);
        len += item.as.bytes.len;
    }
    *ret = td_string((td_str){ text, len });
    return TD_OK;
}

/* The value of a msgpack part; none when it is not there. */
static td_code read_value(td_request *r, td_record record, td_str part, td_value *ret,
                          td_error *err)
{
    *ret = td_none();
    if (part.ptr == NULL)
        return TD_OK;
    return td_msgpack_read(&r->arena, held(r, record, part), ret, err);
}

static void set_text(td_request *r, td_value text)
{
    r->decoded = r->made = true;
    r->via = TD_VIA_TEXT;
    r->keys.id = td_none();
    r->keys.text = text;
    r->keys.add_special_tokens = td_bool(false);
}

static td_code set_message(td_request *r, td_value content, td_value reasoning, td_value calls,
                           td_error *err)
{
    td_arena *a = &r->arena;
    td_dict *m = td_dict_new(a, 3);
    if (m == NULL || !td_dict_set(a, m, td_key(TD_STR("content")), content) ||
        !td_dict_set(a, m, td_key(TD_STR("reasoning_content")), reasoning) ||
        !td_dict_set(a, m, td_key(TD_STR("tool_calls")), calls))
        return td_arena_fail(a, err);
    r->decoded = r->made = true;
    r->via = TD_VIA_MESSAGE;
    r->keys.id = td_none();
    r->keys.message = td_dict_of(m);
    return TD_OK;
}

/* Tool calls are objects, or the item cannot be counted: not even as plain text. */
static td_code check_calls(const td_value *calls, td_error *err)
{
    for (uint32_t i = 0; calls != NULL && calls->tag == TD_V_LIST && i < calls->len; i++)
        if (calls->as.items[i].tag != TD_V_DICT)
            return td_fail(err, TD_E_INPUT, "tool call %u is not an object", i);
    return TD_OK;
}

/* Runs fill on a new request and keeps it only when that went well. */
static td_code make(td_code (*fill)(td_request *r, td_record record, const void *from,
                                    td_error *err),
                    td_record record, const void *from, td_request **ret, td_error *err)
{
    td_request *r = NULL;
    TD_TRY(new_request(record, &r, err));
    td_code code = fill(r, record, from, err);
    if (code != TD_OK) {
        td_request_free(r);
        return code;
    }
    *ret = r;
    return TD_OK;
}

/* ---- prompts ---- */

static td_code fill_text_prompt(td_request *r, td_record record, const void *from, td_error *err)
{
    (void)err;
    const td_prompt *p = from;
    set_text(r, td_string(held(r, record, p->text)));
    return TD_OK;
}

/* The keywords but for those that no prompt may set. */
static td_code read_kwargs(td_request *r, td_record record, td_str part, td_error *err)
{
    static const char *const fixed[] = { "tokenize", "return_dict", "add_generation_prompt" };
    td_value all;
    TD_TRY(read_value(r, record, part, &all, err));
    if (td_is_none(all))
        return TD_OK;
    td_dict *kept = td_dict_new(&r->arena, all.as.dict->count);
    if (kept == NULL)
        return td_arena_fail(&r->arena, err);
    for (uint32_t i = 0; i < all.as.dict->count; i++) {
        const td_entry *e = &all.as.dict->entries[i];
        bool drop = false;
        for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
            drop = drop || td_str_eq(td_as_str(e->key), td_str_from(fixed[k]));
        if (!drop && !td_dict_set(&r->arena, kept, e->key, e->val))
            return td_arena_fail(&r->arena, err);
    }
    r->keys.chat_template_kwargs = td_dict_of(kept);
    return TD_OK;
}

static td_code fill_messages(td_request *r, td_record record, const void *from, td_error *err)
{
    const td_prompt *p = from;
    TD_TRY(read_value(r, record, p->messages, &r->keys.messages, err));
    for (uint32_t i = 0; i < r->keys.messages.len; i++) {
        const td_dict *message = r->keys.messages.as.items[i].as.dict;
        TD_TRY(check_calls(td_dict_find(message, TD_STR("tool_calls")), err));
    }
    TD_TRY(read_value(r, record, p->tools, &r->keys.tools, err));
    if (p->tools.ptr != NULL) {
        r->tools_source = held(r, record, p->tools);
        r->tools_form = TD_KEEP_MSGPACK;
    }
    TD_TRY(read_value(r, record, p->tool_choice, &r->keys.tool_choice, err));
    TD_TRY(read_kwargs(r, record, p->kwargs, err));
    if (p->chat_template.ptr != NULL)
        r->keys.chat_template = td_string(held(r, record, p->chat_template));
    r->keys.add_generation_prompt = td_bool(true);
    r->keys.id = td_none();
    r->decoded = r->made = true;
    r->via = TD_VIA_MESSAGES;
    return TD_OK;
}

td_code td_item_prompt(const td_prompt *p, td_record record, td_request **ret, td_error *err)
{
    *ret = NULL;
    if (p->text.len != 0)
        return make(fill_text_prompt, record, p, ret, err);
    if (p->messages.ptr != NULL)
        return make(fill_messages, record, p, ret, err);
    return TD_OK;
}

/* ---- answers ---- */

static bool is_structured(const td_output *o)
{
    return !td_pieces_empty(&o->reasoning) || o->call_count != 0;
}

static td_code fill_output_text(td_request *r, td_record record, const void *from, td_error *err)
{
    const td_output *o = from;
    td_value text;
    TD_TRY(join_text(r, record, &o->text, 0, &text, err));
    set_text(r, text);
    return TD_OK;
}

static td_code fill_output_message(td_request *r, td_record record, const void *from,
                                   td_error *err)
{
    const td_output *o = from;
    td_value content, reasoning = td_none(), calls;
    TD_TRY(join_text(r, record, &o->text, 0, &content, err));
    if (!td_pieces_empty(&o->reasoning))
        TD_TRY(join_text(r, record, &o->reasoning, 0, &reasoning, err));
    TD_TRY(read_value(r, record, o->calls, &calls, err));
    if (!td_is_none(calls))
        TD_TRY(td_calls_merge(&r->arena, calls, &calls, err));
    TD_TRY(check_calls(&calls, err));
    return set_message(r, content, reasoning, calls, err);
}

/* Some text after the first skip pieces? */
static bool has_text(const td_pieces *p, uint32_t skip)
{
    if (p->kind == TD_PIECES_ONE)
        return skip == 0 && p->one.len != 0;
    td_error err = TD_ERROR_INIT;
    td_mp_cursor c = td_mp_cursor_of(p->items);
    td_mp_item item;
    for (uint32_t i = 0; p->kind == TD_PIECES_MANY && i < p->count; i++) {
        if (td_mp_next(&c, &item, &err) != TD_OK) { /* read before: cannot fail */
            td_error_clear(&err);
            return false;
        }
        if (i >= skip && item.as.bytes.len != 0)
            return true;
    }
    return false;
}

td_code td_item_output(const td_output *o, td_record record, td_request **ret, td_error *err)
{
    *ret = NULL;
    if (is_structured(o))
        return make(fill_output_message, record, o, ret, err);
    return has_text(&o->text, 0) ? make(fill_output_text, record, o, ret, err) : TD_OK;
}

static td_code fill_rest_text(td_request *r, td_record record, const void *from, td_error *err)
{
    const td_output *o = from;
    td_value text;
    TD_TRY(join_text(r, record, &o->text, 1, &text, err));
    set_text(r, text);
    return TD_OK;
}

/* What followed the first chunk. When reasoning came first, the whole output did follow; when it
 * came in pieces, its first one was the first chunk. Calls lose their first chunk when nothing else
 * was before them. */
static td_code fill_rest_message(td_request *r, td_record record, const void *from, td_error *err)
{
    const td_output *o = from;
    const td_pieces *reasons = &o->reasoning;
    bool first_was_reason = !td_pieces_empty(reasons);
    td_value content = td_string(TD_STR("")), reasoning = td_none(), calls;
    if (o->text.kind == TD_PIECES_MANY)
        TD_TRY(join_text(r, record, &o->text, first_was_reason ? 0 : 1, &content, err));
    else if (first_was_reason && reasons->kind == TD_PIECES_MANY)
        TD_TRY(join_text(r, record, &o->text, 0, &content, err));
    if (reasons->kind == TD_PIECES_MANY && reasons->count > 1)
        TD_TRY(join_text(r, record, reasons, 1, &reasoning, err));
    TD_TRY(read_value(r, record, o->calls, &calls, err));
    if (!td_is_none(calls)) {
        bool calls_came_first = td_pieces_empty(&o->text) && !first_was_reason;
        if (td_calls_are_chunked(calls) && calls_came_first)
            calls = td_list_of(calls.as.items + 1, calls.len - 1);
        TD_TRY(td_calls_merge(&r->arena, calls, &calls, err));
    }
    TD_TRY(check_calls(&calls, err));
    return set_message(r, content, reasoning, calls, err);
}

td_code td_item_rest(const td_output *o, td_record record, td_request **ret, td_error *err)
{
    *ret = NULL;
    if (is_structured(o))
        return make(fill_rest_message, record, o, ret, err);
    bool has_rest = o->text.kind == TD_PIECES_MANY && has_text(&o->text, 1);
    return has_rest ? make(fill_rest_text, record, o, ret, err) : TD_OK;
}

td_code td_item_empty_message(td_request **ret, td_error *err)
{
    td_request *r = NULL;
    TD_TRY(td_request_new_text(TD_STR(""), false, &r, err));
    td_code code = set_message(r, td_string(TD_STR("")), td_none(), td_none(), err);
    if (code != TD_OK) {
        td_request_free(r);
        return code;
    }
    *ret = r;
    return TD_OK;
}

/* request.c - a request from its bytes: owned or borrowed, decoded early or while processed. */
#include "chat/request.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "value/json.h"

enum { SLACK = 64 }; /* readers may look a vector ahead */

static td_code new_request(td_request **ret_request, td_error *err)
{
    td_request *r = td_calloc(1, sizeof *r);
    td_result_box *box = td_result_new();
    if (r == NULL || box == NULL) {
        td_free(r);
        td_result_free(box != NULL ? &box->pub : NULL);
        return td_fail_nomem(err);
    }
    r->box = box;
    r->failure = (td_error)TD_ERROR_INIT;
    *ret_request = r;
    return TD_OK;
}

static td_code own_copy(td_request *r, td_str bytes, td_error *err)
{
    char *own = td_malloc(bytes.len + SLACK);
    if (own == NULL)
        return td_fail_nomem(err);
    if (bytes.len != 0)
        memcpy(own, bytes.ptr, bytes.len);
    memset(own + bytes.len, 0, SLACK);
    r->json = (td_str){ own, bytes.len };
    return TD_OK;
}

/* ---- what a decoded request says ---- */

typedef struct key_slot {
    td_str name;
    size_t at; /* offset of the td_value in td_request_keys */
} key_slot;

#define SLOT(key)                                                                                  \
    {                                                                                              \
        { #key, sizeof #key - 1 }, offsetof(td_request_keys, key)                                  \
    }

static const key_slot slots[] = {
    SLOT(id),
    SLOT(token_ids),
    SLOT(text),
    SLOT(message),
    SLOT(messages),
    SLOT(tools),
    SLOT(documents),
    SLOT(tool_choice),
    SLOT(chat_template),
    SLOT(chat_template_kwargs),
    SLOT(add_generation_prompt),
    SLOT(continue_final_message),
    SLOT(return_assistant_tokens_mask),
    SLOT(sanitize_control_tokens),
    SLOT(parse_arguments),
    SLOT(add_special_tokens),
};

static bool is_given(td_value v)
{
    return v.tag != TD_V_UNDEFINED && v.tag != TD_V_NONE;
}

static void pick_keys(td_request_keys *keys, const td_dict *d)
{
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        const td_value *v = td_dict_find(d, slots[i].name);
        if (v != NULL)
            *(td_value *)(void *)((char *)keys + slots[i].at) = *v;
    }
    const td_value *ids = td_dict_find(d, TD_STR("ids"));
    if (!is_given(keys->token_ids) && ids != NULL)
        keys->token_ids = *ids;
}

static td_via winner(const td_request_keys *keys)
{
    if (is_given(keys->token_ids))
        return TD_VIA_TOKEN_IDS;
    if (is_given(keys->text))
        return TD_VIA_TEXT;
    if (is_given(keys->message))
        return TD_VIA_MESSAGE;
    return is_given(keys->messages) ? TD_VIA_MESSAGES : TD_VIA_NONE;
}

static td_code check_type(const char *key, td_value v, td_vtag want, const char *what,
                          td_error *err)
{
    if (!is_given(v) || v.tag == want)
        return TD_OK;
    return td_fail(err, TD_E_INPUT, "\"%s\" must be %s, not %s", key, what, td_value_type_name(v));
}

static td_code check_shape(const td_request *r, td_error *err)
{
    const td_request_keys *k = &r->keys;
    switch (r->via) {
    case TD_VIA_NONE:
        return td_fail(err, TD_E_INPUT,
                       "no input: one of token_ids, ids, text, message, messages is needed");
    case TD_VIA_TOKEN_IDS:
        TD_TRY(check_type("token_ids", k->token_ids, TD_V_LIST, "a list", err));
        break;
    case TD_VIA_TEXT:
        TD_TRY(check_type("text", k->text, TD_V_STR, "a string", err));
        break;
    case TD_VIA_MESSAGE:
        TD_TRY(check_type("message", k->message, TD_V_DICT, "an object", err));
        break;
    case TD_VIA_MESSAGES:
        TD_TRY(check_type("messages", k->messages, TD_V_LIST, "a list", err));
        break;
    case TD_VIA_FALLBACK:
        break;
    }
    TD_TRY(check_type("chat_template", k->chat_template, TD_V_STR, "a string", err));
    return check_type("chat_template_kwargs", k->chat_template_kwargs, TD_V_DICT, "an object", err);
}

/* ---- making and freeing ---- */

td_code td_request_new(td_str json, td_release_fn release, void *user, td_request **ret_request,
                       td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_request *r = NULL;
    td_code code = new_request(&r, &local);
    if (code == TD_OK && release == NULL) {
        code = own_copy(r, json, &local);
    } else if (code == TD_OK) {
        r->json = json;
        r->release = release;
        r->release_user = user;
    }
    if (code == TD_OK) {
        *ret_request = r;
        return TD_OK;
    }
    td_request_free(r);
    if (err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

td_code td_request_new_text(td_str text, bool add_special_tokens, td_request **ret_request,
                            td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_request *r = NULL;
    td_code code = td_request_new(text, NULL, NULL, &r, &local);
    if (code != TD_OK) {
        if (err != NULL)
            td_error_move(err, &local);
        td_error_clear(&local);
        return code;
    }
    r->decoded = true;
    r->via = TD_VIA_TEXT;
    r->keys.id = td_none();
    r->keys.text = td_string(r->json);
    r->keys.add_special_tokens = td_bool(add_special_tokens);
    *ret_request = r;
    return TD_OK;
}

td_code td_request_of_map(const td_dict *map, td_arena *a, td_request **ret_request, td_error *err)
{
    td_request *r = NULL;
    TD_TRY(new_request(&r, err));
    r->decoded = r->made = true;
    r->keys = (td_request_keys){ .id = td_none() };
    pick_keys(&r->keys, map);
    r->via = winner(&r->keys);
    check_shape(r, &r->failure); /* the item's own error */
    r->arena = *a;
    *a = (td_arena){ 0 };
    *ret_request = r;
    return TD_OK;
}

td_code td_request_new_failed(td_error *failure, td_request **ret_request, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_request *r = NULL;
    td_code code = new_request(&r, &local);
    if (code != TD_OK) {
        td_error_clear(failure);
        if (err != NULL)
            td_error_move(err, &local);
        td_error_clear(&local);
        return code;
    }
    r->decoded = true;
    r->keys.id = td_none();
    td_error_move(&r->failure, failure);
    *ret_request = r;
    return TD_OK;
}

void td_request_free(td_request *r)
{
    if (r == NULL)
        return;
    if (r->release != NULL)
        r->release(r->release_user, r->json.ptr);
    else
        td_free((char *)r->json.ptr);
    td_kept_release(r->kept);
    td_arena_done(&r->arena);
    td_error_clear(&r->failure);
    td_result_free(r->box != NULL ? &r->box->pub : NULL);
    td_free(r);
}

void td_request_set_origin(td_request *r, const char *file, uint64_t line, uint64_t offset)
{
    r->file = file;
    r->line = line;
    r->offset = offset;
}

size_t td_request_bytes(const td_request *r)
{
    return sizeof *r + r->json.len + r->arena.total;
}

/* Positions of a read error are relative to the line; the user wants the file's. */
void td_request_place(const td_request *r, td_error *e)
{
    if (r->line != 0)
        e->line = (uint32_t)(r->line + (e->line > 0 ? e->line - 1 : 0));
    if (e->offset != TD_NO_OFFSET)
        e->offset += r->offset;
    else
        e->offset = r->offset;
    if (r->file != NULL)
        td_error_in_file(e, r->file);
}

/* ---- reading ---- */

typedef struct tools_reader {
    td_keep *keep;
    td_request *r;
} tools_reader;

static size_t known_tools(void *user, td_str text, td_value *ret)
{
    tools_reader *t = user;
    td_kept *kept = td_keep_find(t->keep, TD_KEEP_JSON, text);
    if (kept == NULL)
        return 0;
    t->r->kept = kept;
    *ret = td_kept_value(kept);
    return td_kept_source(kept).len;
}

/* Has keep's value take the place of the one that was read, if it is one that comes again. */
static void share_tools(td_request *r, td_keep *keep)
{
    if (keep == NULL || r->kept != NULL || r->tools_source.ptr == NULL)
        return;
    r->kept = td_keep_seen(keep, r->tools_form, r->tools_source);
    if (r->kept != NULL)
        r->keys.tools = td_kept_value(r->kept);
}

static void read_request(td_request *r, td_arena *a, td_keep *keep)
{
    r->decoded = true;
    r->keys = (td_request_keys){ .id = td_none() };
    td_error *err = &r->failure;
    td_value root;
    tools_reader reader = { keep, r };
    td_json_member tools = { .key = TD_STR("tools"),
                             .known = keep != NULL ? known_tools : NULL,
                             .user = &reader };
    if (td_json_read_request(a, r->json, &tools, &root, err) != TD_OK) {
        if (err->code == TD_E_INPUT || err->code == TD_E_LIMIT)
            td_request_place(r, &r->failure);
        return;
    }
    if (root.tag != TD_V_DICT) {
        td_fail(err, TD_E_INPUT, "a request must be a JSON object, not %s",
                td_value_type_name(root));
        td_request_place(r, &r->failure);
        return;
    }
    pick_keys(&r->keys, root.as.dict);
    if (tools.times == 1) {
        r->tools_source = tools.source;
        r->tools_form = TD_KEEP_JSON;
    }
    r->via = winner(&r->keys);
    if (check_shape(r, err) != TD_OK)
        td_request_place(r, &r->failure);
}

void td_request_read(td_request *r, td_arena *a, td_keep *keep)
{
    if (!r->decoded)
        read_request(r, a, keep);
    if (r->failure.code == TD_OK)
        share_tools(r, keep);
}

void td_request_forget(td_request *r)
{
    td_kept_release(r->kept);
    r->kept = NULL;
    r->tools_source = (td_str){ NULL, 0 };
    r->decoded = false;
    td_error_clear(&r->failure);
}

/* ---- back to JSON ---- */

static td_code write_keys(const td_request_keys *keys, td_buf *out, td_error *err)
{
    static const td_json_style style = { 0 };
    const char *before = "{";
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        td_value v = *(const td_value *)(const void *)((const char *)keys + slots[i].at);
        if (v.tag == TD_V_UNDEFINED)
            continue;
        TD_TRY(td_buf_printf(out, "%s\"%s\":", before, slots[i].name.ptr));
        TD_TRY(td_json_write(out, v, &style, err));
        before = ",";
    }
    return td_buf_byte(out, '}');
}

td_code td_request_write(const td_request *r, td_buf *out, td_error *err)
{
    td_code code = r->made ? write_keys(&r->keys, out, err) : td_buf_put(out, r->json);
    return code == TD_OK || err->code != TD_OK ? code : td_buf_fail(out, err, code, "request");
}

void td_request_decode(td_request *r)
{
    td_request_read(r, &r->arena, NULL);
}

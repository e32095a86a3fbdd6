/* continue_final.c - leaving the last message open.
 *
 * A tag goes behind the text that is to be continued; after rendering everything from the tag on is
 * cut off. A template that trimmed the text shows by the missing space of the tag. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "chat/prompt.h"
#include "unicode/unicode.h"

#define TAG "CONTINUE_FINAL_MESSAGE_TAG "
#define TAG_STRIPPED "CONTINUE_FINAL_MESSAGE_TAG"

static const td_str reasoning_fields[] = {
    { "reasoning_content", 17 },
    { "thinking", 8 },
    { "reasoning", 9 },
};
enum { REASONING_FIELDS = sizeof reasoning_fields / sizeof *reasoning_fields };

static td_code with_tag(td_arena *a, td_str text, td_value *ret, td_error *err)
{
    char *joined = td_arena_array(a, char, text.len + sizeof TAG + 32);
    if (joined == NULL)
        return td_arena_fail(a, err);
    if (text.len != 0)
        memcpy(joined, text.ptr, text.len);
    memcpy(joined + text.len, TAG, sizeof TAG - 1);
    *ret = td_string((td_str){ joined, text.len + sizeof TAG - 1 });
    return TD_OK;
}

static td_code not_text(td_error *err, td_value v)
{
    return td_fail(err, TD_E_INPUT, "continue_final_message: cannot continue a value of type %s",
                   td_value_type_name(v));
}

/* A list of content parts whose last text part has the tag. */
static td_code tag_parts(td_arena *a, td_value list, td_value *ret, td_str *ret_final,
                         td_error *err)
{
    td_value *items = td_arena_array(a, td_value, (size_t)list.len + 1);
    if (items == NULL)
        return td_arena_fail(a, err);
    for (uint32_t i = list.len; i-- > 0;) {
        td_value part = list.as.items[i];
        const td_value *text = NULL;
        if (td_is_str(part) && td_str_find(td_as_str(part), TD_STR("text"), 0) == TD_NOT_FOUND)
            continue;
        if (part.tag == TD_V_LIST) {
            bool named = false;
            for (uint32_t j = 0; j < part.len; j++)
                named |= td_is_str(part.as.items[j]) &&
                         td_str_eq(td_as_str(part.as.items[j]), TD_STR("text"));
            if (!named)
                continue;
        } else if (part.tag == TD_V_DICT) {
            text = td_dict_find(part.as.dict, TD_STR("text"));
            if (text == NULL)
                continue;
        }
        if (text == NULL || !td_is_str(*text))
            return not_text(err, text != NULL ? *text : part);
        td_value tagged;
        TD_TRY(with_tag(a, td_as_str(*text), &tagged, err));
        td_dict *d = td_dict_copy(a, part.as.dict, 0);
        if (d == NULL || !td_dict_set(a, d, td_key(TD_STR("text")), tagged))
            return td_arena_fail(a, err);
        memcpy(items, list.as.items, list.len * sizeof *items);
        items[i] = td_dict_of(d);
        *ret = td_list_of(items, list.len);
        *ret_final = td_as_str(*text);
        return TD_OK;
    }
    return td_fail(err, TD_E_INPUT,
                   "continue_final_message is set but the final message has no "
                   "text to continue");
}

/* The fields of the last message that hold the value which is to be continued. */
static size_t fields_of(const td_dict *last, td_str field, td_value value,
                        td_str ret[REASONING_FIELDS])
{
    size_t n = 0;
    for (int i = 0; i < REASONING_FIELDS; i++) {
        if (!td_str_eq(field, reasoning_fields[i]))
            continue;
        for (int j = 0; j < REASONING_FIELDS; j++) {
            const td_value *v = td_dict_find(last, reasoning_fields[j]);
            if (v != NULL && td_value_eq(*v, value))
                ret[n++] = reasoning_fields[j];
        }
        return n;
    }
    ret[n++] = field;
    return n;
}

static bool same_object(td_value x, td_value y)
{
    return x.tag == y.tag && x.len == y.len && x.as.items == y.as.items;
}

td_code td_continue_mark(td_arena *a, td_str source, td_value field, td_value *messages,
                         td_str *ret_final, td_error *err)
{
    td_str name = td_is_str(field) ? td_as_str(field) : TD_STR("content");
    if (messages->len == 0)
        return td_fail(err, TD_E_INPUT, "continue_final_message is set but there is no message");
    const td_dict *last = messages->as.items[messages->len - 1].as.dict;
    const td_value *value = td_dict_find(last, name);
    if (value == NULL || td_is_none(*value))
        return td_fail(err, TD_E_INPUT,
                       "continue_final_message is set but the final message has no \"%.*s\"",
                       (int)name.len, name.ptr);
    td_str fields[REASONING_FIELDS];
    size_t count = fields_of(last, name, *value, fields);
    bool accepted = false;
    for (size_t i = 0; i < count; i++)
        accepted |= td_str_find(source, fields[i], 0) != TD_NOT_FOUND;
    if (!accepted)
        return td_fail(err, TD_E_INPUT,
                       "continue_final_message: the chat template does not use \"%.*s\"",
                       (int)name.len, name.ptr);
    td_value old = *value, tagged;
    if (old.tag == TD_V_LIST || old.tag == TD_V_TUPLE) {
        TD_TRY(tag_parts(a, old, &tagged, ret_final, err));
    } else if (td_is_str(old)) {
        *ret_final = td_as_str(old);
        TD_TRY(with_tag(a, td_as_str(old), &tagged, err));
    } else {
        return not_text(err, old);
    }
    td_dict *d = td_dict_copy(a, last, 0);
    td_value *items = td_arena_array(a, td_value, messages->len);
    if (d == NULL || items == NULL)
        return td_arena_fail(a, err);
    for (size_t i = 0; i < count; i++) {
        const td_value *v = td_dict_find(d, fields[i]);
        bool shared = td_is_str(old) || td_str_eq(fields[i], name) || same_object(*v, old);
        if (shared && !td_dict_set(a, d, td_key(fields[i]), tagged))
            return td_arena_fail(a, err);
    }
    memcpy(items, messages->as.items, messages->len * sizeof *items);
    items[messages->len - 1] = td_dict_of(d);
    *messages = td_list_of(items, messages->len);
    return TD_OK;
}

td_code td_continue_cut(td_buf *text, td_str final, td_error *err)
{
    td_str whole = td_buf_view(text);
    size_t at = td_str_rfind(whole, TD_STR(TAG_STRIPPED));
    if (at == TD_NOT_FOUND || td_str_find(whole, td_py_strip(final), 0) == TD_NOT_FOUND)
        return td_fail(err, TD_E_INPUT,
                       "continue_final_message is set but the final message does "
                       "not appear in the rendered text");
    if (td_str_starts(td_str_from_offset(whole, at), TD_STR(TAG)))
        text->len = at;
    else
        text->len = td_py_rstrip((td_str){ whole.ptr, at }).len;
    return TD_OK;
}

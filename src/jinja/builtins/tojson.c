/* tojson.c - the tojson filter of chat templates: json.dumps with its four options. */
#include "jinja/builtins/util.h"
#include "value/json.h"

static td_code set_indent(jj_vm *vm, td_value indent, td_json_style *style)
{
    style->has_indent = true;
    if (indent.tag == TD_V_STR) {
        style->indent = td_as_str(indent);
        return TD_OK;
    }
    if (indent.tag != TD_V_INT && indent.tag != TD_V_BOOL)
        return jj_raise(vm, JJ_TYPE_ERROR, "can't multiply sequence by non-int of type '%s'",
                        jj_type_name(indent));
    td_buf *b = jj_scratch(vm);
    td_value text;
    TD_TRY(jj_put_fill(vm, b, ' ', indent.as.integer));
    TD_TRY(jj_take(vm, b, false, &text));
    style->indent = td_as_str(text);
    return TD_OK;
}

/* Any iterable of two texts; which they are does not matter for a text. */
static td_code set_separators(jj_vm *vm, td_value separators, bool is_text,
                              td_json_style *style)
{
    td_value list;
    TD_TRY(jj_to_list(vm, separators, &list));
    if (list.len != 2)
        return jj_raise(vm, JJ_VALUE_ERROR, "separators: 2 values are expected, not %u", list.len);
    for (uint32_t i = 0; i < 2 && !is_text; i++)
        if (list.as.items[i].tag != TD_V_STR)
            return jj_raise(vm, JJ_TYPE_ERROR, "separators must be str, not %s",
                            jj_type_name(list.as.items[i]));
    if (is_text)
        return TD_OK;
    style->has_separators = true;
    style->item_separator = td_as_str(list.as.items[0]);
    style->key_separator = td_as_str(list.as.items[1]);
    return TD_OK;
}

td_code jj_f_tojson(jj_vm *vm, td_value self, const jj_args *args, td_value *ret)
{
    td_json_style style = { 0 };
    td_value indent = jj_arg(args, 1, td_none()), separators = jj_arg(args, 2, td_none());
    TD_TRY(jj_arg_bool(vm, args, 0, false, &style.ensure_ascii));
    TD_TRY(jj_arg_bool(vm, args, 3, false, &style.sort_keys));
    /* json.dumps writes a str before it looks at the other options */
    if (!td_is_none(indent) && self.tag != TD_V_STR)
        TD_TRY(set_indent(vm, indent, &style));
    if (!td_is_none(separators))
        TD_TRY(set_separators(vm, separators, self.tag == TD_V_STR, &style));
    td_buf *b = jj_scratch(vm);
    td_str known; /* copied, since each call gives a str of its own */
    if (jj_known_json(vm, self, &style, &known) && known.len <= b->limit)
        return jj_new_text(vm, known, ret);
    td_error err = TD_ERROR_INIT;
    td_code code = td_json_write(b, self, &style, &err);
    if (code == TD_E_TEMPLATE) {
        code = jj_raise_text(vm, JJ_TYPE_ERROR, (td_str){ err.message, err.message_len });
        td_error_clear(&err);
        return code;
    }
    if (code != TD_OK) {
        td_error_clear(&err);
        return jj_buf_fail(vm, b, code);
    }
    TD_TRY(jj_note_json(vm, self, &style, td_buf_view(b)));
    return jj_take(vm, b, false, ret);
}

/* fallback.c - the plain text that is counted for a prompt which cannot be rendered.
 *
 * A prompt becomes compact JSON of its messages (tool calls parsed) and tools; a message becomes
 * its non-empty parts, one a line. The JSON is the compact form with raw UTF-8, floats in their
 * shortest form without a plus sign ("1e16"), and null for what JSON cannot spell. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/utf8.h"
#include "chat/prompt.h"
#include "value/bigint.h"
#include "value/json.h"
#include "value/number.h"

static td_code put(td_buf *out, const char *text)
{
    return td_buf_append(out, text, strlen(text));
}

/* digits and exponent of a repr: fixed from 1e-5 up to below 1e16, else d.ddde-7. */
static td_code put_float(td_buf *out, double d)
{
    if (!isfinite(d))
        return put(out, "null");
    char text[TD_FLOAT_TEXT_MAX];
    size_t len = td_float_repr(d, text);
    const char *e = memchr(text, 'e', len);
    if (e == NULL)
        return td_buf_append(out, text, len);
    size_t head = (size_t)(e - text);
    size_t tail = len - head - 1;
    const char *exp = e + 1;
    if (exp[0] == '+')
        exp++, tail--;
    bool negative = exp[0] == '-';
    const char *digits = exp + negative;
    size_t n = tail - negative;
    while (n > 1 && digits[0] == '0')
        digits++, n--;
    if (negative && n == 1 && digits[0] == '5') { /* the shortest form stays fixed here */
        const char *p = text;
        if (*p == '-')
            TD_TRY(td_buf_byte(out, *p++));
        TD_TRY(put(out, "0.0000"));
        for (; p < e; p++) {
            if (*p != '.')
                TD_TRY(td_buf_byte(out, *p));
        }
        return TD_OK;
    }
    TD_TRY(td_buf_append(out, text, head));
    TD_TRY(put(out, negative ? "e-" : "e"));
    return td_buf_append(out, digits, n);
}

static td_code put_value(td_buf *out, td_value v, td_error *err);

static td_code put_string(td_buf *out, td_str s, td_error *err)
{
    if (td_utf8_check_strict(s) != s.len)
        return td_fail(err, TD_E_TOKENIZER, "the text holds a lone surrogate");
    return td_json_write_string(out, s, false);
}

static td_code put_list(td_buf *out, td_value v, td_error *err)
{
    TD_TRY(td_buf_byte(out, '['));
    for (uint32_t i = 0; i < v.len; i++) {
        if (i != 0)
            TD_TRY(td_buf_byte(out, ','));
        TD_TRY(put_value(out, v.as.items[i], err));
    }
    return td_buf_byte(out, ']');
}

static td_code put_dict(td_buf *out, const td_dict *d, td_error *err)
{
    TD_TRY(td_buf_byte(out, '{'));
    for (uint32_t i = 0; i < d->count; i++) {
        if (i != 0)
            TD_TRY(td_buf_byte(out, ','));
        td_value key = d->entries[i].key;
        if (td_is_str(key)) {
            TD_TRY(put_string(out, td_as_str(key), err));
        } else {
            TD_TRY(td_buf_byte(out, '"'));
            TD_TRY(put_value(out, key, err));
            TD_TRY(td_buf_byte(out, '"'));
        }
        TD_TRY(td_buf_byte(out, ':'));
        TD_TRY(put_value(out, d->entries[i].val, err));
    }
    return td_buf_byte(out, '}');
}

/* Nesting is bounded by the readers. A code without an error in err is one of td_buf appends. */
static td_code put_value(td_buf *out, td_value v, td_error *err)
{
    switch ((td_vtag)v.tag) {
    case TD_V_UNDEFINED:
    case TD_V_NONE:
        return put(out, "null");
    case TD_V_BOOL:
        return put(out, v.as.boolean ? "true" : "false");
    case TD_V_INT:
        return td_buf_printf(out, "%lld", (long long)v.as.integer);
    case TD_V_BIGINT:
        return td_bigint_print(out, v.as.bigint);
    case TD_V_FLOAT:
        return put_float(out, v.as.real);
    case TD_V_STR:
        return put_string(out, td_as_str(v), err);
    case TD_V_LIST:
    case TD_V_TUPLE:
        return put_list(out, v, err);
    case TD_V_DICT:
        return put_dict(out, v.as.dict, err);
    case TD_V_OBJECT:
        break;
    }
    return td_fail(err, TD_E_INPUT, "a value of type %s has no JSON text", td_value_type_name(v));
}

static td_code finish(const td_buf *out, td_code code, td_error *err)
{
    if (code == TD_OK || err->code != TD_OK)
        return code;
    return td_buf_fail(out, err, code, "fallback text");
}

static td_code prompt_text(td_value messages, td_value tools, td_buf *out, td_error *err)
{
    TD_TRY(put(out, "{\"messages\":"));
    TD_TRY(put_value(out, messages, err));
    if (td_is_given(tools)) {
        TD_TRY(put(out, ",\"tools\":"));
        TD_TRY(put_value(out, tools, err));
    }
    return td_buf_byte(out, '}');
}

td_code td_chat_fallback_prompt(const td_request *r, td_arena *a, td_buf *out, td_error *err)
{
    td_value messages = r->keys.messages, tools = r->keys.tools;
    const td_value kwargs = r->keys.chat_template_kwargs;
    const td_value *more =
        kwargs.tag == TD_V_DICT ? td_dict_find(kwargs.as.dict, TD_STR("tools")) : NULL;
    if (!td_is_given(tools) && more != NULL)
        tools = *more;
    TD_TRY(td_shape_arguments(a, messages, &messages, err));
    out->len = 0;
    return finish(out, prompt_text(messages, tools, out, err), err);
}

/* One part of a message behind the parts before it. */
static td_code put_part(td_buf *out, const td_value *v, bool as_json, td_error *err)
{
    if (v == NULL || !td_py_truthy(*v))
        return TD_OK;
    if (out->len != 0)
        TD_TRY(td_buf_byte(out, '\n'));
    if (!as_json && td_is_str(*v)) {
        if (td_utf8_check_strict(td_as_str(*v)) != v->len)
            return td_fail(err, TD_E_TOKENIZER, "the text holds a lone surrogate");
        return td_buf_put(out, td_as_str(*v));
    }
    return put_value(out, *v, err);
}

td_code td_chat_fallback_message(const td_request *r, td_buf *out, td_error *err)
{
    const td_dict *m = r->keys.message.as.dict;
    out->len = 0;
    const td_value *reasoning = td_dict_find(m, TD_STR("reasoning_content"));
    if (reasoning == NULL || !td_py_truthy(*reasoning))
        reasoning = td_dict_find(m, TD_STR("reasoning"));
    td_code code = put_part(out, td_dict_find(m, TD_STR("content")), false, err);
    if (code == TD_OK)
        code = put_part(out, reasoning, false, err);
    if (code == TD_OK)
        code = put_part(out, td_dict_find(m, TD_STR("tool_calls")), true, err);
    return finish(out, code, err);
}

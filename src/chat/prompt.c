/* prompt.c - one call of apply_chat_template: parameters settled, template picked, rendered. */
#include "chat/prompt.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

/* ---- parameters ---- */

/* Names that the reference passes itself: giving them twice is its TypeError. */
static const char *const taken_names[] = {
    "conversation", "conversations", "messages", "tokenize", "return_dict", "self",
};

static bool in_names(td_str key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (td_str_eq(key, td_str_from(names[i])))
            return true;
    }
    return false;
}
#define IN_NAMES(key, names) in_names(key, names, sizeof(names) / sizeof *(names))

typedef struct parameter {
    td_str name;
    td_value *value; /* set from the keyword when the request gives none */
} parameter;

static td_code take_keyword(td_entry e, const parameter *params, size_t count, bool *ret_taken,
                            td_error *err)
{
    *ret_taken = true;
    if (!td_is_str(e.key))
        return td_fail(err, TD_E_INPUT, "chat_template_kwargs: keys must be texts");
    td_str key = td_as_str(e.key);
    for (size_t i = 0; i < count; i++) {
        if (!td_str_eq(key, params[i].name))
            continue;
        if (!td_is_given(*params[i].value))
            *params[i].value = e.val;
        return TD_OK;
    }
    if (IN_NAMES(key, taken_names))
        return td_fail(err, TD_E_INPUT, "chat_template_kwargs: \"%.*s\" is not a template variable",
                       (int)key.len, key.ptr);
    *ret_taken = false;
    return TD_OK;
}

/* Moves what is a parameter from d to params, everything else to kwargs. */
static td_code split_keywords(const td_dict *d, const parameter *params, size_t count, td_arena *a,
                              td_dict *kwargs, td_error *err)
{
    for (uint32_t i = 0; d != NULL && i < d->count; i++) {
        bool taken;
        TD_TRY(take_keyword(d->entries[i], params, count, &taken, err));
        if (!taken && !td_dict_set(a, kwargs, d->entries[i].key, d->entries[i].val))
            return td_arena_fail(a, err);
    }
    return TD_OK;
}

/* Keywords of the request over the defaults. */
static td_code merge_keywords(const td_chat_env *env, const td_request *r, td_arena *a,
                              const td_dict **ret, td_error *err)
{
    td_value own = r->keys.chat_template_kwargs;
    const td_dict *mine = own.tag == TD_V_DICT ? own.as.dict : NULL;
    *ret = mine != NULL ? mine : env->default_kwargs;
    if (mine == NULL || env->default_kwargs == NULL)
        return TD_OK;
    td_dict *both = td_dict_copy(a, env->default_kwargs, mine->count);
    for (uint32_t i = 0; both != NULL && i < mine->count; i++) {
        if (!td_dict_set(a, both, mine->entries[i].key, mine->entries[i].val))
            both = NULL;
    }
    *ret = both;
    return both != NULL ? TD_OK : td_arena_fail(a, err);
}

static td_code settle_template(const td_chat_env *env, td_value given, td_chat_call *call,
                               td_error *err)
{
    if (td_is_str(given)) {
        call->template_text = td_as_str(given);
        if (call->template_text.ptr == NULL)
            call->template_text.ptr = "";
        call->template_file = "request";
    } else if (td_is_given(given)) {
        return td_fail(err, TD_E_INPUT, "\"chat_template\" must be a string, not %s",
                       td_value_type_name(given));
    } else if (env->default_template.ptr != NULL) {
        call->template_text = env->default_template;
        call->template_file = env->default_template_file;
    }
    return TD_OK;
}

static td_code call_of(const td_chat_env *env, const td_request *r, td_arena *a, td_chat_call *ret,
                       td_error *err)
{
    const td_request_keys *k = &r->keys;
    *ret = (td_chat_call){
        .messages = k->messages,
        .tools = k->tools,
        .documents = k->documents,
        .tool_choice = k->tool_choice,
        .add_generation_prompt = k->add_generation_prompt,
        .continue_final_message = k->continue_final_message,
        .length = { td_undefined_value(), td_undefined_value(), td_undefined_value(),
                    td_undefined_value(), td_undefined_value() },
    };
    td_value template = k->chat_template, mask = k->return_assistant_tokens_mask;
    td_value sanitize = k->sanitize_control_tokens;
    parameter params[] = {
        { TD_STR("tools"), &ret->tools },
        { TD_STR("documents"), &ret->documents },
        { TD_STR("chat_template"), &template },
        { TD_STR("add_generation_prompt"), &ret->add_generation_prompt },
        { TD_STR("continue_final_message"), &ret->continue_final_message },
        { TD_STR("return_assistant_tokens_mask"), &mask },
        { TD_STR("sanitize_control_tokens"), &sanitize },
        { TD_STR("padding"), &ret->length.padding },
        { TD_STR("truncation"), &ret->length.truncation },
        { TD_STR("max_length"), &ret->length.max_length },
        { TD_STR("return_tensors"), &ret->length.return_tensors },
        { TD_STR("tokenizer_kwargs"), &ret->length.tokenizer_kwargs },
    };
    const td_dict *merged;
    TD_TRY(merge_keywords(env, r, a, &merged, err));
    if (merged != NULL) {
        td_dict *kwargs = td_dict_new(a, merged->count + 1);
        if (kwargs == NULL)
            return td_arena_fail(a, err);
        TD_TRY(split_keywords(merged, params, sizeof params / sizeof *params, a, kwargs, err));
        ret->kwargs = kwargs;
    }
    ret->mask = td_py_truthy(mask);
    ret->sanitize = td_py_truthy(sanitize);
    ret->parse_arguments =
        td_is_given(k->parse_arguments) ? td_py_truthy(k->parse_arguments) : env->parse_arguments;
    return settle_template(env, template, ret, err);
}

td_code td_chat_call_of(const td_chat_env *env, const td_request *r, td_arena *a, td_chat_call *ret,
                        td_error *err)
{
    TD_TRY(call_of(env, r, a, ret, err));
    if (!td_is_given(ret->add_generation_prompt))
        ret->add_generation_prompt = td_bool(!td_py_truthy(ret->continue_final_message));
    return TD_OK;
}

/* ---- assistant messages ---- */

static bool set_text(td_arena *a, td_dict *d, td_str key, td_str text)
{
    return td_dict_set(a, d, td_key(key), td_string(text));
}

/* The call over a user turn without text and this assistant turn. */
static td_code pair_call(td_arena *a, td_dict *assistant, td_chat_call *call, td_error *err)
{
    td_dict *user = td_dict_new(a, 2);
    td_value *items = td_arena_array(a, td_value, 2);
    if (user == NULL || items == NULL || !set_text(a, user, TD_STR("role"), TD_STR("user")) ||
        !set_text(a, user, TD_STR("content"), TD_STR("")))
        return td_arena_fail(a, err);
    items[0] = td_dict_of(user);
    items[1] = td_dict_of(assistant);
    call->messages = td_list_of(items, 2);
    call->tools = call->documents = td_undefined_value();
    call->add_generation_prompt = td_bool(false);
    call->continue_final_message = td_bool(false);
    call->parse_arguments = true;
    call->mask = call->sanitize = false;
    return TD_OK;
}

static td_dict *assistant_turn(td_arena *a, td_value content)
{
    td_dict *d = td_dict_new(a, 4);
    if (d == NULL || !set_text(a, d, TD_STR("role"), TD_STR("assistant")) ||
        !td_dict_set(a, d, td_key(TD_STR("content")), content))
        return NULL;
    return d;
}

static const td_value *message_reasoning(const td_dict *message)
{
    const td_value *v = td_dict_find(message, TD_STR("reasoning_content"));
    if (v == NULL || !td_py_truthy(*v))
        v = td_dict_find(message, TD_STR("reasoning"));
    return v != NULL && td_py_truthy(*v) ? v : NULL;
}

td_code td_chat_message_calls(const td_chat_env *env, const td_request *r, td_arena *a,
                              td_chat_call *ret_with, td_chat_call *ret_without, td_error *err)
{
    TD_TRY(call_of(env, r, a, ret_with, err));
    *ret_without = *ret_with;
    const td_dict *message = r->keys.message.as.dict;
    const td_value *content = td_dict_find(message, TD_STR("content"));
    bool has_content = content != NULL && !td_is_none(*content);
    td_dict *turn = assistant_turn(a, has_content ? *content : td_string(TD_STR("")));
    td_dict *empty = assistant_turn(a, td_string(TD_STR("")));
    bool ok = turn != NULL && empty != NULL;
    const td_value *reasoning = message_reasoning(message);
    if (reasoning != NULL)
        ok = ok && td_dict_set(a, turn, td_key(TD_STR("reasoning_content")), *reasoning);
    const td_value *calls = td_dict_find(message, TD_STR("tool_calls"));
    if (calls != NULL && td_py_truthy(*calls))
        ok = ok && td_dict_set(a, turn, td_key(TD_STR("tool_calls")), *calls);
    if (!ok)
        return td_arena_fail(a, err);
    TD_TRY(pair_call(a, turn, ret_with, err));
    return pair_call(a, empty, ret_without, err);
}

/* ---- rendering ---- */

/* tools and documents: not none, so they are iterated, and each element must be an object. Only a
 * caller that has tuples can give one. */
static td_code check_objects(const char *key, td_value v, td_error *err)
{
    if (!td_is_given(v))
        return TD_OK;
    bool empty = (v.tag == TD_V_STR && v.len == 0) || (v.tag == TD_V_DICT && !v.as.dict->count);
    bool sequence = v.tag == TD_V_LIST || v.tag == TD_V_TUPLE;
    if (!sequence && !empty)
        return td_fail(err, TD_E_INPUT, "\"%s\" must be a list of objects, not %s", key,
                       td_value_type_name(v));
    for (uint32_t i = 0; sequence && i < v.len; i++) {
        if (v.as.items[i].tag != TD_V_DICT)
            return td_fail(err, TD_E_INPUT, "%s[%u] must be an object, not %s", key, i,
                           td_value_type_name(v.as.items[i]));
    }
    return TD_OK;
}

static td_code check_messages(td_value messages, bool empty_allowed, td_error *err)
{
    if (messages.len == 0 && empty_allowed)
        return TD_OK;
    if (messages.len == 0)
        return td_fail(err, TD_E_INPUT, "there are no messages: at least one is needed");
    if (messages.as.items[0].tag == TD_V_LIST)
        return td_fail(err, TD_E_INPUT, "a request holds one conversation, not a list of them");
    return TD_OK;
}

static bool set_plain(td_arena *a, td_dict *d, td_str key, td_value v)
{
    return td_dict_set(a, d, td_key(key), v);
}

static td_code make_variables(const td_model *m, const td_chat_call *call, td_arena *a,
                              td_dict **ret, td_error *err)
{
    uint32_t extra = call->kwargs != NULL ? call->kwargs->count : 0;
    td_dict *vars = td_dict_new(a, (uint32_t)m->named.count + extra + 5);
    bool ok = vars != NULL;
    for (size_t i = 0; ok && i < m->named.count; i++)
        ok = set_plain(a, vars, m->named.items[i].name, td_string(m->named.items[i].token.text));
    for (uint32_t i = 0; ok && i < extra; i++)
        ok = td_dict_set(a, vars, call->kwargs->entries[i].key, call->kwargs->entries[i].val);
    if (td_is_given(call->tool_choice))
        ok = ok && set_plain(a, vars, TD_STR("tool_choice"), call->tool_choice);
    td_value tools = td_is_given(call->tools) ? call->tools : td_none();
    if (tools.tag == TD_V_TUPLE) /* the reference collects what it iterated into a list */
        tools = td_list_of(tools.as.items, tools.len);
    else if (td_is_given(call->tools) && tools.tag != TD_V_LIST)
        tools = td_list_of(NULL, 0);
    td_value documents = td_is_given(call->documents) ? call->documents : td_none();
    ok = ok && set_plain(a, vars, TD_STR("messages"), call->messages) &&
         set_plain(a, vars, TD_STR("tools"), tools) &&
         set_plain(a, vars, TD_STR("documents"), documents) &&
         set_plain(a, vars, TD_STR("add_generation_prompt"), call->add_generation_prompt);
    *ret = vars;
    return ok ? TD_OK : td_arena_fail(a, err);
}

static td_code check_flags(const td_chat_call *call, td_error *err)
{
    if (!td_py_truthy(call->continue_final_message))
        return TD_OK;
    if (td_py_truthy(call->add_generation_prompt))
        return td_fail(err, TD_E_INPUT,
                       "continue_final_message and add_generation_prompt exclude each other");
    if (call->mask)
        return td_fail(err, TD_E_INPUT,
                       "continue_final_message and return_assistant_tokens_mask "
                       "exclude each other");
    return TD_OK;
}

/* Everything between the picked template and the rendered text. */
static td_code render_with(const td_chat_env *env, td_chat_call *call, const td_template *t,
                           td_chat_work *work, td_error *err)
{
    td_arena *a = &work->arena;
    TD_TRY(check_messages(call->messages, env->empty_allowed, err));
    if (call->parse_arguments)
        TD_TRY(td_shape_arguments(a, call->messages, &call->messages, err));
    if (call->sanitize && call->mask)
        return td_fail(err, TD_E_INPUT,
                       "sanitize_control_tokens and return_assistant_tokens_mask "
                       "exclude each other");
    TD_TRY(td_shape_messages(a, call->messages, &call->messages, err));
    TD_TRY(check_flags(call, err));
    if (call->sanitize)
        TD_TRY(td_sanitize_call(env->model, t, a, call, err));
    TD_TRY(check_objects("tools", call->tools, err));
    TD_TRY(check_objects("documents", call->documents, err));
    td_str final = { NULL, 0 };
    bool go_on = td_py_truthy(call->continue_final_message);
    if (go_on)
        TD_TRY(td_continue_mark(a, jj_source(t), call->continue_final_message, &call->messages,
                                &final, err));
    td_dict *vars;
    TD_TRY(make_variables(env->model, call, a, &vars, err));
    work->text.len = 0;
    work->spans.count = 0;
    TD_TRY(jj_render(t, vars, &work->limits, &env->now, work->jinja, &work->text,
                     call->mask ? &work->spans : NULL, err));
    return go_on ? td_continue_cut(&work->text, final, err) : TD_OK;
}

td_code td_chat_render(const td_chat_env *env, const td_chat_call *call, td_chat_work *work,
                       td_error *err)
{
    td_chat_call own = *call;
    size_t index;
    TD_TRY(td_model_pick_template(env->model, call->template_text, td_is_given(call->tools), &index,
                                  err));
    const td_model_template *of_model = index != SIZE_MAX ? &env->model->templates[index] : NULL;
    if (of_model != NULL && of_model->compiled != NULL)
        return render_with(env, &own, of_model->compiled, work, err);
    td_str source = of_model != NULL ? of_model->source : call->template_text;
    const char *file = of_model != NULL ? of_model->file : call->template_file;
    td_cached_template *cached;
    TD_TRY(td_template_cache_get(env->templates, source, file, &cached, err));
    td_code code = render_with(env, &own, td_cached_template_get(cached), work, err);
    td_template_cache_release(env->templates, cached);
    return code;
}

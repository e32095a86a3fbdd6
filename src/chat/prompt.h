/* prompt.h - from a request to rendered text, as apply_chat_template does it. */
#ifndef TD_SRC_CHAT_PROMPT_H
#define TD_SRC_CHAT_PROMPT_H

#include "chat/length.h"
#include "chat/model.h"
#include "chat/request.h"
#include "chat/template_cache.h"
#include "jinja/jinja.h"

/* What all items of a counter share; read only. */
typedef struct td_chat_env {
    const td_model *model;
    td_template_cache *templates;
    td_str default_template; /* ptr NULL: the model's */
    const char *default_template_file;
    const td_dict *default_kwargs; /* NULL: none */
    bool parse_arguments;
    bool empty_allowed; /* a conversation without messages is rendered, as one of a batch is */
    jj_now now;
} td_chat_env;

/* Reusable memory of one worker. */
typedef struct td_chat_work {
    td_arena arena; /* the item's values: reset between items by the owner */
    jj_workspace *jinja;
    jj_limits limits; /* of the item: deadline and cancel flag included */
    td_buf text;      /* the rendered prompt */
    jj_spans spans;   /* when the call wants the mask */
} td_chat_work;

/* One call of apply_chat_template, arguments settled. */
typedef struct td_chat_call {
    td_value messages, tools, documents; /* tools, documents: undefined when not given */
    td_value tool_choice;
    td_str template_text;      /* ptr NULL: the default; a name or a source */
    const char *template_file; /* its name in errors when it is a source */
    const td_dict *kwargs;     /* NULL: none */
    td_value add_generation_prompt, continue_final_message;
    bool mask, sanitize, parse_arguments;
    td_length_args length;
} td_chat_call;

/* The call that a "messages" request asks for: kwargs merged with the defaults, keys among them
 * that are parameters applied. TD_E_INPUT for a keyword that the reference would refuse. */
td_code td_chat_call_of(const td_chat_env *env, const td_request *r, td_arena *a, td_chat_call *ret,
                        td_error *err);

/* Renders into work->text (emptied first). Errors of the template have file, line and column. */
td_code td_chat_render(const td_chat_env *env, const td_chat_call *call, td_chat_work *work,
                       td_error *err);

/* ---- assistant messages ---- */

/* The two calls whose difference is what the message of a "message" request adds: *ret_with it and
 * *ret_without it. */
td_code td_chat_message_calls(const td_chat_env *env, const td_request *r, td_arena *a,
                              td_chat_call *ret_with, td_chat_call *ret_without, td_error *err);

/* ---- fallbacks: the plain text that stands for a prompt which cannot be rendered ---- */

td_code td_chat_fallback_prompt(const td_request *r, td_arena *a, td_buf *out, td_error *err);
td_code td_chat_fallback_message(const td_request *r, td_buf *out, td_error *err);

/* ---- parts ---- */

bool td_py_truthy(td_value v);
static inline bool td_is_given(td_value v)
{
    return v.tag != TD_V_UNDEFINED && v.tag != TD_V_NONE;
}

/* messages with each argument string that is the JSON text of an object replaced by the object. */
td_code td_shape_arguments(td_arena *a, td_value messages, td_value *ret, td_error *err);
/* messages as the template sees them: no null at the top level of a message, reasoning under all
 * its names. */
td_code td_shape_messages(td_arena *a, td_value messages, td_value *ret, td_error *err);

/* Puts the tag behind the field that is to be continued; what was there goes to *ret_final. */
td_code td_continue_mark(td_arena *a, td_str source, td_value field, td_value *messages,
                         td_str *ret_final, td_error *err);
/* Cuts the rendered text at the tag. */
td_code td_continue_cut(td_buf *text, td_str final, td_error *err);

/* Wraps control tokens in user strings in markers; tells which tokens those are by t's literals. */
td_code td_sanitize_call(const td_model *m, const td_template *t, td_arena *a, td_chat_call *call,
                         td_error *err);
/* Encodes a text rendered from such a call. *ret_ids is td_realloc'ed memory of the caller. */
td_code td_sanitize_encode(const td_model *m, td_encoder *enc, td_str text, td_arena *a,
                           td_id **ret_ids, size_t *ret_count, td_error *err);

#endif

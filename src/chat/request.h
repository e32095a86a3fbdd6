/* request.h - what a request says, decoded; and how a result is filled. */
#ifndef TD_SRC_CHAT_REQUEST_H
#define TD_SRC_CHAT_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "tokdrain/request.h"
#include "value/kept.h"

/* The keys of a request; what is missing is TD_V_UNDEFINED, null stays TD_V_NONE. */
typedef struct td_request_keys {
    td_value id;
    td_value token_ids, text, message, messages;
    td_value tools, documents, tool_choice;
    td_value chat_template, chat_template_kwargs;
    td_value add_generation_prompt, continue_final_message;
    td_value return_assistant_tokens_mask, sanitize_control_tokens;
    td_value parse_arguments, add_special_tokens;
} td_request_keys;

/* What a result line holds beside index, id and error. */
typedef enum td_line_form { TD_LINE_COUNT, TD_LINE_TEXT, TD_LINE_IDS } td_line_form;

/* A result and the memory behind its views. */
typedef struct td_result_box {
    td_result pub; /* first: td_result_free casts back */
    td_line_form form;
    td_buf id, text, line;
    td_id *ids;
    uint32_t *starts, *ends;
    char *mask;
    td_span *spans;
    td_owned *owned;
    td_tokenizer *pieces; /* owned; not NULL: the line holds the tokens' texts too */
} td_result_box;

td_result_box *td_result_new(void);       /* NULL: out of memory */
void td_result_clear(td_result_box *box); /* as new */
/* Sets pub.id from the request's id. */
td_code td_result_set_id(td_result_box *box, td_value id, td_error *err);

struct td_request {
    td_str json; /* of made ones: the bytes that their values borrow from */
    bool made;   /* from values, not from JSON text */
    td_release_fn release; /* NULL: json is own memory */
    void *release_user;

    const char *file; /* borrowed */
    uint64_t line, offset;
    uint64_t index;

    bool decoded;
    td_arena arena;   /* of td_request_decode; a worker decodes into its own */
    td_error failure; /* code other than TD_OK: what the item's result will be */
    td_via via;       /* the input that won */
    td_request_keys keys;
    td_str tools_source; /* what keys.tools was read from; ptr NULL: not known */
    td_keep_form tools_form;
    td_kept *kept; /* NULL: keys.tools is the request's own */

    td_result_box *box; /* room for the result, so that having one cannot fail later */
};

/* Makes *err, an input error without a place, point at the request. */
void td_request_place(const td_request *r, td_error *err);

/* Appends r as the JSON object that it was, or that says the same when it was made from values.
 * TD_E_TEMPLATE when the values have no JSON text. */
TD_NODISCARD td_code td_request_write(const td_request *r, td_buf *out, td_error *err);

/* A decoded request from its map. Takes what *a holds, where the map lives: *a is empty
 * afterwards, but on failure. */
td_code td_request_of_map(const td_dict *map, td_arena *a, td_request **ret_request, td_error *err);

/* Decodes r into a, unless it is decoded. Failures go to r->failure and decide nothing here. With
 * keep (may be NULL), tools that it knows are taken from there. */
void td_request_read(td_request *r, td_arena *a, td_keep *keep);
/* Makes r as one that is not decoded. */
void td_request_forget(td_request *r);

#endif

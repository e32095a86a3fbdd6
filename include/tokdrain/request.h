/* tokdrain/request.h - one item in, one item out.
 *
 * A request is one JSON object (docs/cli.md lists its keys). It is decoded where it is processed,
 * so making one is cheap; td_request_decode does it earlier. One thread uses a request at a
 * time. */
#ifndef TOKDRAIN_REQUEST_H
#define TOKDRAIN_REQUEST_H

#include "tokdrain/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_request td_request;

/* Gives the bytes of a request back to where they came from; called once, from any thread. */
typedef void (*td_release_fn)(void *user, const char *bytes);

/* A request from the bytes of a JSON object. With release, the bytes are borrowed until it is
 * called; without (NULL), they are copied. Fails only when out of memory: malformed bytes are the
 * item's own error, later. */
TD_API TD_NODISCARD td_code td_request_new(td_str json, td_release_fn release, void *user,
                                           td_request **ret_request, td_error *err);
/* A plain text, copied; add_special_tokens runs the post-processor. */
TD_API TD_NODISCARD td_code td_request_new_text(td_str text, bool add_special_tokens,
                                                td_request **ret_request, td_error *err);
/* An item that failed before it became a request (a line that is too long, say), so that it keeps
 * its place among the results. Takes *failure, which is empty afterwards. */
TD_API TD_NODISCARD td_code td_request_new_failed(td_error *failure, td_request **ret_request,
                                                  td_error *err);
TD_API void td_request_free(td_request *request);

/* Where the bytes stand, for errors: file (borrowed, may be NULL), 1-based line of their start,
 * and byte offset of their start in the file. */
TD_API void td_request_set_origin(td_request *request, const char *file, uint64_t line,
                                  uint64_t offset);

/* Decodes now what would be decoded when the request is processed, into memory of the request's
 * own. An error is not returned but kept: it becomes the result's. */
TD_API void td_request_decode(td_request *request);
/* Bytes of memory that the request holds. */
TD_API size_t td_request_bytes(const td_request *request);

/* ---- results ---- */

typedef enum td_via {
    TD_VIA_NONE, /* the input was not understood */
    TD_VIA_TOKEN_IDS,
    TD_VIA_TEXT,
    TD_VIA_MESSAGE,
    TD_VIA_MESSAGES,
    TD_VIA_FALLBACK,
} td_via;

/* "messages" and so on; "null" for TD_VIA_NONE. Static storage. */
TD_API const char *td_via_name(td_via via);

/* One {% generation %} block of a rendered text, in code points. */
typedef struct td_span {
    uint64_t start, end;
} td_span;

/* Tokens of one message in a rendered conversation. */
typedef struct td_owned {
    int64_t message;   /* its index; -1: of none, the template's own */
    size_t start, end; /* of the ids */
} td_owned;

/* Read it, then give it back with td_result_free; everything in it lives until then. */
typedef struct td_result {
    uint64_t index;   /* as given to td_counter_submit */
    td_str id;        /* JSON text of the request's id; "null" without one */
    td_via via;
    bool counted;     /* tokens is valid */
    uint64_t tokens;
    uint64_t reused;  /* tokens that came from segments counted before */
    td_error error;   /* code TD_OK: none; with TD_VIA_FALLBACK both a count and an error */
    td_str text;      /* of render and decode */
    uint64_t text_bytes; /* of the text that was counted, 0 for token ids */
    const td_span *generation; /* with return_assistant_tokens_mask */
    size_t generation_count;
    bool has_generation;
    const td_id *ids;          /* of encode */
    const uint32_t *starts, *ends; /* byte offsets, when they were asked for */
    const char *mask;          /* of encode with return_assistant_tokens_mask: 0 or 1 per id */
    size_t ids_count;
    const td_owned *owned; /* with td_direct_call.owners: all ids, in order; else NULL */
    size_t owned_count;
} td_result;

TD_API void td_result_free(td_result *result);
/* The result as a JSON line without newline, a view into the result. Strict UTF-8 (a lone
 * surrogate is escaped). */
TD_API TD_NODISCARD td_code td_result_json(td_result *result, td_str *ret_json, td_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* worker_protocol.h - the bytes between tokdrain and an external tokenizer process.
 *
 * Pure functions over buffers: a frame is four bytes of length, most significant first, and one
 * MessagePack map. docs/workers.md is the contract for those who write a worker. */
#ifndef TD_SRC_COUNT_WORKER_PROTOCOL_H
#define TD_SRC_COUNT_WORKER_PROTOCOL_H

#include "base/buf.h"
#include "tokdrain/counter.h"

enum {
    TD_WORKER_PROTOCOL = 1,
    TD_WORKER_FD = 3,                /* where the process finds its socket */
    TD_WORKER_HEAD_BYTES = 4,        /* of a frame */
    TD_WORKER_ANSWER_MAX = 64 << 20, /* bytes of a frame from a worker */
};

/* What every process of a pool is told first. */
typedef struct td_worker_hello {
    td_str model, revision;      /* ptr NULL: none */
    td_str chat_template;        /* default of requests; ptr NULL: the model's */
    td_str chat_template_kwargs; /* JSON object; ptr NULL: none */
    bool parse_arguments;
} td_worker_hello;

/* One item, and what is to be done with it: messages and texts are counted, encoded and (messages)
 * rendered, a message is counted, ids are decoded. */
typedef struct td_worker_item {
    td_operation operation;
    td_via via;
    td_str text; /* TD_VIA_TEXT: that; TD_VIA_TOKEN_IDS: packed; else the request as JSON */
    bool add_special_tokens;  /* of TD_VIA_TEXT */
    bool skip_special_tokens; /* of TD_VIA_TOKEN_IDS */
} td_worker_item;

/* What a worker says to one frame. Views go into the frame. */
typedef struct td_worker_answer {
    bool failed;
    uint64_t seq;
    uint64_t tokens; /* of TD_DO_COUNT */
    td_str ids;      /* of TD_DO_ENCODE: four bytes each, most significant first */
    td_str text;     /* of TD_DO_RENDER and TD_DO_DECODE: UTF-8 that may hold surrogates */
    td_code code;    /* of a failed item or start */
    td_str message;
    uint64_t protocol;
    td_str model; /* identity, of the first answer */
} td_worker_answer;

/* Replace *b by one frame. TD_E_LIMIT: it would be 4 GiB or more. */
td_code td_worker_put_hello(td_buf *b, const td_worker_hello *hello);
td_code td_worker_put_item(td_buf *b, const td_worker_item *item, uint64_t seq);

uint32_t td_worker_frame_length(const char head[TD_WORKER_HEAD_BYTES]);

/* Read the map of a frame; TD_E_INPUT says what is wrong with it. */
td_code td_worker_read_hello(td_str payload, td_worker_answer *ret, td_error *err);
td_code td_worker_read_answer(td_str payload, td_operation operation, td_worker_answer *ret,
                              td_error *err);

/* Ids as a frame has them. ids and bytes hold count ids. */
void td_worker_pack_ids(const td_id *ids, size_t count, char *bytes);
void td_worker_unpack_ids(td_str bytes, td_id *ids);

#endif

/* http.h - one text, served on a port of this machine to whoever asks, by a thread of its own. */
#ifndef TD_SRC_AGGREGATOR_HTTP_H
#define TD_SRC_AGGREGATOR_HTTP_H

#include "tokdrain/base.h"

typedef struct td_http td_http;

/* Listens on 127.0.0.1:port (0: any free one) and answers GET /metrics with the text. TD_E_INPUT
 * when the port cannot be had. */
TD_NODISCARD td_code td_http_new(unsigned port, td_http **ret, td_error *err);
/* The port that it got. */
unsigned td_http_port(const td_http *h);
/* Copies a new text; requests that are being answered keep the old one. From any thread. */
void td_http_set(td_http *h, td_str text);
void td_http_free(td_http *h);

#endif

/* message.h - received bytes that several owners share: the reader of a frame, and every request
 * that still points into it. */
#ifndef TD_SRC_AGGREGATOR_MESSAGE_H
#define TD_SRC_AGGREGATOR_MESSAGE_H

#include "tokdrain/base.h"

typedef struct td_message td_message;

/* A record and the message in which it lies. */
typedef struct td_record {
    td_message *message; /* borrowed */
    td_str bytes;
    bool may_share; /* what is made of it may keep the whole message */
} td_record;

/* The whole frame; valid while there is an owner. */
td_str td_message_bytes(const td_message *m);
/* Another owner; may be called from any thread, as is unref. */
td_message *td_message_ref(td_message *m);
void td_message_unref(td_message *m);

#endif

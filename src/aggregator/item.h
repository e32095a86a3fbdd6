/* item.h - requests to the counting pool, made from the parts of an event.
 *
 * A request borrows from the record: it keeps the message when that may be shared, and copies the
 * record otherwise, so that a small pending item never keeps a large frame alive. */
#ifndef TD_SRC_AGGREGATOR_ITEM_H
#define TD_SRC_AGGREGATOR_ITEM_H

#include "aggregator/event.h"
#include "aggregator/message.h"
#include "tokdrain/request.h"

/* Each makes a request that td_request_free or the pool takes. *ret is NULL, with TD_OK, when the
 * event asks for nothing. TD_E_INPUT: it asks for something that cannot be counted. */
TD_NODISCARD td_code td_item_prompt(const td_prompt *p, td_record record, td_request **ret,
                                    td_error *err);
TD_NODISCARD td_code td_item_output(const td_output *o, td_record record, td_request **ret,
                                    td_error *err);
TD_NODISCARD td_code td_item_rest(const td_output *o, td_record record, td_request **ret,
                                  td_error *err);
/* An assistant message without content, to see whether the template can render one. */
TD_NODISCARD td_code td_item_empty_message(td_request **ret, td_error *err);

#endif

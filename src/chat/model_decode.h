/* model_decode.h - ids to text as a model directory's class does it. */
#ifndef TD_SRC_CHAT_MODEL_DECODE_H
#define TD_SRC_CHAT_MODEL_DECODE_H

#include "base/buf.h"
#include "chat/model.h"

/* td_decode and what the class does before and after it. enc is one of the model's tokenizer. The
 * view is borrowed from enc or scratch until their next use. */
td_code td_model_decode(const td_model *m, td_encoder *enc, const td_id *ids, size_t count,
                        unsigned flags, td_buf *scratch, td_str *ret, td_error *err);

/* Notes on m what td_model_decode has to do. kind is the type of the tokenizer's model. */
void td_model_decode_setup(td_model *m, const td_dict *tok_config, td_str kind);

#endif

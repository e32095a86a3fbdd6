/* default_model.h - the files of the built-in model, embedded in the library at build time.
 *
 * The texts are those of assets/default and live for ever; they may be read from any thread. */
#ifndef TD_SRC_CHAT_DEFAULT_MODEL_H
#define TD_SRC_CHAT_DEFAULT_MODEL_H

#include "tokdrain/base.h"

td_str td_default_tokenizer_json(void);
td_str td_default_chat_template(void);
td_str td_default_tokenizer_config(void);

#endif

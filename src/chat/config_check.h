/* config_check.h - values in tokenizer_config.json that the reference refuses. */
#ifndef TD_SRC_CHAT_CONFIG_CHECK_H
#define TD_SRC_CHAT_CONFIG_CHECK_H

#include "value/value.h"

/* tok_config may be NULL. TD_E_TOKENIZER names the key. */
td_code td_config_check(const td_dict *tok_config, td_error *err);

#endif

/* mistral_fix.h - the option fix_mistral_regex of tokenizer_config.json. */
#ifndef TD_SRC_CHAT_MISTRAL_FIX_H
#define TD_SRC_CHAT_MISTRAL_FIX_H

#include "chat/added_tokens.h"

/* Whether it is set and applies. config is config.json; NULL: there is none. */
td_code td_mistral_fix_wanted(td_arena *a, const td_dict *config, const td_dict *tok_config,
                              td_str vocab, const td_token_list *added, bool *ret, td_error *err);

/* Replaces the first pre-tokenizer of the sections. */
td_code td_mistral_fix(td_arena *a, td_dict *root, td_error *err);

#endif

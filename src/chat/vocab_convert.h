/* vocab_convert.h - model directories without a tokenizer.json whose vocabulary is in the format of
 * another library, which the generic class converts. */
#ifndef TD_SRC_CHAT_VOCAB_CONVERT_H
#define TD_SRC_CHAT_VOCAB_CONVERT_H

#include "base/arena.h"
#include "tokdrain/base.h"
#include "value/value.h"

/* The tokenizer.json that a tekken.json, or a tokenizer.model or tiktoken.model of tiktoken ranks,
 * becomes, and the name of that file; ptr NULL: there is none of these. TD_E_TOKENIZER: there is
 * one that is not converted here, or several, of which the reference takes the one that comes first
 * in the directory's own order. tok_config may be NULL. */
td_code td_vocab_convert(td_arena *a, const char *dir, const td_dict *tok_config, td_str *ret_json,
                         const char **ret_name, td_error *err);

#endif

/* vocab_convert.h - model directories without a tokenizer.json whose vocabulary is in the format of
 * another library, which the generic class converts. */
#ifndef TD_SRC_CHAT_VOCAB_CONVERT_H
#define TD_SRC_CHAT_VOCAB_CONVERT_H

#include "chat/added_tokens.h"

/* The tokenizer.json that a tekken.json, a tiktoken.model, or a tokenizer.model of tiktoken ranks
 * or of SentencePiece becomes, and the name of that file; ptr NULL: there is none of these. Of a
 * class (files->rule) only the model is in it, and only of SentencePiece models; what the files say
 * is changed to what they say beside such a one. TD_E_TOKENIZER: there is one that is not converted
 * here, or several, of which the reference takes the one that comes first in the directory's own
 * order. */
td_code td_vocab_convert(td_arena *a, const char *dir, td_token_files *files, td_str *ret_json,
                         const char **ret_name, td_error *err);

#endif

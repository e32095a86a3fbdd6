/* spm_convert.h - model directories without a tokenizer.json whose tokenizer.model is
 * SentencePiece's, for the generic class and for those that take vocabulary and merges from it. */
#ifndef TD_SRC_CHAT_SPM_CONVERT_H
#define TD_SRC_CHAT_SPM_CONVERT_H

#include "chat/added_tokens.h"
#include "chat/skim.h"

/* Whether a class is one that is converted for; rule NULL: the generic class, which is. */
bool td_spm_is_for(const td_class_rule *rule);

/* The tokenizer.json that bytes (the file) become, of a class only its model. files: what the
 * tokenizer's configuration says becomes what it says beside such a file. TD_E_TOKENIZER: it is not
 * converted. */
td_code td_spm_convert(td_arena *a, td_str bytes, td_token_files *files, td_buf *out,
                       td_error *err);

#endif

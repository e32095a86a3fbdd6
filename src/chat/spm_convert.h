/* spm_convert.h - model directories whose vocabulary is a SentencePiece model. */
#ifndef TD_SRC_CHAT_SPM_CONVERT_H
#define TD_SRC_CHAT_SPM_CONVERT_H

#include "base/buf.h"
#include "chat/added_tokens.h"
#include "chat/vocab_convert.h"

/* The tokenizer.json that bytes (the file) become, of a class that builds its own pipeline only its
 * model. files: what the tokenizer's configuration says becomes what it says beside such a file.
 * Sets members of ret. TD_E_TOKENIZER: it is not converted. */
td_code td_spm_convert(td_arena *a, td_str bytes, td_token_files *files, td_buf *out,
                       td_converted *ret, td_error *err);

#endif

/* spm_classes.h - how classes arrange the pieces of a SentencePiece model (convert_from_spm). */
#ifndef TD_SRC_CHAT_SPM_CLASSES_H
#define TD_SRC_CHAT_SPM_CLASSES_H

#include "chat/added_tokens.h"
#include "tokenizer/formats/convert_spm.h"

/* Sets model, front, back, skip and ids of o for the class of files; a holds what they point to. */
td_code td_spm_arrange(td_arena *a, const td_token_files *files, tk_spm_options *o, td_error *err);

#endif

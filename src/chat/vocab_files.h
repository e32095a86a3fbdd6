/* vocab_files.h - which file of a directory holds its tokenizer. */
#ifndef TD_SRC_CHAT_VOCAB_FILES_H
#define TD_SRC_CHAT_VOCAB_FILES_H

#include "chat/class_rules.h"
#include "chat/skim.h"

/* "tokenizer.json", or the newest of the configuration's fast_tokenizer_files that is not too new
 * for the reference. The name lives in a. */
td_code td_tokenizer_file_name(td_arena *a, const td_dict *tok_config, const char **ret,
                               td_error *err);

/* Vocabulary and merges of the files that the class takes when there is no tokenizer.json, as the
 * texts that a tokenizer.json would have; root is NULL. rule NULL: the generic class. TD_E_INPUT,
 * TD_E_TOKENIZER: there is none that can be used; the message names what is there. */
td_code td_vocab_files_read(td_arena *a, const char *dir, const td_class_rule *rule,
                            td_skimmed *ret, td_error *err);

#endif

/* tokenizer_class.h - which tokenizer class AutoTokenizer picks for a model directory. */
#ifndef TD_SRC_CHAT_TOKENIZER_CLASS_H
#define TD_SRC_CHAT_TOKENIZER_CLASS_H

#include "base/arena.h"
#include "value/value.h"

typedef struct td_class_choice {
    td_str name;     /* "TokenizersBackend" is the generic class: tokenizer.json as it stands */
    td_str asked;    /* what the configuration names; empty: nothing */
    const char *why; /* one sentence for people */
    bool generic;
} td_class_choice;

/* name is the model as the caller names it, config is config.json, tok_config
 * tokenizer_config.json; each of these may be NULL. json is the text of tokenizer.json, ptr NULL
 * if there is none. TD_E_TOKENIZER: the class cannot be used, by name. */
td_code td_class_choose(td_str name, const td_dict *config, const td_dict *tok_config, td_str json,
                        td_class_choice *ret, td_error *err);

#endif

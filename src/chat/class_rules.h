/* class_rules.h - what a tokenizer class makes of a tokenizer.json. */
#ifndef TD_SRC_CHAT_CLASS_RULES_H
#define TD_SRC_CHAT_CLASS_RULES_H

#include "base/arena.h"
#include "chat/skim.h"
#include "value/value.h"

enum { TD_STANDARD_TOKENS = 7 };
/* "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" */
extern const char *const td_standard_tokens[TD_STANDARD_TOKENS];

/* One class that builds its own pipeline over the file's vocabulary and merges. Texts are JSON. */
typedef struct td_class_rule {
    const char *name;
    const char *defaults[TD_STANDARD_TOKENS]; /* of the standard tokens; NULL: unset */
    const char *model;                        /* the options beside vocab and merges */
    const char *normalizer;
    const char *pre_tokenizer;        /* with add_prefix_space false */
    const char *pre_tokenizer_prefix; /* with add_prefix_space true */
    const char *pre_tokenizer_legacy; /* with it and legacy true; NULL: the same */
    const char *decoder, *decoder_prefix;
    bool prefix_default; /* add_prefix_space when it is not set */
    bool drops_post;     /* the file's post-processor is lost */
    bool resets_named;   /* named tokens are added again with plain flags */
} td_class_rule;

/* NULL: no rule for that class here. */
const td_class_rule *td_class_rule_find(td_str name);

/* tokenizer.json as the class makes it, without added tokens and without the bulk: a new dict. */
td_code td_class_rebuild(td_arena *a, const td_class_rule *rule, const td_dict *tok_config,
                         const td_skimmed *file, td_dict **ret, td_error *err);

#endif

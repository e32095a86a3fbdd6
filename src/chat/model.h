/* model.h - what the layers above see of a td_model beyond the public header. */
#ifndef TD_SRC_CHAT_MODEL_H
#define TD_SRC_CHAT_MODEL_H

#include <stdatomic.h>

#include "base/arena.h"
#include "chat/added_tokens.h"
#include "chat/length.h"
#include "chat/skim.h"
#include "tokdrain/model.h"
#include "value/value.h"

/* What decoding does beside td_decode; see model_decode.h. */
typedef struct td_decode_rules {
    bool cleans_up, joins_words, drops_times, groups;
    bool has_pad, has_prompt, has_start; /* such a token */
    td_id pad;
    td_id prompt, start; /* what begins a prompt, and what is behind it, for drops_times */
} td_decode_rules;

/* What made the tokenizer differ from its file as it stands; td_model_describe names them. */
enum {
    TD_RULE_PIPELINE = 1u << 0,      /* the class's own normalizer, pre-tokenizer, decoder */
    TD_RULE_POST = 1u << 1,          /* the class's own post-processor */
    TD_RULE_TOKENS = 1u << 2,        /* added tokens of other files, of options and the class */
    TD_RULE_VOCAB_FILES = 1u << 3,   /* no tokenizer.json, but the class's vocabulary files */
    TD_RULE_VERSIONED = 1u << 4,     /* a versioned file instead of tokenizer.json */
    TD_RULE_MISTRAL_REGEX = 1u << 5, /* fix_mistral_regex */
    TD_RULE_UNCUT = 1u << 6,         /* truncation and padding of the file are not applied */
    TD_RULE_SPLIT_SPECIAL = 1u << 7, /* special tokens in texts are text */
};

struct td_model {
    atomic_uint owners;
    td_arena arena; /* every text and array below */
    const char *name;
    const char *kind; /* "built-in", "directory", "file", "parts" */
    td_tokenizer *tokenizer;

    td_model_template *templates;
    size_t template_count;
    bool templates_are_map; /* several, or named: a request may pick by name */

    td_token_list added; /* every added token, for control token search */
    td_named_list named;
    unsigned encode_flags; /* TD_ENCODE_PLAIN_TEXT when split_special_tokens is set */

    td_decode_rules decode;
    td_length_defaults length;
    td_compat compat;
    bool templates_only;
    td_str class_asked, class_used;
    const char *class_why;
    unsigned rules; /* TD_RULE_ */
    uint64_t load_ns;
};

/* Picks a template as get_chat_template does. asked is the caller's name or text (ptr NULL: none),
 * has_tools whether tools are not none. *ret_index is the model's template; SIZE_MAX: asked is a
 * template text of its own. TD_E_TEMPLATE when there is none. */
td_code td_model_pick_template(const td_model *m, td_str asked, bool has_tools, size_t *ret_index,
                               td_error *err);

/* ---- parts of loading ---- */

/* Copies added and named tokens into m. */
td_code td_model_keep_tokens(td_model *m, const td_tokens *t, td_error *err);
/* Makes the tokenizer of changed sections and the file's bulk. */
td_code td_model_set_sections(td_model *m, const td_dict *root, const td_skimmed *bulk,
                              td_error *err);
/* Fills m from parts; a is for what is needed meanwhile. */
td_code td_model_take_parts(td_model *m, td_arena *a, const td_model_parts *parts, td_error *err);

/* Adds a template; file and name are copied. */
td_code td_model_add_template(td_model *m, td_str name, const char *file, td_str source,
                              td_error *err);
/* Finds the chat templates of a directory. tok_config may be NULL. */
td_code td_model_find_templates(td_model *m, const char *dir, const td_dict *tok_config,
                                td_error *err);
/* The folder of a cached hub model, or NULL with err set. */
const char *td_hub_find(td_arena *a, const char *name, const td_model_options *options,
                        td_error *err);

#endif

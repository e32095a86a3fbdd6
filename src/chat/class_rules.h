/* class_rules.h - what a tokenizer class makes of a tokenizer.json. */
#ifndef TD_SRC_CHAT_CLASS_RULES_H
#define TD_SRC_CHAT_CLASS_RULES_H

#include "base/arena.h"
#include "value/value.h"

enum { TD_STANDARD_TOKENS = 7 };
/* "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" */
extern const char *const td_standard_tokens[TD_STANDARD_TOKENS];

/* How a class holds a token: as a text, or as a token with flags. */
enum {
    TD_TOKEN_TEXT = 1u << 0,
    TD_TOKEN_SPECIAL = 1u << 1,
    TD_TOKEN_NORMALIZED = 1u << 2,
    TD_TOKEN_LSTRIP = 1u << 3,
    TD_TOKEN_RSTRIP = 1u << 4,
    TD_TOKEN_SINGLE_WORD = 1u << 5,
    TD_TOKEN_NEEDED = 1u << 6, /* cannot be null */
    TD_TOKEN_KEPT = 1u << 7,   /* of that name in the end, whatever a configuration gives */
};

typedef struct td_class_named {
    const char *name, *text; /* text NULL: no default */
    uint8_t flags, given;    /* of the default; of a text that a configuration gives */
} td_class_named;

typedef struct td_class_extra {
    const char *text;
    uint8_t flags;
} td_class_extra;

/* An option that changes a part. Its values are false, true, null, by index. */
typedef struct td_class_option {
    const char *name;
    int8_t values, missing, null; /* how many values; the value of an absent key; of null */
} td_class_option;

/* Numbers of the texts of td_class_text; all TD_NO_PARTS: the class refuses these options. */
enum { TD_NO_PARTS = 0xFFFF };
typedef struct td_class_parts {
    uint16_t normalizer, pre_tokenizer, decoder;
    uint16_t post, post_null; /* when the file has a post-processor; when it has none */
} td_class_parts;

/* One class. Lists end with an item without a name. */
typedef struct td_class_rule {
    const char *name;
    const char *refused; /* why the class cannot be used here; NULL: it can, and so on */
    bool words_only;     /* it takes lists of words and refuses texts */
    const td_class_named *named;
    const td_class_extra *extra;
    const td_class_option *options;
    const td_class_parts *parts; /* of [charsmap][option][option]..., see td_class_parts_for */
    const char *model;           /* the options beside vocab and merges, JSON */
    enum { TD_KIND_BPE, TD_KIND_WORDPIECE, TD_KIND_UNIGRAM } kind;
    enum {
        TD_UNKNOWN_FIXED,
        TD_UNKNOWN_OPTION,
        TD_UNKNOWN_SCORED,
        TD_UNKNOWN_SCORED_OPTION,
        TD_UNKNOWN_TEXT,
    } unknown; /* which piece of a Unigram vocabulary is the unknown one */
    int unknown_at;
    bool rebuilds;       /* false: tokenizer.json stays, only parts[0].post may replace its own */
    const char *vocabulary; /* instead of the file's; NULL: none */
    bool takes_charsmap; /* parts depend on a Precompiled normalizer of the file */
    /* what becomes of the class's extra tokens when files have extra (additional) ones */
    enum {
        TD_EXTRA_REPLACED,
        TD_EXTRA_BEHIND,
        TD_EXTRA_BEFORE,
        TD_EXTRA_IGNORED,
        TD_EXTRA_REFUSED
    } extra_how;
    int additional_how;
    bool merges_lists;     /* extra tokens and additional ones, if there are both */
    bool null_keeps_extra; /* null leaves the class's own */
    bool null_is_absent;   /* null leaves additional ones */
    uint8_t needed;        /* bits of standard tokens that must be set */
    enum { TD_UNSET_NULL, TD_UNSET_NONE, TD_UNSET_REFUSED } unset_unknown; /* "None" as a text */
    enum { TD_RESET_NONE, TD_RESET_TEXTS, TD_RESET_ALL } resets; /* tokens added again, plainly */
    enum { TD_FILES_NONE, TD_FILES_BPE, TD_FILES_VOCAB_TXT } files; /* beside tokenizer.json */
    const char *pieces_file; /* its name for a SentencePiece model beside it; NULL: none */
    bool any_kind;           /* of such a model goes on; else it becomes one of kind */
    bool early_post;         /* the template is made before tokens are added; flags replace it */
    const char *pair_words;  /* tokens that it needs for pairs, or else the unknown one; or NULL */
    const char *unset_bos;   /* the name of the token that takes the place of bos_token; or NULL */
    bool needs_tags;         /* option tags_dict; texts are cut at white space first */
    bool rearranges;         /* a vocabulary without language codes gets them */
    bool strict_language;    /* only one of the extra tokens will do */
    const char *language, *language_default, *language_wrap;
} td_class_rule;

/* NULL: no rule for that class here. */
const td_class_rule *td_class_rule_find(td_str name);
const char *td_class_text(uint16_t number);

/* The parts for these options. TD_E_TOKENIZER: an option has a value that the class refuses. */
td_code td_class_parts_for(const td_class_rule *rule, const td_dict *tok_config, bool charsmap,
                           const td_class_parts **ret, td_error *err);

#endif

/* added_tokens.h - added and named tokens of a model directory, from all files that hold some. */
#ifndef TD_SRC_CHAT_ADDED_TOKENS_H
#define TD_SRC_CHAT_ADDED_TOKENS_H

#include "base/arena.h"
#include "chat/class_rules.h"
#include "value/value.h"

typedef struct td_added {
    td_str text;
    int64_t id; /* as files write it: orders tokens, no more */
    bool special, normalized, lstrip, rstrip, single_word;
    bool is_text;  /* held as a text, not as a token with flags */
    bool of_class; /* the class gave it flags */
} td_added;

/* A token that templates see as a variable. */
typedef struct td_named {
    td_str name;
    td_added token;
    bool configured; /* by a file, not by its class */
} td_named;

typedef struct td_token_list {
    td_added *items;
    size_t count, cap;
} td_token_list;

typedef struct td_named_list {
    td_named *items;
    size_t count, cap;
} td_named_list;

typedef struct td_token_files {
    const td_class_rule *rule;  /* NULL: the generic class */
    const td_dict *tok_config;  /* tokenizer_config.json; NULL: none */
    const td_dict *special_map; /* special_tokens_map.json; NULL: none */
    const td_dict *added_json;  /* added_tokens.json; NULL: none */
    const td_dict *file;        /* tokenizer.json, its vocabulary and merges apart */
    /* Control and user-defined pieces of the vocabulary, which take the place of additional tokens;
     * NULL: there is a tokenizer.json, or a vocabulary that has none. */
    const td_token_list *pieces;
    bool raw; /* tokens with ids of the configuration are found in the text as it was given */
} td_token_files;

typedef struct td_tokens {
    td_token_list added; /* of the finished tokenizer, in order */
    td_named_list named; /* in the order of special_tokens_map */
    bool changed;        /* added differs from what the file has */
} td_tokens;

/* Merges as AutoTokenizer does. All memory is of a; texts borrow from the files. */
td_code td_tokens_merge(td_arena *a, const td_token_files *files, td_tokens *ret, td_error *err);

/* The added_tokens of a tokenizer.json. */
td_code td_tokens_of_file(td_arena *a, const td_dict *file, td_token_list *ret, td_error *err);
/* The list as the value of "added_tokens". */
td_code td_tokens_to_value(td_arena *a, const td_token_list *list, td_value *ret, td_error *err);

#endif

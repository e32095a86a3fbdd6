/* class_post.h - the post-processor that a class sets, from words like "cls_token A sep_token". */
#ifndef TD_SRC_CHAT_CLASS_POST_H
#define TD_SRC_CHAT_CLASS_POST_H

#include "chat/added_tokens.h"

typedef struct td_post_input {
    const td_class_rule *rule; /* NULL: the generic class */
    const td_dict *tok_config;
    td_str vocab;            /* its text */
    bool early;              /* tokens must be of the vocabulary, added ones do not count */
    const td_tokens *tokens; /* in the order in which they get their ids */
} td_post_input;

/* Words: A is the text; "x_token" a named token ("x_token?" only if it is set); "language" the
 * token of the configured language; #n the id n; <|x|> that token, or the unknown one. Whisper's
 * language and task, where they are configured, stand behind its first token.
 *
 * "x_token=..." says what stands for one that is not set: "unk" the token None (so Python spells
 * it), or the unknown one; "2" the id 2 of one token None, which the last such word names for all;
 * "#2" the id 2; "file" all is the file's own, see td_post_is_files. */
td_code td_post_build(td_arena *a, const td_post_input *in, const char *words, td_value *ret,
                      td_error *err);

bool td_post_is_files(const td_tokens *tokens, const char *words);

/* The words for add_bos_token and add_eos_token. */
const char *td_post_words_of_flags(const td_dict *tok_config, bool bos_default);

/* The text of a named token; ptr NULL: it is not set. */
td_str td_text_of_named(const td_named_list *named, td_str name);

#endif

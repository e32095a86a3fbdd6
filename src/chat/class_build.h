/* class_build.h - a tokenizer.json as a class makes it. */
#ifndef TD_SRC_CHAT_CLASS_BUILD_H
#define TD_SRC_CHAT_CLASS_BUILD_H

#include "chat/added_tokens.h"
#include "chat/skim.h"

typedef struct td_class_input {
    const td_class_rule *rule;
    const td_dict *tok_config; /* NULL: none */
    const td_skimmed *file;    /* root NULL: there are but vocabulary files */
    td_str charsmap;           /* of a vocabulary file, in base64; ptr NULL: none */
    bool has_json;             /* file is a tokenizer.json that the directory has */
    const td_tokens *tokens;   /* as td_tokens_merge gives them */
} td_class_input;

/* Sections without added tokens, to be written with *ret_bulk; *ret_own_post: the post-processor is
 * the class's, not the file's. All memory is of a, or of scratch, which the caller frees
 * afterwards. TD_E_TOKENIZER: the class refuses the file, or this version cannot build it. */
td_code td_class_build(td_arena *a, td_buf *scratch, const td_class_input *in, td_dict **ret,
                       td_skimmed *ret_bulk, bool *ret_own_post, td_error *err);

#endif

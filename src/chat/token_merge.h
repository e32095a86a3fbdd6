/* token_merge.h - the work of added_tokens.c and extra_tokens.c: tokens of all files on their way
 * into one list. */
#ifndef TD_SRC_CHAT_TOKEN_MERGE_H
#define TD_SRC_CHAT_TOKEN_MERGE_H

#include "chat/added_tokens.h"

typedef struct td_merge {
    td_arena *a;
    const td_token_files *files;
    td_named_list named; /* a token without text: unset */
    td_token_list extra;
    enum {
        TD_BY_NOTHING,
        TD_BY_EXTRA,
        TD_BY_EXTRA_NULL,
        TD_BY_ADDITIONAL
    } extra_source; /* the key they came by */
    td_token_list by_id;
    int64_t highest_id; /* of by_id */
    td_dict *index;     /* text -> place in the backend's list */
    td_error *err;
} td_merge;

td_code td_merge_push(td_arena *a, td_token_list *list, td_added token, td_error *err);
/* Replaces one of the same name. */
td_code td_merge_push_named(td_arena *a, td_named_list *list, td_str name, td_added token,
                            bool configured, td_error *err);
/* The first of that text; NULL: none. */
td_added *td_merge_find(const td_token_list *list, td_str text);
const td_value *td_merge_key(const td_dict *d, const char *key); /* NULL: none */
td_added td_merge_plain(td_str text);                            /* special, held as a text */
td_added td_merge_with_flags(td_str text, unsigned flags);
td_code td_merge_read_object(const td_dict *d, const char *where, td_added *ret, td_error *err);
bool td_merge_is_standard(td_str key);

/* Extra tokens, in this order: of configuration and special_tokens_map.json (with_map), of the
 * vocabulary's pieces, of the class. */
td_code td_merge_extra_of_files(td_merge *m, bool with_map);
td_code td_merge_extra_of_pieces(td_merge *m);
td_code td_merge_extra_of_class(td_merge *m);
td_code td_merge_named_specific(td_merge *m);

#endif

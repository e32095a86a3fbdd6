/* skim.h - a tokenizer.json read without its bulk: vocabulary and merges stay text. */
#ifndef TD_SRC_CHAT_SKIM_H
#define TD_SRC_CHAT_SKIM_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

typedef struct td_skimmed {
    td_dict *root;        /* all sections; "model" holds an object without vocab and merges */
    td_str vocab, merges; /* their JSON text, views of the file; ptr NULL: absent */
    bool nearest;         /* scores in vocab are to be read to the nearest double */
} td_skimmed;

/* json needs to be well-formed as far as it is walked over; the rest shows when it is loaded. */
td_code td_skim(td_arena *a, td_str json, td_skimmed *ret, td_error *err);

/* Appends root as JSON, with the texts of vocab and merges back in "model". */
td_code td_skim_write(td_buf *out, const td_dict *root, const td_skimmed *bulk, td_error *err);

#endif

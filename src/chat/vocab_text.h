/* vocab_text.h - what class rules need to know about a vocabulary that stays JSON text. */
#ifndef TD_SRC_CHAT_VOCAB_TEXT_H
#define TD_SRC_CHAT_VOCAB_TEXT_H

#include "base/arena.h"
#include "base/buf.h"
#include "value/value.h"

/* One walk over the text of a vocabulary: an object of ids, or a list of [text, score] (or texts)
 * whose ids are the places. For each key of wanted that is an entry its value becomes the id
 * (others stay as they are). *ret_next is the first id behind the entries' number. */
td_code td_vocab_find(td_str vocab, td_dict *wanted, int64_t *ret_count, td_error *err);

/* The first entry of a list of [text, score] with that text, from place at on; scored: only one
 * whose score is zero. -1: none. */
td_code td_vocab_place(td_str vocab, td_str text, int64_t at, bool scored, int64_t *ret,
                       td_error *err);

/* The items of a list from place at on, as text between commas; empty when there are none. */
td_code td_vocab_tail(td_str vocab, int64_t at, td_str *ret, td_error *err);

/* A list as the object {text: place}, as classes over other models take it. */
td_code td_vocab_as_object(td_str vocab, td_buf *out, td_error *err);

#endif

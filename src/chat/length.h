/* length.h - truncation and padding of a prompt's ids, as apply_chat_template hands them on.
 *
 * Only where there are ids: rendering takes no notice of them, whatever they are. */
#ifndef TD_SRC_CHAT_LENGTH_H
#define TD_SRC_CHAT_LENGTH_H

#include "base/arena.h"
#include "chat/added_tokens.h"
#include "tokdrain/tokenizer.h"
#include "value/value.h"

/* What the tokenizer says itself, from tokenizer_config.json. */
typedef struct td_length_defaults {
    bool known;   /* false: there is no tokenizer_config.json for this kind of tokenizer */
    td_value max; /* model_max_length, a number; undefined: none; null: one that is no length */
    bool cut_left, pad_left;
    bool has_pad;
    td_id pad;
} td_length_defaults;

/* Arguments of the call as they were given; undefined: not given. */
typedef struct td_length_args {
    td_value padding, truncation, max_length, return_tensors, tokenizer_kwargs;
} td_length_args;

/* What they come to. */
typedef struct td_length {
    bool cuts, fills;
    bool cut_left, fill_left;
    bool needs_pair; /* what is too long is refused */
    bool marked;     /* a limit of 0 cuts nothing on the left; no ids are not filled up */
    bool divides;    /* by what cannot be divided by, unless there are no ids */
    bool fills_to;      /* to fill_to, else to what is there */
    uint64_t cut_at, fill_to;
    uint64_t multiple; /* the length when filled is a multiple of this; 0: of none */
    td_id pad;
} td_length;

/* class_used: the tokenizer's class. named: its named tokens, the padding token maybe. */
void td_length_setup(td_length_defaults *d, const td_dict *tok_config, td_str class_used,
                     const td_tokenizer *tok, const td_named_list *named);

/* TD_E_INPUT for what the reference refuses. marked: for a text with control tokens marked, which
 * is cut in a way of its own. */
td_code td_length_of(const td_length_defaults *d, const td_length_args *args, bool marked,
                     td_length *ret, td_error *err);

static inline bool td_length_matters(const td_length *l)
{
    return l->cuts || l->fills || l->divides;
}

/* How many ids count ids become. */
td_code td_length_count(const td_length *l, uint64_t count, uint64_t *ret, td_error *err);

/* Cuts and fills ids, and offsets where there are some; new lists lie in a. */
td_code td_length_apply(const td_length *l, td_arena *a, td_ids *ids, td_error *err);

#endif

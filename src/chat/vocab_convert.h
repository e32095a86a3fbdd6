/* vocab_convert.h - model directories without a tokenizer.json whose vocabulary is in the format of
 * another library, which is converted. */
#ifndef TD_SRC_CHAT_VOCAB_CONVERT_H
#define TD_SRC_CHAT_VOCAB_CONVERT_H

#include "chat/added_tokens.h"

/* A tokenizer.json that was made of another file. */
typedef struct td_converted {
    td_str json;      /* ptr NULL: there is none of these files */
    const char *name; /* of the file */
    td_str charsmap;  /* beside the json, in base64; ptr NULL: none */
    bool model_only;  /* the rest of json does not count: the class builds it */
    bool nearest;     /* scores in json are to be read to the nearest double */
} td_converted;

/* Looks for a tekken.json, a tiktoken.model, a tokenizer.model of tiktoken ranks or of
 * SentencePiece, and the SentencePiece model that the class has a name of its own for. Ranks and
 * Tekken are for the generic class only. files: what they say is changed to what they say beside
 * such a file. TD_E_TOKENIZER: there is one that is not converted here, or several, of which the
 * reference takes the one that comes first in the directory's own order. */
td_code td_vocab_convert(td_arena *a, const char *dir, td_token_files *files, td_converted *ret,
                         td_error *err);

#endif

/* formats.h - vocabulary files that are no tokenizer.json.
 *
 * A bare file behaves as the library that its format is of (tiktoken, mistral-common,
 * sentencepiece); each loader says where that differs from the Hugging Face pipeline. All make the
 * same td_tokenizer: a normalizer, a pre-tokenizer, a model, what the family adds in front of a
 * text, and a way from ids to text (tk_detok). */
#ifndef TD_SRC_TOKENIZER_FORMATS_FORMATS_H
#define TD_SRC_TOKENIZER_FORMATS_FORMATS_H

#include "tokenizer/internal.h"

typedef enum tk_format {
    TK_FORMAT_JSON, /* tokenizer.json */
    TK_FORMAT_TIKTOKEN,
    TK_FORMAT_TEKKEN,
    TK_FORMAT_SENTENCEPIECE,
} tk_format;

/* Told by the content alone: what is neither JSON nor ranks is taken for a SentencePiece model. */
tk_format tk_format_of(td_str bytes);

/* tok is empty, its refs are set. encoding: the family of a tiktoken file, NULL: told by its
 * ranks. */
td_code tk_load_format(td_tokenizer *tok, td_str bytes, const char *encoding, td_error *err);

td_code tk_load_tiktoken(td_tokenizer *tok, tk_load *load, td_str bytes, const char *encoding);
td_code tk_load_tekken(td_tokenizer *tok, tk_load *load, td_str bytes);
td_code tk_load_sentencepiece(td_tokenizer *tok, tk_load *load, td_str bytes);

/* ---- parts of them ---- */

/* Base64 text as bytes in the arena a; false in *ret_good: it is none, or its padding is wrong. */
td_code tk_read_base64(tk_load *load, td_arena *a, td_str text, td_str *ret, bool *ret_good);

/* Split by a pattern, each match and gap on its own, then byte level: what tiktoken does. */
td_code tk_make_words(tk_load *load, td_str pattern, const tk_pretok **ret);

/* NFC as CPython 3.11 has it (nfc.c). */
td_code tk_make_python_nfc(tk_load *load, const tk_norm **ret);

/* A post-processor that puts one token in front of a text; missing: there is no such token, which
 * is an error when it is asked for. */
td_code tk_make_bos(tk_load *load, td_str text, td_id id, bool missing, const tk_post **ret);

/* Decoding of byte-level vocabularies: unknown ids are errors. apart: text on each side of an
 * added token is decoded on its own. */
td_code tk_make_bytes_detok(tk_load *load, bool apart, const tk_detok **ret);

#endif

/* tokdrain/tokenizer.h - text into token ids and back, as Hugging Face tokenizers does it.
 *
 * A td_tokenizer is built once and never changes, so any number of threads may use one without a
 * lock. What changes lives in a td_encoder (scratch memory, word cache, output arrays): one thread
 * uses an encoder at a time.
 *
 *     td_tokenizer *tok = NULL;
 *     td_error err = TD_ERROR_INIT;
 *     if (td_tokenizer_new_from_file("tokenizer.json", &tok, &err) != TD_OK) ...
 *     td_encoder *enc = td_encoder_new(tok);
 *     td_ids ids;
 *     if (td_encode(enc, TD_STR("hello"), 0, &ids, &err) != TD_OK) ...
 *     td_encoder_free(enc);
 *     td_tokenizer_free(tok);
 */
#ifndef TOKDRAIN_TOKENIZER_H
#define TOKDRAIN_TOKENIZER_H

#include "tokdrain/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct td_tokenizer td_tokenizer;
typedef struct td_encoder td_encoder;
typedef uint32_t td_id;

/* Loads tokenizer.json text (or a file of it). Exact or refused: a component that is not known is
 * TD_E_TOKENIZER and names its path in the JSON. */
TD_API TD_NODISCARD td_code td_tokenizer_new_from_json(td_str json, td_tokenizer **ret_tok,
                                                       td_error *err);
TD_API TD_NODISCARD td_code td_tokenizer_new_from_file(const char *path, td_tokenizer **ret_tok,
                                                       td_error *err);
/* Loads a vocabulary file of any format, told by its content: tokenizer.json, a file of tiktoken
 * ranks, Mistral's tekken JSON, or a SentencePiece model. The last three behave as the libraries
 * tiktoken, mistral-common and sentencepiece do (docs/tokenizers.md). encoding names the family of
 * a tiktoken file ("cl100k_base", "llama3", ...); NULL: it is told by the number of ranks. */
TD_API TD_NODISCARD td_code td_tokenizer_new_from_vocabulary(td_str bytes, const char *encoding,
                                                             td_tokenizer **ret_tok, td_error *err);
/* Another owner of the same tokenizer; each owner calls td_tokenizer_free. */
TD_API td_tokenizer *td_tokenizer_ref(td_tokenizer *tok);
TD_API void td_tokenizer_free(td_tokenizer *tok);

/* Vocabulary entries, added tokens included. */
TD_API size_t td_tokenizer_vocab_size(const td_tokenizer *tok);
/* The token's text as the vocabulary spells it; an empty view when there is no such id. */
TD_API td_str td_token_text(const td_tokenizer *tok, td_id id);
/* true and *ret_id when text is a vocabulary entry or added token. */
TD_API bool td_token_id(const td_tokenizer *tok, td_str text, td_id *ret_id);
/* Whether it is a special added token: what TD_DECODE_SKIP_SPECIAL leaves out. */
TD_API bool td_token_is_special(const td_tokenizer *tok, td_id id);

/* A description of the parts for people and scripts: normalizer, pre-tokenizer and the scanner
 * chosen for it, model, sizes. JSON text, NUL-terminated, td_text_free. NULL: out of memory. */
TD_API char *td_tokenizer_describe(const td_tokenizer *tok);

/* ---- encode ---- */

enum {
    TD_ENCODE_ADD_SPECIAL = 1u << 0, /* run the post-processor (BOS, EOS, ...) */
    TD_ENCODE_PLAIN_TEXT = 1u << 1,  /* do not recognise special added tokens in the text */
    TD_ENCODE_OFFSETS = 1u << 2,     /* fill starts and ends */
    TD_ENCODE_NO_ADDED = 1u << 3,    /* recognise no added tokens at all; no post-processor */
    TD_ENCODE_CODE_POINTS = 1u << 4, /* with TD_ENCODE_OFFSETS: in code points, not bytes */
};

/* Borrowed from the encoder; valid until its next call. starts and ends are offsets of each id into
 * the input text, NULL unless TD_ENCODE_OFFSETS was given. As in the reference, byte tokens for a
 * prefix or suffix that the model puts to characters can have places beyond the text's end. */
typedef struct td_ids {
    const td_id *ids;
    const uint32_t *starts, *ends;
    size_t count;
} td_ids;

/* tok must outlive the encoder (it takes a reference). NULL on out of memory. */
TD_API TD_NODISCARD td_encoder *td_encoder_new(td_tokenizer *tok);
TD_API void td_encoder_free(td_encoder *enc);
/* Bytes of scratch and cache held now. */
TD_API size_t td_encoder_bytes(const td_encoder *enc);

/* text must be strictly valid UTF-8 (no surrogates), else TD_E_TOKENIZER with the byte offset. It
 * may be what td_decode of the same encoder gave last. */
TD_API TD_NODISCARD td_code td_encode(td_encoder *enc, td_str text, unsigned flags, td_ids *ret_ids,
                                      td_error *err);
/* The number of ids that td_encode gives, without making them. */
TD_API TD_NODISCARD td_code td_count(td_encoder *enc, td_str text, unsigned flags,
                                     size_t *ret_count, td_error *err);

/* The ids of many texts in one list: those of text i are first[i] to first[i + 1] - 1. Borrowed
 * like td_ids; offsets are into each text. */
typedef struct td_batch {
    const td_id *ids;
    const uint32_t *starts, *ends;
    const size_t *first; /* text_count + 1 entries */
    size_t text_count;
} td_batch;

/* Encodes texts as td_encode does each one, but that a tokenizer.json which pads to the longest
 * text pads to the longest of these. The error of a text says which one it is. */
TD_API TD_NODISCARD td_code td_encode_batch(td_encoder *enc, const td_str *texts, size_t text_count,
                                            unsigned flags, td_batch *ret_batch, td_error *err);

/* ---- decode ---- */

enum { TD_DECODE_SKIP_SPECIAL = 1u << 0 };

/* Text of ids, as Tokenizer.decode; unknown ids are skipped as there. The view is borrowed from
 * the encoder until its next call. Bytes that are not UTF-8 become U+FFFD as in the reference.
 * ids may be what td_encode of the same encoder gave last. */
TD_API TD_NODISCARD td_code td_decode(td_encoder *enc, const td_id *ids, size_t count,
                                      unsigned flags, td_str *ret_text, td_error *err);

/* ---- decode as tokens come ---- */

/* Text while ids arrive, as DecodeStream of the reference gives it, step for step: a step's text is
 * what its ids add to the text so far, or nothing while a character is not complete. So text that
 * was given out never changes. One thread uses a stream at a time. */
typedef struct td_decode_stream td_decode_stream;

/* ids are those before the stream (a prompt), whose text is not given out; count may be 0. flags as
 * of td_decode. NULL on out of memory. */
TD_API TD_NODISCARD td_decode_stream *td_decode_stream_new(td_tokenizer *tok, const td_id *ids,
                                                           size_t count, unsigned flags);
TD_API void td_decode_stream_free(td_decode_stream *stream);
/* Takes count more ids (mostly one). *ret_text has ptr NULL while there is nothing to give out; it
 * is borrowed until the next step. TD_E_TOKENIZER: the decoder changes text that was given out
 * already, as the reference then says, too. The ids count as taken after an error. */
TD_API TD_NODISCARD td_code td_decode_stream_step(td_decode_stream *stream, const td_id *ids,
                                                  size_t count, td_str *ret_text, td_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* internal.h - the insides of td_tokenizer and td_encoder. */
#ifndef TD_SRC_TOKENIZER_INTERNAL_H
#define TD_SRC_TOKENIZER_INTERNAL_H

#include <stdatomic.h>

#include "tokenizer/added.h"
#include "tokenizer/fast.h"
#include "tokenizer/limits.h"
#include "tokenizer/load/load.h"
#include "tokenizer/pipeline.h"

struct td_tokenizer {
    atomic_size_t refs;
    td_arena arena;
    tk_cleanup *cleanup;
    const tk_norm *norm;     /* NULL: none */
    const tk_pretok *pretok; /* NULL: none */
    const tk_model *model;
    const tk_post *post;             /* NULL: none */
    const tk_dec *dec;               /* NULL: none */
    const tk_detok *detok;           /* NULL: decoding goes by token texts and dec */
    const char *format;              /* NULL: tokenizer.json; else of formats/ */
    const char *family; /* whose pattern and special tokens they are; NULL: the file says it */
    const tk_truncation *truncation; /* NULL: none */
    const tk_padding *padding;       /* NULL: none */
    tk_added added;
    const tk_fast *fast; /* NULL: only the general way */
    bool tiles;          /* ids tell offsets (tiles.h) */
    const char *no_texts; /* why texts are refused, ids can be decoded; NULL: they are not */
    bool always_track;   /* alignments steer the pipeline (tk_norm.zero_width) */
    size_t source_bytes; /* of the file */
};

/* The lists of td_encode_batch, kept from call to call (batch.c). */
typedef struct tk_lists {
    td_buf ids, starts, ends, first;
} tk_lists;

void tk_lists_done(tk_lists *batch);
size_t tk_lists_bytes(const tk_lists *batch);

struct td_encoder {
    td_tokenizer *tok;
    tk_ctx ctx;
    tk_cache cache;
    struct tk_fast_run *run; /* of a call the fast way; NULL: there was none yet */
    tk_sink sink;
    tk_lists batch;
    td_buf given; /* what a call was given that lay in the arena */
    bool changed; /* by the normalizer, since the call began */
    bool general; /* for tests: never the fast way */
#ifdef TD_SELFCHECK
    td_encoder *twin; /* NULL: not made yet */
    bool is_twin;
#endif
};

/* The big members of "model", as JSON texts that lie elsewhere; ptr NULL: there is none. */
typedef struct tk_bulk {
    td_str vocab, merges;
    bool nearest; /* scores are doubles that were written out, not those of a file */
} tk_bulk;

/* Loads from the text of a tokenizer.json (load/tokenizer.c), with bulk in its model unless NULL.
 * tok is empty and refs set. Errors have their place in json, or, with bulk, none that counts. */
td_code tk_load_tokenizer(td_tokenizer *tok, td_str json, const tk_bulk *bulk, td_error *err);

/* The same for a new tokenizer. */
td_code tk_tokenizer_new_from_parts(td_str json, const tk_bulk *bulk, td_tokenizer **ret_tok,
                                    td_error *err);

/* Empties the encoder's memory for the next call. *ptr (size bytes), which that call was given, may
 * come from the last one: it is kept. TD_E_INTERNAL: out of memory. */
td_code tk_encoder_reset(td_encoder *enc, const void **ptr, size_t size, td_error *err);

/* Beside TD_ENCODE_: no added token with normalized=false is in the text; no post-processing; the
 * text is not the start of the input; nor is it the start of what lies between two added tokens. */
enum {
    TK_ENCODE_NO_RAW = 1u << 16,
    TK_ENCODE_NO_POST = 1u << 17,
    TK_ENCODE_INSIDE = 1u << 18,
    TK_ENCODE_JOINED = 1u << 19,
};

/* The six steps; the encoding lives in the context's arena (encode.c). */
/* Steps 1 to 5 the fast way, for tokenizers that have one (fast_encode.c). */
td_code tk_fast_encode(td_encoder *enc, td_str text, unsigned flags, tk_sink *sink, td_error *err);

td_code tk_encode(td_encoder *enc, td_str text, unsigned flags, tk_encoding *ret, td_error *err);

/* Test hooks: encode without the fast way, without the cache. */
enum { TK_FORCE_GENERAL = 1, TK_FORCE_UNCACHED = 2 };
void tk_encoder_force(td_encoder *enc, unsigned how);

/* For tests: ends stretches at (nearly) all places that are proven. */
struct td_cutter;
void tk_cutter_force_short(struct td_cutter *c);

/* Byte offsets into text become code points, in place (batch.c). */
void tk_offsets_to_code_points(td_str text, uint32_t *starts, uint32_t *ends, size_t count);

/* Appends the JSON text of td_tokenizer_describe (describe.c). */
td_code tk_describe(const td_tokenizer *tok, td_buf *out);

#endif

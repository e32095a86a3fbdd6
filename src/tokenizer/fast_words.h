/* fast_words.h - a text on its way through the cache of words, piece by piece.
 *
 * Pieces of the text that stand side by side, and the added tokens between them, share batches:
 * some models have so many added tokens that a piece is a few words. An added token is a word with
 * a key of its own. */
#ifndef TD_SRC_TOKENIZER_FAST_WORDS_H
#define TD_SRC_TOKENIZER_FAST_WORDS_H

#include "tokenizer/fast_miss.h"

enum { TK_WORDS_ADDED = 4 };

/* A short piece of the text, whose words may still be in the batch. */
typedef struct tk_piece_words {
    td_str piece; /* len 0: none */
    uint32_t first, count, flushes;
} tk_piece_words;

/* One call. */
typedef struct tk_fast_run {
    const tk_fast *f;
    tk_cache *cache;
    tk_ctx *ctx;
    td_str text;
    tk_sink *sink;
    td_error *err;
    uint32_t looked;             /* at clock and flag */
    uint32_t flushes;            /* how often ids were put out */
    tk_piece_words last;         /* the last piece, if it can be taken again */
    td_id added[TK_WORDS_ADDED]; /* added tokens of late, each at its id modulo the number, */
    uint32_t added_hashes[TK_WORDS_ADDED]; /* and the hashes of their keys */
    tk_batch b;
} tk_fast_run;

td_code tk_fast_start(tk_fast_run *w, const tk_fast *f, tk_cache *cache, tk_ctx *ctx, td_str text,
                      tk_sink *sink, td_error *err);

/* Takes a piece between added tokens, normalized, not empty: one of the text, or another. */
td_code tk_fast_piece(tk_fast_run *w, td_str piece);

/* The same for a piece of the text in which marks stand for spaces yet (f->marks). */
td_code tk_fast_spaces(tk_fast_run *w, td_str piece);

/* Takes an added token. */
td_code tk_fast_added(tk_fast_run *w, td_str token, td_id id);

/* Takes a piece once more, if it has the bytes of the last one that was remembered and that is
 * easy. */
bool tk_fast_again(tk_fast_run *w, td_str piece);
/* Remembers a piece, which has been taken since w->b.count was first and w->flushes flushes. */
void tk_fast_remember(tk_fast_run *w, td_str piece, uint32_t first, uint32_t flushes);

/* Puts out all ids that are still to come. */
td_code tk_fast_end(tk_fast_run *w);

#endif

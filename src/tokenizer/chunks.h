/* chunks.h - cutting the text between two added tokens further, where that is proven exact.
 *
 * A chunk ends at a place p such that encode(ab) = encode(a) encode(b) for a = [start, p) and
 * b = [p, end) whatever the rest of a and b is. Which places those are is derived from the loaded
 * tokenizer; where nothing can be proven there are none (see chunks.c for the proofs).
 *
 * Chunks are taken from left to right and where one ends depends only on its own text and on a
 * few KB behind its start, so texts that start alike have the same chunks up to the last ones.
 * Among the places between MIN and MAX bytes one is chosen by the bytes before it, so that chunks
 * fall in step again behind an edit.
 *
 * Stretches are cut without knowing where the added tokens are, only at places that none of them
 * can lie across: where one starts or, when there is none for some KB, at one of the places above
 * between two ASCII characters. */
#ifndef TD_SRC_TOKENIZER_CHUNKS_H
#define TD_SRC_TOKENIZER_CHUNKS_H

#include "tokenizer/internal.h"

enum {
    TK_CHUNK_MIN = 1024,
    TK_CHUNK_MAX = 4096,
    TK_STRETCH_MIN = 3072,
    TK_STRETCH_FAR = 8192, /* up to here an added token is preferred */
    TK_STRETCH_MAX = 16384,
};

/* What an ASCII character becomes in normalization: its first and its last character. */
typedef struct tk_chunk_form {
    char first[4], last[4];
    uint8_t first_len, last_len;
} tk_chunk_form;

/* A set of pairs of bytes: one, and the next. */
typedef struct tk_byte_pairs {
    uint64_t bits[256][4];
} tk_byte_pairs;

typedef struct tk_chunks {
    enum { TK_CHUNKS_NONE, TK_CHUNKS_WORDS, TK_CHUNKS_CHARS } kind;
    bool
        prefixed; /* the normalizer puts a text in front, which chunks behind others must not get */
    bool compat;  /* the normalizer may turn a full-width comma into a comma */
    const tk_cuts *cuts;     /* of CHARS */
    tk_chunk_form form[128]; /* of CHARS */
    /* last byte, first byte: an added token with normalized=true may lie across them */
    tk_byte_pairs blocked;
    /* ---- of stretches ---- */
    const tk_added *added;
    bool no_stretches;
    uint64_t open[128][2]; /* a text may be cut between these two, wherever added tokens are */
    tk_byte_pairs joined;  /* an added token has these two bytes next to each other */
    uint16_t stretch_min;  /* at least 4 */
    uint8_t stretch_bits;  /* of the hash that chooses places for stretches */
} tk_chunks;

void tk_chunks_init(tk_chunks *c, const td_tokenizer *tok);

/* Whether text[start, end), which stands between added tokens, may be cut before byte at;
 * start < at < end, at is a character boundary. */
bool tk_chunks_can_cut(const tk_chunks *c, td_str text, size_t start, size_t at, size_t end);

/* Where the chunk that begins at start ends, in text that goes to end (start < end). */
size_t tk_chunks_end(const tk_chunks *c, td_str text, size_t start, size_t end);

/* Where the stretch that begins at start ends. text need not be valid UTF-8. plain: special added
 * tokens are text. */
size_t tk_chunks_stretch_end(const tk_chunks *c, td_str text, size_t start, bool plain);

#endif

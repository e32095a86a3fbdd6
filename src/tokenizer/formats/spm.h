/* spm.h - a SentencePiece model: its parts as the file has them, and what is made of them.
 *
 * The way of a text is SentencePiece's own: the whole text is normalized (spm_norm.c), the model
 * cuts that into pieces (spm_bpe.c, spm_unigram.c, spm_words.c), and unknown pieces become byte
 * pieces or are joined (spm_pieces.c). spm_decode.c goes back. */
#ifndef TD_SRC_TOKENIZER_FORMATS_SPM_H
#define TD_SRC_TOKENIZER_FORMATS_SPM_H

#include "tokenizer/formats/formats.h"
#include "tokenizer/model/bpe.h"
#include "tokenizer/model/prefix_trie.h"
#include "tokenizer/norm/charsmap.h"

typedef enum spm_type {
    SPM_NORMAL = 1,
    SPM_UNKNOWN,
    SPM_CONTROL,
    SPM_USER_DEFINED,
    SPM_UNUSED,
    SPM_BYTE,
} spm_type;

typedef enum spm_kind { SPM_UNIGRAM = 1, SPM_BPE, SPM_WORD, SPM_CHAR } spm_kind;

typedef struct spm_piece {
    td_str text; /* UTF-8, not empty, without NUL */
    float score;
    spm_type type;
} spm_piece;

typedef struct spm_norm_spec {
    td_str charsmap; /* empty: none */
    bool dummy_prefix, remove_extra, escape;
} spm_norm_spec;

/* The file. Texts are views into its bytes. */
typedef struct spm_file {
    spm_piece *items;
    uint32_t count;
    spm_kind kind;
    bool suffix, byte_fallback;
    td_str unk_surface, bos_piece, unk_piece, eos_piece;
    bool has_bos_id, has_eos_id; /* the ids of the trainer are not negative; for conversion */
    int32_t unk_id;              /* likewise */
    spm_norm_spec norm, denorm;
    bool has_denorm;
} spm_file;

/* Reads bytes; err names the place. items are in a. */
td_code tk_spm_read(td_arena *a, td_str bytes, spm_file *ret, td_error *err);

/* ---- normalizing ---- */

typedef struct spm_norm {
    tk_norm base;
    bool has_map;
    tk_charsmap map;
    const tk_prefix_trie *user; /* user-defined pieces, which stay as they are; NULL: none */
    bool dummy_prefix, remove_extra, escape, suffix;
} spm_norm;

td_code tk_spm_make_norm(tk_load *load, const spm_norm_spec *spec, bool suffix,
                         const tk_prefix_trie *user, const spm_norm **ret);
/* Appends the normalized text. places: NULL, or gets for each byte where in s it comes from, and
 * one more for the end. */
td_code tk_spm_normalize(const spm_norm *n, td_str s, td_buf *out, td_buf *places, td_error *err);

/* The longest text of a trie that s starts with; 0: none. */
size_t tk_spm_longest(const tk_prefix_trie *t, td_str s);

/* ---- models ---- */

typedef struct spm_model {
    tk_model base;
    tk_vocab *vocab; /* all pieces; of BPE also characters that are none (ids from count on) */
    const spm_piece *items;
    uint32_t count;
    td_id unk;
    bool byte_fallback;
    td_id bytes[256]; /* of byte pieces */
    const tk_prefix_trie *user;
    /* BPE */
    tk_bpe *bpe;             /* its merges; ids are those of vocab */
    uint32_t *unused_places; /* of unused pieces, among these */
    uint32_t unused_count;
    /* Unigram */
    tk_prefix_trie *trie;
    float max_score, unk_score;
} spm_model;

/* The model without its kind's tables. items and user live as long as the tokenizer. */
td_code tk_spm_make_model(tk_load *load, const spm_file *file, const tk_prefix_trie *user,
                          spm_model **ret);
/* *ret_plain: between user-defined pieces it does what the BPE of tokenizer.json with byte fallback
 * does. */
td_code tk_spm_make_bpe(tk_load *load, spm_model *m, bool *ret_plain);
td_code tk_spm_make_unigram(tk_load *load, spm_model *m);
void tk_spm_set_words(spm_model *m, spm_kind kind);

/* Pieces into tokens, one after another (spm_pieces.c). */
typedef struct spm_output {
    const spm_model *m;
    tk_ctx *ctx;
    td_str text; /* normalized */
    tk_tokens *out;
    uint32_t at; /* bytes of text used up */
    bool after_unknown;
} spm_output;
/* The next piece of text has so many bytes. Texts are made of normal and user-defined pieces alone,
 * all others count as unknown. */
td_code tk_spm_put(spm_output *o, td_id id, uint32_t len, td_error *err);

/* ---- decoding ---- */

td_code tk_spm_make_detok(tk_load *load, const spm_file *file, const spm_model *m,
                          const spm_norm *denorm, const tk_detok **ret);

#endif

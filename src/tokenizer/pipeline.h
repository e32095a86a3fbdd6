/* pipeline.h - what the six steps of encoding hand to each other, and the shape of a component.
 *
 * The steps, in the order of the reference: (1) split the raw text at added tokens with
 * normalized=false; (2) normalize the other pieces; (3) split them at added tokens with
 * normalized=true; (4) pre-tokenize; (5) run the model on each piece; (6) post-process.
 *
 * Each component type of tokenizer.json is one file: norm/TYPE.c, pretok/TYPE.c, model/TYPE.c,
 * post/TYPE.c or dec/TYPE.c, named in the .def table of its folder, which maps the JSON "type" to
 * a constructor. A component is immutable and shared by threads; what a call needs lives in the
 * tk_ctx, whose arena is emptied when the next call starts. */
#ifndef TD_SRC_TOKENIZER_PIPELINE_H
#define TD_SRC_TOKENIZER_PIPELINE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "tokdrain/tokenizer.h"

enum { TK_TEXT_MAX = 1 << 30 }; /* bytes of one input text */
#define TK_NO_ID UINT32_MAX

/* The span of the original text that one byte of a normalized text stands for. */
typedef struct tk_align {
    uint32_t start, end;
} tk_align;

/* A text on its way: bytes and, where offsets are tracked, an alignment for each byte. */
typedef struct tk_text {
    const char *ptr;
    uint32_t len;
    uint32_t from, to;     /* the span of the original text that all of it stands for; without
                            * align only while nothing has changed the text */
    const tk_align *align; /* len entries; NULL when ctx->track is off */
} tk_text;

/* Text, or (id != TK_NO_ID) an added token that was found; later steps pass those through. */
typedef struct tk_piece {
    tk_text text;
    td_id id;
} tk_piece;

typedef struct tk_pieces {
    tk_piece *items;
    uint32_t count, cap;
} tk_pieces;

typedef enum tk_value {
    TK_VALUE_ENTRY, /* the vocabulary's text of the id */
    TK_VALUE_SPAN,  /* what stands from start to end */
    TK_VALUE_UNK,   /* the model's unk_token */
} tk_value;

/* What the model makes of one piece; start and end are bytes of the piece, value says what the text
 * of the token is. */
typedef struct tk_token {
    td_id id;
    uint32_t start, end;
    tk_value value;
} tk_token;

typedef struct tk_tokens {
    tk_token *items;
    uint32_t count, cap;
} tk_tokens;

/* Matches and the text between them; together they cover the text from 0 to its end. */
typedef struct tk_match {
    uint32_t start, end;
    bool hit;
} tk_match;

typedef struct tk_matches {
    tk_match *items;
    uint32_t count, cap;
} tk_matches;

/* The result while post-processors work on it. starts, ends (bytes of the input) and values are
 * NULL when ctx->track is off. A template makes several parts of it, which processors behind it
 * treat one by one (post/post.h); part_ends NULL: all is one. */
typedef struct tk_encoding {
    td_id *ids;
    uint32_t *starts, *ends;
    td_str *values;
    size_t count, cap;
    size_t *part_ends;
    uint32_t part_count;
} tk_encoding;

/* One call's scratch. */
typedef struct tk_ctx {
    const td_tokenizer *tok;
    td_arena arena;
    td_str input;    /* the original text */
    bool ascii;      /* it is ASCII */
    bool plainly;    /* normalizers take no short way */
    bool track;      /* keep alignments */
    bool code_points; /* post-processing sees offsets in code points, as in the reference */
    bool inside;     /* the input stands behind other text, which is counted elsewhere */
    bool joined;     /* the same, without an added token in between */
    void *region;    /* the regex engine's registers, made on first use */
    const atomic_bool *cancel; /* NULL: none */
    uint64_t deadline_ns;      /* 0: none */
    tk_tokens model;    /* tokens of the piece being tokenized; storage is reused */
    tk_matches matches; /* in the piece being split; storage is reused */
    tk_pieces pieces;   /* of the pre-tokenizer before: storage for the next one */
} tk_ctx;

/* ---- components ---- */

typedef struct tk_norm tk_norm;
typedef struct tk_pretok tk_pretok;
typedef struct tk_model tk_model;
typedef struct tk_post tk_post;
typedef struct tk_dec tk_dec;
typedef struct tk_detok tk_detok;

/* Each concrete component starts with its base struct. type is the JSON name. Functions raise only
 * out of memory, limits, and what the reference refuses. */

struct tk_norm {
    const char *type;
    /* Replaces *text by its normalized form (through tk_edit below, or views of it). */
    td_code (*apply)(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err);
    /* Texts made here can hold characters that stand for no original text at all. Alignments then
     * steer later steps, so they are always tracked. */
    bool zero_width;
    bool keeps_ascii;            /* what is ASCII stays as it is */
    const uint8_t *ascii; /* what becomes of each ASCII character (ascii.c); NULL: it depends */
    const struct tk_norm_wide *wide; /* what is known of others (norm/norm.h); NULL: nothing */
    const tk_norm *const *parts; /* of a Sequence */
    uint32_t part_count;
};

struct tk_pretok {
    const char *type;
    /* Splits and rewrites the text pieces of *pieces (see tk_pretok_each). */
    td_code (*apply)(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err);
    bool positional; /* it treats a piece at the very start of the input in its own way */
    const tk_pretok *const *parts;
    uint32_t part_count;
};

struct tk_model {
    const char *type;
    /* Appends the tokens of piece (not empty, valid UTF-8) to out. */
    td_code (*tokenize)(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                        td_error *err);
    /* The same for some pieces, none of which is empty, side by side. ends: how many tokens there
     * are behind each. NULL: no better than one by one. */
    td_code (*tokenize_all)(const tk_model *self, tk_ctx *ctx, const td_str *pieces, uint32_t count,
                            tk_tokens *out, uint32_t *ends, td_error *err);
    bool (*token_to_id)(const tk_model *self, td_str text, td_id *ret);
    /* The vocabulary's spelling; ptr NULL when there is no such id. */
    td_str (*id_to_token)(const tk_model *self, td_id id);
    size_t (*vocab_size)(const tk_model *self); /* entries, as the reference counts them */
    td_id (*id_end)(const tk_model *self);      /* 1 + the largest id */
    /* Appends `, "key": value` pairs for td_tokenizer_describe; may be NULL. */
    td_code (*describe)(const tk_model *self, td_buf *out);
    td_str unk_token; /* of tokens with TK_VALUE_UNK */
    /* An empty token stands where the byte at its start does, not at that place of the input. */
    bool empty_at_start;
};

struct tk_post {
    const char *type;
    td_code (*apply)(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err);
    uint32_t added;  /* special tokens that it puts around a single text */
    uint32_t copies; /* how many times the text's ids are in its output; 0: that is not known */
    bool makes_parts; /* is or holds a template */
    const tk_post *const *parts;
    uint32_t part_count;
};

typedef struct tk_strs {
    td_str *items;
    size_t count;
} tk_strs;

struct tk_dec {
    const char *type;
    /* Rewrites the list of token texts; new texts live in the arena of ctx. */
    td_code (*apply)(const tk_dec *self, tk_ctx *ctx, tk_strs *strs, td_error *err);
    const tk_dec *const *parts;
    uint32_t part_count;
};

/* Ids to text for formats whose decoding is no matter of token texts; takes the place of tk_dec. */
struct tk_detok {
    const char *type;
    /* Appends the text of ids to out. */
    td_code (*apply)(const tk_detok *self, const td_tokenizer *tok, const td_id *ids, size_t count,
                     bool skip_special, td_buf *out, td_error *err);
};

/* ---- pieces (pieces.c) ---- */

/* Makes room for extra more. */
td_code tk_pieces_reserve(tk_ctx *ctx, tk_pieces *p, uint32_t extra, td_error *err);
td_code tk_pieces_add(tk_ctx *ctx, tk_pieces *p, const tk_piece *piece, td_error *err);
td_code tk_tokens_reserve(tk_ctx *ctx, tk_tokens *t, uint32_t extra, td_error *err);

static inline td_code tk_tokens_add(tk_ctx *ctx, tk_tokens *t, tk_token token, td_error *err)
{
    if (t->count == t->cap)
        TD_TRY(tk_tokens_reserve(ctx, t, 1, err));
    t->items[t->count++] = token;
    return TD_OK;
}

/* Makes room for extra more entries. */
td_code tk_encoding_reserve(tk_ctx *ctx, tk_encoding *enc, size_t extra, td_error *err);

/* A part of text, bytes [start, end), which are character boundaries. */
tk_text tk_text_slice(const tk_text *text, uint32_t start, uint32_t end);

/* Calls fn for each text piece and replaces the piece by what fn appends to out; empty pieces are
 * dropped, added tokens kept. */
typedef td_code (*tk_split_fn)(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                               td_error *err);
td_code tk_pretok_each(tk_ctx *ctx, tk_pieces *pieces, tk_split_fn fn, const void *self,
                       td_error *err);

/* ---- splitting by matches (pieces.c) ---- */

typedef enum tk_behavior {
    TK_REMOVED,
    TK_ISOLATED,
    TK_MERGED_WITH_PREVIOUS,
    TK_MERGED_WITH_NEXT,
    TK_CONTIGUOUS,
} tk_behavior;

/* An empty list in the storage of the call, for pre-tokenizers. */
static inline tk_matches *tk_matches_start(tk_ctx *ctx)
{
    ctx->matches.count = 0;
    return &ctx->matches;
}

td_code tk_matches_add(tk_ctx *ctx, tk_matches *m, uint32_t start, uint32_t end, bool hit,
                       td_error *err);
/* Matches of single characters. */
td_code tk_matches_chars(tk_ctx *ctx, const tk_text *text, bool (*is_hit)(const void *, uint32_t),
                         const void *self, tk_matches *ret, td_error *err);
/* Appends the parts of text; m is used up. */
td_code tk_split(tk_ctx *ctx, const tk_text *text, const tk_matches *m, tk_behavior behavior,
                 tk_pieces *out, td_error *err);

/* ---- editing a text (edit.c) ---- */

/* Builds the new content of a text character by character, as transform() of the reference does:
 * change 0 replaces the next character, 1 inserts a new one, -n replaces the next one and removes
 * n characters behind it. Alignments follow by themselves. */
typedef struct tk_edit {
    tk_ctx *ctx;
    tk_text in;
    uint32_t begin, end; /* the part of in that is replaced */
    uint32_t taken;      /* bytes of in used up */
    bool void_range;     /* the reference finds nothing to edit: in stays */
    td_buf out;          /* from the arena */
    tk_align *align;
    size_t align_cap;
} tk_edit;

/* Gives an original text its alignment: each byte stands for its character. */
td_code tk_text_track(tk_ctx *ctx, tk_text *text, td_error *err);
/* All of text, without its first removed characters; edits a range when range_end != UINT32_MAX
 * (bytes, boundaries). */
void tk_edit_begin(tk_edit *e, tk_ctx *ctx, const tk_text *text, uint32_t removed);
void tk_edit_begin_range(tk_edit *e, tk_ctx *ctx, const tk_text *text, uint32_t start,
                         uint32_t end);
td_code tk_edit_char(tk_edit *e, uint32_t c, int32_t change, td_error *err);
/* Appends bytes with the alignments given (NULL when not tracked): for code that knows them. */
td_code tk_edit_raw(tk_edit *e, const char *ptr, uint32_t len, const tk_align *align,
                    td_error *err);
td_code tk_edit_end(tk_edit *e, tk_text *ret, td_error *err);

/* Whether tk_edit_begin would replace all of text: replacing it by itself then changes nothing. */
bool tk_text_is_whole(const tk_text *text);

td_code tk_text_prepend(tk_ctx *ctx, tk_text *text, td_str head, td_error *err);
/* Replaces the hits of m by content, as Replace does. */
td_code tk_text_replace(tk_ctx *ctx, tk_text *text, const tk_matches *m, td_str content,
                        td_error *err);

/* Out of memory or limit of the call's arena. */
td_code tk_nomem(tk_ctx *ctx, td_error *err);

#endif

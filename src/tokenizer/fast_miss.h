/* fast_miss.h - words that the table of short words does not have. */
#ifndef TD_SRC_TOKENIZER_FAST_MISS_H
#define TD_SRC_TOKENIZER_FAST_MISS_H

#include "tokenizer/key.h"
#include "tokenizer/model/bpe_lanes.h"

/* While many words are new, more are taken together, so that more are merged side by side. */
enum { TK_BATCH = 3072, TK_BATCH_WARM = 256 };

/* Words on their way through the cache, one behind the other in the text. */
typedef struct tk_batch {
    _Alignas(16) uint64_t keys[TK_BATCH][2];
    uint32_t hashes[TK_BATCH], ends[TK_BATCH];
    uint32_t from, count; /* where the first begins; how many */
    uint32_t most;        /* how many there should be */
    uint32_t places[TK_BATCH]; /* while many words are new: where the cache has each */
} tk_batch;

static inline td_str tk_batch_word(const tk_batch *b, td_str text, uint32_t i)
{
    uint32_t start = i == 0 ? b->from : b->ends[i - 1];
    return (td_str){ text.ptr + start, b->ends[i] - start };
}

/* Appends the ids of a word or a part of one. key and hash: as key.h makes them. text_end: how far
 * may be read behind the word. */
td_code tk_word_put(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2],
                    uint32_t hash, const char *text_end, tk_sink *sink, td_error *err);

/* fast_pieces.c: the same for words that any model takes, and no added token. */
td_code tk_piece_put(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str word,
                     const uint64_t key[2], uint32_t hash, tk_sink *sink, td_error *err);

/* fast_fresh_pieces.c: the same for words of a batch that may not be known, if the model takes some
 * side by side: they are known then, if they are kept. words: the numbers of n of them. */
td_code tk_fresh_pieces(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str text, const tk_batch *b,
                        const uint16_t *words, uint32_t n, td_error *err);
bool tk_takes_some(const tk_fast *f);

/* fast_pieces.c: the ids of such a word, or NULL; room: as tk_cache_find takes it. */
const td_id *tk_piece_find(const tk_cache *c, td_str word, const uint64_t key[2], uint32_t hash,
                           td_id room[TK_LANE_SHORT], uint32_t *ret_count);
/* What of a word is handed to the model, as *ret, whose storage is used if it has some. */
td_code tk_word_pieces(const tk_fast *f, tk_ctx *ctx, td_str word, tk_pieces *ret, td_error *err);
/* Keeps what the model made of a word. The ids are valid as long as the arena. */
td_code tk_piece_keep(tk_cache *c, tk_ctx *ctx, td_str word, const uint64_t key[2], uint32_t hash,
                      const tk_token *tokens, uint32_t count, td_id **ret, td_error *err);
/* Gives back the arena from a mark on, with the storage of all lists that lie there. */
void tk_pieces_forget(tk_ctx *ctx, td_arena_mark mark);

/* The key of a word that has the bytes of this one, or of this part. */
static inline void tk_entry_key(const uint64_t key[2], uint64_t ret[2])
{
    ret[0] = key[0];
    ret[1] = key[1] & ~((uint64_t)TK_KEY_PART << 56);
}

/* Asks for the line of the entry that a short word may be. Returns the hash for the answer. */
TK_PREFETCHES uint64_t tk_entry_ask(const tk_fast *f, const uint64_t key[2])
{
    uint64_t word[2];
    tk_entry_key(key, word);
    uint64_t hash = tk_entry_hash(word);
    __builtin_prefetch(tk_entry_line_of(&f->entries, hash));
    return hash;
}

/* The entry that a short word becomes; TK_NO_ID: it has to be merged, as have all of models of
 * characters. */
static inline td_id tk_entry_answer(const tk_fast *f, const uint64_t key[2], uint64_t hash)
{
    uint64_t word[2];
    if (f->scanner == NULL)
        return TK_NO_ID;
    tk_entry_key(key, word);
    td_id found = tk_entry_find(&f->entries, word, hash);
    bool whole = f->bpe->ignore_merges && !tk_key_is_part(key);
    bool counts = (found != TK_NO_ID) & (whole | tk_entry_is_proven(found));
    return tk_entry_id(found) | ((td_id)counts - 1); /* TK_NO_ID has all bits */
}

/* Spells a word of at most TK_LANE bytes. */
void tk_spell_lane(const tk_fast *f, td_str word, tk_lane *l);

/* fast_fresh.c: puts short words into the cache that are not there, side by side. words: the
 * numbers of n words of the batch that are not where they belong. All short ones have places then,
 * if the cache moved none. Where there is no memory for that, each is left to tk_word_put. */
void tk_fresh_words(const tk_fast *f, tk_cache *c, td_str text, tk_batch *b,
                    const uint16_t *words, uint32_t n);
size_t tk_fresh_bytes(void); /* of the room for it */

#endif

/* entries.h - the entries of a byte-level vocabulary by the bytes that they stand for.
 *
 * The vocabulary has texts of byte characters; a word of a text is bytes, and mostly short. So
 * entries of up to TK_CACHED_BYTES lie here once more, under the keys that words have (key.h): what
 * a look costs is two multiplications and one cache line, which can be asked for as soon
 * as the word is known:
 *
 *     uint64_t hash = tk_entry_hash(key);       the key of a word, not of a part
 *     __builtin_prefetch(tk_entry_line_of(e, hash));
 *     ... other work ...
 *     td_id found = tk_entry_find(e, key, hash);
 *     if (found != TK_NO_ID)
 *         id = tk_entry_id(found), proven = tk_entry_is_proven(found);
 *
 * All entries are there: those that merging makes of their own bytes (proven, model/bpe_proof.c),
 * and others, which are words under ignore_merges only. Built once, read by all threads. */
#ifndef TD_SRC_TOKENIZER_ENTRIES_H
#define TD_SRC_TOKENIZER_ENTRIES_H

#include "base/alloc.h"
#include "tokenizer/model/bpe.h"

enum { TK_LINE_ENTRIES = 3 };

/* Entries fill a line from the front on. What finds it full is in the next one that is not; most
 * looks are for words that are no entries, and those end here. */
typedef struct tk_entry_line {
    _Alignas(64) uint64_t keys[TK_LINE_ENTRIES][2]; /* both 0: empty */
    td_id ids[TK_LINE_ENTRIES];                     /* and TK_ENTRY_PROVEN */
    uint32_t behind; /* of what belongs here and lies in others: bits that hashes say */
} tk_entry_line;

_Static_assert(sizeof(tk_entry_line) == 64, "a line of the cache");

typedef struct tk_entries {
    td_slab table;
    tk_entry_line *lines; /* in it */
    uint32_t line_count;
} tk_entries;

#define TK_ENTRY_PROVEN ((td_id)1 << 31)

_Static_assert(TK_NO_ID == UINT32_MAX, "all bits, which tk_entry_find relies on");

/* bpe: of byte characters. false: out of memory. */
bool tk_entries_fill(tk_entries *e, const tk_bpe *bpe);
void tk_entries_done(tk_entries *e);

static inline uint64_t tk_entry_hash(const uint64_t key[2])
{
    return tk_vocab_hash_end(tk_vocab_mix(tk_vocab_seeds[0], key[0], key[1]));
}

static inline tk_entry_line *tk_entry_line_of(const tk_entries *e, uint64_t hash)
{
    return &e->lines[(hash >> 32) * e->line_count >> 32];
}

static inline tk_entry_line *tk_entry_line_behind(const tk_entries *e, const tk_entry_line *l)
{
    size_t at = (size_t)(l - e->lines) + 1;
    return &e->lines[at == e->line_count ? 0 : at];
}

static inline bool tk_entry_line_is_full(const tk_entry_line *l)
{
    return l->keys[TK_LINE_ENTRIES - 1][1] != 0;
}

/* Which entries of a line have these bytes: a bit each. */
static inline uint32_t tk_entry_line_has(const tk_entry_line *l, const uint64_t key[2])
{
    uint32_t bits = 0;
    for (int i = 0; i < TK_LINE_ENTRIES; i++)
        bits |= (uint32_t)(((l->keys[i][0] ^ key[0]) | (l->keys[i][1] ^ key[1])) == 0) << i;
    return bits;
}

/* The entry with these bytes, as tk_entry_id and tk_entry_is_proven take it; TK_NO_ID: none.
 * Whether and where it is in its own line cannot be guessed, so no branch depends on that. */
static inline td_id tk_entry_find(const tk_entries *e, const uint64_t key[2], uint64_t hash)
{
    const tk_entry_line *own = tk_entry_line_of(e, hash), *l = own;
    uint32_t there = tk_entry_line_has(l, key);
    if (((own->behind >> (hash & 31)) & (there == 0)) != 0)
        while (there == 0 && tk_entry_line_is_full(l)) {
            l = tk_entry_line_behind(e, l);
            there = tk_entry_line_has(l, key);
        }
    td_id id = l->ids[__builtin_ctz(there | 1u << (TK_LINE_ENTRIES - 1))];
    return id | (0 - (td_id)(there == 0));
}

static inline td_id tk_entry_id(td_id found)
{
    return found & ~TK_ENTRY_PROVEN;
}

static inline bool tk_entry_is_proven(td_id found)
{
    return (found & TK_ENTRY_PROVEN) != 0;
}

#endif

/* long_words.h - words of the cache that are too long for its table of short ones.
 *
 * Those of at most TK_LINE_BYTES with few ids have a cache line each, one of two; longer ones,
 * those of more ids, and those whose lines others have are records behind each other. When the
 * records are full all are forgotten. */
#ifndef TD_SRC_TOKENIZER_LONG_WORDS_H
#define TD_SRC_TOKENIZER_LONG_WORDS_H

#include <string.h>

#include "tokenizer/fast.h"
#include "tokenizer/vocab/vocab.h"

enum { TK_LINES = 1 << 15 /* 2 MiB */, TK_LINE_BYTES = 32, TK_LINE_IDS = 7 };
enum { TK_LONG_SLOTS = 1 << 17 /* 1 MiB */ };

typedef struct tk_line {
    _Alignas(64) uint64_t first[2]; /* 16 bytes each, which overlap */
    uint64_t last[2];
    td_id ids[TK_LINE_IDS];
    uint16_t len, count; /* len 0: empty */
} tk_line;

_Static_assert(sizeof(tk_line) == 64, "a line of the cache");

/* The bytes of a word of TK_CACHED_BYTES + 1 to TK_LINE_BYTES. */
typedef struct tk_line_key {
    uint64_t first[2], last[2];
} tk_line_key;

static inline tk_line_key tk_line_key_of(td_str word)
{
    tk_line_key k;
    memcpy(k.first, word.ptr, sizeof k.first);
    memcpy(k.last, word.ptr + word.len - sizeof k.last, sizeof k.last);
    return k;
}

static inline uint32_t tk_line_hash(const tk_line_key *k, size_t len)
{
    uint64_t a = (k->first[0] ^ len) * 0x9E3779B97F4A7C15u, b = k->first[1] * 0xD6E8FEB86659FD93u;
    uint64_t c = k->last[0] * 0xA0761D6478BD642Fu, d = k->last[1] * 0xE7037ED1A0B428DBu;
    uint64_t h = (a ^ a >> 32) + (b ^ b >> 29) + (c ^ c >> 31) + (d ^ d >> 30);
    return (uint32_t)(h * 0x9E3779B97F4A7C15u >> 32);
}

static inline bool tk_has_lines(size_t len)
{
    return len > TK_CACHED_BYTES && len <= TK_LINE_BYTES;
}

/* The line that a word belongs to; where there are no lines an address that says nothing, which may
 * still be asked for ahead. */
static inline tk_line *tk_own_line(const tk_cache *c, uint32_t hash)
{
    return (tk_line *)((uintptr_t)c->lines + hash % TK_LINES * sizeof(tk_line));
}

static inline tk_line *tk_other_line(const tk_cache *c, uint32_t hash)
{
    return tk_own_line(c, hash ^ (hash >> 16 | 1));
}

/* The ids of a word from its line, of which TK_LINE_IDS can be read; NULL: it is not there. */
static inline const td_id *tk_line_find(const tk_cache *c, td_str word, uint32_t hash,
                                        uint32_t *ret_count)
{
    if (c->lines == NULL)
        return NULL;
    const tk_line_key k = tk_line_key_of(word);
    const tk_line *l = tk_own_line(c, hash);
    for (int i = 0; i < 2; i++, l = tk_other_line(c, hash)) {
        uint64_t differ = (l->first[0] ^ k.first[0]) | (l->first[1] ^ k.first[1]) |
                          (l->last[0] ^ k.last[0]) | (l->last[1] ^ k.last[1]);
        if ((differ | (l->len ^ word.len)) == 0) {
            *ret_count = l->count;
            return l->ids;
        }
    }
    return NULL;
}

/* Brings what tk_long_find looks at behind the line that a word belongs to. hash: of its line. */
TK_PREFETCHES void tk_long_ask(const tk_cache *c, td_str word, uint32_t hash)
{
    if (c->lines != NULL)
        __builtin_prefetch(tk_other_line(c, hash));
    if (c->records != NULL)
        __builtin_prefetch(&c->long_slots[tk_vocab_hash(word.ptr, word.len) % TK_LONG_SLOTS]);
}

/* The ids of a long word wherever it is; NULL: not there. */
const td_id *tk_long_find(const tk_cache *c, td_str word, uint32_t *ret_count);
/* Keeps a long word that is not there. */
void tk_long_put(tk_cache *c, td_str word, const td_id *ids, uint32_t count);

void tk_long_done(tk_cache *c);
size_t tk_long_bytes(const tk_cache *c);

#endif

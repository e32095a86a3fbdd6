/* vocab.h - token texts <-> ids: flat, immutable after building, compact.
 *
 * Entries lie in one block in the order in which they were added, each with its id and length in
 * front of its text; a place is where an entry begins there. So a lookup by text touches a line of
 * the slots and one of the block. Ids may be sparse and, in broken files, shared by several texts
 * (the entry added last then spells the id). */
#ifndef TD_SRC_TOKENIZER_VOCAB_VOCAB_H
#define TD_SRC_TOKENIZER_VOCAB_VOCAB_H

#include <string.h>

#include "base/alloc.h"
#include "tokdrain/tokenizer.h"

typedef struct tk_vocab {
    char *block; /* the entries, with 16 readable bytes behind the last */
    uint32_t size, cap; /* of block */
    uint32_t count;
    td_slab table;   /* of the slots */
    uint64_t *slots; /* hash tag in the high half, place + 1 in the low one; 0: empty. NULL until
                      * the vocabulary is sealed */
    uint64_t slot_mask;
    uint32_t *by_id; /* place + 1; id_end of them */
    td_id id_end;
    bool shared_ids; /* some id has several texts */
} tk_vocab;

/* What stands in front of a text. */
typedef struct tk_vocab_head {
    td_id id;
    uint32_t len;
} tk_vocab_head;

/* NULL on out of memory. expect: a guess of how many entries will come. */
tk_vocab *tk_vocab_new(size_t expect);
void tk_vocab_free(tk_vocab *v);

/* Sets text -> id; a text that is there already gets the new id. false: out of memory. Entries can
 * be looked for after tk_vocab_seal only. */
bool tk_vocab_add(tk_vocab *v, td_str text, td_id id);
/* Builds the ways from texts to ids and back, and gives slack memory back; no tk_vocab_add after
 * it. Ids must be below 2^28. false: out of memory. */
bool tk_vocab_seal(tk_vocab *v);

static inline tk_vocab_head tk_vocab_head_at(const tk_vocab *v, uint32_t place)
{
    tk_vocab_head head;
    memcpy(&head, v->block + place, sizeof head);
    return head;
}

/* The text of the entry at a place. */
static inline td_str tk_vocab_text(const tk_vocab *v, uint32_t place)
{
    return (td_str){ v->block + place + sizeof(tk_vocab_head), tk_vocab_head_at(v, place).len };
}

/* The place behind it: of the next entry, or v->size. */
static inline uint32_t tk_vocab_next(const tk_vocab *v, uint32_t place)
{
    return place + (uint32_t)sizeof(tk_vocab_head) + tk_vocab_head_at(v, place).len;
}

/* Up to 16 bytes with zeros behind them. */
typedef struct tk_short_text {
    uint64_t half[2];
} tk_short_text;

/* The first n <= 16 bytes at p, of which 16 can be read. */
static inline tk_short_text tk_short_padded(const char *p, size_t n)
{
    static const unsigned char window[32] = { 255, 255, 255, 255, 255, 255, 255, 255,
                                              255, 255, 255, 255, 255, 255, 255, 255 };
    tk_short_text s, mask;
    memcpy(&s, p, 16);
    memcpy(&mask, window + 16 - n, 16);
    s.half[0] &= mask.half[0];
    s.half[1] &= mask.half[1];
    return s;
}

/* The same where only n bytes can be read. */
static inline tk_short_text tk_short_exact(const char *p, size_t n)
{
    const unsigned char *u = (const unsigned char *)p;
    tk_short_text s = { { 0, 0 } };
    if (n >= 8) {
        memcpy(&s.half[0], p, 8);
        memcpy(&s.half[1], p + n - 8, 8);
        s.half[1] = n != 8 ? s.half[1] >> (8 * (16 - n)) : 0;
    } else if (n >= 4) {
        uint32_t lo, hi;
        memcpy(&lo, p, 4);
        memcpy(&hi, p + n - 4, 4);
        s.half[0] = lo | (uint64_t)hi << (8 * (n - 4));
    } else if (n > 0) {
        s.half[0] = u[0] | (uint64_t)u[n >> 1] << (8 * (n >> 1)) |
                    (uint64_t)u[n - 1] << (8 * (n - 1));
    }
    return s;
}

/* Chosen by chance for each process, so that nobody can write a file whose texts collide. Set
 * before any vocabulary is. */
extern uint64_t tk_vocab_seeds[2];

static inline uint64_t tk_vocab_mix(uint64_t h, uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(h ^ a) * (b ^ tk_vocab_seeds[1]);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t tk_vocab_hash_start(size_t len)
{
    return len * 0x9E3779B97F4A7C15u ^ tk_vocab_seeds[0];
}

/* One product alone is linear in the few bits that texts of a kind differ in: with some seeds they
 * crowd. */
static inline uint64_t tk_vocab_hash_end(uint64_t h)
{
    h *= 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

/* Of a text of at most 16 bytes. */
static inline uint64_t tk_vocab_hash_short(tk_short_text s, size_t len)
{
    return tk_vocab_hash_end(tk_vocab_mix(tk_vocab_hash_start(len), s.half[0], s.half[1]));
}

static inline uint64_t tk_vocab_hash(const char *p, size_t len)
{
    uint64_t h = tk_vocab_hash_start(len), a, b;
    for (; len > 16; len -= 16, p += 16) {
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = tk_vocab_mix(h, a, b) + tk_vocab_seeds[0];
    }
    tk_short_text s = tk_short_exact(p, len);
    return tk_vocab_hash_end(tk_vocab_mix(h, s.half[0], s.half[1]));
}

static inline bool tk_same_short(tk_short_text a, tk_short_text b)
{
    return ((a.half[0] ^ b.half[0]) | (a.half[1] ^ b.half[1])) == 0;
}

/* The slot where the search for a hash starts: to prefetch. */
static inline const uint64_t *tk_vocab_slot(const tk_vocab *v, uint64_t hash)
{
    return &v->slots[hash & v->slot_mask];
}

/* The place of the first entry whose hash looks like this one, to prefetch it; UINT32_MAX: no
 * text has this hash. */
static inline uint32_t tk_vocab_guess(const tk_vocab *v, uint64_t hash)
{
    for (uint64_t at = hash & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint64_t slot = v->slots[at];
        if (slot == 0 || slot >> 32 == hash >> 32)
            return (uint32_t)slot - 1;
    }
}

/* The place of a text of at most 16 bytes; UINT32_MAX: it is not there. */
static inline uint32_t tk_vocab_place_short(const tk_vocab *v, tk_short_text text, size_t len,
                                            uint64_t hash)
{
    for (uint64_t at = hash & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint64_t slot = v->slots[at];
        if (slot == 0)
            return UINT32_MAX;
        if (slot >> 32 != hash >> 32)
            continue;
        td_str found = tk_vocab_text(v, (uint32_t)slot - 1);
        if (found.len == len && tk_same_short(tk_short_padded(found.ptr, len), text))
            return (uint32_t)slot - 1;
    }
}

/* The same for any text. */
static inline uint32_t tk_vocab_place(const tk_vocab *v, td_str text, uint64_t hash)
{
    for (uint64_t at = hash & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint64_t slot = v->slots[at];
        if (slot == 0)
            return UINT32_MAX;
        if (slot >> 32 != hash >> 32)
            continue;
        td_str found = tk_vocab_text(v, (uint32_t)slot - 1);
        if (found.len == text.len && memcmp(found.ptr, text.ptr, text.len) == 0)
            return (uint32_t)slot - 1;
    }
}

static inline bool tk_vocab_find(const tk_vocab *v, td_str text, td_id *ret)
{
    uint32_t place;
    if (text.len <= 16) {
        tk_short_text s = tk_short_exact(text.ptr, text.len);
        place = tk_vocab_place_short(v, s, text.len, tk_vocab_hash_short(s, text.len));
    } else {
        place = tk_vocab_place(v, text, tk_vocab_hash(text.ptr, text.len));
    }
    if (place == UINT32_MAX)
        return false;
    *ret = tk_vocab_head_at(v, place).id;
    return true;
}

/* The text of an id; ptr NULL when there is none. */
static inline td_str tk_vocab_spell(const tk_vocab *v, td_id id)
{
    if (id >= v->id_end || v->by_id[id] == 0)
        return (td_str){ NULL, 0 };
    return tk_vocab_text(v, v->by_id[id] - 1);
}

#endif

/* vocab.h - token texts <-> ids: flat, immutable after building, compact.
 *
 * Entries keep the order in which they were added; texts lie in one block. Ids may be sparse and,
 * in broken files, shared by several texts (the entry added last then spells the id). */
#ifndef TD_SRC_TOKENIZER_VOCAB_VOCAB_H
#define TD_SRC_TOKENIZER_VOCAB_VOCAB_H

#include <string.h>

#include "tokdrain/base.h"
#include "tokdrain/tokenizer.h"

typedef struct tk_vocab {
    char *bytes; /* all texts, with 16 readable bytes behind the last */
    size_t bytes_len, bytes_cap;
    uint32_t *starts; /* count + 1 offsets into bytes */
    td_id *ids;       /* of each entry */
    uint32_t count, cap;
    uint64_t waiting[32]; /* hashes of the last entries, which are not in slots yet */
    uint32_t waiting_count;
    uint64_t *slots; /* hash tag in the high half, entry + 1 in the low one; 0: empty */
    uint64_t slot_mask;
    uint32_t *by_id; /* entry + 1; id_end of them */
    td_id id_end;
} tk_vocab;

/* NULL on out of memory. expect: a guess of how many entries will come. */
tk_vocab *tk_vocab_new(size_t expect);
void tk_vocab_free(tk_vocab *v);

/* Sets text -> id; a text that is there already gets the new id. false: out of memory. Entries can
 * be looked for after tk_vocab_seal only. */
bool tk_vocab_add(tk_vocab *v, td_str text, td_id id);
/* Builds the way from ids to texts and gives slack memory back; no tk_vocab_add after it. Ids must
 * be below 2^28. false: out of memory. */
bool tk_vocab_seal(tk_vocab *v);

static inline uint64_t tk_vocab_hash(const char *p, size_t len)
{
    uint64_t h = len * 0x9E3779B97F4A7C15u, a, b;
    while (len > 16) {
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = (h ^ a) * 0xD6E8FEB86659FD93u;
        h = (h ^ (h >> 32) ^ b) * 0xA0761D6478BD642Fu;
        h ^= h >> 29;
        p += 16;
        len -= 16;
    }
    if (len >= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, p + len - 8, 8);
    } else if (len >= 4) {
        uint32_t lo, hi;
        memcpy(&lo, p, 4);
        memcpy(&hi, p + len - 4, 4);
        a = lo;
        b = hi;
    } else {
        a = len > 0 ? (uint64_t)(unsigned char)p[0] << 16 |
                          (uint64_t)(unsigned char)p[len >> 1] << 8 | (unsigned char)p[len - 1]
                    : 0;
        b = 0;
    }
    h = (h ^ a) * 0xD6E8FEB86659FD93u;
    h = (h ^ (h >> 32) ^ b) * 0xA0761D6478BD642Fu;
    return h ^ (h >> 32);
}

/* The slot where the search for a hash starts: to prefetch. */
static inline const uint64_t *tk_vocab_slot(const tk_vocab *v, uint64_t hash)
{
    return &v->slots[hash & v->slot_mask];
}

static inline td_str tk_vocab_text(const tk_vocab *v, uint32_t entry)
{
    return (td_str){ v->bytes + v->starts[entry], v->starts[entry + 1] - v->starts[entry] };
}

static inline bool tk_vocab_find_hashed(const tk_vocab *v, td_str text, uint64_t hash, td_id *ret)
{
    for (uint64_t at = hash & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint64_t slot = v->slots[at];
        if (slot == 0)
            return false;
        if (slot >> 32 != hash >> 32)
            continue;
        uint32_t entry = (uint32_t)slot - 1;
        uint32_t start = v->starts[entry];
        if (v->starts[entry + 1] - start == text.len &&
            memcmp(v->bytes + start, text.ptr, text.len) == 0) {
            *ret = v->ids[entry];
            return true;
        }
    }
}

static inline bool tk_vocab_find(const tk_vocab *v, td_str text, td_id *ret)
{
    if (text.len == 0)
        text.ptr = "";
    return tk_vocab_find_hashed(v, text, tk_vocab_hash(text.ptr, text.len), ret);
}

/* The text of an id; ptr NULL when there is none. */
static inline td_str tk_vocab_spell(const tk_vocab *v, td_id id)
{
    if (id >= v->id_end || v->by_id[id] == 0)
        return (td_str){ NULL, 0 };
    return tk_vocab_text(v, v->by_id[id] - 1);
}

#endif

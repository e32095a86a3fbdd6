/* key.h - keys of short words: their bytes and length in 16 bytes, and where the word cache has
 * them. */
#ifndef TD_SRC_TOKENIZER_KEY_H
#define TD_SRC_TOKENIZER_KEY_H

#include <string.h>

#include "tokenizer/fast.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are read as numbers");

/* The top byte of a key is the length of its word, or says what it is that fits no key. */
enum {
    TK_KEY_PART = 0x80, /* beside the length: a part of a word, not a word (fast_miss.c) */
    TK_KEY_ADDED = 0x40, /* an added token: its id, not its bytes */
    /* Of words that fit no key, which have no place in the table: */
    TK_KEY_LONG_UNCUT = 0x7F, /* a word that is no entry and can be cut nowhere */
    TK_KEY_LONG_PART = 0xFE,
    TK_KEY_LONG_WORD = 0xFF,
};

#define TK_ONES(n) ((n) >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * ((n)&7))) - 1)
#define TK_ROW(n, flag)                                                                            \
    {                                                                                              \
        { TK_ONES(n), (n) > 8 ? TK_ONES((n)-8) : 0 }, { 0, (uint64_t)((n) | (flag)) << 56 }        \
    }
#define TK_ROWS(flag)                                                                              \
    {                                                                                              \
        TK_ROW(0, flag), TK_ROW(1, flag), TK_ROW(2, flag), TK_ROW(3, flag), TK_ROW(4, flag),       \
            TK_ROW(5, flag), TK_ROW(6, flag), TK_ROW(7, flag), TK_ROW(8, flag), TK_ROW(9, flag),   \
            TK_ROW(10, flag), TK_ROW(11, flag), TK_ROW(12, flag), TK_ROW(13, flag),                \
            TK_ROW(14, flag), TK_ROW(15, flag)                                                     \
    }

/* For words and for parts of words, by length: which of 16 bytes belong to the key, and its top. */
_Alignas(32) static const uint64_t tk_key_rows[2][16][2][2] = {
    TK_ROWS(0),
    TK_ROWS(TK_KEY_PART),
};

/* p has 16 readable bytes; len is at most TK_CACHED_BYTES. The load does not wait for len. */
static inline void tk_key_make(const char *p, uint32_t len, bool part, uint64_t key[2])
{
    const uint64_t (*row)[2] = tk_key_rows[part][len];
    uint64_t a, b;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    key[0] = a & row[0][0];
    key[1] = (b & row[0][1]) | row[1][1];
}

/* A key for a word that fits none. hash: where its line is (long_words.h). */
static inline void tk_key_long(unsigned kind, uint32_t hash, uint64_t key[2])
{
    key[0] = hash;
    key[1] = (uint64_t)kind << 56;
}

/* A key for any word, part or not, at any place of a text. */
static inline void tk_key_of(td_str word, const char *text_end, bool part, uint64_t key[2])
{
    if (word.len > TK_CACHED_BYTES) {
        tk_key_long(part ? TK_KEY_LONG_PART : TK_KEY_LONG_WORD, 0, key);
        return;
    }
    char tail[16] = { 0 };
    size_t left = (size_t)(text_end - word.ptr);
    if (left < 16)
        memcpy(tail, word.ptr, left);
    tk_key_make(left < 16 ? tail : word.ptr, (uint32_t)word.len, part, key);
}

static inline void tk_key_added(td_id id, uint64_t key[2])
{
    key[0] = id;
    key[1] = (uint64_t)TK_KEY_ADDED << 56;
}

static inline bool tk_key_is_added(const uint64_t key[2])
{
    return key[1] >> 56 == TK_KEY_ADDED;
}

/* Whether a word with this key has a place in the table. */
static inline bool tk_key_is_kept(const uint64_t key[2])
{
    return (key[1] >> 56 & ~(unsigned)TK_KEY_PART) <= TK_KEY_ADDED;
}

static inline bool tk_key_is_part(const uint64_t key[2])
{
    return (key[1] >> 56 & TK_KEY_PART) != 0 && key[1] >> 56 != TK_KEY_LONG_WORD;
}

#endif

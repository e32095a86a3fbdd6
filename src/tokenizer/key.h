/* key.h - keys of short words: their bytes and length in 16 bytes, and where the word cache has
 * them. */
#ifndef TD_SRC_TOKENIZER_KEY_H
#define TD_SRC_TOKENIZER_KEY_H

#include <string.h>

#include "tokenizer/fast.h"

/* The top byte of a key is the length of its word, or says what it is that fits no key. */
enum {
    TK_KEY_PART = 0x80, /* beside the length: a part of a word, not a word (fast_miss.c) */
    TK_KEY_MORE = 0x40, /* beside the length, in the table only: ids lie elsewhere (cache.c) */
    TK_KEY_LONG_PART = 0xFE, /* no entry of the cache has these two */
    TK_KEY_LONG_WORD = 0xFF,
};

static inline uint64_t tk_fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide m = (wide)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint32_t tk_key_hash(uint64_t low, uint64_t high)
{
    return (uint32_t)tk_fold(low ^ 0x9E3779B97F4A7C15u, high ^ 0xD6E8FEB86659FD93u);
}

#define TK_ONES(n) ((n) >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * ((n)&7))) - 1)
#define TK_ROW(n)                                                                                  \
    {                                                                                              \
        TK_ONES(n), (n) > 8 ? TK_ONES((n)-8) : 0                                                   \
    }

/* Masks of the first n bytes of 16. */
static const uint64_t tk_key_masks[16][2] = {
    { 0, 0 },  TK_ROW(1), TK_ROW(2),  TK_ROW(3),  TK_ROW(4),  TK_ROW(5),  TK_ROW(6),  TK_ROW(7),
    TK_ROW(8), TK_ROW(9), TK_ROW(10), TK_ROW(11), TK_ROW(12), TK_ROW(13), TK_ROW(14), TK_ROW(15),
};

/* p has 16 readable bytes; len is at most TK_CACHED_BYTES. The load does not wait for len. */
static inline void tk_key_make(const char *p, uint32_t len, uint64_t *low, uint64_t *high)
{
    uint64_t a, b;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    *low = a & tk_key_masks[len][0];
    *high = (b & tk_key_masks[len][1]) | (uint64_t)len << 56;
}

/* The same at the end of a text, where less than 16 bytes may be left. */
static inline void tk_key_make_near_end(const char *p, const char *text_end, uint32_t len,
                                        uint64_t *low, uint64_t *high)
{
    char tail[16] = { 0 };
    size_t left = (size_t)(text_end - p);
    memcpy(tail, p, left < 16 ? left : 16);
    tk_key_make(tail, len, low, high);
}

/* A key for any word, part or not, at any place of a text. */
static inline void tk_key_of(td_str word, const char *text_end, bool part, uint64_t key[2])
{
    if (word.len > TK_CACHED_BYTES) {
        key[0] = 0;
        key[1] = (uint64_t)(part ? TK_KEY_LONG_PART : TK_KEY_LONG_WORD) << 56;
        return;
    }
    if (text_end - word.ptr >= 16)
        tk_key_make(word.ptr, (uint32_t)word.len, &key[0], &key[1]);
    else
        tk_key_make_near_end(word.ptr, text_end, (uint32_t)word.len, &key[0], &key[1]);
    key[1] |= part ? (uint64_t)TK_KEY_PART << 56 : 0;
}

static inline bool tk_key_is_part(const uint64_t key[2])
{
    return (key[1] >> 56 & TK_KEY_PART) != 0 && key[1] >> 56 != TK_KEY_LONG_WORD;
}

#endif

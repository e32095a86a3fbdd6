/* entries.c - filling the table of entries.h. That is part of every load, so most texts, which are
 * ASCII with at most one space in front, take a short way. */
#include "tokenizer/entries.h"

#include "tokenizer/byte_chars.h"
#include "tokenizer/key.h"

enum { AHEAD = 16 };

/* An entry on its way into the table, whose line has been asked for. */
typedef struct waiting {
    uint64_t key[2], hash;
    td_id id;
} waiting;

#define EACH(byte) (UINT64_MAX / 255 * (byte))

/* Whether eight bytes are characters of ASCII that stand for themselves: ! to ~. */
static inline bool are_plain(uint64_t bytes)
{
    uint64_t too_high = bytes | (bytes + EACH(1)), not_too_low = (bytes | EACH(0x80)) - EACH('!');
    return ((too_high | ~not_too_low) & EACH(0x80)) == 0;
}

/* The key of a text of ASCII with at most one space in front; false: it is another, or too long.
 * 16 bytes can be read from its start on, and behind it. */
static inline bool plain_key(td_str text, uint64_t key[2])
{
    static const unsigned char ones[16] = { 255, 255, 255, 255, 255, 255, 255, 255,
                                            255, 255, 255, 255, 255, 255, 255, 255 };
    bool spaced = text.len >= 2 && memcmp(text.ptr, "\xC4\xA0", 2) == 0;
    size_t n = text.len - 2 * (size_t)spaced; /* without the space */
    if (n + spaced > TK_CACHED_BYTES)
        return false;
    tk_short_text s = tk_short_padded(text.ptr + 2 * (size_t)spaced, n);
    tk_short_text there = tk_short_padded((const char *)ones, n);
    if (!are_plain(s.half[0] | (EACH('!') & ~there.half[0])) ||
        !are_plain(s.half[1] | (EACH('!') & ~there.half[1])))
        return false;
    uint64_t moved = 0 - (uint64_t)spaced; /* no branch: half of them are */
    key[0] = s.half[0] << (8 * spaced) | (' ' & moved);
    key[1] = s.half[1] << (8 * spaced) | (s.half[0] >> 56 & moved) | (n + spaced) << 56;
    return true;
}

/* The key of a text of characters of two bytes each. 16 bytes can be read from its start on, and
 * behind it. */
static inline bool wide_key(td_str text, uint64_t key[2])
{
    size_t n = text.len / 2;
    if (text.len % 2 != 0 || n == 0 || n > TK_CACHED_BYTES)
        return false;
    key[1] = 0;
    if (!tk_wide_chars_to_bytes(text.ptr, n < 8 ? n : 8, &key[0]) ||
        (n > 8 && !tk_wide_chars_to_bytes(text.ptr + 16, n - 8, &key[1])))
        return false;
    key[1] |= (uint64_t)n << 56;
    return true;
}

static bool any_key(td_str text, uint64_t key[2])
{
    char bytes[16] = { 0 };
    size_t n = tk_chars_to_bytes(text, bytes, TK_CACHED_BYTES);
    tk_key_make(bytes, (uint32_t)n, false, key);
    return n != 0;
}

static inline void put(tk_entries *e, const waiting *w)
{
    tk_entry_line *own = tk_entry_line_of(e, w->hash), *l = own;
    while (tk_entry_line_is_full(l)) {
        own->behind |= (uint32_t)1 << (w->hash & 31);
        l = tk_entry_line_behind(e, l);
    }
    uint32_t used = (uint32_t)(l->keys[0][1] != 0) + (l->keys[1][1] != 0);
    memcpy(l->keys[used], w->key, sizeof l->keys[used]);
    l->ids[used] = w->id;
}

bool tk_entries_fill(tk_entries *e, const tk_bpe *bpe)
{
    const tk_vocab *v = bpe->vocab;
    waiting ring[AHEAD];
    uint32_t n = 0;
    e->line_count = v->count / 9 * 4 + 4; /* three quarters full */
    if (!td_slab_new(&e->table, (size_t)e->line_count * sizeof *e->lines))
        return false;
    e->lines = e->table.ptr;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        waiting w;
        td_str text = tk_vocab_text(v, at);
        if (!plain_key(text, w.key) && !wide_key(text, w.key) && !any_key(text, w.key))
            continue;
        td_id id = tk_vocab_head_at(v, at).id;
        w.id = id | (tk_id_bit(bpe->merges.proven, id) ? TK_ENTRY_PROVEN : 0);
        w.hash = tk_entry_hash(w.key);
        __builtin_prefetch(tk_entry_line_of(e, w.hash), 1);
        if (n >= AHEAD)
            put(e, &ring[n % AHEAD]);
        ring[n++ % AHEAD] = w;
    }
    for (uint32_t i = 0; i < AHEAD && i < n; i++)
        put(e, &ring[i]);
    return true;
}

void tk_entries_done(tk_entries *e)
{
    td_slab_free(&e->table);
}

/* entries.c - filling the table of entries.h. That is part of every load, so most texts, which are
 * ASCII with at most one space in front, take a short way. */
#include "tokenizer/entries.h"

#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/key.h"

enum { AHEAD = 16 };

/* An entry on its way into the table, whose line has been asked for. */
typedef struct waiting {
    uint64_t key[2], hash;
    td_id id;
} waiting;

/* What the characters below CHARS stand for, as tk_char_to_byte has it; none is above. */
enum { CHARS = 0x180 };
typedef struct byte_table {
    int16_t of[CHARS];
} byte_table;

size_t tk_entry_bytes(td_str entry, char *out, size_t room)
{
    const char *p = entry.ptr, *end = entry.ptr + entry.len;
    size_t n = 0;
    while (p < end) {
        int b = tk_char_to_byte(td_utf8_next(&p, end));
        if (b < 0 || n == room)
            return 0;
        out[n++] = (char)b;
    }
    return n;
}

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

/* The key of any other text; false: it has none. Characters of one byte and of two take turns in
 * ways that cannot be guessed, so no branch depends on them. */
static inline bool wide_key(const byte_table *bytes, td_str text, uint64_t key[2])
{
    char out[16] = { 0 };
    const unsigned char *p = (const unsigned char *)text.ptr, *end = p + text.len;
    uint32_t n = 0;
    int32_t all = 0;
    if (text.len > 2 * TK_CACHED_BYTES)
        return false;
    for (; p < end && n < 16; n++) {
        uint32_t first = p[0], is_two = first >> 7;
        uint32_t two = (first & 0x1F) << 6 | (p[1] & 0x3F), c = is_two ? two : first;
        int32_t byte = bytes->of[c < CHARS ? c : 0]; /* 0 is not one */
        all |= first < 0xE0 ? byte : -1;
        out[n] = (char)byte;
        p += 1 + is_two;
    }
    if (all < 0 || n == 0 || n > TK_CACHED_BYTES)
        return false;
    tk_key_make(out, n, false, key);
    return true;
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
    byte_table bytes;
    for (uint32_t c = 0; c < CHARS; c++)
        bytes.of[c] = (int16_t)tk_char_to_byte(c);
    e->line_count = v->count / 9 * 4 + 4; /* three quarters full */
    if (!td_slab_new(&e->table, (size_t)e->line_count * sizeof *e->lines))
        return false;
    e->lines = e->table.ptr;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        waiting w;
        td_str text = tk_vocab_text(v, at);
        if (!plain_key(text, w.key) && !wide_key(&bytes, text, w.key))
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

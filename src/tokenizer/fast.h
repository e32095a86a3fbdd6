/* fast.h - the short way from text to ids, for three kinds of tokenizers.
 *
 * Byte level behind a known pattern: where the pre-tokenizer has a hand-made scanner and the model
 * knows all 256 bytes, words are taken straight from the text: no pieces, no byte characters.
 * Models of characters without a pre-tokenizer, or with one that only puts marks for spaces
 * (SentencePiece's): words are what lies between
 * places that no merge reaches across (cuts.h), given that every character that is not in the
 * vocabulary falls back to bytes which all are, and that no merge takes those bytes.
 * Any model behind a pre-tokenizer that begins with splitting at white space or at marks: words are
 * the pieces, with the white space in front of them that is dropped. What the rest of the
 * pre-tokenizer and the model make of a word depends on nothing but the word (fast_pieces.c).
 *
 * A bounded cache in the encoder answers words that were seen before; the rest are merged. The ids
 * are those of the general way, which stays in use for offsets and for everything else. */
#ifndef TD_SRC_TOKENIZER_FAST_H
#define TD_SRC_TOKENIZER_FAST_H

#include <string.h>

#include "base/alloc.h"
#include "tokenizer/char_words.h"
#include "tokenizer/entries.h"
#include "tokenizer/model/bpe.h"
#include "tokenizer/scanner/scanner.h"

typedef struct tk_fast {
    const tk_scanner *scanner;         /* NULL: a model of characters, words end at cuts */
    tk_scan_fn run;                    /* of the scanner, for this CPU */
    bool prefix_space;                 /* texts get a space in front where they have none */
    const struct tk_loops *loops;      /* for this CPU, too */
    const struct tk_metaspace *spaces; /* marks to put for spaces first; NULL: none */
    tk_spaces marks;                   /* mark.len != 0: words may hold spaces for marks */
    td_id mark;                        /* the symbol of the mark then */
    tk_char_words *chars;              /* of a model of characters */
    const tk_bpe *bpe;                 /* NULL: words are for any model, */
    const tk_model *model;             /* this one, */
    const tk_pretok *pretok;           /* behind this pre-tokenizer; NULL: words are pieces */
    bool drops_space;                  /* words may have white space in front then */
    const tk_cuts *cuts;
    td_id bytes[256];         /* the symbol of each byte */
    uint16_t byte_chars[256]; /* the UTF-8 of the character that stands for it, one byte or two */
    tk_entries entries;       /* of a model of bytes */
    uint64_t *long_entries;   /* under ignore_merges: a filter of entries longer than a key */
} tk_fast;

enum {
    TK_LONG_ENTRY_BITS = 18, /* 32 KiB */
    TK_LOOK_BYTES = 1 << 16, /* of a text, between two looks at clock and flag */
};

/* A cache line with two cached words: up to 15 bytes and their length in the key, up to 4 ids,
 * their number in the top bits of the first. Of a word of more ids only that number is here, and
 * below it where the ids lie. */
typedef struct tk_pair {
    _Alignas(64) uint64_t keys[2][2]; /* both 0: empty */
    td_id ids[2][4];
} tk_pair;

enum {
    TK_CACHED_IDS = 4,
    TK_CACHED_BYTES = 15,
    TK_COUNT_SHIFT = 28,
    TK_SINK_SLACK = 16, /* ids that may be written behind those that count */
};
enum { TK_RECORD_BYTES = 256 }; /* longer words are not kept */

/* A cached word that is longer: where its record lies. */
typedef struct tk_long_slot {
    uint32_t tag, at; /* at: offset + 1 into records, 0: empty */
} tk_long_slot;

typedef struct tk_cache {
    td_slab table;
    tk_pair *pairs;    /* in it */
    uint32_t own_mask; /* the bits of a hash that say where its pair is, in bytes */
    uint32_t (*hash)(const uint64_t key[2]); /* the same for all words */
    uint32_t inserted;                       /* since the table has its size */
    uint32_t moved; /* how often words of the table went, or went elsewhere */
    uint32_t fresh;         /* words so far that were not there */
    uint32_t fresh_before;  /* the same when it was last seen how many there were, */
    uint32_t looked;        /* and words since then */
    bool settled;           /* they were few */
    tk_lone_watch watch;
    td_id *more;                             /* the ids of short words that have more than 4 */
    uint32_t more_len;
    td_slab line_table;
    struct tk_line *lines; /* in it: words that are longer (long_words.h) */
    td_slab record_table;
    tk_long_slot *long_slots; /* in it, as the records */
    uint32_t *records; /* length, count, bytes rounded up to words, ids */
    uint32_t records_len, long_count;
    td_slab room; /* what fast_fresh.c works in: too much for a stack */
    bool off;     /* for tests: every word is merged */
} tk_cache;

/* Ids of the call that runs; kept from call to call. ids NULL: only counting. */
typedef struct tk_sink {
    td_id *ids;
    size_t count, cap;
    bool counting;
} tk_sink;

/* NULL in *ret: the general way it is. */
td_code tk_fast_new(tk_load *load, const tk_norm *norm, const tk_pretok *pretok,
                    const tk_model *model, const tk_fast **ret);

td_code tk_sink_reserve(tk_sink *sink, size_t extra, td_error *err);

/* The place of a word of more than 8 bytes in the filter of long entries. */
static inline uint32_t tk_long_entry(const char *word, size_t len)
{
    uint64_t a, b;
    memcpy(&a, word, 8);
    memcpy(&b, word + len - 8, 8);
    uint64_t h = (a ^ len) * 0x9E3779B97F4A7C15u ^ b * 0xD6E8FEB86659FD93u;
    return (uint32_t)((h ^ h >> 31) * 0xA0761D6478BD642Fu >> (64 - TK_LONG_ENTRY_BITS));
}

/* Whether a word that fits no key may be an entry. */
static inline bool tk_may_be_entry(const tk_fast *f, td_str word)
{
    uint32_t at = tk_long_entry(word.ptr, word.len);
    return (f->long_entries[at >> 6] >> (at & 63) & 1) != 0;
}

static inline td_code tk_sink_put(tk_sink *sink, td_id id, td_error *err)
{
    TD_TRY(tk_sink_reserve(sink, 1, err));
    if (!sink->counting)
        sink->ids[sink->count] = id;
    sink->count++;
    return TD_OK;
}

void tk_cache_done(tk_cache *cache);
size_t tk_cache_bytes(const tk_cache *cache);

/* The pair that a word belongs to. */
static inline tk_pair *tk_own_pair(const tk_cache *c, uint32_t hash)
{
    return (tk_pair *)(void *)((char *)c->pairs + (hash & c->own_mask));
}

/* Another pair that a word may be in. Words that share the first have different others: a few
 * crowded places are not fought for while the table is half empty. */
static inline tk_pair *tk_other_pair(const tk_cache *c, uint32_t hash)
{
    return tk_own_pair(c, hash ^ (hash >> 16 | sizeof(tk_pair)));
}

/* Whether words that belong there may be in another one. */
static inline bool tk_is_full(const tk_pair *p)
{
    return (p->keys[0][0] | p->keys[0][1]) != 0 && (p->keys[1][0] | p->keys[1][1]) != 0;
}

/* A place is where in the table the ids of a word lie, in bytes. Where there would be none is no
 * place. */
static inline bool tk_is_place(uint32_t place)
{
    return place % sizeof(tk_pair) != 0;
}

static inline td_id *tk_place_ids(const tk_cache *c, uint32_t place)
{
    return (td_id *)(void *)((char *)c->pairs + place);
}

/* The key of the word that has a place. */
static inline uint64_t *tk_place_key(const tk_cache *c, uint32_t place)
{
    return (uint64_t *)(void *)((char *)c->pairs + place - offsetof(tk_pair, ids));
}

static inline bool tk_same_key(const uint64_t a[2], const uint64_t b[2])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

/* The place of a word in a pair; with a key of 0 one that is empty; 0: it is not there. */
static inline uint32_t tk_place_in(const tk_cache *c, const tk_pair *p, const uint64_t key[2])
{
    uint32_t at = (uint32_t)((uintptr_t)p - (uintptr_t)c->pairs);
    return tk_same_key(p->keys[0], key)   ? at + (uint32_t)offsetof(tk_pair, ids[0])
           : tk_same_key(p->keys[1], key) ? at + (uint32_t)offsetof(tk_pair, ids[1])
                                          : 0;
}

/* A place where it belongs for a word that is new, or waits for its ids there since *ret_new was
 * true; 0: others have both. Which it is cannot be guessed, so no branch depends on that. */
static inline uint32_t tk_cache_claim(tk_cache *c, const uint64_t key[2], uint32_t hash,
                                      bool *ret_new)
{
    tk_pair *own = tk_own_pair(c, hash);
    uint64_t a[2] = { own->keys[0][0], own->keys[0][1] };
    uint64_t b[2] = { own->keys[1][0], own->keys[1][1] };
    bool first = tk_same_key(a, key), second = tk_same_key(b, key);
    bool room = (a[0] | a[1]) == 0, more = (b[0] | b[1]) == 0;
    uint32_t there = first | second, fits = there | room | more;
    __asm__("" : "+r"(fits)); /* no branch for each */
    *ret_new = !there;
    if (fits == 0)
        return 0;
    uint32_t i = second | !(first | room);
    memcpy(own->keys[i], key, sizeof own->keys[i]);
    memset(own->ids[i], 0, sizeof own->ids[i]);
    c->inserted += !there;
    return (hash & c->own_mask) + (uint32_t)offsetof(tk_pair, ids) + i * (uint32_t)sizeof *own->ids;
}

/* cache.c */
/* Makes a table if there is none. The hash of a cache does not change. */
bool tk_cache_start(tk_cache *c, uint32_t (*hash)(const uint64_t key[2]));
/* The ids of a short word wherever the table has it; ids: room for TK_CACHED_IDS. NULL: not
 * there. TK_LANE_SHORT ids can be read where ids has room for as many. */
const td_id *tk_cache_find(const tk_cache *c, const uint64_t key[2], uint32_t hash, td_id *ids,
                           uint32_t *ret_count);
/* Puts a short word in that is not there. Where there are more than TK_CACHED_IDS ids,
 * TK_LANE_SHORT of them can be read. */
void tk_cache_put(tk_cache *c, const uint64_t key[2], uint32_t hash, const td_id *ids,
                  uint32_t count);

/* A place for a short word that is not there: an empty one, or that of another word. Nothing may
 * look for words before it has its ids. */
uint32_t tk_cache_reserve(tk_cache *c, const uint64_t key[2], uint32_t hash);
/* Gives a word for which a place was reserved its ids: there or, if another word has the place by
 * now, elsewhere. */
void tk_cache_fill(tk_cache *c, uint32_t place, const uint64_t key[2], uint32_t hash,
                   const td_id *ids, uint32_t count);
/* Makes room if it is time to. */
void tk_cache_grow(tk_cache *c);

#endif

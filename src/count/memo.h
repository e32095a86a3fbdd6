/* memo.h - token counts of texts seen before, shared by all threads of a counter.
 *
 * A text is known by a 128-bit hash whose seed is random for each memo, so that nobody can make two
 * texts of his collide on purpose. Bounded in bytes: old entries that were not used again go
 * first. */
#ifndef TD_SRC_COUNT_MEMO_H
#define TD_SRC_COUNT_MEMO_H

#include "tokdrain/base.h"

typedef struct td_memo td_memo;

typedef struct td_memo_key {
    uint64_t low, high;
} td_memo_key;

typedef struct td_memo_stats {
    uint64_t bytes, entries, hits, misses, evictions;
} td_memo_stats;

/* bytes_max bounds the memory of the tables. NULL: out of memory. */
td_memo *td_memo_new(size_t bytes_max);
void td_memo_free(td_memo *m);

/* The key of a text; salt holds everything else that its count depends on. */
td_memo_key td_memo_hash(const td_memo *m, td_str text, uint64_t salt);
/* Brings what td_memo_find will look at nearer. */
void td_memo_prepare(td_memo *m, td_memo_key key);
bool td_memo_find(td_memo *m, td_memo_key key, uint32_t *ret_count);
/* Remembers; forgets something old when there is no room. */
void td_memo_put(td_memo *m, td_memo_key key, uint32_t count);
td_memo_stats td_memo_get_stats(td_memo *m);

#endif

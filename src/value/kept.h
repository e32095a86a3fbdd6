/* kept.h - values that requests bring along again and again, read once and shared.
 *
 *     td_kept *kept = td_keep_find(keep, TD_KEEP_JSON, text);    before reading
 *     ... else read it; then
 *     td_kept *kept = td_keep_seen(keep, TD_KEEP_JSON, source);  after reading
 *     ... td_kept_value(kept) ...
 *     td_kept_release(kept);
 *
 * The turns of a conversation all bring the same tools. What comes again and again is kept: read
 * from a copy of its bytes, immutable, for all threads, with the JSON texts that templates have
 * made of it. Bytes are compared, not only hashes. Bounded in bytes and entries; what was not used
 * for longest goes first, and is freed by its last user. */
#ifndef TD_SRC_VALUE_KEPT_H
#define TD_SRC_VALUE_KEPT_H

#include "value/json_texts.h"

typedef struct td_keep td_keep;
typedef struct td_kept td_kept;

/* What the bytes are. */
typedef enum td_keep_form { TD_KEEP_JSON, TD_KEEP_MSGPACK } td_keep_form;

/* Shorter sources are never kept. */
enum { TD_KEEP_SOURCE_MIN = 256 };

typedef struct td_keep_stats {
    uint64_t bytes, entries, hits, evictions;
} td_keep_stats;

/* bytes_max bounds the memory of what is kept. NULL: out of memory. */
td_keep *td_keep_new(size_t bytes_max);
void td_keep_free(td_keep *k); /* after all kept values were released */
td_keep_stats td_keep_get_stats(td_keep *k);

/* The kept value whose source text starts with, or NULL. The caller releases it. */
td_kept *td_keep_find(td_keep *k, td_keep_form form, td_str text);
/* Tells that a value was read from source, all of it: NULL, or, when it is kept, the value to use
 * instead of the one that was read. JSON is read as by td_json_read_request. */
td_kept *td_keep_seen(td_keep *k, td_keep_form form, td_str source);
void td_kept_release(td_kept *kept); /* NULL is fine */

td_value td_kept_value(const td_kept *kept);
td_str td_kept_source(const td_kept *kept);
td_json_texts *td_kept_texts(const td_kept *kept);
/* Reads the source again and compares. TD_E_VERIFY: the value is not what it should be. */
TD_NODISCARD td_code td_kept_check(const td_kept *kept, td_error *err);

/* Test hook: hashes of sources, before the first of them. */
void td_keep_set_hash(td_keep *k, uint64_t (*hash)(td_str bytes));

#endif

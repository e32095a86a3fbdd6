/* kept.c - a bounded table of values by their source bytes, under one lock.
 *
 * Idea:  where a value's source ends is known after reading it only, so entries are chained by the
 *        hash of the source's first bytes. Of those that fit, the last bytes are compared under the
 *        lock and all of them outside of it, while the entry is held by a reference. How often a
 *        source was seen before is counted with its hash in a small table: keeping costs as much as
 *        a few readings, so what comes once or twice is not kept.
 * Holds: bytes counts for each entry all that it may ever take, texts included, and never exceeds
 *        bytes_max; CHAIN_MAX entries have the same first bytes. */
#include "value/kept.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "value/msgpack.h"

enum {
    ENTRIES_MAX = 1024,
    CHAINS = 1024,
    CHAIN_MAX = 64,
    SEEN = 4096,
    SIGHTS = 3, /* without being kept; what comes once more is */
    TAIL = 32,
    TRIES = 4, /* candidates that are compared in full */
    SLACK = 64,
    TEXTS_RATIO = 3, /* of the memory of all texts of a value and its source */
};

struct td_kept {
    atomic_uint users; /* the table is one of them while it holds the entry */
    td_keep_form form;
    td_str source; /* own copy, SLACK bytes behind it */
    td_arena arena;
    td_value value;
    td_json_texts *texts;
    size_t bytes;
    /* the table's, under its lock */
    uint64_t hash, used_at;
    td_kept *next; /* in its chain */
};

struct td_keep {
    uint64_t (*hash)(td_str bytes);
    atomic_uint_least64_t hits;
    td_mutex lock; /* guards all below */
    td_kept *chains[CHAINS];
    uint64_t seen[SEEN]; /* hashes, their last two bits replaced by the number of sights */
    size_t count, bytes, bytes_max;
    uint64_t clock, evictions;
};

td_keep *td_keep_new(size_t bytes_max)
{
    td_keep *k = td_calloc(1, sizeof *k);
    if (k == NULL || !td_mutex_init(&k->lock)) {
        td_free(k);
        return NULL;
    }
    k->bytes_max = bytes_max;
    k->hash = td_str_hash;
    return k;
}

static void free_kept(td_kept *v)
{
    if (v->texts != NULL)
        td_json_texts_done(v->texts);
    td_arena_done(&v->arena);
    td_free((char *)v->source.ptr);
    td_free(v);
}

void td_kept_release(td_kept *v)
{
    if (v != NULL && atomic_fetch_sub_explicit(&v->users, 1, memory_order_acq_rel) == 1)
        free_kept(v);
}

void td_keep_free(td_keep *k)
{
    if (k == NULL)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        while (k->chains[i] != NULL) {
            td_kept *v = k->chains[i];
            k->chains[i] = v->next;
            assert(atomic_load(&v->users) == 1);
            td_kept_release(v);
        }
    }
    td_mutex_done(&k->lock);
    td_free(k);
}

void td_keep_set_hash(td_keep *k, uint64_t (*hash)(td_str bytes))
{
    k->hash = hash;
}

td_keep_stats td_keep_get_stats(td_keep *k)
{
    td_mutex_lock(&k->lock);
    td_keep_stats s = { .bytes = k->bytes,
                        .entries = k->count,
                        .hits = atomic_load_explicit(&k->hits, memory_order_relaxed),
                        .evictions = k->evictions };
    td_mutex_unlock(&k->lock);
    return s;
}

/* ---- making ---- */

/* The value of source, as its first reader read it. */
static td_code read_value(td_arena *a, td_keep_form form, td_str source, td_value *ret,
                          td_error *err)
{
    td_json_member none = { .key = { "", 0 } };
    return form == TD_KEEP_JSON ? td_json_read_request(a, source, &none, ret, err)
                                : td_msgpack_read(a, source, ret, err);
}

/* Fills v's arena, which may take so much; false: it took more, or memory is out. */
static bool fill(td_kept *v, size_t bytes_max)
{
    td_error ignored = TD_ERROR_INIT;
    v->arena.limit = bytes_max;
    if (read_value(&v->arena, v->form, v->source, &v->value, &ignored) == TD_OK)
        v->texts = td_json_texts_new(&v->arena, v->value, TEXTS_RATIO * v->source.len);
    td_error_clear(&ignored);
    if (v->texts == NULL)
        td_arena_done(&v->arena);
    return v->texts != NULL;
}

/* NULL: out of memory, or the value takes too much of it. */
static td_kept *make_kept(td_keep_form form, td_str source)
{
    td_kept *v = td_calloc(1, sizeof *v);
    char *own = td_malloc(source.len + SLACK);
    if (v == NULL || own == NULL) {
        td_free(v);
        td_free(own);
        return NULL;
    }
    memcpy(own, source.ptr, source.len);
    memset(own + source.len, 0, SLACK);
    v->source = (td_str){ own, source.len };
    v->form = form;
    atomic_init(&v->users, 1);
    /* an arena takes at once what it may take, if that is little: first what is usual */
    if (!fill(v, 2 * source.len) && !fill(v, 8 * source.len)) {
        free_kept(v);
        return NULL;
    }
    v->bytes = sizeof *v + source.len + SLACK + v->arena.total + TEXTS_RATIO * source.len;
    return v;
}

/* ---- the table, lock held ---- */

static uint64_t head_hash(const td_keep *k, td_keep_form form, td_str text)
{
    return k->hash((td_str){ text.ptr, TD_KEEP_SOURCE_MIN }) + form;
}

static td_kept **chain_of(td_keep *k, uint64_t hash)
{
    return &k->chains[hash % CHAINS];
}

static bool may_be(const td_kept *v, td_keep_form form, td_str text)
{
    size_t len = v->source.len;
    return v->form == form && len <= text.len &&
           memcmp(v->source.ptr + len - TAIL, text.ptr + len - TAIL, TAIL) == 0;
}

/* Takes the entry that *link is out of the table; the caller releases it. */
static td_kept *unlink_kept(td_keep *k, td_kept **link)
{
    td_kept *v = *link;
    *link = v->next;
    k->count--;
    k->bytes -= v->bytes;
    k->evictions++;
    return v;
}

/* The link to the entry of a chain that was not used for longest; with hash, of those that have it.
 * *ret_count: how many were looked at. */
static td_kept **oldest_in(td_kept **chain, const uint64_t *hash, size_t *ret_count)
{
    td_kept **oldest = NULL;
    *ret_count = 0;
    for (td_kept **at = chain; *at != NULL; at = &(*at)->next) {
        if (hash != NULL && (*at)->hash != *hash)
            continue;
        ++*ret_count;
        if (oldest == NULL || (*at)->used_at < (*oldest)->used_at)
            oldest = at;
    }
    return oldest;
}

static td_kept **oldest_of_all(td_keep *k)
{
    td_kept **oldest = NULL;
    for (size_t i = 0; i < CHAINS; i++) {
        size_t count;
        td_kept **at = oldest_in(&k->chains[i], NULL, &count);
        if (at != NULL && (oldest == NULL || (*at)->used_at < (*oldest)->used_at))
            oldest = at;
    }
    return oldest;
}

/* Puts v into the table; what has to go for it becomes a list. */
static td_kept *enter(td_keep *k, td_kept *v, uint64_t hash)
{
    td_kept *gone = NULL;
    size_t same;
    td_kept **link = oldest_in(chain_of(k, hash), &hash, &same);
    if (same < CHAIN_MAX)
        link = NULL;
    while (link != NULL || k->count == ENTRIES_MAX || v->bytes > k->bytes_max - k->bytes) {
        td_kept *old = unlink_kept(k, link != NULL ? link : oldest_of_all(k));
        old->next = gone;
        gone = old;
        link = NULL;
    }
    v->hash = hash;
    v->used_at = ++k->clock;
    v->next = *chain_of(k, hash);
    *chain_of(k, hash) = v;
    k->count++;
    k->bytes += v->bytes;
    return gone;
}

/* ---- finding ---- */

/* The candidate number skip of those that text may start with, held. */
static td_kept *candidate(td_keep *k, td_keep_form form, td_str text, uint64_t hash, unsigned skip)
{
    td_mutex_lock(&k->lock);
    td_kept *v = *chain_of(k, hash);
    while (v != NULL && (v->hash != hash || !may_be(v, form, text) || skip-- > 0))
        v = v->next;
    if (v != NULL) {
        v->used_at = ++k->clock;
        atomic_fetch_add_explicit(&v->users, 1, memory_order_relaxed);
    }
    td_mutex_unlock(&k->lock);
    return v;
}

static td_kept *find(td_keep *k, td_keep_form form, td_str text, uint64_t hash)
{
    for (unsigned skip = 0; skip < TRIES; skip++) {
        td_kept *v = candidate(k, form, text, hash, skip);
        if (v == NULL)
            return NULL;
        if (memcmp(v->source.ptr, text.ptr, v->source.len) == 0) {
            atomic_fetch_add_explicit(&k->hits, 1, memory_order_relaxed);
            return v;
        }
        td_kept_release(v);
    }
    return NULL;
}

td_kept *td_keep_find(td_keep *k, td_keep_form form, td_str text)
{
    if (text.len < TD_KEEP_SOURCE_MIN)
        return NULL;
    return find(k, form, text, head_hash(k, form, text));
}

/* Whether source was seen often enough; notes that it was seen. */
static bool see(td_keep *k, td_str source)
{
    uint64_t hash = k->hash(source);
    td_mutex_lock(&k->lock);
    uint64_t *seen = &k->seen[(hash >> 2) % SEEN];
    bool again = (*seen & ~(uint64_t)3) == (hash & ~(uint64_t)3);
    bool often = again && (*seen & 3) == SIGHTS;
    if (!again)
        *seen = (hash & ~(uint64_t)3) | 1;
    else if (!often)
        ++*seen;
    td_mutex_unlock(&k->lock);
    return often;
}

td_kept *td_keep_seen(td_keep *k, td_keep_form form, td_str source)
{
    if (source.len < TD_KEEP_SOURCE_MIN || source.len > k->bytes_max / 8)
        return NULL;
    uint64_t hash = head_hash(k, form, source);
    td_kept *v = find(k, form, source, hash);
    if (v != NULL && v->source.len == source.len)
        return v;
    td_kept_release(v);
    if (!see(k, source))
        return NULL;
    v = make_kept(form, source);
    if (v == NULL || v->bytes > k->bytes_max) {
        td_kept_release(v);
        return NULL;
    }
    atomic_fetch_add_explicit(&v->users, 1, memory_order_relaxed); /* the caller's */
    td_mutex_lock(&k->lock);
    td_kept *gone = enter(k, v, hash);
    td_mutex_unlock(&k->lock);
    while (gone != NULL) {
        td_kept *next = gone->next;
        td_kept_release(gone);
        gone = next;
    }
    return v;
}

/* ---- what is kept ---- */

td_value td_kept_value(const td_kept *v)
{
    return v->value;
}

td_str td_kept_source(const td_kept *v)
{
    return v->source;
}

td_json_texts *td_kept_texts(const td_kept *v)
{
    return v->texts;
}

/* Appends text that says all about v: escapes are written from the characters that a string has. */
static td_code describe(td_buf *out, td_value v, td_error *err)
{
    static const td_json_style style = { .ensure_ascii = true };
    return td_json_write(out, v, &style, err);
}

td_code td_kept_check(const td_kept *v, td_error *err)
{
    td_arena a = { 0 };
    td_buf was = { 0 }, is = { 0 };
    td_value again;
    td_code code = read_value(&a, v->form, v->source, &again, err);
    if (code == TD_OK)
        code = describe(&was, v->value, err);
    if (code == TD_OK)
        code = describe(&is, again, err);
    if (code == TD_E_TEMPLATE) { /* MessagePack has values that JSON has not */
        td_error_clear(err);
        code = TD_OK;
    } else if (code == TD_OK && !td_str_eq(td_buf_view(&was), td_buf_view(&is))) {
        code = td_fail(err, TD_E_VERIFY, "tools that were kept have changed");
    }
    td_buf_done(&was);
    td_buf_done(&is);
    td_arena_done(&a);
    return code;
}

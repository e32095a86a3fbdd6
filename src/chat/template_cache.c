/* template_cache.c - a small cache from template source to compiled template.
 *
 * Idea:  an array of entries under one lock, found by hash and then by the whole text, thrown out
 *        by age of last use. An entry in use is only unlinked; its last user frees it. Compiling
 *        happens outside the lock, so two threads may compile the same text once each.
 * Holds: at most ENTRIES_MAX entries and SOURCE_BYTES_MAX bytes of source are linked. */
#include "chat/template_cache.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"

enum { ENTRIES_MAX = 128 };
static const size_t SOURCE_BYTES_MAX = (size_t)32 << 20;

struct td_cached_template {
    uint64_t hash, used_at;
    unsigned users;
    bool linked;
    char *source, *name;
    size_t source_len;
    td_template *compiled;
};

struct td_template_cache {
    td_mutex lock; /* guards all below */
    td_cached_template *entries[ENTRIES_MAX];
    size_t count, bytes;
    uint64_t clock, compiled;
};

td_template_cache *td_template_cache_new(void)
{
    td_template_cache *c = td_calloc(1, sizeof *c);
    if (c == NULL || !td_mutex_init(&c->lock)) {
        td_free(c);
        return NULL;
    }
    return c;
}

static void free_entry(td_cached_template *t)
{
    if (t == NULL)
        return;
    td_template_free(t->compiled);
    td_free(t->source);
    td_free(t->name);
    td_free(t);
}

void td_template_cache_free(td_template_cache *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++) {
        assert(c->entries[i]->users == 0);
        free_entry(c->entries[i]);
    }
    td_mutex_done(&c->lock);
    td_free(c);
}

/* Lock held. */
static void unlink_entry(td_template_cache *c, size_t i)
{
    td_cached_template *t = c->entries[i];
    c->entries[i] = c->entries[--c->count];
    c->bytes -= t->source_len;
    t->linked = false;
    if (t->users == 0)
        free_entry(t);
}

/* Lock held. Makes room for one more entry of so many bytes; false: it is too large to keep. */
static bool make_room(td_template_cache *c, size_t bytes)
{
    if (bytes > SOURCE_BYTES_MAX)
        return false;
    while (c->count != 0 && (c->count == ENTRIES_MAX || c->bytes + bytes > SOURCE_BYTES_MAX)) {
        size_t oldest = 0;
        for (size_t i = 1; i < c->count; i++) {
            if (c->entries[i]->used_at < c->entries[oldest]->used_at)
                oldest = i;
        }
        unlink_entry(c, oldest);
    }
    return true;
}

static td_cached_template *find(td_template_cache *c, uint64_t hash, td_str source,
                                const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        td_cached_template *t = c->entries[i];
        if (t->hash == hash && td_str_eq((td_str){ t->source, t->source_len }, source) &&
            strcmp(t->name, name) == 0) {
            t->users++;
            t->used_at = ++c->clock;
            return t;
        }
    }
    return NULL;
}

static td_code compile(td_str source, const char *name, uint64_t hash, td_cached_template **ret,
                       td_error *err)
{
    td_cached_template *t = td_calloc(1, sizeof *t);
    if (t != NULL) {
        t->source = td_strndup(source.ptr, source.len);
        t->name = td_strndup(name, strlen(name));
    }
    if (t == NULL || t->source == NULL || t->name == NULL) {
        free_entry(t);
        return td_fail_nomem(err);
    }
    t->source_len = source.len;
    t->hash = hash;
    t->users = 1;
    td_code code = td_template_new(source, name, &t->compiled, err);
    if (code != TD_OK) {
        free_entry(t);
        return code;
    }
    *ret = t;
    return TD_OK;
}

td_code td_template_cache_get(td_template_cache *c, td_str source, const char *name,
                              td_cached_template **ret, td_error *err)
{
    uint64_t hash = td_str_hash(source);
    td_mutex_lock(&c->lock);
    td_cached_template *t = find(c, hash, source, name);
    td_mutex_unlock(&c->lock);
    if (t != NULL) {
        *ret = t;
        return TD_OK;
    }
    TD_TRY(compile(source, name, hash, &t, err));
    td_mutex_lock(&c->lock);
    c->compiled++;
    if (make_room(c, source.len)) {
        t->linked = true;
        t->used_at = ++c->clock;
        c->bytes += t->source_len;
        c->entries[c->count++] = t;
    }
    td_mutex_unlock(&c->lock);
    *ret = t;
    return TD_OK;
}

void td_template_cache_release(td_template_cache *c, td_cached_template *t)
{
    if (t == NULL)
        return;
    td_mutex_lock(&c->lock);
    bool last = --t->users == 0 && !t->linked;
    td_mutex_unlock(&c->lock);
    if (last)
        free_entry(t);
}

const td_template *td_cached_template_get(const td_cached_template *t)
{
    return t->compiled;
}

uint64_t td_template_cache_compiled(td_template_cache *c)
{
    td_mutex_lock(&c->lock);
    uint64_t n = c->compiled;
    td_mutex_unlock(&c->lock);
    return n;
}

/* table.c - linear probing with removal by shifting back, so that no tombstones pile up. */
#include "aggregator/table.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"
#include "base/str.h"

enum { FIRST_CAP = 64 };

static uint64_t hash_of(const td_table *t, td_str name)
{
    return XXH3_64bits_withSeed(name.ptr, name.len, t->seed);
}

td_row *td_table_find(const td_table *t, td_str name)
{
    if (t->count == 0)
        return NULL;
    uint64_t hash = hash_of(t, name);
    for (size_t at = hash & (t->cap - 1); t->rows[at].name != NULL; at = (at + 1) & (t->cap - 1)) {
        td_row *row = &t->rows[at];
        if (row->hash == hash && td_str_eq((td_str){ row->name, row->name_len }, name))
            return row;
    }
    return NULL;
}

static size_t free_slot(const td_table *t, uint64_t hash)
{
    size_t at = hash & (t->cap - 1);
    while (t->rows[at].name != NULL)
        at = (at + 1) & (t->cap - 1);
    return at;
}

static bool grow(td_table *t)
{
    td_table bigger = { .cap = t->cap != 0 ? t->cap * 2 : FIRST_CAP, .seed = t->seed };
    bigger.rows = td_calloc(bigger.cap, sizeof *bigger.rows);
    if (bigger.rows == NULL)
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->rows[i].name != NULL)
            bigger.rows[free_slot(&bigger, t->rows[i].hash)] = t->rows[i];
    bigger.count = t->count;
    td_free(t->rows);
    *t = bigger;
    return true;
}

td_row *td_table_add(td_table *t, td_str name)
{
    assert(td_table_find(t, name) == NULL);
    if (name.len > UINT32_MAX || (t->count >= t->cap / 2 && !grow(t)))
        return NULL;
    char *copy = td_strndup(name.ptr, name.len);
    if (copy == NULL)
        return NULL;
    uint64_t hash = hash_of(t, name);
    td_row *row = &t->rows[free_slot(t, hash)];
    *row = (td_row){ .name = copy, .name_len = (uint32_t)name.len, .hash = hash };
    t->count++;
    return row;
}

void td_table_remove(td_table *t, td_row *row)
{
    size_t mask = t->cap - 1, hole = (size_t)(row - t->rows);
    td_free(row->name);
    t->count--;
    /* Rows behind the hole move into it unless that would put them before their home slot. */
    for (size_t at = (hole + 1) & mask; t->rows[at].name != NULL; at = (at + 1) & mask) {
        size_t home = t->rows[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            t->rows[hole] = t->rows[at];
            hole = at;
        }
    }
    t->rows[hole] = (td_row){ 0 };
}

void td_table_done(td_table *t)
{
    for (size_t i = 0; i < t->cap; i++)
        td_free(t->rows[i].name);
    td_free(t->rows);
    *t = (td_table){ .seed = t->seed };
}

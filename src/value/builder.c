#include "value/builder.h"

#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

void td_builder_done(td_builder *b)
{
    if (b->stack != b->first)
        td_free(b->stack);
}

bool td_builder_grow(td_builder *b)
{
    size_t cap = b->cap * 2;
    td_value *stack;
    if (b->stack == b->first) {
        stack = td_malloc(cap * sizeof *stack);
        if (stack != NULL)
            memcpy(stack, b->stack, b->count * sizeof *stack);
    } else {
        stack = td_realloc(b->stack, cap * sizeof *stack);
    }
    if (stack == NULL)
        return false;
    b->stack = stack;
    b->cap = cap;
    return true;
}

static bool replace(td_builder *b, size_t start, td_value made)
{
    b->count = start;
    td_value *slot = td_builder_push(b);
    if (slot != NULL)
        *slot = made;
    return slot != NULL;
}

bool td_builder_sequence(td_builder *b, size_t start, td_vtag tag)
{
    size_t n = b->count - start;
    td_value *items = NULL;
    if (n != 0) {
        items = td_arena_array(b->arena, td_value, n);
        if (items == NULL)
            return false;
        memcpy(items, b->stack + start, n * sizeof *items);
    }
    td_value made = td_list_of(items, (uint32_t)n);
    made.tag = (uint8_t)tag;
    return replace(b, start, made);
}

/* A cheap filter in front of td_dict_set: keys are short texts whose hashes differ. */
static bool distinct_texts(const td_entry *e, size_t n)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (!td_is_str(e[i].key))
            return false;
        uint64_t bit = UINT64_C(1) << (e[i].key.hash & 63);
        for (size_t j = 0; j < i && (seen & bit) != 0; j++)
            if (e[j].key.hash == e[i].key.hash)
                return false;
        seen |= bit;
    }
    return true;
}

bool td_builder_dict(td_builder *b, size_t start)
{
    size_t n = (b->count - start) / 2;
    const td_entry *e = (const td_entry *)(const void *)(b->stack + start);
    td_dict *d = td_dict_new(b->arena, (uint32_t)n);
    if (d == NULL)
        return false;
    if (n <= TD_DICT_SMALL && distinct_texts(e, n)) {
        if (n != 0)
            memcpy(d->entries, e, n * sizeof *e);
        d->count = (uint32_t)n;
    } else {
        for (size_t i = 0; i < n; i++)
            if (!td_dict_set(b->arena, d, e[i].key, e[i].val))
                return false;
    }
    return replace(b, start, td_dict_of(d));
}

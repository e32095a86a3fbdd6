/* builder.h - how the readers of JSON and msgpack build containers without recursion.
 *
 * Private to value. Finished items wait on a stack of values; a container that is complete takes
 * its items from the top and leaves itself there. Memory is therefore taken for items that were
 * read, never for a count that the input only claims. Dict keys and values alternate. */
#ifndef TD_SRC_VALUE_BUILDER_H
#define TD_SRC_VALUE_BUILDER_H

#include "value/value.h"

enum { TD_BUILDER_FIRST = 192 };

typedef struct td_builder {
    td_arena *arena;
    td_value *stack;
    size_t count, cap;
    td_value first[TD_BUILDER_FIRST];
} td_builder;

/* The builder must not move afterwards. */
static inline void td_builder_start(td_builder *b, td_arena *arena)
{
    b->arena = arena;
    b->stack = b->first;
    b->count = 0;
    b->cap = TD_BUILDER_FIRST;
}
void td_builder_done(td_builder *b);

bool td_builder_grow(td_builder *b);

/* The next free place of the stack, valid until the next push; NULL: out of memory. */
static inline td_value *td_builder_push(td_builder *b)
{
    if (b->count == b->cap && !td_builder_grow(b))
        return NULL;
    return &b->stack[b->count++];
}

/* Replace the items from start on by a list or tuple (a dict) of them. String keys must have their
 * hash set, all keys be hashable. false: out of memory, or the arena's limit. */
bool td_builder_sequence(td_builder *b, size_t start, td_vtag tag);
bool td_builder_dict(td_builder *b, size_t start);

#endif

/* alloc.h - every heap byte of the library goes through these, so that td_set_allocator and the
 * fault injection of tests see all of them. */
#ifndef TD_SRC_BASE_ALLOC_H
#define TD_SRC_BASE_ALLOC_H

#include "tokdrain/base.h"

void *td_malloc(size_t size);           /* NULL on out of memory; size 0 gives a unique pointer */
void *td_calloc(size_t n, size_t size); /* zeroed; NULL also when n * size overflows */
void *td_realloc(void *ptr, size_t size);
void td_free(void *ptr);                       /* NULL is fine */
char *td_strndup(const char *ptr, size_t len); /* NUL-terminated copy */

/* Tells the system that a large table, not touched yet, will be read here and there, so that large
 * pages pay. Only a hint. */
void td_expect_random(void *ptr, size_t size);

/* Gives memory that was freed back to the system, where the C library would keep it. Takes
 * milliseconds when there is much of it. */
void td_alloc_trim(void);

/* A table that is read here and there: zeroed, on cache lines, and where it is large on pages
 * as large as the system has. */
typedef struct td_slab {
    void *ptr;     /* NULL: none */
    void *block;   /* what ptr lies in */
    size_t mapped; /* bytes of block, when it is not from the heap */
} td_slab;

bool td_slab_new(td_slab *t, size_t size); /* false: out of memory */
void td_slab_free(td_slab *t);

/* Test hook: the nth allocation of this thread from now fails, once. 0 turns it off. */
extern _Thread_local size_t td_alloc_fail_at;

#endif

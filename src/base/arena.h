/* arena.h - bump allocation for everything that dies together.
 *
 * A zeroed td_arena is ready to use. limit bounds the bytes taken from the heap (0: none), so an
 * arena is also how the memory of one template run is bounded. */
#ifndef TD_SRC_BASE_ARENA_H
#define TD_SRC_BASE_ARENA_H

#include "tokdrain/base.h"

typedef struct td_arena_block td_arena_block;

typedef struct td_arena {
    td_arena_block *head;
    td_arena_block *spare; /* one that was rewound behind, for what rewinds there again and again */
    char *cur, *end;
    size_t limit, total;
    bool over_limit; /* the last failure was the limit, not the heap */
} td_arena;

typedef struct td_arena_mark {
    td_arena_block *head;
    char *cur, *end;
    size_t total;
} td_arena_mark;

/* NULL on out of memory or over the limit; td_arena_fail tells which. */
void *td_arena_alloc_slow(td_arena *a, size_t size, size_t align);
void *td_arena_alloc_n(td_arena *a, size_t n, size_t size, size_t align); /* checked n * size */

static inline void *td_arena_alloc(td_arena *a, size_t size, size_t align)
{
#ifdef TD_SELFCHECK
    return td_arena_alloc_slow(a, size, align); /* a block of its own */
#else
    uintptr_t at = ((uintptr_t)a->cur + align - 1) & ~(uintptr_t)(align - 1);
    if (a->cur == NULL || at > (uintptr_t)a->end || (uintptr_t)a->end - at < size)
        return td_arena_alloc_slow(a, size, align);
    a->cur = (char *)at + size;
    return (char *)at;
#endif
}

#define td_arena_new(a, T) ((T *)td_arena_alloc((a), sizeof(T), _Alignof(T)))
#define td_arena_array(a, T, n) ((T *)td_arena_alloc_n((a), (n), sizeof(T), _Alignof(T)))

/* A copy of bytes, with 32 readable bytes of slack behind it; ptr NULL on failure (even for an
 * empty copy success gives a non-NULL ptr). */
td_str td_arena_copy(td_arena *a, td_str bytes);

/* A copy of text with a NUL behind it; NULL on failure. */
char *td_arena_text(td_arena *a, td_str text);

/* Gives the end of the last allocation back: new_end lies inside it. */
static inline void td_arena_shrink(td_arena *a, void *new_end)
{
    a->cur = new_end;
}

/* Whether ptr points into memory of the arena. */
bool td_arena_holds(const td_arena *a, const void *ptr);

td_arena_mark td_arena_save(const td_arena *a);
void td_arena_rewind(td_arena *a, td_arena_mark m); /* frees all taken since the mark */
void td_arena_reset(td_arena *a); /* forgets everything, keeps one block up to 1 MiB warm */
void td_arena_done(td_arena *a);

/* The error for an allocation that failed: limit or out of memory. */
td_code td_arena_fail(const td_arena *a, td_error *err);

#endif

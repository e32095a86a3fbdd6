#include "base/arena.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { BLOCK_LARGE = 4 * 1024 * 1024 }; /* from here on large pages are worth it */

struct td_arena_block {
    td_arena_block *prev;
    size_t bytes;
};

#ifndef TD_SELFCHECK
enum { BLOCK_MIN = 64 * 1024, BLOCK_KEEP = 1024 * 1024, BLOCK_MAX = 16 * 1024 * 1024, SLACK = 32 };
enum { BLOCK_SPARE = BLOCK_MAX };
#else /* each allocation has a block of its own */
enum { BLOCK_MIN = 1, BLOCK_KEEP = 0, BLOCK_MAX = 1, SLACK = 32, BLOCK_SPARE = 0 };
#endif

/* The spare block if it serves; else it is given back, for the limit is for all together. */
static td_arena_block *take_spare(td_arena *a, size_t need)
{
    td_arena_block *b = a->spare;
    a->spare = NULL;
    if (b == NULL || (b->bytes >= need && (a->limit == 0 || b->bytes <= a->limit - a->total)))
        return b;
    td_free(b);
    return NULL;
}

/* Frees a block, or keeps it in the place of a smaller one. */
static void give_back(td_arena *a, td_arena_block *b)
{
    if (b->bytes <= BLOCK_SPARE && (a->spare == NULL || a->spare->bytes < b->bytes)) {
        td_arena_block *smaller = a->spare;
        a->spare = b;
        b = smaller;
    }
    td_free(b);
}

static bool grow(td_arena *a, size_t need)
{
    size_t bytes = a->head != NULL ? a->head->bytes * 2 : BLOCK_MIN;
    if (bytes > BLOCK_MAX)
        bytes = BLOCK_MAX;
    if (a->limit != 0 && bytes > a->limit - a->total)
        bytes = a->limit - a->total;
    if (bytes < need)
        bytes = need;
    a->over_limit = a->limit != 0 && bytes > a->limit - a->total;
    if (a->over_limit)
        return false;
    td_arena_block *b = take_spare(a, need);
    if (b == NULL)
        b = td_malloc(bytes);
    else
        bytes = b->bytes;
    if (b == NULL)
        return false;
    if (bytes >= BLOCK_LARGE)
        td_expect_random(b, bytes);
    b->prev = a->head;
    b->bytes = bytes;
    a->head = b;
    a->cur = (char *)(b + 1);
    a->end = (char *)b + bytes;
    a->total += bytes;
    return true;
}

void *td_arena_alloc_slow(td_arena *a, size_t size, size_t align)
{
    assert(align != 0 && (align & (align - 1)) == 0);
    if (size > PTRDIFF_MAX - 4096 || !grow(a, sizeof(td_arena_block) + align + size))
        return NULL;
#ifdef TD_SELFCHECK
    /* It ends where the block ends, so that AddressSanitizer sees what goes past it. */
    a->cur = a->end;
    return (char *)(((uintptr_t)a->end - size) & ~(uintptr_t)(align - 1));
#else
    return td_arena_alloc(a, size, align);
#endif
}

void *td_arena_alloc_n(td_arena *a, size_t n, size_t size, size_t align)
{
    assert(size != 0);
    if (n > PTRDIFF_MAX / size) {
        a->over_limit = false;
        return NULL;
    }
    return td_arena_alloc(a, n * size, align);
}

td_str td_arena_copy(td_arena *a, td_str bytes)
{
    char *to = td_arena_alloc(a, bytes.len + SLACK, 1);
    if (to == NULL)
        return (td_str){ NULL, 0 };
    if (bytes.len != 0)
        memcpy(to, bytes.ptr, bytes.len);
    memset(to + bytes.len, 0, SLACK);
    return (td_str){ to, bytes.len };
}

char *td_arena_text(td_arena *a, td_str text)
{
    char *copy = td_arena_array(a, char, text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len != 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

bool td_arena_holds(const td_arena *a, const void *ptr)
{
    for (const td_arena_block *b = a->head; b != NULL; b = b->prev)
        if ((uintptr_t)ptr - (uintptr_t)b < b->bytes)
            return true;
    return false;
}

td_arena_mark td_arena_save(const td_arena *a)
{
    return (td_arena_mark){ a->head, a->cur, a->end, a->total };
}

void td_arena_rewind(td_arena *a, td_arena_mark m)
{
    while (a->head != m.head) {
        td_arena_block *prev = a->head->prev;
        give_back(a, a->head);
        a->head = prev;
    }
    a->cur = m.cur;
    a->end = m.end;
    a->total = m.total;
}

void td_arena_reset(td_arena *a)
{
    td_arena_block *keep = NULL;
    td_free(a->spare);
    a->spare = NULL;
    while (a->head != NULL) {
        td_arena_block *prev = a->head->prev;
        if (a->head->bytes <= BLOCK_KEEP && (keep == NULL || a->head->bytes > keep->bytes)) {
            td_free(keep);
            keep = a->head;
        } else {
            td_free(a->head);
        }
        a->head = prev;
    }
    a->cur = a->end = NULL;
    a->total = 0;
    if (keep != NULL) {
        keep->prev = NULL;
        a->head = keep;
        a->cur = (char *)(keep + 1);
        a->end = (char *)keep + keep->bytes;
        a->total = keep->bytes;
    }
}

void td_arena_done(td_arena *a)
{
    td_arena_rewind(a, (td_arena_mark){ 0 });
    td_free(a->spare);
    a->spare = NULL;
}

td_code td_arena_fail(const td_arena *a, td_error *err)
{
    if (a->over_limit)
        return td_fail(err, TD_E_LIMIT, "more than %zu bytes of memory needed", a->limit);
    return td_fail_nomem(err);
}

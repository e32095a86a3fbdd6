#define _DEFAULT_SOURCE /* madvise */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static td_allocator hook;
_Thread_local size_t td_alloc_fail_at;

void td_set_allocator(const td_allocator *allocator)
{
    hook = allocator != NULL ? *allocator : (td_allocator){ 0 };
}

static bool injected_failure(void)
{
    return td_alloc_fail_at != 0 && --td_alloc_fail_at == 0;
}

void *td_malloc(size_t size)
{
    if (injected_failure() || size > PTRDIFF_MAX)
        return NULL;
    size += size == 0;
    return hook.alloc != NULL ? hook.alloc(hook.user, size) : malloc(size);
}

void *td_calloc(size_t n, size_t size)
{
    if (size != 0 && n > PTRDIFF_MAX / size)
        return NULL;
    if (hook.alloc == NULL)
        return injected_failure() ? NULL : calloc(n ? n : 1, size ? size : 1);
    void *p = td_malloc(n * size);
    if (p != NULL)
        memset(p, 0, n * size);
    return p;
}

void *td_realloc(void *ptr, size_t size)
{
    if (injected_failure() || size > PTRDIFF_MAX)
        return NULL;
    size += size == 0;
    return hook.resize != NULL ? hook.resize(hook.user, ptr, size) : realloc(ptr, size);
}

void td_free(void *ptr)
{
    if (hook.release != NULL)
        hook.release(hook.user, ptr);
    else
        free(ptr);
}

void td_expect_random(void *ptr, size_t size)
{
#ifdef MADV_HUGEPAGE
    enum { PAGE = 1 << 16, WORTH = 1 << 21 }; /* PAGE: a multiple of any system's */
    uintptr_t start = ((uintptr_t)ptr + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t end = ((uintptr_t)ptr + size) & ~(uintptr_t)(PAGE - 1);
    if (hook.alloc == NULL && size >= WORTH)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)ptr;
    (void)size;
#endif
}

enum { LINE = 64, LARGE_PAGE = 1 << 21 };

static void *align_up(void *ptr, size_t to)
{
    return (void *)(((uintptr_t)ptr + to - 1) & ~(uintptr_t)(to - 1));
}

/* A last page that is more than half full is a large one, too: hundreds of small ones cost more
 * than what the rest of it takes. */
static bool map_table(td_slab *t, size_t size)
{
    if (size % LARGE_PAGE > LARGE_PAGE / 2)
        size += LARGE_PAGE - size % LARGE_PAGE;
    size_t mapped = size + LARGE_PAGE; /* what lies outside is never touched */
    if (injected_failure())
        return false;
    void *block = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    *t = (td_slab){ align_up(block, LARGE_PAGE), block, mapped };
    td_expect_random(t->ptr, size);
    return true;
}

bool td_slab_new(td_slab *t, size_t size)
{
    if (size > PTRDIFF_MAX / 2)
        return false;
    if (hook.alloc == NULL && size > LARGE_PAGE / 2)
        return map_table(t, size);
    void *block = td_calloc(size + LINE, 1);
    *t = (td_slab){ block != NULL ? align_up(block, LINE) : NULL, block, 0 };
    return block != NULL;
}

void td_slab_free(td_slab *t)
{
    if (t->mapped != 0)
        munmap(t->block, t->mapped);
    else
        td_free(t->block);
    *t = (td_slab){ 0 };
}

void td_alloc_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

char *td_strndup(const char *ptr, size_t len)
{
    char *copy = td_malloc(len + 1);
    if (copy != NULL) {
        if (len != 0)
            memcpy(copy, ptr, len);
        copy[len] = '\0';
    }
    return copy;
}

/* str.h - what the code does with views all the time. */
#ifndef TD_SRC_BASE_STR_H
#define TD_SRC_BASE_STR_H

#include <string.h>

#include "tokdrain/base.h"

static inline td_str td_str_from(const char *nul_terminated)
{
    return (td_str){ nul_terminated, strlen(nul_terminated) };
}

static inline bool td_str_eq(td_str a, td_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Byte order, which is code point order for UTF-8; <0, 0, >0. */
static inline int td_str_cmp(td_str a, td_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n != 0 ? memcmp(a.ptr, b.ptr, n) : 0;
    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

static inline bool td_str_starts(td_str s, td_str head)
{
    return s.len >= head.len && (head.len == 0 || memcmp(s.ptr, head.ptr, head.len) == 0);
}

static inline bool td_str_ends(td_str s, td_str tail)
{
    return s.len >= tail.len &&
           (tail.len == 0 || memcmp(s.ptr + s.len - tail.len, tail.ptr, tail.len) == 0);
}

/* s from byte offset at to its end; at <= s.len. */
static inline td_str td_str_from_offset(td_str s, size_t at)
{
    return (td_str){ s.ptr + at, s.len - at };
}

#define TD_NOT_FOUND SIZE_MAX

/* Byte offset of the first (last) needle in s at or behind from, TD_NOT_FOUND if there is none.
 * An empty needle is found at from (at s.len). Linear time, SIMD where the CPU has it. */
size_t td_str_find(td_str s, td_str needle, size_t from);
size_t td_str_rfind(td_str s, td_str needle);

/* A fast 64-bit hash, not keyed: only for tables whose keys no attacker chooses freely, or that
 * stay small. */
uint64_t td_str_hash(td_str s);
/* The same, keyed by a seed that the writer of the text cannot know. */
uint64_t td_str_hash_seeded(td_str s, uint64_t seed);

#endif

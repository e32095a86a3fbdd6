/* skip.c - brackets outside of strings, counted 64 bytes at a time.
 *
 * Quotes that no backslash escapes switch between outside and inside; the running parity of their
 * bits is the mask of the bytes inside strings. Brackets there do not count. Most blocks hold whole
 * pairs, whose brackets need not be looked at one by one: each closing bracket but perhaps the
 * first follows an opening one, and no opening one follows another. */
#include "tokenizer/load/skip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tokenizer/load/block.h"

typedef struct masks {
    uint64_t quote, backslash, open, close;
} masks;

/* bit b of each: byte p[b] is one */
static inline masks classify(const char *p)
{
    masks m = { 0 };
    for (int i = 0; i < 64; i += TK_BLOCK) {
        tk_block b = tk_block_load(p + i), folded = tk_block_fold(b); /* [ is {, ] is } */
        m.quote |= (uint64_t)tk_block_equal(b, '"') << i;
        m.backslash |= (uint64_t)tk_block_equal(b, '\\') << i;
        m.open |= (uint64_t)tk_block_equal(folded, '{') << i;
        m.close |= (uint64_t)tk_block_equal(folded, '}') << i;
    }
    return m;
}

/* Bits behind an odd number of backslashes; *carry: whether the next block's first one is. */
static uint64_t escaped_bits(uint64_t backslash, bool *carry)
{
    uint64_t escaped = *carry ? 1 : 0;
    bool next = *carry;
    if (backslash == 0) {
        *carry = false;
        return escaped;
    }
    escaped = 0;
    for (int i = 0; i < 64; i++) {
        bool here = next;
        escaped |= (uint64_t)here << i;
        next = !here && (backslash >> i & 1) != 0;
    }
    *carry = next;
    return escaped;
}

static inline uint64_t parity(uint64_t bits)
{
    for (int shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

const char *tk_skip_brackets(const char *p, const char *end)
{
    char tail[64];
    uint64_t inside = 0; /* all ones: the block begins inside a string */
    size_t depth = 0;
    bool carry = false;
    for (; p < end; p += 64) {
        const char *block = p;
        if (end - p < 64) {
            memset(tail, ' ', sizeof tail);
            memcpy(tail, p, (size_t)(end - p));
            block = tail;
        }
        masks m = classify(block);
        uint64_t string = parity(m.quote & ~escaped_bits(m.backslash, &carry)) ^ inside;
        inside = (uint64_t)((int64_t)string >> 63);
        uint64_t open = m.open & ~string, close = m.close & ~string, both = open | close;
        /* A carry from each opening bracket runs on to the bracket behind it. */
        uint64_t behind_open = ((open << 1) + ~both) & both, single = close & ~behind_open;
        bool at_most_one = (single & (single - 1)) == 0;
        if ((behind_open & open) == 0 && at_most_one && depth > (single != 0)) {
            depth = depth - (single != 0) + (open > close); /* the last one is an opening one */
            continue;
        }
        for (uint64_t rest = both; rest != 0; rest &= rest - 1) {
            int i = __builtin_ctzll(rest);
            if (open >> i & 1)
                depth++;
            else if (depth <= 1)
                return p + i + 1;
            else
                depth--;
        }
    }
    return NULL;
}

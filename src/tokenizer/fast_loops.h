/* fast_loops.h - the loops that every short word goes through, in versions for CPUs.
 *
 * The first makes keys and hashes of words and prefetches their cache lines, the last compares
 * and copies ids out. None has a branch that depends on a word, but for those that the table does
 * not have and those of many ids; while there are many of the former, a loop in between finds out
 * which they are and where the others are, and the last one need not compare again. */
#ifndef TD_SRC_TOKENIZER_FAST_LOOPS_H
#define TD_SRC_TOKENIZER_FAST_LOOPS_H

#include "base/cpu.h"
#include "tokenizer/fast_miss.h"

typedef struct tk_loops {
    uint32_t (*hash)(const uint64_t key[2]);
    /* Keys of up to n words, or parts of one, that end at ends, the first of which begins at start,
     * behind those of the batch, up to one that is longer than TK_CACHED_BYTES. 16 bytes can be
     * read from where any of them begins. Returns how many there are. */
    uint32_t (*take)(tk_batch *b, const tk_cache *c, const char *text, uint32_t start,
                     const uint32_t *ends, uint32_t n, bool part);
    /* Notes the places of all words of a batch, and in words the numbers of those that the table
     * does not have where they belong. Returns how many. */
    uint32_t (*locate)(const tk_cache *c, tk_batch *b, uint16_t *words);
    /* Puts out the ids of words i and up, as far as the table has them where they belong. Returns
     * the first that it does not have there, the number of words when there is none. The sink has
     * room for as many ids as the words have bytes and TK_SINK_SLACK more. */
    uint32_t (*put)(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink);
    uint32_t (*count)(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink);
} tk_loops;

/* As put, or as count if the sink counts, by the places of words, up to the first without one. */
uint32_t tk_put_places(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink);

/* The versions for a CPU. They do the same, but for what the hash is. */
const tk_loops *tk_loops_of(td_cpu cpu);

#endif

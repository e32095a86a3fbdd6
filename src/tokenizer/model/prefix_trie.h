/* prefix_trie.h - all texts of a set that a given text starts with, shortest first.
 *
 * A double array: the child of a node for a byte is where the node's base and the byte say, if what
 * lies there is its child. So a step is one look at one place, whatever the number of children. A
 * node's only child, as most are, lies near it. No two nodes with children have the same base. */
#ifndef TD_SRC_TOKENIZER_MODEL_PREFIX_TRIE_H
#define TD_SRC_TOKENIZER_MODEL_PREFIX_TRIE_H

#include <stdbool.h>

#include "tokenizer/vocab/vocab.h"

typedef struct tk_prefix_node {
    uint32_t base;   /* the child for a byte is at base ^ byte; the highest bit: a text ends here */
    uint32_t parent; /* TK_PREFIX_FREE: there is no node here */
} tk_prefix_node;

#define TK_PREFIX_FREE UINT32_MAX
#define TK_PREFIX_END ((uint32_t)1 << 31)

/* Node 0 is the root, where no text ends. */
typedef struct tk_prefix_trie {
    tk_prefix_node *nodes;
    uint32_t *values; /* by node, of those where texts end */
    uint32_t size;    /* of both */
} tk_prefix_trie;

/* Texts that are equal must have equal values. NULL: out of memory. */
tk_prefix_trie *tk_prefix_trie_new(const td_str *texts, const uint32_t *values, uint32_t count);
/* The entries of a vocabulary with their ids. NULL: out of memory. */
tk_prefix_trie *tk_prefix_trie_of(const tk_vocab *vocab);
void tk_prefix_trie_free(void *trie);

/* The node behind node for a byte; 0: there is none. */
static inline uint32_t tk_prefix_step(const tk_prefix_trie *t, uint32_t node, uint8_t byte)
{
    uint32_t to = (t->nodes[node].base & ~TK_PREFIX_END) ^ byte;
    return t->nodes[to].parent == node ? to : 0;
}

/* Whether a text ends at a node, so that it has a value. */
static inline bool tk_prefix_ends(const tk_prefix_trie *t, uint32_t node)
{
    return (t->nodes[node].base & TK_PREFIX_END) != 0;
}

#endif

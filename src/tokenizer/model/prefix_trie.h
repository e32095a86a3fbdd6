/* prefix_trie.h - all texts of a set that a given text starts with, shortest first. */
#ifndef TD_SRC_TOKENIZER_MODEL_PREFIX_TRIE_H
#define TD_SRC_TOKENIZER_MODEL_PREFIX_TRIE_H

#include <string.h>

#include "tokenizer/vocab/vocab.h"

/* The children of a node are neighbours, sorted by label; so a node needs to know the first. */
typedef struct tk_prefix_node {
    uint32_t first;
    uint32_t value; /* + 1; 0: no text ends here */
} tk_prefix_node;

typedef struct tk_prefix_trie {
    tk_prefix_node *nodes;
    uint8_t *labels;  /* of the edge to each node */
    uint16_t *counts; /* of children */
    uint32_t root[256];
    uint32_t node_count;
} tk_prefix_trie;

/* Texts that are equal must have equal values. NULL: out of memory. */
tk_prefix_trie *tk_prefix_trie_new(const td_str *texts, const uint32_t *values, uint32_t count);
/* The entries of a vocabulary with their ids. NULL: out of memory. */
tk_prefix_trie *tk_prefix_trie_of(const tk_vocab *vocab);
void tk_prefix_trie_free(void *trie);

/* The node behind node for a byte; 0: there is none. Node 0 is the root. */
static inline uint32_t tk_prefix_step(const tk_prefix_trie *t, uint32_t node, uint8_t byte)
{
    if (node == 0)
        return t->root[byte];
    uint32_t first = t->nodes[node].first;
    uint32_t count = t->counts[node];
    const uint8_t *labels = t->labels + first;
    if (count > 8) {
        const uint8_t *hit = memchr(labels, byte, count);
        return hit != NULL ? first + (uint32_t)(hit - labels) : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (labels[i] == byte)
            return first + i;
    return 0;
}

#endif

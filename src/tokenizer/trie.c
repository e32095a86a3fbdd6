/* trie.c - leftmost-longest search for a set of texts.
 *
 * A byte filter finds places where a text may start (first byte, and whether the second byte can
 * follow it); there a trie is walked for the longest text. Children of a node are sorted and
 * mostly few, so a node is a range of edges. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/added.h"
#include "tokenizer/load/block.h"

enum { LEADS_MAX = 6 };

typedef struct trie_node {
    uint32_t first, count; /* edges */
    uint32_t value;        /* + 1; 0: no text ends here */
} trie_node;

struct tk_trie {
    trie_node *nodes;
    uint8_t *labels; /* of edges */
    uint32_t *to;    /* node of each edge */
    uint32_t node_count, edge_count;
    uint32_t root[256]; /* node of each first byte; 0: none */
    uint64_t second[4]; /* bits of the bytes that some first byte goes on with */
    bool shortest;      /* some text is one byte */
    char leads[LEADS_MAX]; /* the first bytes, unless there are more */
    uint32_t lead_count;   /* 0: there are more */
};

typedef struct sorted_text {
    td_str text;
    uint32_t value;
} sorted_text;

static int by_text(const void *a, const void *b)
{
    return td_str_cmp(((const sorted_text *)a)->text, ((const sorted_text *)b)->text);
}

void tk_trie_free(void *trie)
{
    tk_trie *t = trie;
    if (t == NULL)
        return;
    td_free(t->nodes);
    td_free(t->labels);
    td_free(t->to);
    td_free(t);
}

typedef struct range {
    uint32_t low, high; /* sorted texts below the node */
    uint32_t depth;
} range;

/* Breadth first: ranges[i] is what node i stands for, so the edges of a node are neighbours. */
static void build(tk_trie *t, const sorted_text *s, range *ranges)
{
    for (uint32_t n = 0; n < t->node_count; n++) {
        range r = ranges[n];
        trie_node *node = &t->nodes[n];
        node->first = t->edge_count;
        if (r.low < r.high && s[r.low].text.len == r.depth) {
            node->value = s[r.low].value + 1;
            r.low++;
        }
        while (r.low < r.high) {
            uint8_t label = (uint8_t)s[r.low].text.ptr[r.depth];
            uint32_t next = r.low + 1;
            while (next < r.high && (uint8_t)s[next].text.ptr[r.depth] == label)
                next++;
            t->labels[t->edge_count] = label;
            t->to[t->edge_count++] = t->node_count;
            ranges[t->node_count++] = (range){ r.low, next, r.depth + 1 };
            r.low = next;
        }
        node->count = t->edge_count - node->first;
    }
}

static void set_root(tk_trie *t)
{
    const trie_node *root = &t->nodes[0];
    for (uint32_t i = 0; i < root->count; i++) {
        uint32_t to = t->to[root->first + i];
        const trie_node *n = &t->nodes[to];
        t->root[t->labels[root->first + i]] = to;
        t->shortest |= n->value != 0;
        for (uint32_t k = n->first; k < n->first + n->count; k++)
            t->second[t->labels[k] >> 6] |= (uint64_t)1 << (t->labels[k] & 63);
    }
    if (root->count <= LEADS_MAX)
        t->lead_count = root->count;
    for (uint32_t i = 0; i < t->lead_count; i++)
        t->leads[i] = (char)t->labels[root->first + i];
}

tk_trie *tk_trie_new(const td_str *texts, const uint32_t *values, uint32_t count)
{
    size_t total = 1;
    for (uint32_t i = 0; i < count; i++)
        total += texts[i].len;
    if (total > UINT32_MAX)
        return NULL;
    tk_trie *t = td_calloc(1, sizeof *t);
    sorted_text *s = td_calloc(count != 0 ? count : 1, sizeof *s);
    range *ranges = td_calloc(total, sizeof *ranges);
    if (t != NULL) {
        t->nodes = td_calloc(total, sizeof *t->nodes);
        t->labels = td_calloc(total, 1);
        t->to = td_calloc(total, sizeof *t->to);
    }
    bool ok = t != NULL && s != NULL && ranges != NULL && t->nodes != NULL && t->labels != NULL &&
              t->to != NULL;
    if (ok) {
        for (uint32_t i = 0; i < count; i++)
            s[i] = (sorted_text){ texts[i], values[i] };
        qsort(s, count, sizeof *s, by_text);
        ranges[0] = (range){ 0, count, 0 };
        t->node_count = 1;
        build(t, s, ranges);
        set_root(t);
    }
    td_free(s);
    td_free(ranges);
    if (ok)
        return t;
    tk_trie_free(t);
    return NULL;
}

static uint32_t child(const tk_trie *t, uint32_t n, uint8_t label)
{
    const trie_node *node = &t->nodes[n];
    const uint8_t *labels = t->labels + node->first;
    uint32_t low = 0, high = node->count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (labels[mid] < label)
            low = mid + 1;
        else
            high = mid;
    }
    return low < node->count && labels[low] == label ? t->to[node->first + low] : 0;
}

/* Whether a text may go on behind its first byte. */
static inline bool goes_on(const tk_trie *t, const char *p, const char *end)
{
    if (t->shortest)
        return true;
    return p < end && (t->second[(uint8_t)*p >> 6] >> (*p & 63) & 1) != 0;
}

/* Bits of the bytes of a block that start some text. */
static inline uint32_t starts_in(const tk_trie *t, const char *p)
{
    tk_block b = tk_block_load(p);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < t->lead_count; i++)
        bits |= tk_block_equal(b, t->leads[i]);
    return bits;
}

/* The next place whose byte starts some text. */
static const char *next_lead(const tk_trie *t, const char *p, const char *end)
{
    if (t->lead_count == 1)
        return p < end ? memchr(p, t->leads[0], (size_t)(end - p)) : NULL;
    for (; t->lead_count != 0 && end - p >= TK_BLOCK; p += TK_BLOCK) {
        uint32_t bits = starts_in(t, p);
        if (bits != 0)
            return p + __builtin_ctz(bits);
    }
    while (p < end && t->root[(uint8_t)*p] == 0)
        p++;
    return p < end ? p : NULL;
}

/* The next place whose byte starts some text, and whose next one may follow. */
static const char *next_start(const tk_trie *t, const char *p, const char *end)
{
    while (p < end && (t->root[(uint8_t)*p] == 0 || !goes_on(t, p + 1, end))) {
        p = next_lead(t, p + 1, end);
        if (p == NULL)
            return NULL;
    }
    return p < end ? p : NULL;
}

bool tk_trie_find(const tk_trie *t, td_str text, size_t from, size_t *ret_start, size_t *ret_end,
                  uint32_t *ret_value)
{
    const char *end = text.ptr + text.len;
    const char *p = from < text.len ? text.ptr + from : end;
    for (; (p = next_start(t, p, end)) != NULL; p++) {
        uint32_t node = t->root[(uint8_t)*p], best = 0;
        const char *q = p + 1, *stop = NULL;
        for (;; q++) {
            if (t->nodes[node].value != 0) {
                best = t->nodes[node].value;
                stop = q;
            }
            if (q == end || (node = child(t, node, (uint8_t)*q)) == 0)
                break;
        }
        if (best != 0) {
            *ret_start = (size_t)(p - text.ptr);
            *ret_end = (size_t)(stop - text.ptr);
            *ret_value = best - 1;
            return true;
        }
    }
    return false;
}

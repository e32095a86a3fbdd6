/* prefix_trie.c - building the trie from sorted texts, breadth first. */
#include "tokenizer/model/prefix_trie.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"

typedef struct sorted_text {
    uint64_t head; /* the first 8 bytes, so that comparing seldom needs the text */
    td_str text;
    uint32_t value;
} sorted_text;

typedef struct range {
    uint32_t low, high, depth;
} range;

static int by_text(const void *a, const void *b)
{
    const sorted_text *x = a, *y = b;
    if (x->head != y->head)
        return x->head < y->head ? -1 : 1;
    return td_str_cmp(x->text, y->text);
}

static uint64_t head_of(td_str s)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < s.len ? (unsigned char)s.ptr[i] : 0);
    return head;
}

void tk_prefix_trie_free(void *trie)
{
    tk_prefix_trie *t = trie;
    if (t == NULL)
        return;
    td_free(t->nodes);
    td_free(t->labels);
    td_free(t->counts);
    td_free(t);
}

/* Nodes below the root for sorted texts: one for each byte that the text before does not share. */
static uint64_t count_nodes(const sorted_text *s, uint32_t count)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < count; i++) {
        size_t same = 0;
        while (i != 0 && same < s[i].text.len && same < s[i - 1].text.len &&
               s[i].text.ptr[same] == s[i - 1].text.ptr[same])
            same++;
        n += s[i].text.len - same;
    }
    return n;
}

/* ranges[i] is the sorted texts below node i. */
static void build(tk_prefix_trie *t, const sorted_text *s, uint32_t count, range *ranges)
{
    ranges[0] = (range){ 0, count, 0 };
    t->node_count = 1;
    for (uint32_t n = 0; n < t->node_count; n++) {
        range r = ranges[n];
        t->nodes[n].first = t->node_count;
        for (; r.low < r.high && s[r.low].text.len == r.depth; r.low++)
            t->nodes[n].value = s[r.low].value + 1;
        while (r.low < r.high) {
            uint8_t label = (uint8_t)s[r.low].text.ptr[r.depth];
            uint32_t next = r.low + 1;
            while (next < r.high && (uint8_t)s[next].text.ptr[r.depth] == label)
                next++;
            t->labels[t->node_count] = label;
            ranges[t->node_count++] = (range){ r.low, next, r.depth + 1 };
            r.low = next;
        }
        t->counts[n] = (uint16_t)(t->node_count - t->nodes[n].first);
    }
    for (uint32_t i = 0; i < t->counts[0]; i++)
        t->root[t->labels[1 + i]] = 1 + i;
    t->nodes[0].value = 0; /* the empty text is nobody's prefix here */
}

tk_prefix_trie *tk_prefix_trie_new(const td_str *texts, const uint32_t *values, uint32_t count)
{
    tk_prefix_trie *t = td_calloc(1, sizeof *t);
    sorted_text *s = td_calloc(count != 0 ? count : 1, sizeof *s);
    range *ranges = NULL;
    bool ok = t != NULL && s != NULL;
    if (ok) {
        for (uint32_t i = 0; i < count; i++)
            s[i] = (sorted_text){ head_of(texts[i]), texts[i], values[i] };
        qsort(s, count, sizeof *s, by_text);
        uint64_t n = count_nodes(s, count);
        ok = n < UINT32_MAX;
        if (ok) {
            t->nodes = td_calloc(n, sizeof *t->nodes);
            t->labels = td_calloc(n, 1);
            t->counts = td_calloc(n, sizeof *t->counts);
            ranges = td_calloc(n, sizeof *ranges);
            ok = t->nodes != NULL && t->labels != NULL && t->counts != NULL && ranges != NULL;
        }
    }
    if (ok)
        build(t, s, count, ranges);
    td_free(s);
    td_free(ranges);
    if (ok)
        return t;
    tk_prefix_trie_free(t);
    return NULL;
}

tk_prefix_trie *tk_prefix_trie_of(const tk_vocab *vocab)
{
    tk_prefix_trie *t = NULL;
    td_str *texts = td_calloc((size_t)vocab->count + 1, sizeof *texts);
    td_id *ids = td_calloc((size_t)vocab->count + 1, sizeof *ids);
    uint32_t n = 0;
    if (texts != NULL && ids != NULL) {
        for (uint32_t at = 0; at < vocab->size; at = tk_vocab_next(vocab, at)) {
            texts[n] = tk_vocab_text(vocab, at);
            ids[n++] = tk_vocab_head_at(vocab, at).id;
        }
        t = tk_prefix_trie_new(texts, ids, n);
    }
    td_free(texts);
    td_free(ids);
    return t;
}

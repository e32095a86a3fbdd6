/* automaton_build.c - where steps fail to and which texts end, for the nodes of the trie in the
 * order of their depths: what is known of a state depends on that of shorter texts only. */
#include <math.h>

#include "tokenizer/model/automaton.h"
#include "tokenizer/model/prefix_trie.h"

enum { BYTES = 256 };

/* What is known of a node of the trie, or of the place where one could be. */
typedef struct link {
    uint32_t depth; /* 0: of the first one and of free places */
    uint32_t fail;
    bool has_children;
    bool is_base; /* of some node but the first: its number is */
} link;

typedef struct builder {
    tk_automaton *a;
    const tk_prefix_trie *trie;
    const double *scores;
    link *links;     /* by node */
    uint32_t *nodes; /* but the first, in the order of their depths */
    uint32_t count, deepest;
} builder;

static uint32_t parent_of(const builder *b, uint32_t node)
{
    return b->trie->nodes[node].parent;
}

static uint32_t base_of(const builder *b, uint32_t node)
{
    return b->trie->nodes[node].base & ~TK_PREFIX_END;
}

/* The byte that leads to a node. */
static uint8_t byte_of(const builder *b, uint32_t node)
{
    return (uint8_t)(node ^ base_of(b, parent_of(b, node)));
}

/* ---- the order ---- */

/* Sets the depths of a node and of those above it. */
static void set_depths(builder *b, uint32_t node)
{
    uint32_t depth = 0, at = node;
    for (; at != 0 && b->links[at].depth == 0; at = parent_of(b, at))
        depth++;
    b->count += depth;
    depth += b->links[at].depth;
    b->deepest = depth > b->deepest ? depth : b->deepest;
    for (at = node; at != 0 && b->links[at].depth == 0; at = parent_of(b, at))
        b->links[at].depth = depth--;
}

/* false: out of memory. */
static bool set_order(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t node = 1; node < size; node++)
        if (parent_of(b, node) != TK_PREFIX_FREE)
            set_depths(b, node);
    b->nodes = td_malloc(((size_t)b->count + 1) * sizeof *b->nodes);
    uint32_t *next = td_calloc((size_t)b->deepest + 2, sizeof *next); /* place, by depth */
    bool ok = b->nodes != NULL && next != NULL;
    for (uint32_t node = 1; ok && node < size; node++)
        if (b->links[node].depth != 0)
            next[b->links[node].depth + 1]++;
    for (uint32_t depth = 1; ok && depth <= b->deepest; depth++)
        next[depth + 1] += next[depth];
    for (uint32_t node = 1; ok && node < size; node++)
        if (b->links[node].depth != 0)
            b->nodes[next[b->links[node].depth]++] = node;
    td_free(next);
    return ok;
}

/* ---- nodes ---- */

/* Finds out where a node fails to, by that of its parent, and which texts end there. */
static void link_node(builder *b, uint32_t node)
{
    uint32_t parent = parent_of(b, node), fail = 0, longest;
    uint8_t byte = byte_of(b, node);
    for (uint32_t at = parent; at != 0 && fail == 0;) {
        at = b->links[at].fail;
        fail = tk_prefix_step(b->trie, at, byte);
    }
    b->links[node].fail = fail;
    b->links[parent].has_children = true;
    if (parent != 0)
        b->links[base_of(b, parent)].is_base = true;
    longest = b->a->longest[fail];
    if (tk_prefix_ends(b->trie, node)) {
        td_id id = b->trie->values[node];
        b->a->texts[1 + id] = (tk_ending){ b->scores[id], b->links[node].depth, longest };
        longest = 1 + id;
    }
    b->a->longest[node] = longest;
}

/* ---- states ---- */

static tk_state state_of(uint32_t base, uint32_t fail, uint32_t byte)
{
    return (tk_state)base << TK_STATE_BASE | (tk_state)fail << TK_STATE_FAIL | byte;
}

static tk_state node_state(const builder *b, uint32_t node)
{
    uint32_t owner = node; /* of its children */
    while (owner != 0 && !b->links[owner].has_children)
        owner = b->links[owner].fail;
    uint32_t base = owner != 0 ? base_of(b, owner) : b->trie->size;
    return state_of(base, b->links[owner].fail, byte_of(b, node));
}

/* The first state and free places, to which no byte leads: it would have to come from a base that
 * nobody has. There is one in each block with such a place, as each base has a child there. */
static void set_others(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t node = 0, none = 0; node < size; node++) {
        none = node % BYTES == 0 ? node : none;
        if (b->links[node].depth != 0)
            continue;
        while (b->links[none].is_base)
            none++;
        b->a->states[node] = state_of(size, 0, (node ^ none) % BYTES);
    }
}

/* The children of the first state lie behind the trie, as it has one for each byte. */
static void set_first(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t byte = 0; byte < BYTES; byte++) {
        uint32_t child = tk_prefix_step(b->trie, 0, (uint8_t)byte);
        b->a->states[size + byte] = child != 0 ? b->a->states[child] : state_of(size, 0, byte);
        b->a->longest[size + byte] = b->a->longest[child];
    }
}

/* ---- all of it ---- */

/* false: out of memory. */
static bool build(builder *b)
{
    b->a->texts[0].score = -HUGE_VAL;
    if (!set_order(b))
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        link_node(b, b->nodes[i]);
    for (uint32_t i = 0; i < b->count; i++)
        b->a->states[b->nodes[i]] = node_state(b, b->nodes[i]);
    set_others(b);
    set_first(b);
    return true;
}

static bool alloc_all(builder *b, td_id id_end)
{
    tk_automaton *a = b->a;
    size_t size = (size_t)b->trie->size + BYTES;
    if (size > (size_t)1 << TK_STATE_BITS || !td_slab_new(&a->table, size * sizeof *a->states))
        return false;
    a->states = a->table.ptr;
    a->longest = td_calloc(size, sizeof *a->longest);
    a->texts = td_calloc((size_t)id_end + 1, sizeof *a->texts);
    b->links = td_calloc(size, sizeof *b->links);
    return a->longest != NULL && a->texts != NULL && b->links != NULL;
}

tk_automaton *tk_automaton_of(const tk_vocab *vocab, const double *scores)
{
    tk_prefix_trie *trie = tk_prefix_trie_of(vocab);
    builder b = { .a = td_calloc(1, sizeof *b.a), .trie = trie, .scores = scores };
    bool ok = b.a != NULL && trie != NULL && alloc_all(&b, vocab->id_end) && build(&b);
    tk_prefix_trie_free(trie);
    td_free(b.links);
    td_free(b.nodes);
    if (ok)
        return b.a;
    tk_automaton_free(b.a);
    return NULL;
}

void tk_automaton_free(tk_automaton *a)
{
    if (a == NULL)
        return;
    td_slab_free(&a->table);
    td_free(a->longest);
    td_free(a->texts);
    td_free(a);
}

/* automaton_build.c - where steps fail to and which texts end, level by level: what is known of a
 * state depends on that of states of shorter texts only. */
#include <math.h>
#include <string.h>

#include "tokenizer/model/automaton.h"
#include "tokenizer/model/prefix_trie.h"

enum { BYTES = 256 };
#define UNKNOWN UINT32_MAX

/* An entry on its way through the trie. */
typedef struct path {
    td_str text;
    uint32_t number, node;
} path;

/* What is known of a node of the trie. */
typedef struct link {
    uint32_t fail; /* UNKNOWN: of a free place */
    bool has_children;
    bool is_base; /* of some node but the first: its number is */
} link;

typedef struct builder {
    tk_automaton *a;
    const tk_prefix_trie *trie;
    const double *scores;
    path *paths;
    uint32_t count; /* of paths that go on */
    link *links;    /* by node */
} builder;

static uint32_t child_of(const builder *b, uint32_t node, uint8_t byte)
{
    return tk_prefix_step(b->trie, node, byte);
}

static uint32_t base_of(const builder *b, uint32_t node)
{
    return b->trie->nodes[node].base & ~TK_PREFIX_END;
}

/* Finds out where a node fails to, by that of its parent. */
static void link_node(builder *b, uint32_t parent, uint32_t node, uint8_t byte)
{
    uint32_t fail = 0;
    for (uint32_t at = parent; at != 0 && fail == 0;) {
        at = b->links[at].fail;
        fail = child_of(b, at, byte);
    }
    b->links[node].fail = fail;
    b->links[parent].has_children = true;
    if (parent != 0)
        b->links[base_of(b, parent)].is_base = true;
    b->a->longest[node] = b->a->longest[fail];
}

/* Takes all paths one byte further. */
static void take_level(builder *b, uint32_t depth)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        path p = b->paths[i];
        uint8_t byte = (uint8_t)p.text.ptr[depth];
        uint32_t node = child_of(b, p.node, byte), *longest = &b->a->longest[node];
        if (b->links[node].fail == UNKNOWN)
            link_node(b, p.node, node, byte);
        if (p.text.len == depth + 1) {
            b->a->texts[p.number] =
                (tk_ending){ b->scores[p.number - 1], (uint32_t)p.text.len, *longest };
            *longest = p.number;
        } else {
            b->paths[left++] = (path){ p.text, p.number, node };
        }
    }
    b->count = left;
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
    uint32_t byte = (node ^ base_of(b, b->trie->nodes[node].parent)) % BYTES;
    return state_of(base, b->links[owner].fail, byte);
}

/* The first state and free places, to which no byte leads: it would have to come from a base that
 * nobody has. There is one in each block with such a place, as each base has a child there. */
static void set_others(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t node = 0, none = 0; node < size; node++) {
        none = node % BYTES == 0 ? node : none;
        if (node != 0 && b->links[node].fail != UNKNOWN)
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
        uint32_t child = child_of(b, 0, (uint8_t)byte);
        b->a->states[size + byte] =
            child != 0 ? b->a->states[child] : state_of(size, 0, byte);
        b->a->longest[size + byte] = b->a->longest[child];
    }
}

static void build(builder *b, const tk_vocab *vocab)
{
    /* In the order of their nodes, so that paths that are taken one after the other are near. */
    for (uint32_t node = 0; node < b->trie->size; node++) {
        td_id id = b->trie->values[node];
        if (tk_prefix_ends(b->trie, node))
            b->paths[b->count++] = (path){ tk_vocab_spell(vocab, id), 1 + id, 0 };
        b->links[node] = (link){ .fail = node != 0 ? UNKNOWN : 0 };
    }
    b->a->texts[0].score = -HUGE_VAL;
    for (uint32_t depth = 0; b->count != 0; depth++)
        take_level(b, depth);
    for (uint32_t node = 1; node < b->trie->size; node++)
        if (b->links[node].fail != UNKNOWN)
            b->a->states[node] = node_state(b, node);
    set_others(b);
    set_first(b);
}

/* ---- all of it ---- */

static bool alloc_all(builder *b, const tk_vocab *vocab)
{
    tk_automaton *a = b->a;
    size_t size = (size_t)b->trie->size + BYTES;
    if (size > (size_t)1 << TK_STATE_BITS || !td_slab_new(&a->table, size * sizeof *a->states))
        return false;
    a->states = a->table.ptr;
    a->longest = td_calloc(size, sizeof *a->longest);
    a->texts = td_calloc((size_t)vocab->id_end + 1, sizeof *a->texts);
    b->paths = td_malloc(((size_t)vocab->count + 1) * sizeof *b->paths);
    b->links = td_malloc(size * sizeof *b->links);
    return a->longest != NULL && a->texts != NULL && b->paths != NULL && b->links != NULL;
}

tk_automaton *tk_automaton_of(const tk_vocab *vocab, const double *scores)
{
    tk_prefix_trie *trie = tk_prefix_trie_of(vocab);
    builder b = { .a = td_calloc(1, sizeof *b.a), .trie = trie, .scores = scores };
    bool ok = b.a != NULL && trie != NULL && alloc_all(&b, vocab);
    if (ok)
        build(&b, vocab);
    tk_prefix_trie_free(trie);
    td_free(b.paths);
    td_free(b.links);
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

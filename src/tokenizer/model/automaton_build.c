/* automaton_build.c - where steps fail to and which texts end, node by node of the trie. */
#include <math.h>

#include "tokenizer/model/automaton.h"
#include "tokenizer/model/prefix_trie.h"

enum { BYTES = 256 };

enum {
    HAS_CHILDREN = 1,
    IS_BASE = 2, /* of some node but the first: the number of this one is */
};

/* What is known of a node. */
typedef struct link {
    uint32_t depth; /* 0: of the first one; it is not linked yet */
    uint32_t fail;
} link;

/* A node that is being linked: its fail is a child of at, or of what that fails to. */
typedef struct waiting {
    uint32_t node, at;
} waiting;

typedef struct builder {
    tk_automaton *a;
    const tk_prefix_trie *trie;
    const double *scores;
    td_slab table;
    link *links;    /* in it, by node */
    uint8_t *facts; /* by node */
    waiting *stack; /* each needs the one above it, which is less deep */
} builder;

static uint32_t parent_of(const builder *b, uint32_t node)
{
    return b->trie->nodes[node].parent;
}

static bool is_free(const builder *b, uint32_t node)
{
    return parent_of(b, node) == TK_PREFIX_FREE;
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

static bool is_linked(const builder *b, uint32_t node)
{
    return node == 0 || b->links[node].depth != 0;
}

/* ---- links ---- */

static void set_facts(builder *b)
{
    for (uint32_t node = 1; node < b->trie->size; node++) {
        if (is_free(b, node))
            continue;
        uint32_t parent = parent_of(b, node);
        b->facts[parent] |= HAS_CHILDREN;
        if (parent != 0)
            b->facts[base_of(b, parent)] |= IS_BASE;
    }
}

/* Links a node, given where it fails to. */
static void link_node(builder *b, uint32_t node, uint32_t fail)
{
    tk_automaton *a = b->a;
    uint32_t longest = a->longest[fail], depth = 1 + b->links[parent_of(b, node)].depth;
    if (tk_prefix_ends(b->trie, node)) {
        td_id id = b->trie->values[node];
        a->texts[1 + id] = (tk_ending){ b->scores[id], depth, longest };
        longest = 1 + id;
    }
    tk_state s = (b->facts[node] & HAS_CHILDREN) != 0
                     ? tk_state_of(base_of(b, node), fail, byte_of(b, node))
                     : tk_state_to(a->states[fail], byte_of(b, node));
    b->links[node] = (link){ depth, fail };
    a->longest[node] = longest;
    a->states[node] = s;
}

/* Goes on with a node. Returns 0 when it is linked, or the node that has to be linked before. */
static uint32_t try_link(builder *b, waiting *w)
{
    uint32_t fail = 0;
    uint8_t byte = byte_of(b, w->node);
    while (w->at != 0 && fail == 0) {
        if (!is_linked(b, w->at))
            return w->at;
        uint32_t at = b->links[w->at].fail;
        fail = tk_prefix_step(b->trie, at, byte);
        if (fail != 0 && !is_linked(b, fail))
            return fail;
        w->at = at;
    }
    link_node(b, w->node, fail);
    return 0;
}

static void link_all(builder *b, uint32_t node)
{
    uint32_t n = 0;
    b->stack[n++] = (waiting){ node, parent_of(b, node) };
    while (n != 0) {
        uint32_t first = try_link(b, &b->stack[n - 1]);
        if (first == 0)
            n--;
        else
            b->stack[n++] = (waiting){ first, parent_of(b, first) };
    }
}

static void link_nodes(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t node = 1; node < size; node++) {
        if (!is_free(b, node) && !is_linked(b, node))
            link_all(b, node);
    }
}

/* ---- other states ---- */

/* No byte leads to the first state or a free place: it would have to come from a base that nobody
 * has. There is one in each block with such a place, as each base has a child there. */
static void set_others(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t node = 0, none = 0; node < size; node++) {
        none = node % BYTES == 0 ? node : none;
        if (node != 0 && !is_free(b, node))
            continue;
        while ((b->facts[none] & IS_BASE) != 0)
            none++;
        b->a->states[node] = tk_state_of(size, 0, (uint8_t)(node ^ none));
    }
}

/* The children of the first state lie behind the trie, as it has one for each byte. */
static void set_first(builder *b)
{
    const uint32_t size = b->trie->size;
    for (uint32_t byte = 0; byte < BYTES; byte++) {
        uint32_t child = tk_prefix_step(b->trie, 0, (uint8_t)byte);
        tk_state s = child != 0 ? b->a->states[child] : b->a->states[0];
        b->a->states[size + byte] = tk_state_to(s, (uint8_t)byte);
        b->a->longest[size + byte] = b->a->longest[child];
    }
}

/* ---- all of it ---- */

static bool alloc_all(builder *b, const tk_vocab *vocab)
{
    tk_automaton *a = b->a;
    size_t size = (size_t)b->trie->size + BYTES, deepest = 0;
    for (uint32_t at = 0; at < vocab->size; at = tk_vocab_next(vocab, at)) {
        size_t len = tk_vocab_text(vocab, at).len;
        deepest = len > deepest ? len : deepest;
    }
    if (size > (size_t)1 << TK_STATE_BITS ||
        !td_slab_new(&a->table, size * (sizeof *a->states + sizeof *a->longest)) ||
        !td_slab_new(&b->table, size * sizeof *b->links))
        return false;
    a->states = a->table.ptr;
    a->longest = (uint32_t *)(void *)(a->states + size);
    b->links = b->table.ptr;
    a->texts = td_calloc((size_t)vocab->id_end + 1, sizeof *a->texts);
    b->facts = td_calloc(size, sizeof *b->facts);
    b->stack = td_malloc((deepest + 1) * sizeof *b->stack);
    return a->texts != NULL && b->facts != NULL && b->stack != NULL;
}

static void build(builder *b)
{
    b->a->texts[0].score = -HUGE_VAL;
    set_facts(b);
    set_others(b); /* the first state is what others fail to */
    link_nodes(b);
    set_first(b);
}

tk_automaton *tk_automaton_of(const tk_vocab *vocab, const double *scores)
{
    tk_prefix_trie *trie = tk_prefix_trie_of(vocab);
    builder b = { .a = td_calloc(1, sizeof *b.a), .trie = trie, .scores = scores };
    bool ok = b.a != NULL && trie != NULL && alloc_all(&b, vocab);
    if (ok)
        build(&b);
    tk_prefix_trie_free(trie);
    td_slab_free(&b.table);
    td_free(b.facts);
    td_free(b.stack);
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
    td_free(a->texts);
    td_free(a);
}

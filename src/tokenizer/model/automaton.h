/* automaton.h - all texts of a set that end at each place of a given text, longest first.
 *
 * The automaton of Aho and Corasick: a state is the longest end of what has been read that some
 * text of the set begins with. States are the nodes of a trie in a double array (prefix_trie.h). A
 * step either goes to a child, or fails to the state of what has been read but for its first byte;
 * so there are never more than two for a byte, all in all. */
#ifndef TD_SRC_TOKENIZER_MODEL_AUTOMATON_H
#define TD_SRC_TOKENIZER_MODEL_AUTOMATON_H

#include "base/alloc.h"
#include "tokenizer/vocab/vocab.h"

/* What is known of a state: the lowest bits are the byte that leads to it, those above the state
 * that a step fails to, the highest ones its base: the child for a byte is at base ^ byte, if that
 * byte leads there. For this no two states that have children of their own have the same base. From
 * a state without children each step fails, so it has those of the first state that it would fail
 * to and that has some. The first state has children for all bytes. */
typedef uint64_t tk_state;

enum { TK_STATE_BITS = 28, TK_STATE_FAIL = 8, TK_STATE_BASE = TK_STATE_FAIL + TK_STATE_BITS };

static inline tk_state tk_state_of(uint32_t base, uint32_t fail, uint8_t byte)
{
    return (tk_state)base << TK_STATE_BASE | (tk_state)fail << TK_STATE_FAIL | byte;
}

static inline uint32_t tk_state_child(tk_state s, uint8_t byte)
{
    return (uint32_t)(s >> TK_STATE_BASE) ^ byte;
}

static inline uint32_t tk_state_fail(tk_state s)
{
    return (uint32_t)(s >> TK_STATE_FAIL) & (((uint32_t)1 << TK_STATE_BITS) - 1);
}

static inline uint8_t tk_state_byte(tk_state s)
{
    return (uint8_t)s;
}

/* The same with another byte that leads to it. */
static inline tk_state tk_state_to(tk_state s, uint8_t byte)
{
    return (s >> TK_STATE_FAIL) << TK_STATE_FAIL | byte;
}

/* A text of the set. */
typedef struct tk_ending {
    double score;  /* of none: less than any */
    uint32_t len;
    uint32_t next; /* the next longest that ends where it ends; 0: none */
} tk_ending;

typedef struct tk_automaton {
    td_slab table;
    tk_state *states;  /* in it; the first one is where nothing has been read */
    uint32_t *longest; /* in it, too, by state: the longest text that ends there; 0: none */
    tk_ending *texts;  /* by number, which is 1 + id */
} tk_automaton;

/* Of the entries of a vocabulary. scores: by id. An empty entry ends nowhere. NULL: out of
 * memory, or there would be more than 2^28 states. */
tk_automaton *tk_automaton_of(const tk_vocab *vocab, const double *scores);
void tk_automaton_free(tk_automaton *a);

/* A text that is read. */
typedef struct tk_reading {
    const char *p, *end; /* of what is to be read */
    uint32_t *states;    /* for each byte: the state behind it */
    uint32_t state;      /* 0 at the start; that behind the last byte, to go on from */
} tk_reading;

/* Reads texts, which are not empty, to their ends. Many of them are read side by side, as one waits
 * for memory at each step. */
void tk_automaton_read(const tk_automaton *a, tk_reading *texts, uint32_t count);

/* Puts the longest text that ends in each of some states into its place, and asks for all that is
 * known of it. */
void tk_automaton_ask(const tk_automaton *a, uint32_t *states, size_t count);

#endif

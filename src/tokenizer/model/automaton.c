/* automaton.c - the steps of automaton.h.
 *
 * What a step needs to know is far away, mostly; so it is asked for, and other texts take their
 * steps until it comes. */
#include "tokenizer/model/automaton.h"

enum { LANES = 16 };

/* A step that has asked for what it needs to know. */
typedef struct lane {
    const char *p, *end;
    uint32_t *states;
    uint32_t to, fail;
    tk_reading *text;
} lane;

/* Starts the step from a state. */
static inline void ask(const tk_automaton *a, lane *l, uint32_t state)
{
    const tk_state *states = a->states;
    tk_state from = states[state];
    __builtin_prefetch(&a->longest[state]);
    l->to = tk_state_child(from, (uint8_t)*l->p);
    l->fail = tk_state_fail(from);
    __builtin_prefetch(&states[l->to]);
}

static inline void start(const tk_automaton *a, lane *l, tk_reading *text)
{
    *l = (lane){ .p = text->p, .end = text->end, .states = text->states, .text = text };
    ask(a, l, text->state);
}

/* Ends a step, and starts the next one. Whether it fails cannot be guessed, so no branch depends on
 * it: the child is written in any case, and again until there is one. false: the text has been
 * read. */
static inline bool step(const tk_automaton *a, lane *l)
{
    bool hit = tk_state_byte(a->states[l->to]) == (uint8_t)*l->p;
    uint32_t state = l->fail ^ ((l->fail ^ l->to) & (0 - (uint32_t)hit));
    *l->states = l->to;
    l->p += hit;
    l->states += hit;
    if (l->p == l->end) {
        __builtin_prefetch(&a->longest[state]);
        l->text->state = state;
        return false;
    }
    ask(a, l, state);
    return true;
}

/* One text alone: what is guessed right needs no waiting. */
static void read_one(const tk_state *states, tk_reading *text)
{
    uint32_t state = text->state, *to = text->states;
    for (const char *p = text->p; p < text->end;) {
        tk_state from = states[state];
        uint32_t child = tk_state_child(from, (uint8_t)*p);
        if (tk_state_byte(states[child]) == (uint8_t)*p) {
            p++;
            *to++ = child;
            state = child;
        } else {
            state = tk_state_fail(from);
        }
    }
    text->state = state;
}

void tk_automaton_read(const tk_automaton *a, tk_reading *texts, uint32_t count)
{
    lane lanes[LANES];
    uint32_t active = 0, next = 0;
    if (count == 1) {
        read_one(a->states, texts);
        return;
    }
    while (active < LANES && next < count)
        start(a, &lanes[active++], &texts[next++]);
    while (active != 0)
        for (uint32_t i = 0; i < active; i++) {
            if (step(a, &lanes[i]))
                continue;
            if (next < count)
                start(a, &lanes[i], &texts[next++]);
            else
                lanes[i--] = lanes[--active];
        }
}

void tk_automaton_ask(const tk_automaton *a, uint32_t *states, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        states[i] = a->longest[states[i]];
        __builtin_prefetch(&a->texts[states[i]]);
    }
}

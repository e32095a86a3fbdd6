/* cluster.c - grapheme clusters, by the rules of Unicode Standard Annex 29 over kinds of characters
 * that the reference itself was asked for. */
#include "base/utf8.h"
#include "unicode/generated/cluster.h"
#include "unicode/unicode_ref.h"

/* What the rules that look further back than one character need of what is before. */
typedef struct state {
    unsigned last;                               /* kind */
    enum { PLAIN, PICTURE, PICTURE_JOINED } emoji; /* picture extend*, and a joiner behind that */
    enum { NONE, CONSONANT, LINKED } conjunct;   /* consonant, and a linker somewhere behind it */
} state;

static bool is_mark(unsigned kind)
{
    return kind >= CLUSTER_EXTEND && kind <= CLUSTER_SPACING;
}

static bool joins(const state *s, unsigned next)
{
    if (s->last == CLUSTER_CONTROL || next == CLUSTER_CONTROL)
        return false;
    if (is_mark(next) || s->last == CLUSTER_PREPEND)
        return true;
    if (next == CLUSTER_PICTURE)
        return s->emoji == PICTURE_JOINED;
    if (next == CLUSTER_CONSONANT)
        return s->conjunct == LINKED;
    switch (s->last) {
    case CLUSTER_L:
        return next == CLUSTER_L || next == CLUSTER_V || next == CLUSTER_LV || next == CLUSTER_LVT;
    case CLUSTER_V:
    case CLUSTER_LV:
        return next == CLUSTER_V || next == CLUSTER_T;
    case CLUSTER_T:
    case CLUSTER_LVT:
        return next == CLUSTER_T;
    default:
        return false;
    }
}

static void take(state *s, unsigned kind)
{
    bool extend = kind == CLUSTER_EXTEND || kind == CLUSTER_NONJOINER || kind == CLUSTER_LINKER;
    if (kind == CLUSTER_PICTURE)
        s->emoji = PICTURE;
    else if (kind == CLUSTER_JOINER && s->emoji == PICTURE)
        s->emoji = PICTURE_JOINED;
    else if (!extend || s->emoji != PICTURE)
        s->emoji = PLAIN;
    if (kind == CLUSTER_CONSONANT)
        s->conjunct = CONSONANT;
    else if (kind == CLUSTER_LINKER && s->conjunct != NONE)
        s->conjunct = LINKED;
    else if (kind != CLUSTER_EXTEND && kind != CLUSTER_JOINER)
        s->conjunct = NONE;
    s->last = kind;
}

const char *td_tk_cluster_end(const char *p, const char *end)
{
    if (*p == '\r' && end - p > 1 && p[1] == '\n')
        return p + 2;
    state s = { 0 };
    take(&s, cluster_kind(td_utf8_next(&p, end)));
    while (p < end) {
        const char *next = p;
        unsigned kind = cluster_kind(td_utf8_next(&next, end));
        if (!joins(&s, kind))
            break;
        take(&s, kind);
        p = next;
    }
    return p;
}

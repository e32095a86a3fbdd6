/* scope.c - the analysis of scope.h: a walk over the body of a scope that stops at inner scopes. */
#include "jinja/scope.h"

#include <string.h>

#include "jinja/emit.h"

typedef struct jj_walk {
    td_arena *arena;
    jj_symbols *s;
    bool failed;
} jj_walk;

jj_symbols *jj_symbols_new(td_arena *a, jj_symbols *parent)
{
    jj_symbols *s = td_arena_new(a, jj_symbols);
    if (s != NULL)
        *s = (jj_symbols){ .parent = parent, .level = parent != NULL ? parent->level + 1 : 0 };
    return s;
}

/* ---- tables: searched in order while small, by index from then on ---- */

enum { INDEX_FROM = 16 };

static uint32_t key_at(const void *items, size_t size, uint32_t i)
{
    uint32_t key;
    memcpy(&key, (const char *)items + i * size, sizeof key);
    return key;
}

/* The slot of key, or the free one where it belongs. */
static uint32_t *slot_of(const jj_key_index *x, const void *items, size_t size, uint32_t key)
{
    uint32_t at = (key * 0x9E3779B1u ^ key >> 15) & x->mask;
    while (x->slots[at] != 0 && key_at(items, size, x->slots[at] - 1) != key)
        at = (at + 1) & x->mask;
    return &x->slots[at];
}

/* The number of the entry with that key; count if there is none. */
static uint32_t find(const jj_key_index *x, const void *items, size_t size, uint32_t count,
                     uint32_t key)
{
    uint32_t i = 0;
    if (x->slots != NULL) {
        uint32_t slot = *slot_of(x, items, size, key);
        return slot != 0 ? slot - 1 : count;
    }
    while (i < count && key_at(items, size, i) != key)
        i++;
    return i;
}

/* Notes the last of count entries. */
static bool index_last(td_arena *a, jj_key_index *x, const void *items, size_t size, uint32_t count)
{
    uint32_t from = count - 1;
    if (count <= INDEX_FROM)
        return true;
    if (x->slots == NULL || count > x->mask / 2) {
        uint32_t room = INDEX_FROM * 4;
        while (room / 4 < count)
            room *= 2;
        x->slots = td_arena_array(a, uint32_t, room);
        if (x->slots == NULL)
            return false;
        memset(x->slots, 0, room * sizeof *x->slots);
        x->mask = room - 1;
        from = 0;
    }
    for (uint32_t i = from; i < count; i++)
        *slot_of(x, items, size, key_at(items, size, i)) = i + 1;
    return true;
}

static bool copy_index(td_arena *a, jj_key_index *x)
{
    if (x->slots == NULL)
        return true;
    uint32_t *slots = td_arena_array(a, uint32_t, x->mask + (size_t)1);
    if (slots == NULL)
        return false;
    memcpy(slots, x->slots, (x->mask + (size_t)1) * sizeof *slots);
    x->slots = slots;
    return true;
}

static jj_ref *own_ref(const jj_symbols *s, uint32_t name)
{
    uint32_t i = find(&s->ref_index, s->refs, sizeof *s->refs, s->ref_count, name);
    return i < s->ref_count ? &s->refs[i] : NULL;
}

static jj_load *own_load(const jj_symbols *s, jj_ident ident)
{
    uint32_t i = find(&s->load_index, s->loads, sizeof *s->loads, s->load_count, ident);
    return i < s->load_count ? &s->loads[i] : NULL;
}

static bool set_ref(td_arena *a, jj_symbols *s, uint32_t name, jj_ident ident)
{
    jj_ref *r = own_ref(s, name);
    if (r != NULL) {
        r->ident = ident;
        return true;
    }
    if (!jj_grow(a, &s->refs, &s->ref_cap, s->ref_count, sizeof *s->refs))
        return false;
    s->refs[s->ref_count++] = (jj_ref){ name, ident };
    return index_last(a, &s->ref_index, s->refs, sizeof *s->refs, s->ref_count);
}

static bool set_load(td_arena *a, jj_symbols *s, jj_load load)
{
    jj_load *known = own_load(s, load.ident);
    if (known != NULL) {
        *known = load;
        return true;
    }
    if (!jj_grow(a, &s->loads, &s->load_cap, s->load_count, sizeof *s->loads))
        return false;
    s->loads[s->load_count++] = load;
    return index_last(a, &s->load_index, s->loads, sizeof *s->loads, s->load_count);
}

bool jj_symbols_stores(const jj_symbols *s, uint32_t name)
{
    return find(&s->store_index, s->stores, sizeof *s->stores, s->store_count, name) <
           s->store_count;
}

static bool add_store(td_arena *a, jj_symbols *s, uint32_t name)
{
    if (jj_symbols_stores(s, name))
        return true;
    if (!jj_grow(a, &s->stores, &s->store_cap, s->store_count, sizeof *s->stores))
        return false;
    s->stores[s->store_count++] = name;
    return index_last(a, &s->store_index, s->stores, sizeof *s->stores, s->store_count);
}

/* ---- what scopes know ---- */

bool jj_symbols_find(const jj_symbols *s, uint32_t name, jj_ident *ret)
{
    for (; s != NULL; s = s->parent) {
        const jj_ref *r = own_ref(s, name);
        if (r != NULL) {
            *ret = r->ident;
            return true;
        }
    }
    return false;
}

const jj_load *jj_symbols_find_load(const jj_symbols *s, jj_ident ident,
                                    const jj_symbols **ret_owner)
{
    for (; s != NULL; s = s->parent) {
        const jj_load *l = own_load(s, ident);
        if (l != NULL) {
            *ret_owner = s;
            return l;
        }
    }
    return NULL;
}

static bool define(td_arena *a, jj_symbols *s, uint32_t name, jj_load_kind kind, uint32_t from,
                   jj_ident *ret)
{
    jj_ident ident = s->level << JJ_IDENT_BITS | name;
    if (ret != NULL)
        *ret = ident;
    return set_ref(a, s, name, ident) &&
           set_load(a, s, (jj_load){ ident, (uint8_t)kind, from });
}

bool jj_symbols_declare_param(td_arena *a, jj_symbols *s, uint32_t name, jj_ident *ret)
{
    return add_store(a, s, name) && define(a, s, name, JJ_LOAD_PARAM, 0, ret);
}

static bool load_name(td_arena *a, jj_symbols *s, uint32_t name)
{
    jj_ident ident;
    return jj_symbols_find(s, name, &ident) || define(a, s, name, JJ_LOAD_RESOLVE, name, NULL);
}

static bool store_name(td_arena *a, jj_symbols *s, uint32_t name)
{
    jj_ident outer;
    if (!add_store(a, s, name))
        return false;
    if (own_ref(s, name) != NULL)
        return true;
    if (s->parent != NULL && jj_symbols_find(s->parent, name, &outer))
        return define(a, s, name, JJ_LOAD_ALIAS, outer, NULL);
    return define(a, s, name, JJ_LOAD_UNDEFINED, 0, NULL);
}

/* ---- branches of an if ---- */

static jj_symbols *copy_symbols(td_arena *a, const jj_symbols *s)
{
    jj_symbols *to = td_arena_new(a, jj_symbols);
    if (to == NULL)
        return NULL;
    *to = *s;
    to->refs = td_arena_array(a, jj_ref, s->ref_count + 4);
    to->loads = td_arena_array(a, jj_load, s->load_count + 4);
    to->stores = td_arena_array(a, uint32_t, s->store_count + 4);
    if (to->refs == NULL || to->loads == NULL || to->stores == NULL ||
        !copy_index(a, &to->ref_index) || !copy_index(a, &to->load_index) ||
        !copy_index(a, &to->store_index))
        return NULL;
    to->ref_cap = s->ref_count + 4;
    to->load_cap = s->load_count + 4;
    to->store_cap = s->store_count + 4;
    if (s->ref_count != 0)
        memcpy(to->refs, s->refs, s->ref_count * sizeof *s->refs);
    if (s->load_count != 0)
        memcpy(to->loads, s->loads, s->load_count * sizeof *s->loads);
    if (s->store_count != 0)
        memcpy(to->stores, s->stores, s->store_count * sizeof *s->stores);
    return to;
}

/* Takes over what the branches found; a name that some branch sets starts from the outer scope or
 * the context, for the case that another branch is taken. */
static bool branch_update(td_arena *a, jj_symbols *s, jj_symbols *const *branches, size_t n)
{
    uint32_t known = s->store_count;
    for (size_t b = 0; b < n; b++) {
        const jj_symbols *from = branches[b];
        for (uint32_t i = 0; i < from->ref_count; i++)
            if (!set_ref(a, s, from->refs[i].name, from->refs[i].ident))
                return false;
        for (uint32_t i = 0; i < from->load_count; i++)
            if (!set_load(a, s, from->loads[i]))
                return false;
        for (uint32_t i = 0; i < from->store_count; i++)
            if (!add_store(a, s, from->stores[i]))
                return false;
    }
    for (uint32_t i = known; i < s->store_count; i++) {
        uint32_t name = s->stores[i];
        jj_ident target, outer;
        if (!jj_symbols_find(s, name, &target))
            continue;
        jj_load load = { target, JJ_LOAD_RESOLVE, name };
        if (s->parent != NULL && jj_symbols_find(s->parent, name, &outer))
            load = (jj_load){ target, JJ_LOAD_ALIAS, outer };
        if (!set_load(a, s, load))
            return false;
    }
    return true;
}

/* ---- the walk ---- */

static void visit(jj_walk *w, const jj_node *n);

static void visit_all(jj_walk *w, const jj_nodes *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        visit(w, l->items[i]);
}

static void visit_children(jj_walk *w, const jj_node *n)
{
    uint32_t i = 0;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        visit(w, child);
}

static void visit_if(jj_walk *w, const jj_node *n)
{
    visit(w, n->a);
    jj_symbols *outer = w->s, *branch[3];
    for (int i = 0; i < 3; i++) {
        branch[i] = w->failed ? NULL : copy_symbols(w->arena, outer);
        if (branch[i] == NULL) {
            w->failed = true;
            w->s = outer;
            return;
        }
        w->s = branch[i];
        visit_all(w, &n->list[i]);
        w->s = outer;
    }
    if (!w->failed && !branch_update(w->arena, outer, branch, 3))
        w->failed = true;
}

static void note(jj_walk *w, bool ok)
{
    if (!ok)
        w->failed = true;
}

static void visit(jj_walk *w, const jj_node *n)
{
    if (w->failed)
        return;
    switch (n->kind) {
    case JJ_N_NAME:
        if (n->use == JJ_PARAM)
            note(w, jj_symbols_declare_param(w->arena, w->s, n->name, NULL));
        else if (n->use == JJ_STORE)
            note(w, store_name(w->arena, w->s, n->name));
        else
            note(w, load_name(w->arena, w->s, n->name));
        break;
    case JJ_N_NS_REF:
        note(w, load_name(w->arena, w->s, n->name));
        break;
    case JJ_N_IF:
        visit_if(w, n);
        break;
    case JJ_N_MACRO:
        note(w, store_name(w->arena, w->s, n->name));
        break;
    case JJ_N_IMPORT:
    case JJ_N_FROM_IMPORT:
        visit(w, n->a);
        for (uint32_t i = 0; i < n->list[0].count; i++)
            note(w, store_name(w->arena, w->s, n->list[0].items[i]->name));
        break;
    case JJ_N_ASSIGN: /* the value is read before the target is set */
        visit(w, n->b);
        visit(w, n->a);
        break;
    case JJ_N_FOR:
        visit(w, n->b);
        break;
    case JJ_N_CALL_BLOCK:
    case JJ_N_FILTER_BLOCK:
    case JJ_N_ASSIGN_BLOCK:
        visit(w, n->a);
        break;
    case JJ_N_WITH:
        visit_all(w, &n->list[1]);
        break;
    case JJ_N_GENERATION:
    case JJ_N_SCOPE:
    case JJ_N_BLOCK:
        break;
    default:
        visit_children(w, n);
    }
}

/* Names of a loop target are parameters of the loop's scope. */
static void visit_loop_target(jj_walk *w, const jj_node *n)
{
    if (n->kind == JJ_N_NAME) {
        note(w, jj_symbols_declare_param(w->arena, w->s, n->name, NULL));
        return;
    }
    for (uint32_t i = 0; i < n->list[0].count; i++)
        visit_loop_target(w, n->list[0].items[i]);
}

static void visit_for_part(jj_walk *w, const jj_node *n, jj_for_part part)
{
    if (part == JJ_FOR_ELSE) {
        visit_all(w, &n->list[1]);
        return;
    }
    visit_loop_target(w, n->a);
    if (part == JJ_FOR_TEST)
        visit(w, n->c);
    else
        visit_all(w, &n->list[0]);
}

bool jj_symbols_analyze(td_arena *a, jj_symbols *s, const jj_node *n, jj_for_part part)
{
    jj_walk w = { .arena = a, .s = s };
    switch (n->kind) {
    case JJ_N_FOR:
        visit_for_part(&w, n, part);
        break;
    case JJ_N_ASSIGN_BLOCK:
        visit_all(&w, &n->list[0]);
        break;
    case JJ_N_WITH:
        visit_all(&w, &n->list[0]);
        visit_all(&w, &n->list[2]);
        break;
    case JJ_N_CALL_BLOCK: /* all but the call, which belongs to the scope around it */
        for (int i = 0; i < 3; i++)
            visit_all(&w, &n->list[i]);
        break;
    default:
        visit_children(&w, n);
    }
    return !w.failed;
}

/* ---- names that are used undeclared ---- */

typedef struct jj_hunt {
    uint32_t wanted[4];
    size_t n;
    bool *found;
} jj_hunt;

static void hunt(jj_hunt *h, const jj_node *n)
{
    if (n->kind == JJ_N_BLOCK)
        return;
    if (n->kind == JJ_N_NAME) {
        for (size_t i = 0; i < h->n; i++) {
            if (h->wanted[i] != n->name)
                continue;
            if (n->use == JJ_LOAD)
                h->found[i] = true;
            else
                h->wanted[i] = 0; /* set first: what comes later is not the special name */
        }
        return;
    }
    uint32_t i = 0;
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        hunt(h, child);
}

void jj_find_undeclared(const jj_nodes *nodes, const uint32_t *wanted, size_t n, bool *found)
{
    jj_hunt h = { .n = n, .found = found };
    memcpy(h.wanted, wanted, n * sizeof *wanted);
    memset(found, 0, n * sizeof *found);
    for (uint32_t i = 0; i < nodes->count; i++)
        hunt(&h, nodes->items[i]);
}

/* ast.c - interned names, node lists, and the walk over a node's children. */
#include "jinja/ast.h"

#include <string.h>

#include "base/str.h"

static const char *const kind_names[] = {
#define NODE(kind, name, children) [JJ_N_##kind] = name,
#include "jinja/ast.def"
#undef NODE
};

static const char *const kind_children[] = {
#define NODE(kind, name, children) [JJ_N_##kind] = children,
#include "jinja/ast.def"
#undef NODE
};

const char *jj_kind_name(jj_kind kind)
{
    return kind_names[kind];
}

bool jj_is_expr(const jj_node *n)
{
    return n->kind >= JJ_N_DATA && n->kind != JJ_N_PAIR && n->kind != JJ_N_KEYWORD &&
           n->kind != JJ_N_OPERAND;
}

jj_node *jj_child(const jj_node *n, uint32_t *i)
{
    uint32_t left = *i;
    for (const char *f = kind_children[n->kind]; *f != '\0'; f++) {
        if (*f >= 'a') {
            jj_node *child = *f == 'a' ? n->a : *f == 'b' ? n->b : n->c;
            if (child == NULL)
                continue;
            if (left-- == 0) {
                ++*i;
                return child;
            }
        } else {
            const jj_nodes *l = &n->list[*f - '1'];
            if (left < l->count) {
                ++*i;
                return l->items[left];
            }
            left -= l->count;
        }
    }
    return NULL;
}

bool jj_nodes_push(td_arena *a, jj_nodes *l, jj_node *n)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap != 0 ? l->cap * 2 : 4;
        jj_node **items = td_arena_array(a, jj_node *, cap);
        if (items == NULL)
            return false;
        if (l->count != 0)
            memcpy(items, l->items, l->count * sizeof *items);
        l->items = items;
        l->cap = cap;
    }
    l->items[l->count++] = n;
    return true;
}

/* ---- names ---- */

static bool grow_names(jj_names *names)
{
    uint32_t cap = names->cap != 0 ? names->cap * 2 : 64;
    td_value *keys = td_arena_array(names->arena, td_value, cap + 1);
    uint32_t *index = td_arena_array(names->arena, uint32_t, (size_t)cap * 2);
    if (keys == NULL || index == NULL)
        return false;
    memset(index, 0, (size_t)cap * 2 * sizeof *index);
    uint32_t mask = cap * 2 - 1;
    for (uint32_t id = 1; id <= names->count; id++) {
        keys[id] = names->keys[id];
        uint32_t at = (uint32_t)td_str_hash(td_as_str(keys[id])) & mask;
        while (index[at] != 0)
            at = (at + 1) & mask;
        index[at] = id;
    }
    names->keys = keys;
    names->index = index;
    names->index_mask = mask;
    names->cap = cap;
    return true;
}

uint32_t jj_intern(jj_names *names, td_str text)
{
    if (names->count == names->cap && !grow_names(names))
        return 0;
    uint32_t at = (uint32_t)td_str_hash(text) & names->index_mask;
    for (; names->index[at] != 0; at = (at + 1) & names->index_mask)
        if (td_str_eq(td_as_str(names->keys[names->index[at]]), text))
            return names->index[at];
    td_str copy = td_arena_copy(names->arena, text);
    if (copy.ptr == NULL)
        return 0;
    names->keys[++names->count] = td_key(copy);
    names->index[at] = names->count;
    return names->count;
}

td_value jj_name_key(const jj_names *names, uint32_t id)
{
    return names->keys[id];
}

td_str jj_name_text(const jj_names *names, uint32_t id)
{
    return td_as_str(names->keys[id]);
}

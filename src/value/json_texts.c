/* json_texts.c - a table from containers to the JSON texts that were written for them.
 *
 * Idea:  the containers of the value are known when the table is made and never change, so only the
 *        list of texts of each is added to: a text is complete before it becomes the list's head.
 * Holds: texts, their styles included, never take more than bytes_max; STYLES_MAX of one container.
 *        A list, and a slice of it that starts where it does, share a place: the length tells. */
#include "value/json_texts.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

enum { LEVELS = 5, CONTAINERS_MAX = 4096, STYLES_MAX = 8, SLACK = 32 };

typedef struct text {
    const struct text *next;
    td_json_style style; /* its texts stand behind this, as the text itself */
    uint8_t tag;
    uint32_t len; /* of the list */
    td_str json;
} text;

typedef _Atomic(const text *) text_list;

typedef struct place {
    const void *at; /* NULL: free */
    text_list texts;
} place;

struct td_json_texts {
    place *places;
    size_t mask;
    size_t bytes_max;
    atomic_size_t bytes;
};

static bool is_container(td_value v)
{
    return (v.tag == TD_V_DICT && v.as.dict->count != 0) ||
           ((v.tag == TD_V_LIST || v.tag == TD_V_TUPLE) && v.len != 0);
}

static const void *place_of(td_value v)
{
    return v.tag == TD_V_DICT ? (const void *)v.as.dict : (const void *)v.as.items;
}

static size_t count_containers(td_value v, unsigned levels)
{
    if (!is_container(v))
        return 0;
    size_t n = 1;
    uint32_t count = v.tag == TD_V_DICT ? v.as.dict->count : v.len;
    for (uint32_t i = 0; levels > 1 && i < count && n < CONTAINERS_MAX; i++)
        n += count_containers(v.tag == TD_V_DICT ? v.as.dict->entries[i].val : v.as.items[i],
                              levels - 1);
    return n < CONTAINERS_MAX ? n : CONTAINERS_MAX;
}

static place *find_place(const td_json_texts *t, const void *at)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)at >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    for (;; i++) { /* ends: half of the places are free */
        place *p = &t->places[i & t->mask];
        if (p->at == at || p->at == NULL)
            return p;
    }
}

/* Enters v and its parts; left: how many more may be. */
static void enter(td_json_texts *t, td_value v, unsigned levels, size_t *left)
{
    if (!is_container(v) || *left == 0)
        return;
    place *p = find_place(t, place_of(v));
    *left -= p->at == NULL;
    p->at = place_of(v);
    uint32_t count = v.tag == TD_V_DICT ? v.as.dict->count : v.len;
    for (uint32_t i = 0; levels > 1 && i < count; i++)
        enter(t, v.tag == TD_V_DICT ? v.as.dict->entries[i].val : v.as.items[i], levels - 1, left);
}

td_json_texts *td_json_texts_new(td_arena *a, td_value root, size_t bytes_max)
{
    size_t containers = count_containers(root, LEVELS), places = 2;
    while (places < 2 * containers + 1)
        places *= 2;
    td_json_texts *t = td_arena_new(a, td_json_texts);
    place *p = td_arena_array(a, place, places);
    if (t == NULL || p == NULL)
        return NULL;
    for (size_t i = 0; i < places; i++) {
        p[i].at = NULL;
        atomic_init(&p[i].texts, NULL);
    }
    t->places = p;
    t->mask = places - 1;
    t->bytes_max = bytes_max;
    atomic_init(&t->bytes, 0);
    enter(t, root, LEVELS, &containers);
    return t;
}

void td_json_texts_done(td_json_texts *t)
{
    for (size_t i = 0; i <= t->mask; i++) {
        const text *x = atomic_load_explicit(&t->places[i].texts, memory_order_relaxed);
        while (x != NULL) {
            const text *next = x->next;
            td_free((void *)x);
            x = next;
        }
    }
}

static bool same_style(const td_json_style *x, const td_json_style *y)
{
    return x->ensure_ascii == y->ensure_ascii && x->sort_keys == y->sort_keys &&
           x->has_indent == y->has_indent && x->has_separators == y->has_separators &&
           (!x->has_indent || td_str_eq(x->indent, y->indent)) &&
           (!x->has_separators || (td_str_eq(x->item_separator, y->item_separator) &&
                                   td_str_eq(x->key_separator, y->key_separator)));
}

/* The text among those from head on; *ret_count: how many there are, if it is none of them. */
static const text *find_text(const text *head, td_value v, const td_json_style *style,
                             unsigned *ret_count)
{
    unsigned n = 0;
    for (const text *x = head; x != NULL; x = x->next, n++) {
        if (x->tag == v.tag && x->len == v.len && same_style(&x->style, style))
            return x;
    }
    *ret_count = n;
    return NULL;
}

static text_list *texts_of(const td_json_texts *t, td_value v)
{
    place *p = is_container(v) ? find_place(t, place_of(v)) : NULL;
    return p != NULL && p->at != NULL ? &p->texts : NULL;
}

bool td_json_texts_find(const td_json_texts *t, td_value v, const td_json_style *style, td_str *ret)
{
    unsigned count;
    text_list *list = texts_of(t, v);
    const text *x = list != NULL ? find_text(atomic_load_explicit(list, memory_order_acquire), v,
                                             style, &count)
                                 : NULL;
    if (x != NULL)
        *ret = x->json;
    return x != NULL;
}

static td_str append(char **to, td_str s)
{
    char *at = *to;
    if (s.len != 0)
        memcpy(at, s.ptr, s.len);
    *to += s.len;
    return (td_str){ at, s.len };
}

static text *new_text(td_value v, const td_json_style *style, td_str json, size_t bytes)
{
    text *x = td_malloc(bytes);
    if (x == NULL)
        return NULL;
    char *to = (char *)(x + 1);
    *x = (text){ .style = *style, .tag = v.tag, .len = v.len };
    if (style->has_indent)
        x->style.indent = append(&to, style->indent);
    if (style->has_separators) {
        x->style.item_separator = append(&to, style->item_separator);
        x->style.key_separator = append(&to, style->key_separator);
    }
    x->json = append(&to, json);
    memset(to, 0, SLACK);
    return x;
}

void td_json_texts_put(td_json_texts *t, td_value v, const td_json_style *style, td_str json)
{
    text_list *list = texts_of(t, v);
    if (list == NULL)
        return;
    size_t bytes = sizeof(text) + json.len + SLACK + (style->has_indent ? style->indent.len : 0);
    if (style->has_separators)
        bytes += style->item_separator.len + style->key_separator.len;
    size_t used = atomic_load_explicit(&t->bytes, memory_order_relaxed);
    do {
        if (bytes > t->bytes_max - used)
            return;
    } while (!atomic_compare_exchange_weak_explicit(&t->bytes, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    text *x = new_text(v, style, json, bytes);
    const text *head = atomic_load_explicit(list, memory_order_acquire);
    bool wanted = x != NULL;
    do {
        unsigned count = 0;
        wanted = wanted && find_text(head, v, style, &count) == NULL && count < STYLES_MAX;
        if (!wanted)
            break;
        x->next = head;
    } while (!atomic_compare_exchange_weak_explicit(list, &head, x, memory_order_acq_rel,
                                                    memory_order_acquire));
    if (!wanted) { /* another thread was first, or there are enough of them */
        td_free(x);
        atomic_fetch_sub_explicit(&t->bytes, bytes, memory_order_relaxed);
    }
}

size_t td_json_texts_bytes(const td_json_texts *t)
{
    return atomic_load_explicit(&t->bytes, memory_order_relaxed);
}

/* owners.c - which message the output came from.
 *
 * Two things are known for certain while a template runs: that a loop goes over a list and its item
 * is one of the messages (the very same dict), and that a printed text lies inside a text of a
 * message (the same bytes, as views never copy). So what an iteration over a message prints is that
 * message's, headers and ends of turns included; outside of such loops a text is its message's; all
 * else is nobody's. Output that is collected first and printed later is seen when it is printed. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "jinja/vm_internal.h"

/* Where a message's texts and its dict lie. */
typedef struct place {
    uintptr_t start, end;
    int64_t message;
} place;

struct jj_owners {
    jj_marks *marks;
    place *texts, *dicts; /* sorted by address */
    size_t text_count, dict_count, text_cap;
};

static int by_address(const void *x, const void *y)
{
    const place *a = x, *b = y;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* The message of the place that holds [start, end); -1: none. */
static int64_t find(const place *places, size_t count, uintptr_t start, uintptr_t end)
{
    size_t low = 0, high = count; /* places before low start at or before start */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].start <= start)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && end <= places[low - 1].end ? places[low - 1].message : -1;
}

static td_code add_text(jj_vm *vm, jj_owners *o, td_value v, int64_t message)
{
    if (v.len == 0)
        return TD_OK;
    if (o->text_count == o->text_cap) {
        size_t cap = o->text_cap != 0 ? o->text_cap * 2 : 64;
        place *more = td_arena_array(vm->arena, place, cap);
        if (more == NULL)
            return jj_nomem(vm);
        if (o->text_count != 0)
            memcpy(more, o->texts, o->text_count * sizeof *more);
        o->texts = more;
        o->text_cap = cap;
    }
    uintptr_t at = (uintptr_t)v.as.str;
    o->texts[o->text_count++] = (place){ at, at + v.len, message };
    return TD_OK;
}

/* All texts in v, to any depth that a reader lets pass. */
static td_code add_texts(jj_vm *vm, jj_owners *o, td_value v, int64_t message)
{
    switch (v.tag) {
    case TD_V_STR:
        return add_text(vm, o, v, message);
    case TD_V_LIST:
    case TD_V_TUPLE:
        for (uint32_t i = 0; i < v.len; i++)
            TD_TRY(add_texts(vm, o, v.as.items[i], message));
        return TD_OK;
    case TD_V_DICT:
        for (uint32_t i = 0; i < v.as.dict->count; i++)
            TD_TRY(add_texts(vm, o, v.as.dict->entries[i].val, message));
        return TD_OK;
    default:
        return TD_OK;
    }
}

td_code jj_owners_begin(jj_vm *vm, jj_marks *marks)
{
    jj_owners *o = td_arena_new(vm->arena, jj_owners);
    place *dicts = td_arena_array(vm->arena, place, (size_t)vm->message_count + 1);
    if (o == NULL || dicts == NULL)
        return jj_nomem(vm);
    *o = (jj_owners){ .marks = marks, .dicts = dicts };
    for (uint32_t i = 0; i < vm->message_count; i++) {
        td_value v = vm->messages[i];
        TD_TRY(add_texts(vm, o, v, i));
        uintptr_t at = (uintptr_t)v.as.dict;
        if (v.tag == TD_V_DICT)
            o->dicts[o->dict_count++] = (place){ at, at + 1, i };
    }
    if (o->text_count != 0)
        qsort(o->texts, o->text_count, sizeof *o->texts, by_address);
    qsort(o->dicts, o->dict_count, sizeof *o->dicts, by_address);
    vm->owners = o;
    vm->owner = -1;
    return TD_OK;
}

/* Output from that place on is the message's. */
static td_code mark(jj_vm *vm, size_t at, int64_t message)
{
    jj_marks *m = vm->owners->marks;
    while (m->count != 0 && m->items[m->count - 1].start >= at)
        m->count--; /* nothing came of it, or what came was taken back */
    if ((m->count != 0 ? m->items[m->count - 1].message : -1) == message)
        return TD_OK;
    if (m->count == m->cap) {
        size_t cap = m->cap != 0 ? m->cap * 2 : 64;
        jj_mark *items = td_realloc(m->items, cap * sizeof *items);
        if (items == NULL)
            return td_fail_nomem(vm->err);
        m->items = items;
        m->cap = cap;
    }
    m->items[m->count++] = (jj_mark){ at, message };
    return TD_OK;
}

static td_code set_owner(jj_vm *vm, int64_t message)
{
    if (message == vm->owner)
        return TD_OK;
    vm->owner = message;
    return vm->buffered == 0 ? mark(vm, vm->out->len - vm->out_base, message) : TD_OK;
}

td_code jj_owners_item(jj_vm *vm, const jj_loop *loop, td_value item)
{
    int64_t message = -1;
    uintptr_t at = (uintptr_t)item.as.dict;
    if (item.tag == TD_V_DICT)
        message = find(vm->owners->dicts, vm->owners->dict_count, at, at + 1);
    return set_owner(vm, message >= 0 ? message : loop->outer_owner);
}

td_code jj_owners_end(jj_vm *vm, const jj_loop *loop)
{
    return set_owner(vm, loop->outer_owner);
}

td_code jj_owners_text(jj_vm *vm, td_str text)
{
    if (vm->owner >= 0 || vm->buffered != 0 || text.len == 0)
        return TD_OK;
    uintptr_t start = (uintptr_t)text.ptr;
    int64_t message = find(vm->owners->texts, vm->owners->text_count, start, start + text.len);
    if (message < 0)
        return TD_OK;
    size_t at = vm->out->len - vm->out_base;
    TD_TRY(mark(vm, at, message));
    return mark(vm, at + text.len, -1);
}

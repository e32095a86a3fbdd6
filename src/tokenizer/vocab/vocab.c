/* vocab.c - building the tables of vocab.h: linear probing at half load, eight bytes a slot, so a
 * lookup is usually one line of the slots and one of the texts. */
#include "tokenizer/vocab/vocab.h"

#include "base/alloc.h"

enum { TEXT_SLACK = 16, ID_END_MAX = 1 << 28 };

static bool set_slots(tk_vocab *v, uint64_t n)
{
    uint64_t *slots = td_calloc(n, sizeof *slots);
    if (slots == NULL)
        return false;
    td_expect_random(slots, n * sizeof *slots);
    uint64_t mask = n - 1;
    for (uint32_t i = 0; i < v->count - v->waiting_count; i++) {
        td_str text = tk_vocab_text(v, i);
        uint64_t hash = tk_vocab_hash(text.ptr, text.len), at = hash & mask;
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = (hash & 0xFFFFFFFF00000000u) | (i + 1);
    }
    td_free(v->slots);
    v->slots = slots;
    v->slot_mask = mask;
    return true;
}

static bool set_cap(tk_vocab *v, uint32_t cap)
{
    uint32_t *starts = td_realloc(v->starts, ((size_t)cap + 1) * sizeof *starts);
    if (starts == NULL)
        return false;
    v->starts = starts;
    td_id *ids = td_realloc(v->ids, (cap != 0 ? cap : 1) * sizeof *ids);
    if (ids == NULL)
        return false;
    v->ids = ids;
    v->cap = cap;
    return true;
}

static bool set_bytes(tk_vocab *v, size_t cap)
{
    char *bytes = td_realloc(v->bytes, cap + TEXT_SLACK);
    if (bytes == NULL)
        return false;
    memset(bytes + cap, 0, TEXT_SLACK);
    v->bytes = bytes;
    v->bytes_cap = cap;
    return true;
}

tk_vocab *tk_vocab_new(size_t expect)
{
    tk_vocab *v = td_calloc(1, sizeof *v);
    if (v == NULL)
        return NULL;
    uint64_t n = 16;
    while (n < expect * 2 && n < (uint64_t)1 << 27)
        n *= 2;
    uint32_t cap = expect < 16 ? 16 : expect > 1u << 26 ? 1u << 26 : (uint32_t)expect;
    if (!set_cap(v, cap) || !set_bytes(v, (size_t)cap * 8) || !set_slots(v, n)) {
        tk_vocab_free(v);
        return NULL;
    }
    v->starts[0] = 0;
    return v;
}

void tk_vocab_free(tk_vocab *v)
{
    if (v == NULL)
        return;
    td_free(v->bytes);
    td_free(v->starts);
    td_free(v->ids);
    td_free(v->slots);
    td_free(v->by_id);
    td_free(v);
}

static bool make_room(tk_vocab *v, size_t len)
{
    if (v->count == v->cap && (v->cap >= UINT32_MAX / 4 || !set_cap(v, v->cap * 2)))
        return false;
    if (len > v->bytes_cap - v->bytes_len) {
        size_t cap = v->bytes_cap * 2 + len;
        if (cap > UINT32_MAX || !set_bytes(v, cap))
            return false;
    }
    return (uint64_t)v->count * 2 < v->slot_mask || set_slots(v, (v->slot_mask + 1) * 2);
}

/* Takes a waiting entry out again. */
static void drop_entry(tk_vocab *v, uint32_t gone)
{
    uint32_t start = v->starts[gone], len = v->starts[gone + 1] - start;
    memmove(v->bytes + start, v->bytes + start + len, v->bytes_len - start - len);
    v->bytes_len -= len;
    for (uint32_t i = gone; i + 1 < v->count; i++) {
        v->ids[i] = v->ids[i + 1];
        v->starts[i + 1] = v->starts[i + 2] - len;
    }
    v->count--;
}

/* Puts the waiting entries into the slots, whose lines have been on their way since. */
static void insert_waiting(tk_vocab *v)
{
    uint32_t entry = v->count - v->waiting_count;
    for (uint32_t i = 0; i < v->waiting_count; i++) {
        uint64_t hash = v->waiting[i], at = hash & v->slot_mask;
        td_str text = tk_vocab_text(v, entry);
        for (; v->slots[at] != 0; at = (at + 1) & v->slot_mask) {
            uint32_t other = (uint32_t)v->slots[at] - 1;
            td_str old = tk_vocab_text(v, other);
            if (v->slots[at] >> 32 == hash >> 32 && old.len == text.len &&
                memcmp(old.ptr, text.ptr, old.len) == 0) {
                v->ids[other] = v->ids[entry];
                drop_entry(v, entry);
                break;
            }
        }
        if (v->slots[at] != 0)
            continue;
        v->slots[at] = (hash & 0xFFFFFFFF00000000u) | (entry + 1);
        entry++;
    }
    v->waiting_count = 0;
}

bool tk_vocab_add(tk_vocab *v, td_str text, td_id id)
{
    if (v->waiting_count == sizeof v->waiting / sizeof *v->waiting)
        insert_waiting(v);
    if (!make_room(v, text.len))
        return false;
    uint64_t hash = tk_vocab_hash(text.ptr != NULL ? text.ptr : "", text.len);
    __builtin_prefetch(&v->slots[hash & v->slot_mask], 1);
    if (text.len != 0)
        memcpy(v->bytes + v->bytes_len, text.ptr, text.len);
    v->bytes_len += text.len;
    v->ids[v->count++] = id;
    v->starts[v->count] = (uint32_t)v->bytes_len;
    v->waiting[v->waiting_count++] = hash;
    return true;
}

bool tk_vocab_seal(tk_vocab *v)
{
    insert_waiting(v);
    for (uint32_t i = 0; i < v->count; i++)
        if (v->ids[i] >= v->id_end)
            v->id_end = v->ids[i] + 1;
    if (v->id_end > ID_END_MAX)
        return false;
    v->by_id = td_calloc(v->id_end != 0 ? v->id_end : 1, sizeof *v->by_id);
    if (v->by_id == NULL || !set_bytes(v, v->bytes_len) || !set_cap(v, v->count))
        return false;
    for (uint32_t i = 0; i < v->count; i++)
        v->by_id[v->ids[i]] = i + 1;
    return true;
}

/* vocab.c - building the tables of vocab.h. Entries are only appended while they come; the slots
 * (linear probing, eight bytes each) are filled at the end, when their number is known. */
#define _GNU_SOURCE /* getrandom */
#include "tokenizer/vocab/vocab.h"

#include <pthread.h>
#include <sys/random.h>

#include "base/thread.h"

enum { TEXT_SLACK = 16, ID_END_MAX = 1 << 28, AHEAD = 16, HEAD = sizeof(tk_vocab_head) };

uint64_t tk_vocab_seeds[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose_seeds(void)
{
    if (getrandom(tk_vocab_seeds, sizeof tk_vocab_seeds, 0) != (ssize_t)sizeof tk_vocab_seeds) {
        tk_vocab_seeds[0] = td_now_ns() * 0x9E3779B97F4A7C15u;
        tk_vocab_seeds[1] = (uint64_t)(uintptr_t)&tk_vocab_seeds * 0xD6E8FEB86659FD93u;
    }
    tk_vocab_seeds[1] |= (uint64_t)1 << 63 | 1; /* it is multiplied by */
}

static bool set_cap(tk_vocab *v, size_t cap)
{
    if (cap >= UINT32_MAX)
        return false;
    char *block = td_realloc(v->block, cap + TEXT_SLACK);
    if (block == NULL)
        return false;
    memset(block + cap, 0, TEXT_SLACK);
    v->block = block;
    v->cap = (uint32_t)cap;
    return true;
}

tk_vocab *tk_vocab_new(size_t expect)
{
    pthread_once(&once, choose_seeds);
    tk_vocab *v = td_calloc(1, sizeof *v);
    if (v == NULL)
        return NULL;
    size_t n = expect < 16 ? 16 : expect > 1u << 26 ? 1u << 26 : expect;
    if (!set_cap(v, n * (HEAD + 8))) {
        td_free(v);
        return NULL;
    }
    td_expect_random(v->block, v->cap);
    return v;
}

void tk_vocab_free(tk_vocab *v)
{
    if (v == NULL)
        return;
    td_free(v->block);
    td_slab_free(&v->table);
    td_free(v->by_id);
    td_free(v);
}

bool tk_vocab_add(tk_vocab *v, td_str text, td_id id)
{
    size_t need = HEAD + text.len;
    if (need > v->cap - v->size && !set_cap(v, (size_t)v->cap * 2 + need))
        return false;
    tk_vocab_head head = { id, (uint32_t)text.len };
    memcpy(v->block + v->size, &head, HEAD);
    if (text.len != 0)
        memcpy(v->block + v->size + HEAD, text.ptr, text.len);
    v->size += (uint32_t)need;
    v->count++;
    return true;
}

static uint64_t hash_at(const tk_vocab *v, uint32_t place)
{
    td_str s = tk_vocab_text(v, place);
    return s.len <= 16 ? tk_vocab_hash_short(tk_short_padded(s.ptr, s.len), s.len)
                       : tk_vocab_hash(s.ptr, s.len);
}

/* The slot of an entry with this text, or the empty one where it belongs. */
static uint64_t *find_slot(const tk_vocab *v, td_str text, uint64_t hash)
{
    for (uint64_t at = hash & v->slot_mask;; at = (at + 1) & v->slot_mask) {
        uint64_t slot = v->slots[at];
        if (slot == 0)
            return &v->slots[at];
        if (slot >> 32 != hash >> 32)
            continue;
        td_str old = tk_vocab_text(v, (uint32_t)slot - 1);
        if (old.len == text.len && memcmp(old.ptr, text.ptr, text.len) == 0)
            return &v->slots[at];
    }
}

static void set_id(tk_vocab *v, uint32_t place, td_id id)
{
    memcpy(v->block + place, &id, sizeof id);
}

/* Fills the slots; their lines are fetched some entries ahead. An entry whose text is there already
 * gives its id to the earlier one and goes. */
static void fill_slots(tk_vocab *v)
{
    uint64_t hashes[AHEAD] = { 0 };
    uint32_t count = v->count, hashed = 0, place = 0, next, kept = 0;
    v->count = 0;
    for (uint32_t i = 0; i < count + AHEAD; i++) {
        uint64_t hash = hashes[i % AHEAD];
        if (i < count) {
            hashes[i % AHEAD] = hash_at(v, hashed);
            __builtin_prefetch(&v->slots[hashes[i % AHEAD] & v->slot_mask], 1);
            hashed = tk_vocab_next(v, hashed);
        }
        if (i < AHEAD)
            continue;
        next = tk_vocab_next(v, place);
        uint64_t *slot = find_slot(v, tk_vocab_text(v, place), hash);
        if (*slot != 0) {
            set_id(v, (uint32_t)*slot - 1, tk_vocab_head_at(v, place).id);
        } else {
            if (kept != place)
                memmove(v->block + kept, v->block + place, next - place);
            *slot = (hash & 0xFFFFFFFF00000000u) | (kept + 1);
            kept += next - place;
            v->count++;
        }
        place = next;
    }
    v->size = kept;
}

/* At most two of three slots are taken. */
static bool make_slots(tk_vocab *v)
{
    uint64_t n = 16;
    while (n * 2 < (uint64_t)v->count * 3)
        n *= 2;
    if (!td_slab_new(&v->table, n * sizeof *v->slots))
        return false;
    v->slots = v->table.ptr;
    v->slot_mask = n - 1;
    fill_slots(v);
    return true;
}

bool tk_vocab_seal(tk_vocab *v)
{
    if (!make_slots(v))
        return false;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        td_id id = tk_vocab_head_at(v, at).id;
        if (id >= ID_END_MAX) {
            v->id_end = UINT32_MAX;
            return false;
        }
        v->id_end = id >= v->id_end ? id + 1 : v->id_end;
    }
    v->by_id = td_calloc(v->id_end != 0 ? v->id_end : 1, sizeof *v->by_id);
    if (v->by_id == NULL || !set_cap(v, v->size))
        return false;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        uint32_t *place = &v->by_id[tk_vocab_head_at(v, at).id];
        v->shared_ids |= *place != 0;
        *place = at + 1;
    }
    return true;
}

/* long_words.c - see long_words.h. */
#include "tokenizer/long_words.h"

enum { WORDS = 1 << 21 /* 8 MiB of records */ };

static const td_id *find_record(const tk_cache *c, td_str word, uint32_t *ret_count)
{
    if (c->records == NULL)
        return NULL;
    uint64_t hash = tk_vocab_hash(word.ptr, word.len);
    for (uint32_t at = (uint32_t)hash % TK_LONG_SLOTS;; at = (at + 1) % TK_LONG_SLOTS) {
        const tk_long_slot *s = &c->long_slots[at];
        if (s->at == 0)
            return NULL;
        const uint32_t *r = c->records + s->at - 1;
        if (s->tag == (uint32_t)(hash >> 32) && r[0] == word.len &&
            memcmp(r + 2, word.ptr, word.len) == 0) {
            *ret_count = r[1];
            return r + 2 + (word.len + 3) / 4;
        }
    }
}

/* Slots and records share a table on large pages. */
static bool have_records(tk_cache *c)
{
    size_t slots = TK_LONG_SLOTS * sizeof *c->long_slots;
    if (c->records != NULL)
        return true;
    if (!td_slab_new(&c->record_table, slots + WORDS * sizeof *c->records))
        return false;
    c->long_slots = c->record_table.ptr;
    c->records = (uint32_t *)(void *)((char *)c->record_table.ptr + slots);
    return true;
}

static void put_record(tk_cache *c, td_str word, const td_id *ids, uint32_t count)
{
    uint64_t hash = tk_vocab_hash(word.ptr, word.len);
    uint32_t words = (uint32_t)(word.len + 3) / 4, need = 2 + words + count;
    if (!have_records(c))
        return;
    if (need > WORDS - c->records_len || c->long_count >= TK_LONG_SLOTS / 2) {
        memset(c->long_slots, 0, TK_LONG_SLOTS * sizeof *c->long_slots);
        if (c->lines != NULL)
            memset(c->lines, 0, TK_LINES * sizeof *c->lines);
        c->records_len = c->long_count = 0;
    }
    uint32_t *r = c->records + c->records_len;
    r[0] = (uint32_t)word.len;
    r[1] = count;
    memcpy(r + 2, word.ptr, word.len);
    memcpy(r + 2 + words, ids, count * sizeof *ids);
    uint32_t at = (uint32_t)hash % TK_LONG_SLOTS;
    while (c->long_slots[at].at != 0)
        at = (at + 1) % TK_LONG_SLOTS;
    c->long_slots[at] = (tk_long_slot){ (uint32_t)(hash >> 32), c->records_len + 1 };
    c->records_len += need;
    c->long_count++;
}

/* Whether there was a line for the word. */
static bool put_line(tk_cache *c, td_str word, const td_id *ids, uint32_t count)
{
    tk_line_key k = tk_line_key_of(word);
    uint32_t hash = tk_line_hash(&k, word.len);
    if (c->lines == NULL && !td_slab_new(&c->line_table, TK_LINES * sizeof *c->lines))
        return false;
    c->lines = c->line_table.ptr;
    tk_line *l = tk_own_line(c, hash);
    if (l->len != 0)
        l = tk_other_line(c, hash);
    if (l->len != 0)
        return false;
    memcpy(l->first, k.first, sizeof l->first);
    memcpy(l->last, k.last, sizeof l->last);
    memcpy(l->ids, ids, count * sizeof *ids);
    l->len = (uint16_t)word.len;
    l->count = (uint16_t)count;
    return true;
}

const td_id *tk_long_find(const tk_cache *c, td_str word, uint32_t *ret_count)
{
    const td_id *ids = NULL;
    if (tk_has_lines(word.len)) {
        tk_line_key k = tk_line_key_of(word);
        ids = tk_line_find(c, word, tk_line_hash(&k, word.len), ret_count);
    }
    return ids != NULL ? ids : find_record(c, word, ret_count);
}

void tk_long_put(tk_cache *c, td_str word, const td_id *ids, uint32_t count)
{
    if (c->off || word.len > TK_RECORD_BYTES)
        return;
    bool fits = tk_has_lines(word.len) && count <= TK_LINE_IDS;
    if (!fits || !put_line(c, word, ids, count))
        put_record(c, word, ids, count);
}

void tk_long_done(tk_cache *c)
{
    td_slab_free(&c->line_table);
    td_slab_free(&c->record_table);
}

size_t tk_long_bytes(const tk_cache *c)
{
    size_t n = c->lines != NULL ? TK_LINES * sizeof *c->lines : 0;
    return c->records != NULL ? n + TK_LONG_SLOTS * sizeof *c->long_slots + WORDS * 4 : n;
}

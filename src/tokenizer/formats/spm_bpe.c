/* spm_bpe.c - SentencePiece's BPE: of all neighbours that are a piece together the one with the
 * highest score is merged first, of equal ones the leftmost.
 *
 * A merge is looked up by the ids of its parts (implied.h), scores are ranks. User-defined pieces
 * are never merged, nor are characters that begin or end no piece. Unused pieces are taken apart
 * again afterwards, into the parts that were last seen to make them anywhere in the text. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/formats/implied.h"
#include "tokenizer/formats/spm.h"

enum { LOOK_EVERY = 1 << 16 };

#define NIL UINT32_MAX

typedef struct symbol {
    uint32_t prev, next, len; /* len 0: merged into the one before */
    td_id id;                 /* TK_NO_ID: takes part in no merge */
    td_id fixed;              /* of a user-defined piece; TK_NO_ID: it is none */
} symbol;

typedef struct entry {
    uint64_t key; /* rank << 32 | place of the left symbol */
    td_id product;
} entry;

typedef struct parts {
    td_id left, right; /* left TK_NO_ID: none seen */
} parts;

typedef struct run {
    const spm_model *m;
    tk_ctx *ctx;
    symbol *symbols;
    uint32_t count;
    entry *heap;
    uint32_t heap_count;
    parts *unused; /* by m->unused_places */
} run;

static void push(run *r, entry e)
{
    uint32_t i = r->heap_count++;
    for (; i > 0 && r->heap[(i - 1) / 2].key > e.key; i = (i - 1) / 2)
        r->heap[i] = r->heap[(i - 1) / 2];
    r->heap[i] = e;
}

static entry pop(run *r)
{
    entry top = r->heap[0], last = r->heap[--r->heap_count];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= r->heap_count)
            break;
        if (child + 1 < r->heap_count && r->heap[child + 1].key < r->heap[child].key)
            child++;
        if (r->heap[child].key >= last.key)
            break;
        r->heap[i] = r->heap[child];
        i = child;
    }
    if (r->heap_count != 0)
        r->heap[i] = last;
    return top;
}

static void add_pair(run *r, uint32_t left, uint32_t right)
{
    if (left == NIL || right == NIL)
        return;
    td_id a = r->symbols[left].id, b = r->symbols[right].id, product;
    if (a == TK_NO_ID || b == TK_NO_ID)
        return;
    uint32_t rank = tk_merge_rank(&r->m->bpe->merges, a, b, &product);
    if (rank == UINT32_MAX)
        return;
    push(r, (entry){ (uint64_t)rank << 32 | left, product });
    if (r->m->items[product].type == SPM_UNUSED)
        r->unused[r->m->unused_places[product]] = (parts){ a, b };
}

/* The characters of the text, and the user-defined pieces in it. */
static td_code spell(run *r, td_str text, td_error *err)
{
    const spm_model *m = r->m;
    r->symbols = td_arena_array(&r->ctx->arena, symbol, td_utf8_count(text));
    if (r->symbols == NULL)
        return tk_nomem(r->ctx, err);
    const char *p = text.ptr, *end = text.ptr + text.len;
    while (p < end) {
        td_str rest = { p, (size_t)(end - p) };
        size_t user = m->user != NULL ? tk_spm_longest(m->user, rest) : 0;
        const char *next = p + user;
        if (user == 0)
            td_utf8_next(&next, end);
        symbol s = { .prev = r->count == 0 ? NIL : r->count - 1,
                     .next = r->count + 1,
                     .len = (uint32_t)(next - p),
                     .id = TK_NO_ID,
                     .fixed = TK_NO_ID };
        tk_vocab_find(m->vocab, (td_str){ p, s.len }, user != 0 ? &s.fixed : &s.id);
        r->symbols[r->count++] = s;
        p = next;
    }
    r->symbols[r->count - 1].next = NIL;
    return TD_OK;
}

static td_code merge_all(run *r, td_error *err)
{
    for (uint32_t i = 1; i < r->count; i++)
        add_pair(r, i - 1, i);
    for (uint32_t n = 1; r->heap_count != 0; n++) {
        if (n % LOOK_EVERY == 0)
            TD_TRY(tk_look_around(r->ctx, err));
        entry top = pop(r);
        symbol *left = &r->symbols[(uint32_t)top.key];
        td_id product;
        if (left->len == 0 || left->next == NIL)
            continue;
        symbol *right = &r->symbols[left->next];
        if (left->id == TK_NO_ID || right->id == TK_NO_ID ||
            tk_merge_rank(&r->m->bpe->merges, left->id, right->id, &product) == UINT32_MAX ||
            product != top.product)
            continue; /* one of the two is another by now */
        left->id = product;
        left->len += right->len;
        left->next = right->next;
        right->len = 0;
        if (left->next != NIL)
            r->symbols[left->next].prev = (uint32_t)top.key;
        add_pair(r, left->prev, (uint32_t)top.key);
        add_pair(r, (uint32_t)top.key, left->next);
    }
    return TD_OK;
}

static td_code put_symbol(spm_output *o, td_id id, uint32_t len, td_error *err)
{
    return tk_spm_put(o, id < o->m->count ? id : o->m->unk, len, err);
}

/* An unused piece in its parts, and these in theirs. Each part is shorter than the whole. */
static td_code take_apart(run *r, spm_output *o, td_id id, uint32_t len, td_error *err)
{
    const spm_model *m = r->m;
    td_arena_mark mark = td_arena_save(&r->ctx->arena);
    const tk_token *items = o->out->items;
    td_id *stack = td_arena_array(&r->ctx->arena, td_id, (size_t)len + 1);
    if (stack == NULL)
        return tk_nomem(r->ctx, err);
    uint32_t depth = 0;
    stack[depth++] = id;
    while (depth != 0) {
        id = stack[--depth];
        parts *p = id < m->count && m->items[id].type == SPM_UNUSED
                       ? &r->unused[m->unused_places[id]]
                       : NULL;
        if (p != NULL && p->left != TK_NO_ID) {
            stack[depth++] = p->right;
            stack[depth++] = p->left;
            continue;
        }
        TD_TRY(put_symbol(o, id, (uint32_t)tk_vocab_spell(m->vocab, id).len, err));
    }
    if (o->out->items == items) /* else the tokens lie above the mark */
        td_arena_rewind(&r->ctx->arena, mark);
    return TD_OK;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str text, tk_tokens *out,
                        td_error *err)
{
    const spm_model *m = (const spm_model *)self;
    run r = { .m = m, .ctx = ctx };
    spm_output o = { .m = m, .ctx = ctx, .text = text, .out = out };
    TD_TRY(spell(&r, text, err));
    /* Each merge takes one entry out and puts at most two in. */
    r.heap = td_arena_array(&ctx->arena, entry, (size_t)r.count * 2 + 2);
    r.unused = td_arena_array(&ctx->arena, parts, (size_t)m->unused_count + 1);
    if (r.heap == NULL || r.unused == NULL)
        return tk_nomem(ctx, err);
    for (uint32_t i = 0; i < m->unused_count; i++)
        r.unused[i].left = TK_NO_ID;
    TD_TRY(merge_all(&r, err));
    for (uint32_t i = 0; i != NIL; i = r.symbols[i].next) {
        const symbol *s = &r.symbols[i];
        if (s->fixed != TK_NO_ID)
            TD_TRY(tk_spm_put(&o, s->fixed, s->len, err));
        else if (s->id < m->count && m->items[s->id].type == SPM_UNUSED)
            TD_TRY(take_apart(&r, &o, s->id, s->len, err));
        else
            TD_TRY(put_symbol(&o, s->id, s->len, err));
    }
    return TD_OK;
}

/* ---- tables ---- */

static bool in_texts(const spm_piece *p)
{
    return p->type == SPM_NORMAL || p->type == SPM_USER_DEFINED || p->type == SPM_UNUSED;
}

static bool is_char(td_str s)
{
    const char *p = s.ptr;
    td_utf8_next(&p, s.ptr + s.len);
    return p == s.ptr + s.len;
}

/* Characters of pieces that are no pieces themselves, but may be merged: they get ids behind all
 * pieces. seen: a bit for each code point. */
static bool add_chars(const spm_model *m, uint64_t *seen, tk_vocab *v)
{
    td_id next = m->count;
    for (uint32_t i = 0; i < m->count; i++) {
        const char *p = m->items[i].text.ptr, *end = p + m->items[i].text.len;
        while (in_texts(&m->items[i]) && p < end) {
            const char *from = p;
            uint32_t c = td_utf8_next(&p, end);
            td_id id;
            td_str s = { from, (size_t)(p - from) };
            if ((seen[c >> 6] >> (c & 63) & 1) != 0 || tk_vocab_find(m->vocab, s, &id))
                continue;
            seen[c >> 6] |= (uint64_t)1 << (c & 63);
            if (!tk_vocab_add(v, s, next++))
                return false;
        }
    }
    return true;
}

static tk_vocab *vocab_with_chars(const spm_model *m)
{
    uint64_t *seen = td_calloc(0x110000 / 64, sizeof *seen);
    tk_vocab *v = tk_vocab_new(m->count);
    bool good = seen != NULL && v != NULL;
    for (uint32_t i = 0; good && i < m->count; i++)
        good = tk_vocab_add(v, m->items[i].text, i);
    good = good && add_chars(m, seen, v) && tk_vocab_seal(v);
    td_free(seen);
    if (good)
        return v;
    tk_vocab_free(v);
    return NULL;
}

static int by_score(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

typedef struct scores {
    const spm_model *m;
    float *distinct; /* from high to low */
    uint32_t count;
} scores;

static bool product_of(const void *user, uint32_t i, tk_product *ret)
{
    const scores *s = user;
    const spm_piece *p = &s->m->items[i];
    if (!in_texts(p) || is_char(p->text))
        return false;
    const float *at = bsearch(&p->score, s->distinct, s->count, sizeof *at, by_score);
    *ret = (tk_product){ p->text, (uint32_t)(at - s->distinct), i };
    return true;
}

static td_code make_merges(tk_load *load, spm_model *m)
{
    scores s = { .m = m, .distinct = td_malloc((m->count + 1) * sizeof(float)) };
    if (s.distinct == NULL)
        return tk_load_nomem(load);
    for (uint32_t i = 0; i < m->count; i++)
        s.distinct[i] = m->items[i].score;
    qsort(s.distinct, m->count, sizeof *s.distinct, by_score);
    for (uint32_t i = 0; i < m->count; i++)
        if (s.count == 0 || s.distinct[i] != s.distinct[s.count - 1])
            s.distinct[s.count++] = s.distinct[i];
    td_code code = tk_imply_merges(load, m->bpe, product_of, &s, m->count);
    td_free(s.distinct);
    return code;
}

static td_code number_unused(tk_load *load, spm_model *m)
{
    m->unused_places = tk_new(load, ((size_t)m->count + 1) * sizeof *m->unused_places);
    if (m->unused_places == NULL)
        return TD_E_INTERNAL;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->items[i].type == SPM_UNUSED)
            m->unused_places[i] = m->unused_count++;
    return TD_OK;
}

td_code tk_spm_make_bpe(tk_load *load, spm_model *m, bool *ret_plain)
{
    tk_vocab *all = vocab_with_chars(m);
    if (all == NULL)
        return tk_load_nomem(load);
    bool extra = all->count != m->count;
    TD_TRY(tk_bpe_new(load, all, &m->bpe));
    m->vocab = all;
    m->bpe->byte_fallback = m->byte_fallback;
    TD_TRY(number_unused(load, m));
    TD_TRY(make_merges(load, m));
    m->base.type = "BPE";
    m->base.tokenize = tokenize;
    *ret_plain = m->byte_fallback && m->unused_count == 0 && !extra;
    for (uint32_t i = 0; i < m->count; i++)
        if (!in_texts(&m->items[i]) && is_char(m->items[i].text))
            *ret_plain = false;
    return TD_OK;
}

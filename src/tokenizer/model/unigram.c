/* unigram.c - the best path through a piece.
 *
 * For every place the best sum of scores up to there is known; from a place on each vocabulary
 * text that starts there offers its end a sum. The first of equal sums stays, places are visited in
 * order and texts from short to long, as in the reference: so ties fall alike. A character that is
 * no text by itself can be passed over as unknown, for a penalty. Neighbouring unknowns are one
 * token, which is then looked up by its text.
 *
 * No text reaches further than the longest, so only so many sums are kept, in a ring. */
#include "tokenizer/model/unigram.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/load/components.h"

/* The best that ends at a place. */
typedef struct place {
    uint32_t from; /* where it starts; NOWHERE: no text ends here */
    uint32_t node; /* of the text; UNKNOWN: it is a character that is none */
} place;

typedef struct paths {
    place *places; /* from the start of the piece to its end */
    double *sums;  /* of places, each at its number modulo the size */
    uint32_t mask;
} paths;

#define NOWHERE UINT32_MAX
#define UNKNOWN ((uint32_t)0) /* the root, where no text ends */

static inline bool is_better(const paths *p, uint32_t to, double sum)
{
    return p->places[to].from == NOWHERE || sum > p->sums[to & p->mask];
}

static inline void offer(const paths *p, uint32_t to, double sum, uint32_t node, uint32_t from)
{
    if (!is_better(p, to, sum))
        return;
    p->sums[to & p->mask] = sum;
    p->places[to] = (place){ from, node };
}

typedef struct found {
    uint32_t len, node;
} found;

/* The texts that start at a place, shortest first. */
typedef struct walk {
    uint32_t at;
    uint32_t read; /* bytes from at on that tell what starts there; 0: what follows does, too */
    uint32_t count;
    found *texts;  /* has room for one more than there can be */
} walk;

/* In a row of equal characters what starts at one place starts at the next one, too. */
static inline bool is_repeated(const walk *w, td_str piece, uint32_t at)
{
    return w->read != 0 && piece.ptr[at] == piece.ptr[w->at] && w->read <= piece.len - at &&
           memcmp(piece.ptr + at, piece.ptr + w->at, w->read) == 0;
}

/* Finds them. Whether a text ends at a node cannot be guessed, so only how far this goes is a
 * branch. */
static inline void find_texts(const tk_unigram *u, td_str piece, uint32_t at, walk *w)
{
    const tk_prefix_trie *t = u->trie;
    const char *p = piece.ptr + at, *end = piece.ptr + piece.len;
    uint32_t node = 0, len = 0;
    found *to = w->texts;
    w->at = at;
    w->read = 0;
    while (p < end) {
        node = tk_prefix_step(t, node, (uint8_t)*p++);
        len++;
        if (node == 0) {
            w->read = len;
            break;
        }
        *to = (found){ len, node };
        to += tk_prefix_ends(t, node);
    }
    w->count = (uint32_t)(to - w->texts);
}

/* Offers all texts that start at a place to their ends. w: of the place before. */
static td_code visit(const tk_unigram *u, td_str piece, uint32_t at, uint32_t next,
                     const paths *all, walk *w, td_error *err)
{
    if (!is_repeated(w, piece, at))
        find_texts(u, piece, at, w);
    w->at = at;
    double here = all->sums[at & all->mask];
    bool single = false; /* one is the character that starts here */
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t to = at + w->texts[i].len, node = w->texts[i].node;
        offer(all, to, u->node_scores[node] + here, node, at);
        single |= to == next;
    }
    if (single || !is_better(all, next, u->unk_score + here))
        return TD_OK;
    if (!u->has_unk)
        return td_fail(err, TD_E_TOKENIZER, "model: unknown character and unk_id is null");
    offer(all, next, u->unk_score + here, UNKNOWN, at);
    return TD_OK;
}

/* One <0xXX> for each byte; each stands for the whole text. */
static td_code put_bytes(const tk_unigram *u, tk_ctx *ctx, td_str piece, uint32_t start,
                         uint32_t end, tk_tokens *out, bool *ret_done, td_error *err)
{
    *ret_done = false;
    for (uint32_t i = start; i < end; i++)
        if (u->bytes[(unsigned char)piece.ptr[i]] == TK_NO_ID)
            return TD_OK;
    for (uint32_t i = start; i < end; i++) {
        tk_token t = { .id = u->bytes[(unsigned char)piece.ptr[i]], .start = start, .end = end };
        TD_TRY(tk_tokens_add(ctx, out, t, err));
    }
    *ret_done = true;
    return TD_OK;
}

static td_code put_unknown(const tk_unigram *u, tk_ctx *ctx, td_str piece, uint32_t start,
                           uint32_t end, tk_tokens *out, td_error *err)
{
    td_str text = { piece.ptr + start, end - start };
    tk_token t = { .id = u->unk, .start = start, .end = end, .value = TK_VALUE_SPAN };
    bool done = false;
    if (!tk_vocab_find(u->vocab, text, &t.id) && u->byte_fallback)
        TD_TRY(put_bytes(u, ctx, piece, start, end, out, &done, err));
    return done ? TD_OK : tk_tokens_add(ctx, out, t, err);
}

/* Mostly there is room. */
static inline td_code put(tk_ctx *ctx, tk_tokens *out, td_id id, uint32_t start, uint32_t end,
                          td_error *err)
{
    if (out->count == out->cap)
        return tk_tokens_add(ctx, out, (tk_token){ .id = id, .start = start, .end = end }, err);
    tk_token *t = &out->items[out->count++];
    t->id = id;
    t->start = start;
    t->end = end;
    t->value = TK_VALUE_ENTRY;
    return TD_OK;
}

/* Turns the best path around: each place on it says from then on where the text that starts there
 * ends. Returns how many texts there are. */
static uint32_t turn_around(place *places, uint32_t len)
{
    uint32_t n = 0;
    for (uint32_t end = len, from = places[len].from; end != 0; n++) {
        uint32_t before = places[from].from;
        places[from].from = end;
        end = from;
        from = before;
    }
    return n;
}

/* The entry that stands for unknown characters is unknown itself. */
static inline bool is_unknown(const tk_unigram *u, uint32_t node)
{
    return node == UNKNOWN || (u->has_unk && u->trie->values[node] == u->unk);
}

static td_code put_path(const tk_unigram *u, tk_ctx *ctx, td_str piece, place *places,
                        tk_tokens *out, td_error *err)
{
    uint32_t len = (uint32_t)piece.len;
    TD_TRY(tk_tokens_reserve(ctx, out, turn_around(places, len), err));
    for (uint32_t start = 0, end; start < len; start = end) {
        end = places[start].from;
        if (!is_unknown(u, places[end].node)) {
            TD_TRY(put(ctx, out, u->trie->values[places[end].node], start, end, err));
            continue;
        }
        while (end < len && is_unknown(u, places[places[end].from].node))
            end = places[end].from;
        TD_TRY(put_unknown(u, ctx, piece, start, end, out, err));
    }
    return TD_OK;
}

/* Room for the sums of a text's start and of all its ends, or of all places. */
static uint32_t ring_size(const tk_unigram *u, size_t len)
{
    uint32_t reach = u->longest > 4 ? u->longest : 4, size = 8;
    while (size <= reach && size <= len)
        size *= 2;
    return size;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                        td_error *err)
{
    const tk_unigram *u = (const tk_unigram *)self;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    uint32_t ring = ring_size(u, piece.len);
    paths all = { .mask = ring - 1 };
    all.places = td_arena_array(&ctx->arena, place, piece.len + 1);
    all.sums = td_arena_array(&ctx->arena, double, ring);
    size_t most = u->longest < piece.len ? u->longest : piece.len;
    walk w = { .texts = td_arena_array(&ctx->arena, found, most + 1) };
    if (all.places == NULL || all.sums == NULL || w.texts == NULL)
        return tk_nomem(ctx, err);
    for (size_t i = 0; i <= piece.len; i++)
        all.places[i].from = NOWHERE;
    all.sums[0] = 0;
    const char *p = piece.ptr, *end = piece.ptr + piece.len;
    while (p < end) {
        uint32_t at = (uint32_t)(p - piece.ptr);
        td_utf8_next(&p, end);
        TD_TRY(visit(u, piece, at, (uint32_t)(p - piece.ptr), &all, &w, err));
    }
    const tk_token *items = out->items;
    TD_TRY(put_path(u, ctx, piece, all.places, out, err));
    if (out->items == items) /* else the tokens lie above the mark */
        td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

const tk_unigram *tk_as_unigram(const tk_model *model)
{
    return model->tokenize == tokenize ? (const tk_unigram *)model : NULL;
}

static bool token_to_id(const tk_model *self, td_str text, td_id *ret)
{
    return tk_vocab_find(((const tk_unigram *)self)->vocab, text, ret);
}

static td_str id_to_token(const tk_model *self, td_id id)
{
    const tk_unigram *u = (const tk_unigram *)self;
    uint32_t low = 0, high = u->twin_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (u->twins[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < u->twin_count && u->twins[low].id == id)
        id = u->twins[low].later;
    return tk_vocab_spell(u->vocab, id);
}

static size_t vocab_size(const tk_model *self)
{
    return ((const tk_unigram *)self)->count;
}

static td_id id_end(const tk_model *self)
{
    return ((const tk_unigram *)self)->count;
}

static td_code describe(const tk_model *self, td_buf *out)
{
    return td_buf_printf(out, ", \"byte_fallback\": %s",
                         ((const tk_unigram *)self)->byte_fallback ? "true" : "false");
}

td_code tk_make_unigram(const tk_at *at, const tk_model **ret)
{
    tk_at field;
    tk_unigram *u = TK_NEW(at->load, tk_unigram);
    if (u == NULL)
        return TD_E_INTERNAL;
    u->base = (tk_model){ .type = "Unigram",
                          .tokenize = tokenize,
                          .token_to_id = token_to_id,
                          .id_to_token = id_to_token,
                          .vocab_size = vocab_size,
                          .id_end = id_end,
                          .describe = describe };
    u->has_unk = tk_at_field(at, "unk_id", &field);
    TD_TRY(tk_opt_uint(at, "unk_id", &u->unk));
    TD_TRY(tk_def_bool(at, "byte_fallback", &u->byte_fallback));
    TD_TRY(tk_unigram_load(at, u));
    if (u->has_unk && u->unk >= u->count)
        return tk_at_fail(at, "unk_id", "not in the vocabulary");
    *ret = &u->base;
    return TD_OK;
}

/* unigram.c - the best path through a piece.
 *
 * For every place the best sum of scores up to there is known; from a place on each vocabulary
 * text that starts there offers its end a sum. The first of equal sums stays, places are visited in
 * order and texts from short to long, as in the reference: so ties fall alike. A character that is
 * no text by itself can be passed over as unknown, for a penalty. Neighbouring unknowns are one
 * token, which is then looked up by its text. */
#include "tokenizer/model/unigram.h"

#include <string.h>

#include "base/utf8.h"
#include "tokenizer/load/components.h"

typedef struct place {
    double score;
    td_id id;
    uint32_t from; /* where the text that ends here starts; NOWHERE: none does */
} place;

#define NOWHERE UINT32_MAX

enum { WALK_MAX = 24 };

/* Field by field: a whole one put together elsewhere is waited for. */
static inline void set(place *to, double score, td_id id, uint32_t from)
{
    to->score = score;
    to->id = id;
    to->from = from;
}

static inline void offer(place *to, double score, td_id id, uint32_t from)
{
    if (to->from == NOWHERE || score > to->score)
        set(to, score, id, from);
}

/* The texts that start at a place, as many as there is room for. */
typedef struct walk {
    uint32_t at;
    uint32_t read;  /* bytes from at on that tell what starts there; 0: what follows does, too */
    uint32_t count;
    bool single;    /* one is the first character */
    struct {
        uint32_t len;
        td_id id;
    } found[WALK_MAX];
} walk;

/* In a row of equal characters what starts at one place starts at the next one, too. */
static inline bool is_repeated(const walk *w, td_str piece, uint32_t at)
{
    return w->read != 0 && piece.ptr[at] == piece.ptr[w->at] && w->read <= piece.len - at &&
           memcmp(piece.ptr + at, piece.ptr + w->at, w->read) == 0;
}

/* Finds them; those that there is no room for are offered to their ends. */
static void find_texts(const tk_unigram *u, td_str piece, uint32_t at, uint32_t char_len,
                       place *places, walk *w)
{
    const char *p = piece.ptr + at, *end = piece.ptr + piece.len;
    uint32_t node = 0;
    w->at = at;
    w->read = w->count = 0;
    w->single = false;
    for (const char *q = p; q < end;) {
        node = tk_prefix_step(u->trie, node, (uint8_t)*q++);
        uint32_t len = (uint32_t)(q - p);
        if (node == 0) {
            w->read = w->count <= WALK_MAX ? len : 0;
            break;
        }
        uint32_t value = u->trie->nodes[node].value;
        if (value == 0)
            continue;
        td_id id = value - 1;
        if (w->count < WALK_MAX) {
            w->found[w->count].len = len;
            w->found[w->count].id = id;
        } else {
            offer(&places[at + len], u->scores[id] + places[at].score, id, at);
        }
        w->count++;
        w->single |= len == char_len;
    }
}

/* Offers all texts that start at a place to their ends. w: of the place before. */
static td_code visit(const tk_unigram *u, td_str piece, uint32_t at, place *places, walk *w,
                     td_error *err)
{
    const char *p = piece.ptr + at, *end = piece.ptr + piece.len, *next = p;
    double here = places[at].score;
    td_utf8_next(&next, end);
    if (!is_repeated(w, piece, at))
        find_texts(u, piece, at, (uint32_t)(next - p), places, w);
    w->at = at;
    for (uint32_t i = 0; i < w->count && i < WALK_MAX; i++)
        offer(&places[at + w->found[i].len], u->scores[w->found[i].id] + here, w->found[i].id, at);
    if (w->single)
        return TD_OK;
    place *to = &places[next - piece.ptr];
    double score = u->unk_score + here;
    if (to->from != NOWHERE && !(score > to->score))
        return TD_OK;
    if (!u->has_unk)
        return td_fail(err, TD_E_TOKENIZER, "model: unknown character and unk_id is null");
    set(to, score, u->unk, at);
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
    tk_token t = { .id = u->unk, .start = start, .end = end, .value = text };
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
    t->value = (td_str){ NULL, 0 };
    return TD_OK;
}

static td_code put_path(const tk_unigram *u, tk_ctx *ctx, td_str piece, const place *places,
                        tk_tokens *out, td_error *err)
{
    uint32_t len = (uint32_t)piece.len, n = 0;
    for (uint32_t at = len; at != 0; at = places[at].from)
        n++;
    uint32_t *ends = td_arena_array(&ctx->arena, uint32_t, (size_t)n + 1);
    if (ends == NULL)
        return tk_nomem(ctx, err);
    TD_TRY(tk_tokens_reserve(ctx, out, n, err));
    uint32_t i = n;
    for (uint32_t at = len; at != 0; at = places[at].from)
        ends[--i] = at;
    for (i = 0; i < n;) {
        const place *p = &places[ends[i]];
        uint32_t start = p->from, end = ends[i++];
        if (!u->has_unk || p->id != u->unk) {
            TD_TRY(put(ctx, out, p->id, start, end, err));
            continue;
        }
        while (i < n && places[ends[i]].id == u->unk)
            end = ends[i++];
        TD_TRY(put_unknown(u, ctx, piece, start, end, out, err));
    }
    return TD_OK;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                        td_error *err)
{
    const tk_unigram *u = (const tk_unigram *)self;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    place *places = td_arena_array(&ctx->arena, place, piece.len + 1);
    if (places == NULL)
        return tk_nomem(ctx, err);
    for (size_t i = 0; i <= piece.len; i++)
        places[i].from = NOWHERE;
    places[0].score = 0;
    const char *p = piece.ptr, *end = piece.ptr + piece.len;
    walk w;
    w.read = 0;
    while (p < end) {
        uint32_t at = (uint32_t)(p - piece.ptr);
        td_utf8_next(&p, end);
        TD_TRY(visit(u, piece, at, places, &w, err));
    }
    const tk_token *items = out->items;
    TD_TRY(put_path(u, ctx, piece, places, out, err));
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

/* unigram.c - the best path through a piece.
 *
 * For every place the best sum of scores up to there is known; from a place on each vocabulary
 * text that starts there offers its end a sum. The first of equal sums stays, places are visited in
 * order and texts from short to long, as in the reference: so ties fall alike. A character that is
 * no text by itself can be passed over as unknown, for a penalty. Neighbouring unknowns are one
 * token, which is then looked up by its text. */
#include "tokenizer/model/unigram.h"

#include "base/utf8.h"
#include "tokenizer/load/components.h"

typedef struct place {
    double score;
    td_id id;
    uint32_t from; /* where the text that ends here starts; NOWHERE: none does */
} place;

#define NOWHERE UINT32_MAX

static void offer(place *to, double score, td_id id, uint32_t from)
{
    if (to->from == NOWHERE || score > to->score)
        *to = (place){ score, id, from };
}

/* All texts that start at a place. */
static td_code visit(const tk_unigram *u, td_str piece, uint32_t at, place *places, td_error *err)
{
    const char *p = piece.ptr + at, *end = piece.ptr + piece.len, *next = p;
    double here = places[at].score;
    td_utf8_next(&next, end);
    bool single = false;
    uint32_t node = 0;
    for (const char *q = p; q < end;) {
        node = tk_prefix_step(u->trie, node, (uint8_t)*q++);
        if (node == 0)
            break;
        uint32_t value = u->trie->nodes[node].value;
        if (value == 0)
            continue;
        td_id id = value - 1;
        offer(&places[q - piece.ptr], u->scores[id] + here, id, at);
        single |= q == next;
    }
    if (single)
        return TD_OK;
    place *to = &places[next - piece.ptr];
    double score = u->unk_score + here;
    if (to->from != NOWHERE && !(score > to->score))
        return TD_OK;
    if (!u->has_unk)
        return td_fail(err, TD_E_TOKENIZER, "model: unknown character and unk_id is null");
    *to = (place){ score, u->unk, at };
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

static td_code put_path(const tk_unigram *u, tk_ctx *ctx, td_str piece, const place *places,
                        tk_tokens *out, td_error *err)
{
    uint32_t len = (uint32_t)piece.len, n = 0;
    for (uint32_t at = len; at != 0; at = places[at].from)
        n++;
    uint32_t *ends = td_arena_array(&ctx->arena, uint32_t, (size_t)n + 1);
    if (ends == NULL)
        return tk_nomem(ctx, err);
    uint32_t i = n;
    for (uint32_t at = len; at != 0; at = places[at].from)
        ends[--i] = at;
    for (i = 0; i < n;) {
        const place *p = &places[ends[i]];
        uint32_t start = p->from, end = ends[i++];
        if (!u->has_unk || p->id != u->unk) {
            tk_token t = { .id = p->id, .start = start, .end = end };
            TD_TRY(tk_tokens_add(ctx, out, t, err));
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
    while (p < end) {
        uint32_t at = (uint32_t)(p - piece.ptr);
        td_utf8_next(&p, end);
        TD_TRY(visit(u, piece, at, places, err));
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

/* unigram.c - the best path through a piece.
 *
 * For every place the best sum of scores up to there is known; each vocabulary text that ends at a
 * place offers the sum of where it starts and its score, the longest text first. The first of equal
 * sums stays. The reference visits the places where texts start, in order, and offers to their
 * ends: to one end the longest text first, too, so ties fall alike. A character that is no text by
 * itself can be passed over as unknown, for a penalty; it comes last. Neighbouring unknowns are one
 * token, which is then looked up by its text.
 *
 * No text reaches back further than the longest, so only so many sums are kept, in a ring. */
#include "tokenizer/model/unigram.h"

#include "base/utf8.h"
#include "tokenizer/load/components.h"

/* The best that ends at a place. */
typedef struct place {
    uint32_t from; /* where it starts */
    uint32_t text; /* its number; UNKNOWN: it is a character that is none */
} place;

typedef struct paths {
    place *places; /* from the start of the piece to its end */
    double *sums;  /* of places, each at its number modulo the size */
    uint32_t mask;
} paths;

#define UNKNOWN ((uint32_t)0) /* the number of no text */

enum { PART = 1024 /* bytes of a piece that are read before places are visited */ };

/* The best that ends at a place: of the texts that end there, the longest of which is best and, if
 * none of them is the character from start to end, of that character as unknown. Which one it is
 * cannot be guessed, so only how many there are is a branch. */
static inline td_code visit(const tk_unigram *u, uint32_t best, uint32_t start, uint32_t end,
                            const paths *all, td_error *err)
{
    const tk_ending *texts = u->texts->texts;
    uint32_t len = texts[best].len, i = texts[best].next;
    all->sums[end & all->mask] = 0; /* where none starts, as its length is 0 */
    double sum = texts[best].score + all->sums[(end - len) & all->mask];
    do { /* two in any case: behind the last one is none, which is worse than all */
        for (int k = 0; k < 2; k++) {
            tk_ending t = texts[i];
            double other = t.score + all->sums[(end - t.len) & all->mask];
            best = other > sum ? i : best;
            sum = other > sum ? other : sum;
            len = i != 0 ? t.len : len;
            i = t.next;
        }
    } while (i != 0);
    uint32_t from = end - texts[best].len;
    if (len != end - start) {
        double other = u->unk_score + all->sums[start & all->mask];
        if (best == UNKNOWN || other > sum) {
            if (!u->has_unk)
                return td_fail(err, TD_E_TOKENIZER, "model: unknown character and unk_id is null");
            sum = other;
            best = UNKNOWN;
            from = start;
        }
    }
    all->sums[end & all->mask] = sum;
    all->places[end] = (place){ from, best };
    return TD_OK;
}

/* Visits the places behind a piece's characters that end behind bytes from to end. longest: the
 * texts that end behind these. *start: of the next character. */
static td_code visit_all(const tk_unigram *u, td_str piece, uint32_t from, uint32_t end,
                         const uint32_t *longest, uint32_t *start, const paths *all, td_error *err)
{
    for (uint32_t at = from; at < end; at++) {
        if (at + 1 < piece.len && td_utf8_is_cont(piece.ptr[at + 1]))
            continue;
        TD_TRY(visit(u, longest[at - from], *start, at + 1, all, err));
        *start = at + 1;
    }
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

/* Unknown characters. entry: they may be a text of the vocabulary. */
static td_code put_unknown(const tk_unigram *u, tk_ctx *ctx, td_str piece, uint32_t start,
                           uint32_t end, bool entry, tk_tokens *out, td_error *err)
{
    td_str text = { piece.ptr + start, end - start };
    tk_token t = { .id = u->unk, .start = start, .end = end, .value = TK_VALUE_SPAN };
    bool done = false;
    bool found = entry && tk_vocab_find(u->vocab, text, &t.id);
    if (!found && u->byte_fallback)
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
static inline bool is_unknown(const tk_unigram *u, uint32_t text)
{
    return text == UNKNOWN || (u->has_unk && text == 1 + u->unk);
}

static td_code put_path(const tk_unigram *u, tk_ctx *ctx, td_str piece, place *places,
                        tk_tokens *out, td_error *err)
{
    uint32_t len = (uint32_t)piece.len;
    TD_TRY(tk_tokens_reserve(ctx, out, turn_around(places, len), err));
    for (uint32_t start = 0, end; start < len; start = end) {
        end = places[start].from;
        if (!is_unknown(u, places[end].text)) {
            TD_TRY(put(ctx, out, places[end].text - 1, start, end, err));
            continue;
        }
        bool entry = u->unknowns_join;
        for (uint32_t next = end; is_unknown(u, places[next].text); next = places[next].from) {
            end = next;
            entry |= places[end].text != UNKNOWN;
            if (end == len)
                break;
        }
        TD_TRY(put_unknown(u, ctx, piece, start, end, entry, out, err));
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

/* Makes room for the paths of a piece, which begin at its start. */
static td_code start_paths(const tk_unigram *u, tk_ctx *ctx, td_str piece, paths *ret,
                           td_error *err)
{
    uint32_t ring = ring_size(u, piece.len);
    *ret = (paths){ .places = td_arena_array(&ctx->arena, place, piece.len + 1),
                    .sums = td_arena_array(&ctx->arena, double, ring),
                    .mask = ring - 1 };
    if (ret->places == NULL || ret->sums == NULL)
        return tk_nomem(ctx, err);
    ret->places[0] = (place){ 0, UNKNOWN };
    ret->sums[0] = 0;
    return TD_OK;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str piece, tk_tokens *out,
                        td_error *err)
{
    const tk_unigram *u = (const tk_unigram *)self;
    td_arena_mark mark = td_arena_save(&ctx->arena);
    uint32_t found[PART], start = 0, len = (uint32_t)piece.len;
    tk_reading r = { .state = 0 };
    paths all;
    TD_TRY(start_paths(u, ctx, piece, &all, err));
    for (uint32_t at = 0; at < len; at += PART) {
        uint32_t end = len - at > PART ? at + PART : len;
        r = (tk_reading){ piece.ptr + at, piece.ptr + end, found, r.state };
        tk_automaton_read(u->texts, &r, 1);
        tk_automaton_ask(u->texts, found, end - at);
        TD_TRY(visit_all(u, piece, at, end, found, &start, &all, err));
    }
    const tk_token *items = out->items;
    TD_TRY(put_path(u, ctx, piece, all.places, out, err));
    if (out->items == items) /* else the tokens lie above the mark */
        td_arena_rewind(&ctx->arena, mark);
    return TD_OK;
}

static td_code tokenize_all(const tk_model *self, tk_ctx *ctx, const td_str *pieces, uint32_t count,
                            tk_tokens *out, uint32_t *ends, td_error *err)
{
    const tk_unigram *u = (const tk_unigram *)self;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += pieces[i].len;
    uint32_t *found = td_arena_array(&ctx->arena, uint32_t, bytes + 1);
    tk_reading *texts = td_arena_array(&ctx->arena, tk_reading, count);
    if (found == NULL || texts == NULL)
        return tk_nomem(ctx, err);
    uint32_t *to = found;
    for (uint32_t i = 0; i < count; to += pieces[i++].len)
        texts[i] = (tk_reading){ pieces[i].ptr, pieces[i].ptr + pieces[i].len, to, 0 };
    tk_automaton_read(u->texts, texts, count);
    tk_automaton_ask(u->texts, found, bytes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t start = 0, len = (uint32_t)pieces[i].len;
        paths all;
        TD_TRY(start_paths(u, ctx, pieces[i], &all, err));
        TD_TRY(visit_all(u, pieces[i], 0, len, found, &start, &all, err));
        TD_TRY(put_path(u, ctx, pieces[i], all.places, out, err));
        ends[i] = out->count;
        found += len;
    }
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
                          .tokenize_all = tokenize_all,
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

/* fast_fresh_pieces.c - words that any model takes, seen for the first time, side by side: what the
 * model has to know of one of them is far away, mostly, and others can be taken until it comes. */
#include "tokenizer/fast_miss.h"
#include "tokenizer/long_words.h"
#include "tokenizer/selfcheck.h"

enum { WORDS = 64, PIECES = 256, AHEAD = 16 };

/* Words that are taken together. */
typedef struct group {
    const tk_fast *f;
    tk_cache *c;
    tk_ctx *ctx;
    td_str text;
    const tk_batch *b;
    tk_pieces list; /* of the word before: storage for the next one */
    uint32_t count, piece_count;
    uint16_t words[WORDS];      /* numbers in the batch */
    uint32_t piece_ends[WORDS]; /* behind the pieces of each */
    td_str pieces[PIECES];
    uint32_t token_ends[PIECES];
} group;

bool tk_takes_some(const tk_fast *f)
{
    return f->bpe == NULL && f->model->tokenize_all != NULL;
}

/* Asks for where a word that is not where it belongs may be. */
static void ask(const group *g, uint32_t k)
{
    td_str word = tk_batch_word(g->b, g->text, k);
    if (word.len <= TK_CACHED_BYTES)
        __builtin_prefetch(tk_other_pair(g->c, g->b->hashes[k]));
    else if (word.len <= TK_RECORD_BYTES)
        tk_long_ask(g->c, word, (uint32_t)g->b->keys[k][0]);
}

static bool is_known(const group *g, uint32_t k)
{
    td_str word = tk_batch_word(g->b, g->text, k);
    td_id room[TK_LANE_SHORT];
    uint32_t count;
    return tk_piece_find(g->c, word, g->b->keys[k], g->b->hashes[k], room, &count) != NULL;
}

/* Keeps what was made of a word, if an equal one in the group has not come before. */
static td_code keep(group *g, uint32_t i, const uint32_t *ends, td_error *err)
{
    uint32_t k = g->words[i], from = i != 0 ? g->piece_ends[i - 1] : 0, to = g->piece_ends[i];
    uint32_t first = from != 0 ? ends[from - 1] : 0, behind = to != 0 ? ends[to - 1] : 0;
    const tk_token *tokens = first < behind ? g->ctx->model.items + first : NULL;
    td_id *ids;
    if (is_known(g, k))
        return TD_OK;
    return tk_piece_keep(g->c, g->ctx, tk_batch_word(g->b, g->text, k), g->b->keys[k],
                         g->b->hashes[k], tokens, behind - first, &ids, err);
}

/* Takes the words of the group. */
static td_code take(group *g, td_error *err)
{
    const tk_model *model = g->f->model;
    tk_tokens *all = &g->ctx->model;
    uint32_t *ends = g->token_ends;
    if (g->piece_count != 0)
        TD_TRY(model->tokenize_all(model, g->ctx, g->pieces, g->piece_count, all, ends, err));
    for (uint32_t i = 0, from = 0; i < g->piece_count; from = ends[i++]) {
        uint32_t count = ends[i] - from;
        tk_tokens own = { count != 0 ? all->items + from : NULL, count, count };
        tk_check_model(model, g->pieces[i], &own);
    }
    for (uint32_t i = 0; i < g->count; i++)
        TD_TRY(keep(g, i, ends, err));
    g->c->fresh += g->count;
    return TD_OK;
}

/* Adds a word and its pieces, unless there are too many of them. */
static td_code add(group *g, uint32_t k, td_error *err)
{
    TD_TRY(tk_word_pieces(g->f, g->ctx, tk_batch_word(g->b, g->text, k), &g->list, err));
    if (g->list.count > PIECES - g->piece_count)
        return TD_OK;
    for (uint32_t i = 0; i < g->list.count; i++) {
        const tk_text *t = &g->list.items[i].text;
        g->pieces[g->piece_count++] = (td_str){ t->ptr, t->len };
    }
    g->words[g->count] = (uint16_t)k;
    g->piece_ends[g->count++] = g->piece_count;
    return TD_OK;
}

/* Takes as many of n words as make up a group, those that are not known. Returns by *ret_taken how
 * many of the n that is. */
static td_code take_some(group *g, const uint16_t *words, uint32_t n, uint32_t *ret_taken,
                         td_error *err)
{
    uint32_t i = 0;
    g->list = (tk_pieces){ 0 };
    g->count = g->piece_count = 0;
    for (; i < n && g->count < WORDS && g->piece_count < PIECES / 2; i++) {
        uint32_t k = words[i];
        if (i + AHEAD < n)
            ask(g, words[i + AHEAD]);
        bool kept = tk_batch_word(g->b, g->text, k).len <= TK_RECORD_BYTES;
        if (kept && !tk_key_is_added(g->b->keys[k]) && !is_known(g, k))
            TD_TRY(add(g, k, err));
    }
    *ret_taken = i;
    return take(g, err);
}

td_code tk_fresh_pieces(const tk_fast *f, tk_cache *c, tk_ctx *ctx, td_str text, const tk_batch *b,
                        const uint16_t *words, uint32_t n, td_error *err)
{
    group g = { .f = f, .c = c, .ctx = ctx, .text = text, .b = b };
    for (uint32_t from = 0, taken; from < n; from += taken) {
        td_arena_mark mark = td_arena_save(&ctx->arena);
        TD_TRY(take_some(&g, words + from, n - from, &taken, err));
        tk_pieces_forget(ctx, mark);
    }
    return TD_OK;
}

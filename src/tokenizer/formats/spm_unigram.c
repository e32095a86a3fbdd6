/* spm_unigram.c - the best path through a text, with SentencePiece's arithmetic.
 *
 * Sums are kept as floats, but compared as what they are computed in: a float where a character is
 * unknown, a double elsewhere. The first of equal sums stays; places are visited in order and
 * pieces from short to long, so ties fall as there. */
#include <float.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/formats/spm.h"

typedef struct place {
    float score;
    td_id id;
    uint32_t from; /* where the piece that ends here starts; NOWHERE: none does */
} place;

#define NOWHERE UINT32_MAX
#define UNKNOWN_PENALTY 10.0f

enum { LOOK_EVERY = 1 << 16 };

/* All pieces that start at a place; len: of its character. */
static void visit(const spm_model *m, td_str text, uint32_t at, uint32_t len, place *places)
{
    const float here = places[at].score;
    bool single = false;
    uint32_t node = 0;
    for (size_t end = at; end < text.len;) {
        node = tk_prefix_step(m->trie, node, (uint8_t)text.ptr[end++]);
        if (node == 0)
            break;
        if (!tk_prefix_ends(m->trie, node))
            continue;
        const td_id id = m->trie->values[node];
        const spm_piece *p = &m->items[id];
        if (p->type == SPM_UNUSED)
            continue;
        place *to = &places[end];
        const size_t bytes = end - at;
        const double score =
            p->type == SPM_USER_DEFINED ? (float)bytes * m->max_score - 0.1 : (double)p->score;
        const double sum = score + here;
        if (to->from == NOWHERE || sum > to->score)
            *to = (place){ (float)sum, id, at };
        single |= bytes == len;
    }
    if (single)
        return;
    place *to = &places[at + len];
    const float sum = m->unk_score + here;
    if (to->from == NOWHERE || sum > to->score)
        *to = (place){ sum, m->unk, at };
}

static td_code put_path(const spm_model *m, tk_ctx *ctx, td_str text, const place *places,
                        tk_tokens *out, td_error *err)
{
    uint32_t n = 0, len = (uint32_t)text.len;
    for (uint32_t at = len; at != 0; at = places[at].from)
        n++;
    uint32_t *ends = td_arena_array(&ctx->arena, uint32_t, (size_t)n + 1);
    if (ends == NULL)
        return tk_nomem(ctx, err);
    uint32_t i = n;
    for (uint32_t at = len; at != 0; at = places[at].from)
        ends[--i] = at;
    spm_output o = { .m = m, .ctx = ctx, .text = text, .out = out };
    for (i = 0; i < n; i++)
        TD_TRY(tk_spm_put(&o, places[ends[i]].id, ends[i] - o.at, err));
    return TD_OK;
}

static td_code tokenize(const tk_model *self, tk_ctx *ctx, td_str text, tk_tokens *out,
                        td_error *err)
{
    const spm_model *m = (const spm_model *)self;
    place *places = td_arena_array(&ctx->arena, place, text.len + 1);
    if (places == NULL)
        return tk_nomem(ctx, err);
    for (size_t i = 0; i <= text.len; i++)
        places[i] = (place){ 0, 0, NOWHERE };
    const char *p = text.ptr, *end = text.ptr + text.len;
    for (uint32_t n = 1; p < end; n++) {
        uint32_t at = (uint32_t)(p - text.ptr);
        td_utf8_next(&p, end);
        visit(m, text, at, (uint32_t)(p - text.ptr) - at, places);
        if (n % LOOK_EVERY == 0)
            TD_TRY(tk_look_around(ctx, err));
    }
    return put_path(m, ctx, text, places, out, err);
}

td_code tk_spm_make_unigram(tk_load *load, spm_model *m)
{
    float low = FLT_MAX, high = FLT_MIN; /* the smallest above zero, as there */
    uint32_t n = 0;
    td_str *texts = td_calloc((size_t)m->count + 1, sizeof *texts);
    uint32_t *values = td_calloc((size_t)m->count + 1, sizeof *values);
    for (uint32_t i = 0; texts != NULL && values != NULL && i < m->count; i++) {
        const spm_piece *p = &m->items[i];
        if (p->type == SPM_NORMAL) {
            low = p->score < low ? p->score : low;
            high = p->score > high ? p->score : high;
        }
        if (p->type == SPM_NORMAL || p->type == SPM_USER_DEFINED || p->type == SPM_UNUSED) {
            texts[n] = p->text;
            values[n++] = i;
        }
    }
    bool room = texts != NULL && values != NULL;
    m->trie = room && n != 0 ? tk_prefix_trie_new(texts, values, n) : NULL;
    td_free(texts);
    td_free(values);
    if (room && n == 0)
        return td_fail(load->err, TD_E_TOKENIZER, "SentencePiece model: no pieces for text");
    if (m->trie == NULL)
        return tk_load_nomem(load);
    TD_TRY(tk_on_free(load, tk_prefix_trie_free, m->trie));
    m->max_score = high;
    m->unk_score = low - UNKNOWN_PENALTY;
    m->base.type = "Unigram";
    m->base.tokenize = tokenize;
    return TD_OK;
}

/* pieces.c - lists of pieces, and splitting a text by matches with the reference's five behaviours.
 *
 * Matches cover a text from its start to its end, hits and gaps; a behaviour says how hits join
 * their neighbours. All lists live in the arena of the call. */
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/pipeline.h"

enum { ITEMS_MIN = 16 };

td_code tk_nomem(tk_ctx *ctx, td_error *err)
{
    return td_arena_fail(&ctx->arena, err);
}

/* Makes room for extra more items of an array in the arena: twice as many as there were, or as many
 * as are wanted. */
static td_code reserve(tk_ctx *ctx, void **items, uint32_t count, uint32_t *cap, uint32_t extra,
                       size_t size, td_error *err)
{
    if (extra <= *cap - count)
        return TD_OK;
    if (*cap >= UINT32_MAX / 4 || extra >= UINT32_MAX / 4)
        return td_fail(err, TD_E_LIMIT, "text has too many pieces");
    uint32_t want = *cap < ITEMS_MIN / 2 ? ITEMS_MIN : *cap * 2;
    if (want < count + extra)
        want = count + extra;
    void *to = td_arena_alloc_n(&ctx->arena, want, size, _Alignof(max_align_t));
    if (to == NULL)
        return tk_nomem(ctx, err);
    if (count != 0)
        memcpy(to, *items, count * size);
    *items = to;
    *cap = want;
    return TD_OK;
}

td_code tk_pieces_reserve(tk_ctx *ctx, tk_pieces *p, uint32_t extra, td_error *err)
{
    return reserve(ctx, (void **)&p->items, p->count, &p->cap, extra, sizeof *p->items, err);
}

td_code tk_pieces_add(tk_ctx *ctx, tk_pieces *p, const tk_piece *piece, td_error *err)
{
    TD_TRY(tk_pieces_reserve(ctx, p, 1, err));
    p->items[p->count++] = *piece;
    return TD_OK;
}

td_code tk_tokens_reserve(tk_ctx *ctx, tk_tokens *t, uint32_t extra, td_error *err)
{
    return reserve(ctx, (void **)&t->items, t->count, &t->cap, extra, sizeof *t->items, err);
}

td_code tk_matches_add(tk_ctx *ctx, tk_matches *m, uint32_t start, uint32_t end, bool hit,
                       td_error *err)
{
    TD_TRY(reserve(ctx, (void **)&m->items, m->count, &m->cap, 1, sizeof *m->items, err));
    m->items[m->count++] = (tk_match){ start, end, hit };
    return TD_OK;
}

td_code tk_encoding_reserve(tk_ctx *ctx, tk_encoding *enc, size_t extra, td_error *err)
{
    if (extra <= enc->cap - enc->count)
        return TD_OK;
    size_t cap = enc->cap * 2 + extra + 64;
    td_arena *a = &ctx->arena;
    tk_encoding to = *enc;
    to.cap = cap;
    to.ids = td_arena_array(a, td_id, cap);
    if (to.ids == NULL)
        return tk_nomem(ctx, err);
    if (ctx->track) {
        to.starts = td_arena_array(a, uint32_t, cap);
        to.ends = td_arena_array(a, uint32_t, cap);
        to.values = td_arena_array(a, td_str, cap);
        if (to.starts == NULL || to.ends == NULL || to.values == NULL)
            return tk_nomem(ctx, err);
    }
    size_t n = enc->count;
    if (n != 0) {
        memcpy(to.ids, enc->ids, n * sizeof *to.ids);
        if (ctx->track) {
            memcpy(to.starts, enc->starts, n * sizeof *to.starts);
            memcpy(to.ends, enc->ends, n * sizeof *to.ends);
            memcpy(to.values, enc->values, n * sizeof *to.values);
        }
    }
    *enc = to;
    return TD_OK;
}

tk_text tk_text_slice(const tk_text *text, uint32_t start, uint32_t end)
{
    tk_text part = { .ptr = text->ptr + start,
                     .len = end - start,
                     .from = text->from + start,
                     .to = text->from + end };
    if (text->align != NULL && start < end) {
        part.align = text->align + start;
        part.from = part.align[0].start;
        part.to = part.align[part.len - 1].end;
    }
    return part;
}

td_code tk_pretok_each(tk_ctx *ctx, tk_pieces *pieces, tk_split_fn fn, const void *self,
                       td_error *err)
{
    tk_pieces out = ctx->pieces;
    out.count = 0;
    TD_TRY(tk_pieces_reserve(ctx, &out, pieces->count, err));
    for (uint32_t i = 0; i < pieces->count; i++) {
        const tk_piece *p = &pieces->items[i];
        if (p->id != TK_NO_ID) {
            TD_TRY(tk_pieces_add(ctx, &out, p, err));
            continue;
        }
        TD_TRY(fn(self, ctx, &p->text, &out, err));
        while (out.count != 0 && out.items[out.count - 1].id == TK_NO_ID &&
               out.items[out.count - 1].text.len == 0)
            out.count--;
    }
    ctx->pieces = *pieces;
    *pieces = out;
    return TD_OK;
}

td_code tk_matches_chars(tk_ctx *ctx, const tk_text *text, bool (*is_hit)(const void *, uint32_t),
                         const void *self, tk_matches *ret, td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    uint32_t gap = 0;
    while (p < end) {
        uint32_t at = (uint32_t)(p - text->ptr);
        if (!is_hit(self, td_utf8_next(&p, end)))
            continue;
        if (gap < at)
            TD_TRY(tk_matches_add(ctx, ret, gap, at, false, err));
        gap = (uint32_t)(p - text->ptr);
        TD_TRY(tk_matches_add(ctx, ret, at, gap, true, err));
    }
    if (gap < text->len)
        TD_TRY(tk_matches_add(ctx, ret, gap, text->len, false, err));
    return TD_OK;
}

/* Joins each entry whose hit flag fits the rule into the one before it, in place. */
static void join_forward(tk_matches *m, tk_behavior behavior)
{
    bool previous = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        tk_match it = m->items[i];
        bool joins = behavior == TK_CONTIGUOUS ? it.hit == previous : it.hit && !previous;
        if (joins && n != 0)
            m->items[n - 1].end = it.end;
        else
            m->items[n++] = it;
        previous = it.hit;
    }
    m->count = n;
}

static void join_backward(tk_matches *m)
{
    bool previous = false;
    uint32_t n = m->count; /* the kept ones gather at the end */
    for (uint32_t i = m->count; i-- > 0;) {
        tk_match it = m->items[i];
        if (it.hit && !previous && n != m->count)
            m->items[n].start = it.start;
        else
            m->items[--n] = it;
        previous = it.hit;
    }
    m->items += n;
    m->count -= n;
}

td_code tk_split(tk_ctx *ctx, const tk_text *text, const tk_matches *m, tk_behavior behavior,
                 tk_pieces *out, td_error *err)
{
    tk_matches parts = *m;
    if (behavior == TK_MERGED_WITH_NEXT)
        join_backward(&parts);
    else if (behavior == TK_MERGED_WITH_PREVIOUS || behavior == TK_CONTIGUOUS)
        join_forward(&parts, behavior);
    TD_TRY(tk_pieces_reserve(ctx, out, parts.count, err));
    for (uint32_t i = 0; i < parts.count; i++) {
        const tk_match *it = &parts.items[i];
        if (it->start == it->end || (behavior == TK_REMOVED && it->hit))
            continue;
        tk_piece *piece = &out->items[out->count++];
        piece->text = tk_text_slice(text, it->start, it->end);
        piece->id = TK_NO_ID;
    }
    return TD_OK;
}

/* aligned.c - Unicode normalization that says which original characters each new one stands for.
 *
 * The reference streams: a character decomposes into parts (the first replaces it, the others are
 * inserted), parts are put into canonical order with their marks of change, and composing adds the
 * marks of the two parts up. Here the order comes from td_norm itself: equal parts keep their
 * order, so sorting both sequences by part pairs them up. Composition asks td_norm about two
 * characters at a time. Text is taken in stretches that cannot influence each other: between
 * characters below U+0300. This is for offsets only; nothing here is fast. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/norm/norm.h"

typedef struct part {
    uint32_t c;
    int32_t change;
} part;

typedef struct worker {
    tk_ctx *ctx;
    td_norm_form decompose;
    bool compose;
    td_buf a, b; /* scratch */
    tk_edit edit;
    td_error *err;
} worker;

static td_code norm_into(worker *w, td_norm_form form, td_buf *out, td_str s)
{
    out->len = 0;
    td_code code = td_norm(form, out, s);
    return code == TD_OK ? TD_OK : td_buf_fail(out, w->err, code, "normalized text");
}

/* Code points of a text into an array of the arena. */
static td_code code_points(worker *w, td_str s, part **ret, uint32_t *ret_count)
{
    part *parts = td_arena_array(&w->ctx->arena, part, s.len + 1);
    if (parts == NULL)
        return tk_nomem(w->ctx, w->err);
    const char *p = s.ptr, *end = s.ptr + s.len;
    uint32_t n = 0;
    while (p < end)
        parts[n++] = (part){ td_utf8_next(&p, end), 0 };
    *ret = parts;
    *ret_count = n;
    return TD_OK;
}

/* The parts of the characters of s, not yet in canonical order. */
static td_code raw_parts(worker *w, td_str s, part **ret, uint32_t *ret_count)
{
    w->b.len = 0;
    size_t room = s.len * 24 + 64; /* no character has more than 18 parts of 4 bytes */
    part *parts = td_arena_array(&w->ctx->arena, part, room / 4);
    if (parts == NULL)
        return tk_nomem(w->ctx, w->err);
    const char *p = s.ptr, *end = s.ptr + s.len;
    uint32_t n = 0;
    while (p < end) {
        const char *from = p;
        td_utf8_next(&p, end);
        TD_TRY(norm_into(w, w->decompose, &w->a, (td_str){ from, (size_t)(p - from) }));
        const char *q = w->a.ptr, *stop = w->a.ptr + w->a.len;
        for (int32_t change = 0; q < stop && n < room / 4; change = 1)
            parts[n++] = (part){ td_utf8_next(&q, stop), change };
    }
    *ret = parts;
    *ret_count = n;
    return TD_OK;
}

typedef struct ranked {
    uint32_t c, at;
} ranked;

static int by_part(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->c != y->c)
        return x->c < y->c ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static td_code ranks(worker *w, const part *parts, uint32_t n, ranked **ret)
{
    ranked *r = td_arena_array(&w->ctx->arena, ranked, (size_t)n + 1);
    if (r == NULL)
        return tk_nomem(w->ctx, w->err);
    for (uint32_t i = 0; i < n; i++)
        r[i] = (ranked){ parts[i].c, i };
    qsort(r, n, sizeof *r, by_part);
    *ret = r;
    return TD_OK;
}

/* The decomposed text in canonical order, with its changes. */
static td_code decomposed(worker *w, td_str s, part **ret, uint32_t *ret_count)
{
    part *raw = NULL, *out = NULL;
    uint32_t n = 0, m = 0;
    ranked *from = NULL, *to = NULL;
    TD_TRY(raw_parts(w, s, &raw, &n));
    TD_TRY(norm_into(w, w->decompose, &w->a, s));
    TD_TRY(code_points(w, td_buf_view(&w->a), &out, &m));
    if (m != n)
        return td_fail(w->err, TD_E_INTERNAL, "normalization lost characters");
    TD_TRY(ranks(w, raw, n, &from));
    TD_TRY(ranks(w, out, n, &to));
    for (uint32_t i = 0; i < n; i++)
        out[to[i].at].change = raw[from[i].at].change;
    *ret = out;
    *ret_count = n;
    return TD_OK;
}

/* What two characters become in form; how many that is. */
static td_code pair_norm(worker *w, td_norm_form form, uint32_t x, uint32_t y, uint32_t *ret_first,
                         uint32_t *ret_count)
{
    char text[8];
    size_t len = td_utf8_put(text, x);
    len += td_utf8_put(text + len, y);
    TD_TRY(norm_into(w, form, &w->b, (td_str){ text, len }));
    const char *p = w->b.ptr, *end = w->b.ptr + w->b.len;
    *ret_count = (uint32_t)td_utf8_count(td_buf_view(&w->b));
    *ret_first = td_utf8_next(&p, end);
    return TD_OK;
}

/* Whether canonical order moves y before x. Both are single parts. */
static td_code goes_before(worker *w, uint32_t y, uint32_t x, bool *ret)
{
    uint32_t first, count;
    TD_TRY(pair_norm(w, TD_NFD, x, y, &first, &count));
    *ret = first == y && x != y;
    return TD_OK;
}

/* Class 0. U+0345 has the highest class of all, so every other mark goes before it. */
static td_code is_starter(worker *w, uint32_t c, bool *ret)
{
    bool before = false;
    if (c < 0x300) {
        *ret = true;
        return TD_OK;
    }
    TD_TRY(goes_before(w, c, 0x345, &before));
    *ret = !before && c != 0x345;
    return TD_OK;
}

static td_code put(worker *w, part p)
{
    return tk_edit_char(&w->edit, p.c, p.change, w->err);
}

/* The state of composing: a starter, and the marks behind it that stayed. */
typedef struct composer {
    bool has;
    part starter;
    part *marks;
    uint32_t count;
} composer;

static td_code flush(worker *w, composer *c)
{
    if (c->has)
        TD_TRY(put(w, c->starter));
    for (uint32_t i = 0; i < c->count; i++)
        TD_TRY(put(w, c->marks[i]));
    c->has = false;
    c->count = 0;
    return TD_OK;
}

static td_code compose_one(worker *w, composer *c, part p)
{
    bool starter, blocked = false;
    TD_TRY(is_starter(w, p.c, &starter));
    if (!c->has) {
        if (!starter)
            return put(w, p);
        c->has = true;
        c->starter = p;
        return TD_OK;
    }
    if (c->count != 0) { /* blocked by a mark of the same class, or any if p is a starter */
        bool rises = false;
        if (!starter)
            TD_TRY(goes_before(w, c->marks[c->count - 1].c, p.c, &rises));
        blocked = !rises;
    }
    if (!blocked) {
        uint32_t first, count;
        TD_TRY(pair_norm(w, TD_NFC, c->starter.c, p.c, &first, &count));
        if (count == 1) {
            c->starter = (part){ first, c->starter.change + p.change - 1 };
            return TD_OK;
        }
    }
    if (starter) {
        TD_TRY(flush(w, c));
        c->has = true;
        c->starter = p;
        return TD_OK;
    }
    c->marks[c->count++] = p;
    return TD_OK;
}

static td_code stretch(worker *w, td_str s)
{
    part *parts = NULL;
    uint32_t n = 0;
    TD_TRY(decomposed(w, s, &parts, &n));
    if (!w->compose) {
        for (uint32_t i = 0; i < n; i++)
            TD_TRY(put(w, parts[i]));
        return TD_OK;
    }
    composer c = { .marks = td_arena_array(&w->ctx->arena, part, (size_t)n + 1) };
    if (c.marks == NULL)
        return tk_nomem(w->ctx, w->err);
    for (uint32_t i = 0; i < n; i++)
        TD_TRY(compose_one(w, &c, parts[i]));
    return flush(w, &c);
}

static td_code run(worker *w, td_str s)
{
    const char *p = s.ptr, *end = s.ptr + s.len;
    while (p < end) {
        const char *from = p;
        td_utf8_next(&p, end);
        while (p < end && (unsigned char)*p >= 0xCC) /* U+0300 and up */
            td_utf8_next(&p, end);
        TD_TRY(stretch(w, (td_str){ from, (size_t)(p - from) }));
    }
    return TD_OK;
}

td_code tk_norm_aligned(td_norm_form form, tk_ctx *ctx, tk_text *text, td_error *err)
{
    worker w = { .ctx = ctx, .err = err };
    w.compose = form == TD_NFC || form == TD_NFKC;
    w.decompose = form == TD_NFC || form == TD_NFD ? TD_NFD : TD_NFKD;
    tk_edit_begin(&w.edit, ctx, text, 0);
    td_code code = run(&w, (td_str){ text->ptr, text->len });
    if (code == TD_OK)
        code = tk_edit_end(&w.edit, text, err);
    td_buf_done(&w.a);
    td_buf_done(&w.b);
    return code;
}

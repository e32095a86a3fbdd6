/* edit.c - rewriting a text while its alignment to the original follows.
 *
 * This mirrors transform_range() of the reference step by step, because its corner cases show in
 * offsets: an inserted character takes the alignment of the byte before it (or of nothing at the
 * very start), and an edit of "everything" covers only what is aligned to some original text. */
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/pipeline.h"

/* The bytes that "all of the original text" means in text; false: the reference does nothing. */
static bool whole_range(const tk_text *text, uint32_t *ret_start, uint32_t *ret_end)
{
    *ret_start = 0;
    *ret_end = text->len;
    if (text->align == NULL)
        return text->len != 0;
    if (text->from == text->to) {
        *ret_end = 0;
        return true;
    }
    uint32_t start = 0, end = 0;
    bool found = false;
    for (; end < text->len && text->align[end].end <= text->to; end++) {
        if (!found && text->align[end].start != text->align[end].end) {
            found = true;
            start = end;
        }
    }
    if (end == 0)
        return false;
    *ret_start = found ? start : end;
    *ret_end = end;
    return true;
}

td_code tk_text_track(tk_ctx *ctx, tk_text *text, td_error *err)
{
    tk_align *align = td_arena_array(&ctx->arena, tk_align, (size_t)text->len + 1);
    if (align == NULL)
        return tk_nomem(ctx, err);
    const char *p = text->ptr, *end = text->ptr + text->len;
    while (p < end) {
        uint32_t start = (uint32_t)(p - text->ptr);
        td_utf8_next(&p, end);
        uint32_t stop = (uint32_t)(p - text->ptr);
        for (uint32_t i = start; i < stop; i++)
            align[i] = (tk_align){ start, stop };
    }
    text->align = align;
    return TD_OK;
}

bool tk_text_is_whole(const tk_text *text)
{
    uint32_t start, end;
    return whole_range(text, &start, &end) && start == 0 && end == text->len;
}

void tk_edit_begin_range(tk_edit *e, tk_ctx *ctx, const tk_text *text, uint32_t start, uint32_t end)
{
    *e = (tk_edit){ .ctx = ctx, .in = *text, .begin = start, .end = end, .taken = start };
}

void tk_edit_begin(tk_edit *e, tk_ctx *ctx, const tk_text *text, uint32_t removed)
{
    uint32_t start = 0, end = 0;
    bool any = whole_range(text, &start, &end);
    tk_edit_begin_range(e, ctx, text, start, end);
    e->void_range = !any;
    for (; removed != 0 && e->taken < end; removed--) {
        const char *p = text->ptr + e->taken;
        td_utf8_next(&p, text->ptr + end);
        e->taken = (uint32_t)(p - text->ptr);
    }
}

static td_code make_room(tk_edit *e, uint32_t extra, td_error *err)
{
    td_arena *a = &e->ctx->arena;
    if (e->out.ptr != NULL && extra <= e->out.cap - e->out.len)
        return TD_OK;
    size_t cap = e->out.cap * 2 + extra + e->in.len + 64;
    if (cap > UINT32_MAX - TD_BUF_SLACK)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc(a, cap + TD_BUF_SLACK, 1);
    if (to == NULL)
        return tk_nomem(e->ctx, err);
    if (e->out.len != 0)
        memcpy(to, e->out.ptr, e->out.len);
    if (e->in.align != NULL) {
        tk_align *align = td_arena_array(a, tk_align, cap);
        if (align == NULL)
            return tk_nomem(e->ctx, err);
        if (e->out.len != 0)
            memcpy(align, e->align, e->out.len * sizeof *align);
        e->align = align;
    }
    e->out.ptr = to;
    e->out.cap = cap;
    return TD_OK;
}

/* Moves over one character of the part that is being replaced. */
static void take(tk_edit *e)
{
    if (e->taken >= e->end)
        return;
    const char *p = e->in.ptr + e->taken;
    td_utf8_next(&p, e->in.ptr + e->end);
    e->taken = (uint32_t)(p - e->in.ptr);
}

td_code tk_edit_char(tk_edit *e, uint32_t c, int32_t change, td_error *err)
{
    if (e->void_range)
        return TD_OK;
    if (e->out.ptr == NULL || e->out.cap - e->out.len < 4)
        TD_TRY(make_room(e, 4, err));
    size_t n = td_utf8_put(e->out.ptr + e->out.len, c);
    if (e->in.align == NULL) { /* then nobody asks how much was taken */
        e->out.len += n;
        return TD_OK;
    }
    tk_align align = { e->in.from, e->in.from };
    if (change > 0) {
        if (e->taken > 0)
            align = e->in.align[e->taken - 1];
    } else if (e->taken < e->in.len) {
        align = e->in.align[e->taken];
    } else { /* happens behind texts that a pattern put at the start */
        return td_fail(err, TD_E_TOKENIZER, "the normalizers cannot be applied to this text");
    }
    for (size_t i = 0; i < n; i++)
        e->align[e->out.len + i] = align;
    e->out.len += n;
    if (change <= 0)
        take(e);
    for (; change < 0; change++)
        take(e);
    return TD_OK;
}

td_code tk_edit_raw(tk_edit *e, const char *ptr, uint32_t len, const tk_align *align, td_error *err)
{
    if (e->void_range || len == 0)
        return TD_OK;
    TD_TRY(make_room(e, len, err));
    memcpy(e->out.ptr + e->out.len, ptr, len);
    if (e->in.align != NULL)
        memcpy(e->align + e->out.len, align, len * sizeof *align);
    e->out.len += len;
    return TD_OK;
}

td_code tk_edit_end(tk_edit *e, tk_text *ret, td_error *err)
{
    if (e->void_range) {
        *ret = e->in;
        return TD_OK;
    }
    uint32_t tail = e->in.len - e->end, head = e->begin;
    const tk_align *align = e->in.align;
    TD_TRY(make_room(e, head + tail + 1, err));
    if (head != 0) {
        memmove(e->out.ptr + head, e->out.ptr, e->out.len);
        memcpy(e->out.ptr, e->in.ptr, head);
        if (align != NULL) {
            memmove(e->align + head, e->align, e->out.len * sizeof *align);
            memcpy(e->align, align, head * sizeof *align);
        }
        e->out.len += head;
    }
    if (tail != 0) {
        memcpy(e->out.ptr + e->out.len, e->in.ptr + e->end, tail);
        if (align != NULL)
            memcpy(e->align + e->out.len, align + e->end, tail * sizeof *align);
        e->out.len += tail;
    }
    *ret = (tk_text){ .ptr = e->out.ptr,
                      .len = (uint32_t)e->out.len,
                      .from = e->in.from,
                      .to = e->in.to,
                      .align = e->align };
    return TD_OK;
}

td_code tk_text_prepend(tk_ctx *ctx, tk_text *text, td_str head, td_error *err)
{
    if (text->len == 0)
        return TD_OK;
    const char *p = text->ptr, *end = text->ptr + text->len;
    uint32_t first = td_utf8_next(&p, end);
    tk_edit e;
    tk_edit_begin_range(&e, ctx, text, 0, (uint32_t)(p - text->ptr));
    const char *h = head.ptr, *head_end = head.ptr + head.len;
    for (int32_t change = 0; h < head_end; change = 1)
        TD_TRY(tk_edit_char(&e, td_utf8_next(&h, head_end), change, err));
    TD_TRY(tk_edit_char(&e, first, 1, err));
    return tk_edit_end(&e, text, err);
}

td_code tk_text_replace(tk_ctx *ctx, tk_text *text, const tk_matches *m, td_str content,
                        td_error *err)
{
    tk_edit e;
    tk_edit_begin_range(&e, ctx, text, 0, text->len);
    for (uint32_t i = 0; i < m->count; i++) {
        const tk_match *it = &m->items[i];
        if (!it->hit) {
            TD_TRY(tk_edit_raw(&e, text->ptr + it->start, it->end - it->start,
                               text->align != NULL ? text->align + it->start : NULL, err));
            continue;
        }
        e.taken = it->end; /* inserted text is aligned to the last byte that it replaces */
        const char *c = content.ptr, *end = content.ptr + content.len;
        while (c < end)
            TD_TRY(tk_edit_char(&e, td_utf8_next(&c, end), 1, err));
    }
    return tk_edit_end(&e, text, err);
}

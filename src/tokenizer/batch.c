/* batch.c - many texts in one list, and offsets in code points. */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "tokenizer/internal.h"

/* ---- code points ---- */

/* Offsets nearly always ascend, so one cursor that walks both ways is enough. */
typedef struct cursor {
    td_str text;
    size_t byte, point; /* so many characters start before byte */
} cursor;

/* The character that a byte of the text belongs to. */
static uint32_t point_at(cursor *c, size_t byte)
{
    const char *p = c->text.ptr;
    if (byte == 0) /* special tokens are at no place of the text, and must not move the cursor */
        return 0;
    for (; c->byte < byte; c->byte++)
        c->point += !td_utf8_is_cont(p[c->byte]);
    for (; c->byte > byte; c->byte--)
        c->point -= !td_utf8_is_cont(p[c->byte - 1]);
    return (uint32_t)(c->point - td_utf8_is_cont(p[byte]));
}

/* As the reference converts them: what starts behind the text keeps its numbers. (Byte tokens that
 * stand for a prefix or suffix of the model have such places, and so has an empty token at the
 * end.) */
void tk_offsets_to_code_points(td_str text, uint32_t *starts, uint32_t *ends, size_t count)
{
    cursor c = { text, 0, 0 };
    for (size_t i = 0; i < count; i++) {
        uint32_t end = ends[i];
        if (starts[i] >= text.len)
            continue;
        starts[i] = point_at(&c, starts[i]);
        ends[i] = end < text.len    ? point_at(&c, end)
                  : end == text.len ? point_at(&c, end - 1) + 1
                                    : starts[i] + 2;
    }
}

/* ---- batches ---- */

void tk_lists_done(tk_lists *batch)
{
    td_buf_done(&batch->ids);
    td_buf_done(&batch->starts);
    td_buf_done(&batch->ends);
    td_buf_done(&batch->first);
}

size_t tk_lists_bytes(const tk_lists *batch)
{
    return batch->ids.cap + batch->starts.cap + batch->ends.cap + batch->first.cap;
}

static td_code put(td_buf *to, const void *items, size_t count)
{
    return td_buf_append(to, items, count * sizeof(td_id));
}

static td_code put_first(tk_lists *b)
{
    size_t first = b->ids.len / sizeof(td_id);
    return td_buf_append(&b->first, (const char *)&first, sizeof first);
}

static td_code add_text(td_encoder *enc, td_str text, unsigned flags, td_error *err)
{
    tk_lists *b = &enc->batch;
    td_ids ids;
    TD_TRY(td_encode(enc, text, flags, &ids, err));
    td_code code = put(&b->ids, ids.ids, ids.count);
    if (code == TD_OK && ids.starts != NULL)
        code = put(&b->starts, ids.starts, ids.count);
    if (code == TD_OK && ids.ends != NULL)
        code = put(&b->ends, ids.ends, ids.count);
    if (code == TD_OK)
        code = put_first(b);
    return code == TD_OK ? TD_OK : td_buf_fail(&b->ids, err, code, "ids");
}

/* One list with each text at the start of its width entries, the rest of them filled. */
static void spread(td_buf *list, const size_t *first, size_t count, size_t width, bool left,
                   uint32_t fill)
{
    uint32_t *items = (uint32_t *)(void *)list->ptr;
    for (size_t i = count; i-- > 0;) {
        size_t n = first[i + 1] - first[i], pad = width - n;
        uint32_t *to = items + i * width;
        memmove(to + (left ? pad : 0), items + first[i], n * sizeof *items);
        for (size_t k = 0; k < pad; k++)
            to[left ? k : n + k] = fill;
    }
    list->len = count * width * sizeof *items;
}

/* Pads all texts to the longest one. */
static td_code pad_all(td_encoder *enc, size_t count, bool offsets, td_error *err)
{
    const tk_padding *p = enc->tok->padding;
    tk_lists *b = &enc->batch;
    size_t *first = (size_t *)(void *)b->first.ptr, width = 0;
    for (size_t i = 0; i < count; i++)
        if (first[i + 1] - first[i] > width)
            width = first[i + 1] - first[i];
    td_buf *const lists[] = { &b->ids, &b->starts, &b->ends };
    if (width == 0)
        return TD_OK;
    if (count > SIZE_MAX / 8 / width)
        return td_fail(err, TD_E_LIMIT, "padding: too long");
    for (int i = 0; i < (offsets ? 3 : 1); i++) {
        td_code code = td_buf_reserve(lists[i], count * width * sizeof(uint32_t) - lists[i]->len);
        if (code != TD_OK)
            return td_buf_fail(lists[i], err, code, "ids");
        spread(lists[i], first, count, width, p->left, i == 0 ? p->id : 0);
    }
    for (size_t i = 0; i < count; i++)
        first[i + 1] = (i + 1) * width;
    return TD_OK;
}

static td_code encode_all(td_encoder *enc, const td_str *texts, size_t count, unsigned flags,
                          td_error *err)
{
    tk_lists *b = &enc->batch;
    b->ids.len = b->starts.len = b->ends.len = b->first.len = 0;
    td_code code = put_first(b);
    if (code != TD_OK)
        return td_buf_fail(&b->first, err, code, "ids");
    for (size_t i = 0; i < count; i++) {
        code = add_text(enc, texts[i], flags, err);
        if (code != TD_OK)
            return td_while(err, "text %zu", i);
    }
    const tk_padding *p = enc->tok->padding;
    if (p != NULL && p->longest && count != 0 && (flags & TD_ENCODE_NO_ADDED) == 0)
        return pad_all(enc, count, (flags & TD_ENCODE_OFFSETS) != 0, err);
    return TD_OK;
}

td_code td_encode_batch(td_encoder *enc, const td_str *texts, size_t text_count, unsigned flags,
                        td_batch *ret_batch, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_code code = encode_all(enc, texts, text_count, flags, &local);
    if (code != TD_OK && err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    if (code != TD_OK)
        return code;
    const tk_lists *b = &enc->batch;
    bool offsets = (flags & TD_ENCODE_OFFSETS) != 0;
    *ret_batch = (td_batch){
        .ids = (const td_id *)(const void *)b->ids.ptr,
        .starts = offsets ? (const uint32_t *)(const void *)b->starts.ptr : NULL,
        .ends = offsets ? (const uint32_t *)(const void *)b->ends.ptr : NULL,
        .first = (const size_t *)(const void *)b->first.ptr,
        .text_count = text_count,
    };
    return TD_OK;
}

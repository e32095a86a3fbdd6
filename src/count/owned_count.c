/* owned_count.c - whose tokens they are, mostly without encoding.
 *
 * Counts add up over segments (tokenizer/segments.h), and most borders between messages are borders
 * of segments, as templates put special tokens there. So segments are counted as ever, and only one
 * that goes over a border is encoded, to see on which side its tokens are. Where a segment cannot
 * be encoded by itself the whole text is. A token belongs to the message of its first character. */
#include "count/owned_count.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"

static td_code add(td_owned_list *list, int64_t message, uint64_t tokens, td_error *err)
{
    if (tokens == 0)
        return TD_OK;
    size_t end = (size_t)(list->tokens + tokens);
    td_owned *last = list->count != 0 ? &list->items[list->count - 1] : NULL;
    if (last == NULL || last->message != message) {
        if (list->count == list->cap) {
            size_t cap = list->cap != 0 ? list->cap * 2 : 32;
            td_owned *items = td_realloc(list->items, cap * sizeof *items);
            if (items == NULL)
                return td_fail_nomem(err);
            list->items = items;
            list->cap = cap;
        }
        last = &list->items[list->count++];
        *last = (td_owned){ message, (size_t)list->tokens, 0 };
    }
    last->end = end;
    list->tokens = end;
    return TD_OK;
}

/* Walks along text and marks together. */
typedef struct cursor {
    const jj_marks *marks;
    size_t behind; /* marks at or before the place */
} cursor;

static int64_t owner_at(cursor *c, size_t place)
{
    while (c->behind < c->marks->count && c->marks->items[c->behind].start <= place)
        c->behind++;
    return c->behind != 0 ? c->marks->items[c->behind - 1].message : -1;
}

/* The end of what owner_at told. */
static size_t border(const cursor *c)
{
    return c->behind < c->marks->count ? c->marks->items[c->behind].start : SIZE_MAX;
}

/* Adds ids of a part of the text that begins at the byte start; their offsets are code points. */
static td_code add_ids(cursor *c, td_str part, size_t start, td_ids ids, td_owned_list *list,
                       td_error *err)
{
    size_t byte = 0, point = 0;
    for (size_t i = 0; i < ids.count; i++) {
        for (; point < ids.starts[i] && byte < part.len; point++) {
            byte++;
            while (byte < part.len && td_utf8_is_cont(part.ptr[byte]))
                byte++;
        }
        TD_TRY(add(list, owner_at(c, start + byte), 1, err));
    }
    return TD_OK;
}

td_code td_owned_of_ids(const jj_marks *marks, td_str text, td_ids ids, td_owned_list *ret,
                        td_error *err)
{
    cursor c = { marks, 0 };
    ret->count = 0;
    ret->tokens = ret->reused = 0;
    return add_ids(&c, text, 0, ids, ret, err);
}

/* A segment: its tokens, and whether it goes over a border. */
typedef struct piece {
    td_segment segment;
    uint64_t tokens;
    struct piece *next;
} piece;

/* Counts all segments; *ret_first is their list. */
static td_code count_pieces(const td_text_count_job *job, td_str text, td_arena *a,
                            uint64_t *reused, piece **ret_first, td_error *err)
{
    piece **end = ret_first;
    TD_TRY(td_cutter_start(job->cutter, text, job->flags, err));
    for (td_segment s; td_cutter_next(job->cutter, &s);) {
        piece *p = td_arena_new(a, piece);
        if (p == NULL)
            return td_arena_fail(a, err);
        *p = (piece){ .segment = s };
        TD_TRY(td_text_count_segment(job, &s, &p->tokens, reused, err));
        *end = p;
        end = &p->next;
    }
    return TD_OK;
}

/* Encodes a piece that goes over a border. *ret_done: it could be encoded by itself. */
static td_code split(const td_text_count_job *job, cursor *c, const piece *p, size_t start,
                     td_owned_list *list, bool *ret_done, td_error *err)
{
    uint32_t context = p->segment.state & ~(uint32_t)(TD_SEG_TEXT | TD_SEG_PLAIN);
    *ret_done = false;
    if (context != 0)
        return TD_OK;
    unsigned flags = job->flags | TD_ENCODE_OFFSETS | TD_ENCODE_CODE_POINTS;
    if ((p->segment.state & TD_SEG_TEXT) != 0)
        flags |= TD_ENCODE_NO_ADDED;
    td_ids ids;
    TD_TRY(td_encode(job->encoder, p->segment.text, flags, &ids, err));
    *ret_done = ids.count == p->tokens;
    return *ret_done ? add_ids(c, p->segment.text, start, ids, list, err) : TD_OK;
}

static td_code count_whole(const td_text_count_job *job, const jj_marks *marks, td_str text,
                           td_owned_list *ret, td_error *err)
{
    td_ids ids;
    unsigned flags = job->flags | TD_ENCODE_OFFSETS | TD_ENCODE_CODE_POINTS;
    TD_TRY(td_encode(job->encoder, text, flags, &ids, err));
    return td_owned_of_ids(marks, text, ids, ret, err);
}

td_code td_owned_count(const td_text_count_job *job, const jj_marks *marks, td_str text,
                       td_arena *a, td_owned_list *ret, td_error *err)
{
    if (job->memo == NULL)
        return count_whole(job, marks, text, ret, err);
    piece *first = NULL;
    cursor c = { marks, 0 };
    ret->count = 0;
    ret->tokens = ret->reused = 0;
    TD_TRY(count_pieces(job, text, a, &ret->reused, &first, err));
    for (const piece *p = first; p != NULL; p = p->next) {
        size_t start = (size_t)(p->segment.text.ptr - text.ptr);
        bool done = true;
        if (p->segment.text.len == 0)
            start = text.len;
        int64_t owner = owner_at(&c, start);
        if (p->tokens <= 1 || p->segment.text.len <= border(&c) - start)
            TD_TRY(add(ret, owner, p->tokens, err));
        else
            TD_TRY(split(job, &c, p, start, ret, &done, err));
        if (!done)
            return count_whole(job, marks, text, ret, err);
    }
    return TD_OK;
}

/* segments.c - cutting at added tokens, and between them with chunks.c (see segments.h).
 *
 * Why that is exact: text between two added tokens with normalized=false is normalized,
 * pre-tokenized and tokenized as a piece of its own, whatever stands around it; only whether
 * something stands before it at all can matter, to a pre-tokenizer that treats the start of the
 * input in its own way, and then it is part of the state. Pieces overlap only where a token that
 * swallows white space meets another one in it; such a text stays whole. */
#include "tokenizer/segments.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/chunks.h"
#include "tokenizer/internal.h"

struct td_cutter {
    const td_tokenizer *tok;
    tk_chunks chunks;
    bool can_cut;
    unsigned flags;
    td_str all;         /* what was begun */
    size_t next;        /* bytes of it in stretches that were given out */
    bool ended;         /* so was the last stretch */
    td_segment stretch; /* the one entered; all that follows is about it */
    td_str text;
    size_t at;    /* bytes given out */
    size_t begin; /* of what lies between the added tokens around it; SIZE_MAX: before the text */
    size_t cursor;
    tk_hit hit;
    bool has_hit, whole, want_special;
    bool want_whole; /* a text that is not cut is still to come */
};

td_cutter *td_cutter_new(td_encoder *enc)
{
    td_cutter *c = td_calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    const td_tokenizer *tok = c->tok = enc->tok;
    c->can_cut = (tok->post == NULL || tok->post->copies == 1) && tok->truncation == NULL &&
                 tok->padding == NULL;
    tk_chunks_init(&c->chunks, tok);
    return c;
}

void tk_cutter_force_short(td_cutter *c)
{
    c->chunks.stretch_min = 4;
    c->chunks.stretch_bits = 0;
}

void td_cutter_free(td_cutter *c)
{
    td_free(c);
}

static bool next_hit(td_cutter *c, size_t from)
{
    const tk_added *a = &c->tok->added;
    return a->raw != NULL && tk_added_next(a, a->raw, c->text, from, &c->cursor,
                                           (c->flags & TD_ENCODE_PLAIN_TEXT) != 0, &c->hit);
}

/* Whether the hits follow each other in order and without overlap. */
static bool hits_in_order(td_cutter *c)
{
    size_t from = 0;
    c->cursor = 0;
    for (; next_hit(c, from); from = c->hit.end)
        if (c->hit.start < from || c->hit.start >= c->hit.end)
            return false;
    return true;
}

td_code td_cutter_begin(td_cutter *c, td_str text, unsigned flags, td_error *err)
{
    c->all = text;
    c->flags = flags;
    c->next = 0;
    c->ended = text.len == 0 && (flags & TD_ENCODE_ADD_SPECIAL) == 0 && c->tok->padding == NULL;
    if (c->tok->no_texts != NULL)
        return td_fail(err, TD_E_TOKENIZER, "%s", c->tok->no_texts);
    if (text.len > TK_TEXT_MAX)
        return td_fail(err, TD_E_LIMIT, "text is longer than %d bytes", TK_TEXT_MAX);
    return TD_OK;
}

/* Gives out a stretch up to byte end. */
static td_segment stretch_to(td_cutter *c, size_t end)
{
    uint32_t state = TD_SEG_STRETCH;
    if ((c->flags & TD_ENCODE_PLAIN_TEXT) != 0)
        state |= TD_SEG_PLAIN;
    if (c->next != 0 && c->tok->pretok != NULL && c->tok->pretok->positional)
        state |= TD_SEG_INSIDE;
    if (c->next != 0 && c->chunks.prefixed)
        state |= TD_SEG_JOINED;
    c->ended = end == c->all.len;
    if (c->ended && (c->flags & TD_ENCODE_ADD_SPECIAL) != 0)
        state |= TD_SEG_SPECIAL;
    td_segment s = { { c->all.ptr + c->next, end - c->next }, state };
    c->next = end;
    return s;
}

bool td_cutter_stretch(td_cutter *c, td_segment *ret)
{
    if (c->ended)
        return false;
    bool plain = (c->flags & TD_ENCODE_PLAIN_TEXT) != 0;
    *ret = stretch_to(c, c->can_cut ? tk_chunks_stretch_end(&c->chunks, c->all, c->next, plain)
                                    : c->all.len);
    return true;
}

td_code td_cutter_enter(td_cutter *c, const td_segment *stretch, td_error *err)
{
    c->stretch = *stretch;
    c->text = c->stretch.text;
    size_t good = td_utf8_check_strict(c->text);
    if (good != c->text.len) {
        good += (size_t)(c->text.ptr - c->all.ptr);
        return td_fail_at(err, TD_E_TOKENIZER, good, "text is not valid UTF-8 at byte %zu", good);
    }
    c->whole = !c->can_cut || (c->tok->added.any_strip && !hits_in_order(c));
    c->want_special = (c->stretch.state & TD_SEG_SPECIAL) != 0;
    c->want_whole = c->whole && (c->text.len != 0 || c->want_special || c->tok->padding != NULL);
    c->at = c->cursor = 0;
    c->begin = (c->stretch.state & TD_SEG_JOINED) != 0 ? SIZE_MAX : 0;
    c->has_hit = !c->whole && next_hit(c, 0);
    return TD_OK;
}

td_code td_cutter_start(td_cutter *c, td_str text, unsigned flags, td_error *err)
{
    td_error local = TD_ERROR_INIT;
    td_code code = td_cutter_begin(c, text, flags, &local);
    if (code == TD_OK) {
        td_segment whole = stretch_to(c, text.len);
        code = td_cutter_enter(c, &whole, &local);
    }
    if (code != TD_OK && err != NULL)
        td_error_move(err, &local);
    td_error_clear(&local);
    return code;
}

static td_segment part(td_cutter *c, size_t end, uint32_t state)
{
    if (state == TD_SEG_ADDED) {
        td_segment s = { { c->text.ptr + c->at, end - c->at }, state };
        c->at = end;
        return s;
    }
    if ((c->flags & TD_ENCODE_PLAIN_TEXT) != 0)
        state |= TD_SEG_PLAIN;
    if (c->at != 0 && c->tok->pretok != NULL && c->tok->pretok->positional)
        state |= TD_SEG_INSIDE;
    state |= c->at == 0 ? c->stretch.state & TD_SEG_INSIDE : 0;
    if (c->at != c->begin && c->chunks.prefixed)
        state |= TD_SEG_JOINED;
    td_segment s = { { c->text.ptr + c->at, end - c->at }, state };
    c->at = end;
    return s;
}

bool td_cutter_next(td_cutter *c, td_segment *ret)
{
    if (c->whole) {
        if (!c->want_whole)
            return false;
        *ret = part(c, c->text.len, c->want_special ? TD_SEG_WHOLE : 0);
        c->want_whole = false;
        return true;
    }
    if (c->has_hit && c->at == c->hit.start) {
        *ret = part(c, c->hit.end, TD_SEG_ADDED);
        c->begin = c->at;
        c->has_hit = next_hit(c, c->at);
        return true;
    }
    size_t end = c->has_hit ? c->hit.start : c->text.len;
    if (c->at < end) {
        *ret = part(c, tk_chunks_end(&c->chunks, c->text, c->at, end), TD_SEG_TEXT);
        return true;
    }
    if (!c->want_special || c->tok->post == NULL)
        return false;
    c->want_special = false;
    *ret = (td_segment){ { c->text.ptr + c->text.len, 0 }, TD_SEG_SPECIAL };
    return true;
}

void td_encoder_set_stop(td_encoder *enc, const atomic_bool *cancel, uint64_t deadline_ns)
{
    enc->ctx.cancel = cancel;
    enc->ctx.deadline_ns = deadline_ns;
}

td_code td_segment_count(td_encoder *enc, const td_segment *segment, size_t *ret_count,
                         td_error *err)
{
    if ((segment->state & TD_SEG_ADDED) != 0) {
        *ret_count = 1;
        return TD_OK;
    }
    unsigned flags = 0;
    if ((segment->state & TD_SEG_PLAIN) != 0)
        flags |= TD_ENCODE_PLAIN_TEXT;
    if ((segment->state & (TD_SEG_WHOLE | TD_SEG_SPECIAL)) != 0)
        flags |= TD_ENCODE_ADD_SPECIAL;
    if ((segment->state & TD_SEG_INSIDE) != 0)
        flags |= TK_ENCODE_INSIDE;
    if ((segment->state & TD_SEG_JOINED) != 0)
        flags |= TK_ENCODE_JOINED;
    if ((segment->state & TD_SEG_TEXT) != 0)
        flags |= TK_ENCODE_NO_RAW | TK_ENCODE_NO_POST;
    return td_count(enc, segment->text, flags, ret_count, err);
}

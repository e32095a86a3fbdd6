/* ByteLevel: trims offsets; ids stay. */
#include "base/utf8.h"
#include "tokenizer/classes.h"
#include "tokenizer/load/components.h"
#include "tokenizer/post/post.h"

typedef struct byte_level {
    tk_post base;
    bool add_prefix_space, trim_offsets, use_regex;
} byte_level;

enum { BYTE_SPACE = 0x120 }; /* how byte-level texts write a space */

static bool is_blank(uint32_t c)
{
    return c == BYTE_SPACE || tk_is_space(c);
}

static size_t count_leading(td_str s)
{
    size_t n = 0;
    const char *p = s.ptr, *end = s.ptr + s.len;
    while (p < end && is_blank(td_utf8_next(&p, end)))
        n++;
    return n;
}

static size_t count_trailing(td_str s)
{
    size_t n = 0;
    const char *p = s.ptr + s.len;
    while (p > s.ptr && is_blank(td_utf8_prev(s.ptr, &p)))
        n++;
    return n;
}

/* at moved forward by n characters, not beyond end. Code points, and bytes behind the text, are
 * numbers only. */
static uint32_t forward(const tk_ctx *ctx, uint32_t at, uint32_t end, size_t n)
{
    td_str text = ctx->input;
    if (ctx->code_points || end > text.len)
        return end <= at || n >= end - at ? end : at + (uint32_t)n;
    const char *p = text.ptr + at, *stop = text.ptr + end;
    while (n-- > 0 && p < stop)
        td_utf8_next(&p, stop);
    return (uint32_t)(p - text.ptr);
}

/* at moved back by n characters; at itself when there are not that many. */
static uint32_t backward(const tk_ctx *ctx, uint32_t at, size_t n)
{
    td_str text = ctx->input;
    if (ctx->code_points || at > text.len)
        return n <= at ? at - (uint32_t)n : at;
    const char *p = text.ptr + at;
    for (; n != 0; n--) {
        if (p == text.ptr)
            return at;
        td_utf8_prev(text.ptr, &p);
    }
    return (uint32_t)(p - text.ptr);
}

void tk_trim_offsets(const tk_ctx *ctx, tk_encoding *enc, bool add_prefix_space)
{
    uint32_t part = 0;
    for (size_t i = 0; ctx->track && i < enc->count; i++) {
        size_t leading = count_leading(enc->values[i]), trailing = count_trailing(enc->values[i]);
        while (part + 1 < tk_part_count(enc) && i >= tk_part_end(enc, part))
            part++;
        bool is_first = i == tk_part_start(enc, part) || enc->starts[i] == 0;
        if (is_first && add_prefix_space && leading == 1)
            leading = 0;
        enc->starts[i] = forward(ctx, enc->starts[i], enc->ends[i], leading);
        uint32_t end = backward(ctx, enc->ends[i], trailing);
        enc->ends[i] = end > enc->starts[i] ? end : enc->starts[i];
    }
}

static td_code apply(const tk_post *self, tk_ctx *ctx, tk_encoding *enc, bool add_special,
                     td_error *err)
{
    const byte_level *b = (const byte_level *)self;
    (void)add_special, (void)err;
    if (b->trim_offsets)
        tk_trim_offsets(ctx, enc, b->add_prefix_space);
    return TD_OK;
}

td_code tk_make_post_byte_level(const tk_at *at, const tk_post **ret)
{
    byte_level *b = TK_NEW(at->load, byte_level);
    if (b == NULL)
        return TD_E_INTERNAL;
    b->base = (tk_post){ .type = "ByteLevel", .apply = apply, .copies = 1 };
    TD_TRY(tk_get_bool(at, "add_prefix_space", &b->add_prefix_space));
    TD_TRY(tk_get_bool(at, "trim_offsets", &b->trim_offsets));
    TD_TRY(tk_def_bool(at, "use_regex", &b->use_regex));
    *ret = &b->base;
    return TD_OK;
}

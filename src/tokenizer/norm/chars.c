/* chars.c - normalizers that look at one character at a time: Lowercase, StripAccents, Nmt,
 * ByteLevel, and what BertNormalizer needs of them.
 *
 * Each first looks for a character that it would change: most texts have none. */
#include <string.h>

#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"
#include "unicode/unicode_ref.h"

const char *tk_skip_printable(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u;
    for (; end - p >= 8; p += 8) {
        uint64_t x;
        memcpy(&x, p, sizeof x);
        /* The top bit of some byte: it is none of ASCII, below a space, or DEL. */
        if (((x | (x - 0x20 * ones) | (x + ones)) & 0x80 * ones) != 0)
            break;
    }
    return p;
}

/* The next character that drop() takes; NULL: there is none. */
static const char *next_dropped(const char *p, const char *end, bool (*drop)(uint32_t c))
{
    while (p < end) {
        p = tk_skip_printable(p, end);
        const char *at = p;
        if (p < end && drop(td_utf8_next(&p, end)))
            return at;
    }
    return NULL;
}

/* Characters dropped behind a kept one are part of the kept one's change; those at the very front
 * are taken off before. */
static td_code filter(tk_edit *e, const char *p, const char *end, bool (*drop)(uint32_t c),
                      td_error *err)
{
    bool kept = false;
    uint32_t last = 0;
    int32_t removed = 0;
    while (p < end) {
        uint32_t c = td_utf8_next(&p, end);
        if (drop(c)) {
            removed++;
            continue;
        }
        if (kept)
            TD_TRY(tk_edit_char(e, last, -removed, err));
        kept = true;
        last = c;
        removed = 0;
    }
    return kept ? tk_edit_char(e, last, -removed, err) : TD_OK;
}

td_code tk_norm_filter(tk_ctx *ctx, tk_text *text, bool (*drop)(uint32_t c), td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    if (next_dropped(p, end, drop) == NULL && tk_text_is_whole(text))
        return TD_OK;
    uint32_t front = 0;
    const char *q = p;
    while (q < end && drop(td_utf8_next(&q, end)))
        front++;
    bool none_kept = front == td_utf8_count((td_str){ text->ptr, text->len });
    tk_edit e;
    tk_edit_begin(&e, ctx, text, none_kept ? 0 : front);
    while (front-- > 0)
        td_utf8_next(&p, end);
    TD_TRY(filter(&e, p, end, drop, err));
    return tk_edit_end(&e, text, err);
}

td_code tk_norm_map(tk_ctx *ctx, tk_text *text, uint32_t (*map)(uint32_t c), td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    bool same = true;
    while (same && (p = tk_skip_printable(p, end)) < end) {
        uint32_t c = td_utf8_next(&p, end);
        same = map(c) == c;
    }
    if (same && tk_text_is_whole(text))
        return TD_OK;
    tk_edit e;
    tk_edit_begin(&e, ctx, text, 0);
    for (p = text->ptr; p < end;)
        TD_TRY(tk_edit_char(&e, map(td_utf8_next(&p, end)), 0, err));
    return tk_edit_end(&e, text, err);
}

td_code tk_norm_lowercase(tk_ctx *ctx, tk_text *text, td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    bool same = true;
    uint32_t lower[3];
    while (same && p < end) {
        uint32_t c = td_utf8_next(&p, end);
        same = td_tk_to_lower(c, lower) == 1 && lower[0] == c;
    }
    if (same && tk_text_is_whole(text))
        return TD_OK;
    tk_edit e;
    tk_edit_begin(&e, ctx, text, 0);
    for (p = text->ptr; p < end;) {
        int n = td_tk_to_lower(td_utf8_next(&p, end), lower);
        for (int i = 0; i < n; i++)
            TD_TRY(tk_edit_char(&e, lower[i], i != 0, err));
    }
    return tk_edit_end(&e, text, err);
}

static td_code apply_lowercase(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    (void)self;
    return tk_norm_lowercase(ctx, text, err);
}

static td_code apply_strip_accents(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    (void)self;
    return tk_norm_filter(ctx, text, td_tk_is_combining_mark, err);
}

static uint32_t nmt_space(uint32_t c)
{
    return td_tk_is_nmt_to_space(c) ? ' ' : c;
}

static td_code apply_nmt(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    (void)self;
    TD_TRY(tk_norm_filter(ctx, text, td_tk_is_nmt_removed, err));
    return tk_norm_map(ctx, text, nmt_space, err);
}

static td_code apply_byte_level(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    (void)self;
    tk_edit e;
    if (text->len == 0)
        return TD_OK;
    tk_edit_begin(&e, ctx, text, 0);
    for (const char *p = text->ptr, *end = p + text->len; p < end; p++)
        TD_TRY(tk_edit_char(&e, tk_byte_to_char((uint8_t)*p), td_utf8_is_cont(*p), err));
    return tk_edit_end(&e, text, err);
}

static tk_norm_kind lowercase_kind(const tk_norm *self, uint32_t c)
{
    uint32_t lower[3];
    (void)self;
    return td_tk_to_lower(c, lower) == 1 && lower[0] == c ? TK_NORM_STAYS : TK_NORM_ALONE;
}

static tk_norm_kind strip_accents_kind(const tk_norm *self, uint32_t c)
{
    (void)self;
    return td_tk_is_combining_mark(c) ? TK_NORM_ALONE : TK_NORM_STAYS;
}

static tk_norm_kind nmt_kind(const tk_norm *self, uint32_t c)
{
    (void)self;
    return td_tk_is_nmt_removed(c) || td_tk_is_nmt_to_space(c) ? TK_NORM_ALONE : TK_NORM_STAYS;
}

/* kind_of NULL: not by characters. */
static td_code make(const tk_at *at, tk_norm how,
                    tk_norm_kind (*kind_of)(const tk_norm *norm, uint32_t c), const tk_norm **ret)
{
    tk_norm *n = TK_NEW(at->load, tk_norm);
    if (n == NULL)
        return TD_E_INTERNAL;
    *n = how;
    *ret = n;
    if (kind_of == NULL)
        return TD_OK;
    TD_TRY(tk_norm_learn(at->load, n));
    return tk_norm_learn_wide(at->load, n, kind_of);
}

td_code tk_make_norm_lowercase(const tk_at *at, const tk_norm **ret)
{
    tk_norm how = { .type = "Lowercase", .apply = apply_lowercase };
    return make(at, how, lowercase_kind, ret);
}

td_code tk_make_norm_strip_accents(const tk_at *at, const tk_norm **ret)
{
    tk_norm how = { .type = "StripAccents", .apply = apply_strip_accents };
    return make(at, how, strip_accents_kind, ret);
}

td_code tk_make_norm_nmt(const tk_at *at, const tk_norm **ret)
{
    return make(at, (tk_norm){ .type = "Nmt", .apply = apply_nmt }, nmt_kind, ret);
}

td_code tk_make_norm_byte_level(const tk_at *at, const tk_norm **ret)
{
    return make(at, (tk_norm){ .type = "ByteLevel", .apply = apply_byte_level }, NULL, ret);
}

/* ByteLevel: splits with the GPT-2 pattern when asked to, then writes every byte as a printable
 * character. */
#include "base/str.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/load/components.h"
#include "tokenizer/pretok/pretok.h"

static const char gpt2_pattern[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static td_code split_one(const void *self, tk_ctx *ctx, const tk_text *text, tk_pieces *out,
                         td_error *err)
{
    const tk_byte_level *b = self;
    tk_text t = *text;
    if (b->add_prefix_space && t.len != 0 && t.ptr[0] != ' ')
        TD_TRY(tk_text_prepend(ctx, &t, TD_STR(" "), err));
    if (!b->use_regex) {
        tk_piece whole = { t, TK_NO_ID };
        return tk_pieces_add(ctx, out, &whole, err);
    }
    tk_matches *m = tk_matches_start(ctx);
    TD_TRY(tk_regex_matches(b->pattern, ctx, (td_str){ t.ptr, t.len }, m, err));
    return tk_split(ctx, &t, m, TK_ISOLATED, out, err);
}

/* Where nobody asks where characters stood. */
static td_code to_chars_plain(tk_ctx *ctx, tk_text *text, td_error *err)
{
    if (text->len >= UINT32_MAX / 2)
        return td_fail(err, TD_E_LIMIT, "normalized text is too long");
    char *to = td_arena_alloc(&ctx->arena, (size_t)text->len * 2 + 4, 1), *p = to;
    if (to == NULL)
        return tk_nomem(ctx, err);
    for (uint32_t i = 0; i < text->len; i++)
        p += td_utf8_put(p, tk_byte_to_char((uint8_t)text->ptr[i]));
    text->ptr = to;
    text->len = (uint32_t)(p - to);
    td_arena_shrink(&ctx->arena, p);
    return TD_OK;
}

static td_code to_chars(tk_ctx *ctx, tk_text *text, td_error *err)
{
    if (text->align == NULL)
        return to_chars_plain(ctx, text, err);
    tk_edit e;
    tk_edit_begin(&e, ctx, text, 0);
    const char *p = text->ptr, *end = text->ptr + text->len;
    for (; p < end; p++) {
        int32_t change = td_utf8_is_cont(*p) ? 1 : 0;
        TD_TRY(tk_edit_char(&e, tk_byte_to_char((uint8_t)*p), change, err));
    }
    return tk_edit_end(&e, text, err);
}

static td_code apply(const tk_pretok *self, tk_ctx *ctx, tk_pieces *pieces, td_error *err)
{
    TD_TRY(tk_pretok_each(ctx, pieces, split_one, self, err));
    for (uint32_t i = 0; i < pieces->count; i++)
        if (pieces->items[i].id == TK_NO_ID)
            TD_TRY(to_chars(ctx, &pieces->items[i].text, err));
    return TD_OK;
}

bool tk_is_byte_level(const tk_pretok *p)
{
    return p->apply == apply;
}

td_code tk_make_pretok_byte_level(const tk_at *at, const tk_pretok **ret)
{
    tk_byte_level *b = TK_NEW(at->load, tk_byte_level);
    if (b == NULL)
        return TD_E_INTERNAL;
    b->base = (tk_pretok){ .type = "ByteLevel", .apply = apply };
    b->use_regex = true;
    TD_TRY(tk_get_bool(at, "add_prefix_space", &b->add_prefix_space));
    TD_TRY(tk_get_bool(at, "trim_offsets", &b->trim_offsets));
    TD_TRY(tk_def_bool(at, "use_regex", &b->use_regex));
    if (b->use_regex) {
        tk_regex *re = NULL;
        TD_TRY(tk_regex_new(td_str_from(gpt2_pattern), &re, at->load->err));
        TD_TRY(tk_on_free(at->load, tk_regex_free, re));
        b->pattern = re;
    }
    *ret = &b->base;
    return TD_OK;
}

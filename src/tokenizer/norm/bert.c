/* BertNormalizer: clean up, set Chinese characters apart, strip accents, lowercase; each step by
 * its own flag, accents by the flag of lowercasing when they have none. */
#include "base/utf8.h"
#include "tokenizer/load/components.h"
#include "tokenizer/norm/norm.h"
#include "unicode/unicode_ref.h"

typedef struct bert {
    tk_norm base;
    bool clean_text, handle_chinese_chars, strip_accents, lowercase;
} bert;

static uint32_t clean_space(uint32_t c)
{
    return td_tk_is_cleaned_to_space(c) ? ' ' : c;
}

static td_code space_chinese(tk_ctx *ctx, tk_text *text, td_error *err)
{
    const char *p = text->ptr, *end = text->ptr + text->len;
    bool any = false;
    while (!any && (p = tk_skip_printable(p, end)) < end)
        any = td_tk_is_chinese(td_utf8_next(&p, end));
    if (!any && tk_text_is_whole(text))
        return TD_OK;
    tk_edit e;
    tk_edit_begin(&e, ctx, text, 0);
    for (p = text->ptr; p < end;) {
        uint32_t c = td_utf8_next(&p, end);
        if (!td_tk_is_chinese(c)) {
            TD_TRY(tk_edit_char(&e, c, 0, err));
            continue;
        }
        TD_TRY(tk_edit_char(&e, ' ', 0, err));
        TD_TRY(tk_edit_char(&e, c, 1, err));
        TD_TRY(tk_edit_char(&e, ' ', 1, err));
    }
    return tk_edit_end(&e, text, err);
}

static td_code apply(const tk_norm *self, tk_ctx *ctx, tk_text *text, td_error *err)
{
    const bert *b = (const bert *)self;
    if (b->clean_text) {
        TD_TRY(tk_norm_filter(ctx, text, td_tk_is_control, err));
        TD_TRY(tk_norm_map(ctx, text, clean_space, err));
    }
    if (b->handle_chinese_chars)
        TD_TRY(space_chinese(ctx, text, err));
    if (b->strip_accents) {
        TD_TRY(tk_norm_unicode(TD_NFD, ctx, text, err));
        TD_TRY(tk_norm_filter(ctx, text, td_tk_is_nonspacing_mark, err));
    }
    return b->lowercase ? tk_norm_lowercase(ctx, text, err) : TD_OK;
}

/* Whether no step but that for Chinese characters does anything to a character, and to others past
 * it: marks are put into order around none that is not one. */
static bool stays(const bert *b, uint32_t c)
{
    char text[4];
    uint32_t lower[3];
    if (b->clean_text && (td_tk_is_control(c) || td_tk_is_cleaned_to_space(c)))
        return false;
    if (b->strip_accents && (td_tk_is_combining_mark(c) ||
                             !td_norm_is_quick(TD_NFD, (td_str){ text, td_utf8_put(text, c) })))
        return false;
    return !b->lowercase || (td_tk_to_lower(c, lower) == 1 && lower[0] == c);
}

/* Whether what a character becomes depends on nothing else: it stays apart from marks around it, as
 * it begins with none, and those that it is taken apart to are all dropped. */
static bool stands_alone(const bert *b, uint32_t c)
{
    if (b->clean_text && td_tk_is_control(c))
        return false;
    if (!b->strip_accents)
        return true;
    if (td_tk_is_combining_mark(c))
        return false;
    char text[4];
    td_buf parts = { 0 };
    bool alone = td_norm(TD_NFD, &parts, (td_str){ text, td_utf8_put(text, c) }) == TD_OK;
    for (const char *p = parts.ptr; alone && p < parts.ptr + parts.len;) {
        uint32_t part = td_utf8_next(&p, parts.ptr + parts.len);
        alone = !td_tk_is_combining_mark(part) || td_tk_is_nonspacing_mark(part);
    }
    td_buf_done(&parts);
    return alone;
}

static tk_norm_kind kind_of(const tk_norm *self, uint32_t c)
{
    const bert *b = (const bert *)self;
    if (stays(b, c))
        return b->handle_chinese_chars && td_tk_is_chinese(c) ? TK_NORM_SPACED : TK_NORM_STAYS;
    return stands_alone(b, c) ? TK_NORM_ALONE : TK_NORM_DEPENDS;
}

td_code tk_make_norm_bert(const tk_at *at, const tk_norm **ret)
{
    bert *b = TK_NEW(at->load, bert);
    if (b == NULL)
        return TD_E_INTERNAL;
    b->base = (tk_norm){ .type = "BertNormalizer", .apply = apply };
    TD_TRY(tk_get_bool(at, "clean_text", &b->clean_text));
    TD_TRY(tk_get_bool(at, "handle_chinese_chars", &b->handle_chinese_chars));
    TD_TRY(tk_get_bool(at, "lowercase", &b->lowercase));
    b->strip_accents = b->lowercase;
    TD_TRY(tk_opt_bool(at, "strip_accents", &b->strip_accents));
    *ret = &b->base;
    TD_TRY(tk_norm_learn(at->load, &b->base));
    return tk_norm_learn_wide(at->load, &b->base, kind_of);
}

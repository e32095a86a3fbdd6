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

typedef struct learner {
    tk_load *load;
    const bert *b;
    tk_norm_wide *wide;
    tk_ctx ctx;
    td_buf parts, texts; /* of one character; of all */
    td_error err;
} learner;

/* Whether what a character becomes depends on nothing else: it stays apart from marks around it, as
 * it begins with none, and those that it is taken apart to are all dropped. */
static bool stands_alone(learner *l, td_str text, uint32_t c)
{
    if (l->b->clean_text && td_tk_is_control(c))
        return false;
    if (!l->b->strip_accents)
        return true;
    l->parts.len = 0;
    if (td_tk_is_combining_mark(c) || td_norm(TD_NFD, &l->parts, text) != TD_OK)
        return false;
    const char *p = l->parts.ptr, *end = p + l->parts.len;
    while (p < end) {
        uint32_t part = td_utf8_next(&p, end);
        if (td_tk_is_combining_mark(part) && !td_tk_is_nonspacing_mark(part))
            return false;
    }
    return true;
}

/* Notes what becomes of a character that does not stay, if it stands alone. */
static td_code learn_form(learner *l, uint32_t c)
{
    char text[4];
    size_t n = td_utf8_put(text, c);
    tk_text t = { .ptr = text, .len = (uint32_t)n, .to = (uint32_t)n };
    if (!stands_alone(l, (td_str){ text, n }, c))
        return TD_OK;
    l->ctx.input = (td_str){ text, n };
    td_arena_reset(&l->ctx.arena);
    if (apply(&l->b->base, &l->ctx, &t, &l->err) != TD_OK || t.len == 0 || t.len > TK_FORM_MAX ||
        t.len > n * TK_FORM_GROWTH)
        return TD_OK;
    uint32_t **page = &l->wide->forms[c >> 8];
    if (*page == NULL && (*page = tk_new(l->load, 256 * sizeof **page)) == NULL)
        return TD_E_INTERNAL;
    (*page)[c & 0xFF] = (uint32_t)l->texts.len << TK_FORM_BITS | t.len;
    return td_buf_put(&l->texts, (td_str){ t.ptr, t.len }) == TD_OK ? TD_OK
                                                                    : tk_load_nomem(l->load);
}

static td_code learn_all(learner *l)
{
    for (uint32_t c = 0x80; c < 0x10000; c++) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        bool same = stays(l->b, c), spaced = l->b->handle_chinese_chars && td_tk_is_chinese(c);
        l->wide->same[c / 64] |= (uint64_t)same << (c % 64);
        l->wide->spaced[c / 64] |= (uint64_t)(same && spaced) << (c % 64);
        if (!same)
            TD_TRY(learn_form(l, c));
    }
    static const char slack[TK_FORM_MAX];
    if (td_buf_put(&l->texts, (td_str){ slack, sizeof slack }) != TD_OK)
        return tk_load_nomem(l->load);
    l->wide->texts = tk_keep(l->load, td_buf_view(&l->texts)).ptr;
    return l->wide->texts != NULL ? TD_OK : TD_E_INTERNAL;
}

static td_code learn_wide(tk_load *load, bert *b)
{
    learner l = { .load = load, .b = b, .wide = TK_NEW(load, tk_norm_wide), .err = TD_ERROR_INIT };
    if (l.wide == NULL)
        return TD_E_INTERNAL;
    td_code code = learn_all(&l);
    b->base.wide = l.wide;
    td_error_clear(&l.err);
    td_buf_done(&l.parts);
    td_buf_done(&l.texts);
    td_arena_done(&l.ctx.arena);
    return code;
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
    TD_TRY(learn_wide(at->load, b));
    return tk_norm_learn(at->load, &b->base);
}

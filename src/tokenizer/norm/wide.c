/* wide.c - learning what a normalizer makes of each character (tk_norm_wide). */
#include "base/utf8.h"
#include "tokenizer/load/load.h"
#include "tokenizer/norm/norm.h"

typedef struct learner {
    tk_load *load;
    const tk_norm *norm;
    tk_norm_wide *wide;
    tk_ctx ctx;
    td_buf texts;
    td_error err;
} learner;

/* Notes what becomes of a character wherever it stands. */
static td_code learn_form(learner *l, uint32_t c)
{
    char text[4];
    size_t n = td_utf8_put(text, c);
    tk_text t = { .ptr = text, .len = (uint32_t)n, .to = (uint32_t)n };
    l->ctx.input = (td_str){ text, n };
    td_arena_reset(&l->ctx.arena);
    if (l->norm->apply(l->norm, &l->ctx, &t, &l->err) != TD_OK || t.len > TK_FORM_MAX ||
        t.len > n * TK_FORM_GROWTH)
        return TD_OK;
    uint32_t **page = &l->wide->forms[c >> 8];
    if (*page == NULL && (*page = tk_new(l->load, 256 * sizeof **page)) == NULL)
        return TD_E_INTERNAL;
    (*page)[c & 0xFF] = (uint32_t)l->texts.len << TK_FORM_BITS | t.len;
    return td_buf_put(&l->texts, (td_str){ t.ptr, t.len }) == TD_OK ? TD_OK
                                                                    : tk_load_nomem(l->load);
}

static td_code learn_all(learner *l, tk_norm_kind (*kind_of)(const tk_norm *norm, uint32_t c))
{
    static const char slack[TK_FORM_MAX];
    if (td_buf_byte(&l->texts, 0) != TD_OK) /* no form is at 0 */
        return tk_load_nomem(l->load);
    for (uint32_t c = 0; c < 0x10000; c++) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        tk_norm_kind kind = c >= 0x80 ? kind_of(l->norm, c)
                            : l->norm->ascii != NULL && l->norm->ascii[c] == c ? TK_NORM_STAYS
                                                                               : TK_NORM_DEPENDS;
        l->wide->stays[c / 64] |= (uint64_t)(kind == TK_NORM_STAYS) << (c % 64);
        l->wide->spaced[c / 64] |= (uint64_t)(kind == TK_NORM_SPACED) << (c % 64);
        if (kind != TK_NORM_STAYS)
            td_doubts_add(&l->wide->doubts, c);
        if (kind == TK_NORM_ALONE)
            TD_TRY(learn_form(l, c));
    }
    if (td_buf_put(&l->texts, (td_str){ slack, sizeof slack }) != TD_OK)
        return tk_load_nomem(l->load);
    l->wide->texts = tk_keep(l->load, td_buf_view(&l->texts)).ptr;
    return l->wide->texts != NULL ? TD_OK : TD_E_INTERNAL;
}

td_code tk_norm_learn_wide(tk_load *load, tk_norm *norm,
                           tk_norm_kind (*kind_of)(const tk_norm *norm, uint32_t c))
{
    learner l = {
        .load = load, .norm = norm, .wide = TK_NEW(load, tk_norm_wide), .err = TD_ERROR_INIT
    };
    if (l.wide == NULL)
        return TD_E_INTERNAL;
    td_code code = learn_all(&l, kind_of);
    norm->wide = l.wide;
    td_error_clear(&l.err);
    td_buf_done(&l.texts);
    td_arena_done(&l.ctx.arena);
    return code;
}

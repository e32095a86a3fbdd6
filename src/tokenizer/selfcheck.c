#include "tokenizer/selfcheck.h"

#include <string.h>

#include "base/selfcheck.h"
#include "tokenizer/internal.h"
#include "tokenizer/model/naive.h"

enum { TEXT_MAX = 1 << 16 /* bytes that are encoded again */, SHOWN = 200, WORDS_MAX = 1024 };

static int shown(td_str s)
{
    return s.len < SHOWN ? (int)s.len : SHOWN;
}

/* Whether a failure says something about the text, not about this call. */
static bool is_about_text(td_code code)
{
    return code != TD_E_TIMEOUT && code != TD_E_LIMIT && code != TD_E_INTERNAL;
}

static void compare(const char *way, td_str text, unsigned flags, const tk_encoding *got,
                    const tk_encoding *want, bool counted)
{
    if (got->count != want->count)
        td_selfcheck_fail("%s: %zu tokens, the fast way gives %zu (flags %x): '%.*s'", way,
                          want->count, got->count, flags, shown(text), text.ptr);
    bool offsets = (flags & TD_ENCODE_OFFSETS) != 0;
    for (size_t i = 0; !counted && i < got->count; i++) {
        if (got->ids[i] != want->ids[i])
            td_selfcheck_fail("%s: token %zu is %u, in the fast way %u (flags %x): '%.*s'", way, i,
                              want->ids[i], got->ids[i], flags, shown(text), text.ptr);
        if (offsets && (got->starts[i] != want->starts[i] || got->ends[i] != want->ends[i]))
            td_selfcheck_fail("%s: token %zu lies at %u to %u, in the fast way at %u to %u: '%.*s'",
                              way, i, want->starts[i], want->ends[i], got->starts[i], got->ends[i],
                              shown(text), text.ptr);
    }
}

static void encode_again(td_encoder *enc, td_str text, unsigned flags, td_code code,
                         const tk_encoding *got, bool counted)
{
    static const struct {
        unsigned force;
        const char *name;
    } ways[] = { { TK_FORCE_GENERAL, "the general way" }, { TK_FORCE_UNCACHED, "without cache" } };
    td_encoder *twin = enc->twin;
    twin->ctx.cancel = enc->ctx.cancel;
    twin->ctx.deadline_ns = enc->ctx.deadline_ns;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        tk_encoding want = { 0 };
        td_error err = TD_ERROR_INIT;
        tk_encoder_force(twin, ways[i].force);
        td_code again = tk_encode(twin, text, flags, &want, &err);
        if (again != code && is_about_text(again))
            td_selfcheck_fail("%s: code %d (%s), in the fast way %d: '%.*s'", ways[i].name,
                              (int)again, again != TD_OK ? err.message : "no error", (int)code,
                              shown(text), text.ptr);
        if (again == TD_OK)
            compare(ways[i].name, text, flags, got, &want, counted);
        td_error_clear(&err);
    }
}

void tk_check_encode(td_encoder *enc, td_str text, unsigned flags, td_code code,
                     const tk_encoding *got, bool counted)
{
    bool forced = enc->is_twin || enc->general || enc->cache.off; /* not the fast way in full */
    if (forced || enc->tok->fast == NULL || !is_about_text(code) || text.len > TEXT_MAX)
        return;
    size_t fail_at = td_alloc_fail_at; /* the allocations of a check are none of a test's */
    td_alloc_fail_at = 0;
    if (enc->twin == NULL)
        enc->twin = td_encoder_new(enc->tok);
    if (enc->twin != NULL) {
        enc->twin->is_twin = true;
        encode_again(enc, text, flags, code, got, counted);
    }
    td_alloc_fail_at = fail_at;
}

void tk_check_scan(const tk_fast *f, td_str text, uint32_t from, const uint32_t *ends, uint32_t n)
{
    uint32_t words[WORDS_MAX];
    if (f->scanner == NULL || n > WORDS_MAX)
        return;
    for (int cpu = TD_CPU_SCALAR; cpu <= (int)td_cpu_best(); cpu++) {
        uint32_t m = tk_scan_best(f->scanner->run, (td_cpu)cpu)(text, from, words, WORDS_MAX);
        uint32_t both = m < n ? m : n;
        if (both == 0 || memcmp(words, ends, both * sizeof *ends) != 0)
            td_selfcheck_fail("scanner %s: version %d finds other words from byte %u on: '%.*s'",
                              f->scanner->name, cpu, from, shown(text), text.ptr);
    }
}

void tk_check_model(const tk_model *model, td_str piece, const tk_tokens *tokens)
{
    tk_naive_tokens want;
    if (!tk_naive_tokenize(model, piece, &want))
        return;
    if (want.count != tokens->count)
        td_selfcheck_fail("model %s: %u tokens, by its definition %u: '%.*s'", model->type,
                          tokens->count, want.count, shown(piece), piece.ptr);
    for (uint32_t i = 0; i < want.count; i++) {
        const tk_token *t = &tokens->items[i], *w = &want.items[i];
        if (t->id != w->id || t->start != w->start || t->end != w->end)
            td_selfcheck_fail("model %s: token %u is %u at %u to %u, by its definition %u at %u to "
                              "%u: '%.*s'",
                              model->type, i, t->id, t->start, t->end, w->id, w->start, w->end,
                              shown(piece), piece.ptr);
    }
}

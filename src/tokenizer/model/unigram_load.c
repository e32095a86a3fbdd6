/* unigram_load.c - the list of [text, score] pairs.
 *
 * Scores decide ties, so a decimal number must become the very double that the reference reads:
 * its JSON reader takes digits into an integer of 64 bits, drops those that do not fit, and scales
 * by one power of ten, which is not always the nearest double. Scores that never were in a file,
 * but are written here as decimal numbers, are read to the nearest double instead. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/str.h"
#include "tokenizer/load/scan.h"
#include "tokenizer/model/unigram.h"
#include "value/number.h"

enum { TEN_MAX = 308 };

#define SCORE_MAX 1e6 /* of so many in a text that the sum is exact enough */

typedef struct reader {
    const tk_at *at;
    tk_unigram *u;
    tk_scan scan;
    uint32_t cap;             /* of scores */
    bool again;               /* all are read; now entries that lost their text are looked for */
    uint32_t seen;            /* entries, then */
    double tens[TEN_MAX + 1]; /* powers of ten */
} reader;

/* Digits at the scanner, or a failure when there are none. The exponent goes up by one for each
 * digit of an integral part that does not fit, down for each of a fraction that does. */
static td_code read_digits(tk_scan *s, uint64_t *digits, int64_t *exponent, bool fraction)
{
    bool full = false;
    const char *from = s->p;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        uint64_t d = (uint64_t)(*s->p - '0');
        full = full || *digits > (UINT64_MAX - d) / 10;
        if (!full)
            *digits = *digits * 10 + d;
        if (full != fraction)
            *exponent += fraction ? -1 : 1;
    }
    return s->p != from ? TD_OK : tk_scan_fail(s, "expected a number");
}

static td_code read_exponent(tk_scan *s, int64_t *exponent)
{
    bool minus = s->p < s->end && *s->p == '-';
    if (s->p < s->end && (*s->p == '-' || *s->p == '+'))
        s->p++;
    uint64_t digits = 0;
    int64_t dropped = 0;
    TD_TRY(read_digits(s, &digits, &dropped, false));
    int64_t e = dropped != 0 || digits > INT32_MAX ? INT32_MAX : (int64_t)digits;
    *exponent += minus ? -e : e;
    return TD_OK;
}

static td_code scaled(reader *r, uint64_t digits, int64_t exponent, double *ret)
{
    double f = (double)digits;
    while (exponent < -TEN_MAX && f != 0.0) {
        f /= r->tens[TEN_MAX];
        exponent += TEN_MAX;
    }
    if (f != 0.0 && exponent > TEN_MAX)
        return tk_scan_fail(&r->scan, "number out of range");
    if (f != 0.0)
        f = exponent >= 0 ? f * r->tens[exponent] : f / r->tens[-exponent];
    if (f > 1.7976931348623157e308)
        return tk_scan_fail(&r->scan, "number out of range");
    *ret = f;
    return TD_OK;
}

/* The digits that read_score moved over. */
static td_code read_nearest(reader *r, const char *from, double *ret)
{
    td_str text = { from, (size_t)(r->scan.p - from) };
    if (!td_float_parse(text, ret) || *ret > 1.7976931348623157e308)
        return tk_scan_fail(&r->scan, "number out of range");
    return TD_OK;
}

static td_code read_score(reader *r, double *ret)
{
    tk_scan *s = &r->scan;
    uint64_t digits = 0;
    int64_t exponent = 0;
    tk_scan_space(s);
    bool minus = s->p < s->end && *s->p == '-';
    s->p += minus;
    const char *from = s->p;
    TD_TRY(read_digits(s, &digits, &exponent, false));
    if (s->p - from > 1 && *from == '0')
        return tk_scan_fail(s, "a number with a leading zero");
    if (s->p < s->end && *s->p == '.') {
        s->p++;
        TD_TRY(read_digits(s, &digits, &exponent, true));
    }
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        TD_TRY(read_exponent(s, &exponent));
    }
    TD_TRY(r->at->load->nearest ? read_nearest(r, from, ret) : scaled(r, digits, exponent, ret));
    if (minus)
        *ret = -*ret;
    return TD_OK;
}

static td_code add(reader *r, td_str text)
{
    tk_unigram *u = r->u;
    if (u->count == r->cap) {
        uint32_t cap = r->cap * 2 + 1024;
        double *to = td_realloc(u->scores, cap * sizeof *to);
        if (to == NULL)
            return tk_load_nomem(r->at->load);
        u->scores = to;
        r->cap = cap;
    }
    u->scores[u->count] = 0;
    if (text.len > u->longest)
        u->longest = (uint32_t)text.len;
    if (!tk_vocab_add(u->vocab, text, u->count++))
        return tk_load_nomem(r->at->load);
    return TD_OK;
}

/* Keeps an entry that a later one with the same text took the place of. */
static td_code add_twin(reader *r, td_str text)
{
    tk_unigram *u = r->u;
    td_id id = r->seen++, later = id;
    if (tk_vocab_spell(u->vocab, id).ptr != NULL || !tk_vocab_find(u->vocab, text, &later))
        return TD_OK;
    if (u->twin_count == u->twin_cap) {
        uint32_t cap = u->twin_cap * 2 + 16;
        tk_twin *to = td_realloc(u->twins, cap * sizeof *to);
        if (to == NULL)
            return tk_load_nomem(r->at->load);
        u->twins = to;
        u->twin_cap = cap;
    }
    u->twins[u->twin_count++] = (tk_twin){ id, later };
    return TD_OK;
}

/* The text is put away before the score is read: it may lie in the scanner's buffer. */
static td_code read_entry(reader *r)
{
    td_str text;
    double score = 0;
    TD_TRY(tk_scan_take(&r->scan, '['));
    TD_TRY(tk_scan_string(&r->scan, &text));
    TD_TRY(r->again ? add_twin(r, text) : add(r, text));
    TD_TRY(tk_scan_take(&r->scan, ','));
    TD_TRY(read_score(r, &score));
    if (!r->again)
        r->u->scores[r->u->count - 1] = score;
    return tk_scan_take(&r->scan, ']');
}

static td_code read_all(reader *r)
{
    tk_scan *s = &r->scan;
    TD_TRY(tk_scan_take(s, '['));
    if (tk_scan_is(s, ']'))
        return TD_OK;
    do {
        if (!r->again && r->u->count >= 1u << 28)
            return tk_scan_fail(s, "the vocabulary has more than 2^28 entries");
        TD_TRY(read_entry(r));
    } while (tk_scan_is(s, ','));
    return tk_scan_take(s, ']');
}

/* Sets what an unknown character scores: 10 less than the worst entry. So several of them are worse
 * than any entry that is their text, if scores are below zero and not so large that sums of them
 * could not tell. */
static void set_unknown(tk_unigram *u)
{
    double low = u->count != 0 ? u->scores[0] : 0, high = low;
    for (uint32_t i = 1; i < u->count; i++) {
        low = u->scores[i] < low ? u->scores[i] : low;
        high = u->scores[i] > high ? u->scores[i] : high;
    }
    u->unk_score = low - 10.0;
    u->unknowns_join = low > 0 || low < -SCORE_MAX || high > SCORE_MAX;
}

static td_code build(const tk_at *at, tk_unigram *u)
{
    tk_load *load = at->load;
    const tk_vocab *v = u->vocab;
    u->texts = tk_automaton_of(v, u->scores);
    if (u->texts == NULL)
        return tk_load_nomem(load);
    set_unknown(u);
    for (unsigned i = 0; i < 256; i++) {
        char text[8];
        int n = snprintf(text, sizeof text, "<0x%02X>", i);
        u->bytes[i] = TK_NO_ID;
        tk_vocab_find(v, (td_str){ text, (size_t)n }, &u->bytes[i]);
    }
    return TD_OK;
}

static void free_unigram(void *ptr)
{
    tk_unigram *u = ptr;
    tk_vocab_free(u->vocab);
    tk_automaton_free(u->texts);
    td_free(u->scores);
    td_free(u->twins);
}

static td_code read_vocab(const tk_at *at, tk_unigram *u)
{
    tk_load *load = at->load;
    td_str json = load->vocab_json;
    reader r = { .at = at, .u = u };
    for (int i = 0; i <= TEN_MAX; i++) {
        char text[8];
        int n = snprintf(text, sizeof text, "1e%d", i);
        td_float_parse((td_str){ text, (size_t)n }, &r.tens[i]);
    }
    r.scan =
        (tk_scan){ .start = json.ptr, .p = json.ptr, .end = json.ptr + json.len, .err = load->err };
    td_code code = read_all(&r);
    if (code == TD_E_INPUT)
        load->err->offset += load->vocab_at;
    if (code == TD_OK && !tk_vocab_seal(u->vocab))
        code = tk_load_nomem(load);
    if (code == TD_OK && u->vocab->count < u->count) {
        r.scan.p = json.ptr;
        r.again = true;
        code = read_all(&r);
    }
    td_buf_done(&r.scan.text);
    return code;
}

td_code tk_unigram_load(const tk_at *at, tk_unigram *u)
{
    tk_load *load = at->load;
    if (load->vocab_json.ptr == NULL)
        return tk_at_fail(at, "vocab", "expected a list of tokens and scores");
    u->vocab = tk_vocab_new(load->vocab_json.len / 48 + 16);
    if (u->vocab == NULL)
        return tk_load_nomem(load);
    TD_TRY(tk_on_free(load, free_unigram, u));
    TD_TRY(read_vocab(at, u));
    return build(at, u);
}

/* o200k.c - the pattern of o200k (GPT-4o, gpt-oss), and of tekken (Mistral), which has no
 * contractions and single digits:
 *
 *   [^\r\n\p{L}\p{N}]?U*W+(?i:'s|..)?|[^\r\n\p{L}\p{N}]?U+W*(?i:'s|..)?|\p{N}{1,3}
 *   | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * with U = Lu Lt Lm Lo M and W = Ll Lm Lo M. The first alternative backtracks into U* when no W
 * follows: it then ends behind the last character of the U run that is also in W. A mark may be
 * the leading character as well as part of the run. */
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

enum { WORDY = TD_RE_L | TD_RE_N | TD_RE_S };

static inline bool is_upper(uint8_t bits)
{
    return (bits & TD_RE_M) != 0 || (bits & (TD_RE_L | TD_RE_LL)) == TD_RE_L;
}

static inline bool is_lower(uint8_t bits)
{
    return (bits & TD_RE_M) != 0 || (bits & (TD_RE_L | TD_RE_LU)) == TD_RE_L;
}

/* U*W+ at p; NULL: no match. *ret_upper_end: the end of the U run. */
static const char *capital_word(const char *p, const char *end, const char **ret_upper_end)
{
    const char *last_lower = NULL, *next;
    uint8_t bits = 0;
    while (p < end) {
        bits = tk_bits(p, end, &next);
        if (!is_upper(bits))
            break;
        p = next;
        if (is_lower(bits))
            last_lower = p;
    }
    *ret_upper_end = p;
    if (p == end || !is_lower(bits))
        return last_lower;
    do {
        p = next;
    } while (p < end && is_lower(tk_bits(p, end, &next)));
    return p;
}

static const char *others(const char *p, const char *end)
{
    p = tk_skip_not(p, end, WORDY);
    while (p < end && (tk_is_newline(*p) || *p == '/'))
        p++;
    return p;
}

static inline const char *digits(const char *p, const char *end, int max)
{
    const char *next;
    for (; max > 0 && p < end && (tk_bits(p, end, &next) & TD_RE_N) != 0; max--)
        p = next;
    return p;
}

static inline const char *word(const char *p, const char *end, bool suffixes, int max_digits)
{
    const char *second, *third, *upper_end = p, *upper_end_here = p, *q = NULL;
    uint8_t bits = tk_bits(p, end, &second);
    if (bits & TD_RE_N)
        return digits(p, end, max_digits);
    bool leads = (bits & TD_RE_L) == 0 && !tk_is_newline(*p);
    if (leads)
        q = capital_word(second, end, &upper_end);
    if (q == NULL && (bits & (TD_RE_L | TD_RE_M)) != 0)
        q = capital_word(p, end, &upper_end_here);
    if (q != NULL)
        return suffixes ? tk_contraction(q, end) : q;
    if (leads && upper_end > second)
        return suffixes ? tk_contraction(upper_end, end) : upper_end;
    if (upper_end_here > p)
        return suffixes ? tk_contraction(upper_end_here, end) : upper_end_here;
    if ((bits & TD_RE_S) == 0)
        return others(second, end);
    if (*p == ' ' && second < end && (tk_bits(second, end, &third) & WORDY) == 0)
        return others(third, end);
    return tk_white(p, end);
}

static inline uint32_t run(td_str text, uint32_t from, uint32_t *ends, uint32_t max, bool suffixes,
                           int max_digits)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len;
    uint32_t n = 0;
    while (p < end && n < max) {
        p = word(p, end, suffixes, max_digits);
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

uint32_t tk_scan_o200k(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return run(text, from, ends, max, true, 3);
}

uint32_t tk_scan_tekken(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return run(text, from, ends, max, false, 1);
}

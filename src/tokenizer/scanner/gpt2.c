/* gpt2.c - the pattern of GPT-2, built into byte-level pre-tokenizers:
 *
 *   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

enum { WORDY = TD_RE_L | TD_RE_N | TD_RE_S };

static const char *contraction(const char *p, const char *end)
{
    if (end - p < 2 || *p != '\'')
        return p;
    char c = p[1], d = end - p > 2 ? p[2] : '\0';
    if (c == 's' || c == 't' || c == 'm' || c == 'd')
        return p + 2;
    return ((c == 'r' || c == 'v') && d == 'e') || (c == 'l' && d == 'l') ? p + 3 : p;
}

/* \s+(?!\S)|\s+ */
static const char *white(const char *p, const char *end)
{
    const char *run = p, *last = p, *next;
    while (run < end && (tk_bits(run, end, &next) & TD_RE_S) != 0) {
        last = run;
        run = next;
    }
    return run == end || last == p ? run : last;
}

static const char *word(const char *p, const char *end)
{
    const char *next = p;
    const char *q = contraction(p, end);
    if (q != p)
        return q;
    q = *p == ' ' ? p + 1 : p;
    uint8_t bits = q < end ? tk_bits(q, end, &next) : TD_RE_S;
    if (bits & TD_RE_L)
        return tk_skip(next, end, TD_RE_L);
    if (bits & TD_RE_N)
        return tk_skip(next, end, TD_RE_N);
    if ((bits & TD_RE_S) == 0)
        return tk_skip_not(next, end, WORDY);
    return white(p, end);
}

uint32_t tk_scan_gpt2(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len;
    uint32_t n = 0;
    while (p < end && n < max) {
        p = word(p, end);
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

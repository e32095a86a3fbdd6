/* cl100k.c - the pattern of cl100k and Llama 3 (digits in threes) and of Qwen 2 and 3 (single
 * digits), and that of tiktoken's cl100k_base, for which see below:
 *
 *   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 *   | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * One alternative after the other, in order, without backtracking: each decides by the first two
 * characters. Every character is in one of the classes, so words leave no gaps. */
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

enum { WORDY = TD_RE_L | TD_RE_N | TD_RE_S };

static const char *others(const char *p, const char *end)
{
    p = tk_skip_not(p, end, WORDY);
    while (p < end && tk_is_newline(*p))
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

static inline const char *word(const char *p, const char *end, int max_digits)
{
    const char *second, *third;
    uint8_t bits = tk_bits(p, end, &second);
    if (bits & TD_RE_L)
        return tk_skip(second, end, TD_RE_L);
    if (bits & TD_RE_N)
        return digits(second, end, max_digits - 1);
    if (*p == '\'') {
        const char *q = tk_contraction(p, end);
        if (q != p)
            return q;
    }
    uint8_t after = second < end ? tk_bits(second, end, &third) : TD_RE_S;
    if (!tk_is_newline(*p) && second < end && (after & TD_RE_L))
        return tk_skip(third, end, TD_RE_L);
    if ((bits & TD_RE_S) == 0)
        return others(second, end);
    if (*p == ' ' && second < end && (after & WORDY) == 0)
        return others(third, end);
    return tk_white(p, end);
}

static inline uint32_t run(td_str text, uint32_t from, uint32_t *ends, uint32_t max, int max_digits)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len;
    uint32_t n = 0;
    while (p < end && n < max) {
        p = word(p, end, max_digits);
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

uint32_t tk_scan_cl100k(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return run(text, from, ends, max, 3);
}

uint32_t tk_scan_qwen2(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return run(text, from, ends, max, 1);
}

/* Where the white space at the end of text begins, not before from. */
static uint32_t white_tail(td_str text, uint32_t from)
{
    const char *p = text.ptr + text.len, *start = text.ptr + from;
    while (p > start) {
        const char *q = p, *next;
        td_utf8_prev(start, &q);
        if ((tk_bits(q, p, &next) & TD_RE_S) == 0)
            break;
        p = q;
    }
    return (uint32_t)(p - text.ptr);
}

/* The words of cl100k up to the first that begins in the white space at the end: all from there on
 * is one. A word before can reach into it, punctuation with line ends. */
uint32_t tk_scan_cl100k_base(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    uint32_t tail = white_tail(text, from), n = 0, kept = 0;
    if (from < tail)
        n = tk_scan_best(tk_scan_cl100k, td_cpu_best())(text, from, ends, max);
    else
        ends[n++] = (uint32_t)text.len;
    if (n == 0 || ends[n - 1] < tail)
        return n;
    while (ends[kept] < tail)
        kept++;
    kept++;
    if (kept < max && ends[kept - 1] < text.len)
        ends[kept++] = (uint32_t)text.len;
    return kept;
}

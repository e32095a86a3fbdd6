/* deepseek3.c - the three patterns of DeepSeek V3, each applied to the pieces of the one before:
 *
 *   1. \p{N}{1,3}
 *   2. [一-龥぀-ゟ゠-ヿ]+
 *   3. [ASCII punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
 *      | ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * So the third sees the end of its piece as the end of the text. What it does not match (control
 * characters, unassigned ones) stays in pieces of its own between its matches. */
#include "tokenizer/scanner/chars.h"
#include "tokenizer/scanner/scanner.h"

static inline bool is_cjk(uint32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

/* Classes of the character at p inside a piece of CJK characters or of others: characters of the
 * other kind, and digits, end the piece and have the class N alone. */
static inline uint8_t bits_in(bool cjk, const char *p, const char *end, const char **ret_next)
{
    if ((unsigned char)*p < 0x80) {
        *ret_next = p + 1;
        return cjk ? TD_RE_N : tk_ascii_bits[(unsigned char)*p];
    }
    const char *q = p;
    uint32_t c = td_utf8_next(&q, end);
    *ret_next = q;
    return is_cjk(c) == cjk ? td_re_bits(c) : TD_RE_N;
}

static const char *skip(bool cjk, const char *p, const char *end, uint8_t classes)
{
    const char *next;
    while (p < end && (bits_in(cjk, p, end, &next) & classes) != 0)
        p = next;
    return p;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static const char *white(const char *p, const char *end)
{
    const char *run = p, *last = p, *newline = NULL, *next;
    uint8_t bits = TD_RE_N;
    while (run < end && ((bits = bits_in(false, run, end, &next)) & TD_RE_S) != 0) {
        if (tk_is_newline(*run))
            newline = next;
        last = run;
        run = next;
    }
    if (newline != NULL)
        return newline;
    return run == end || (bits & TD_RE_N) != 0 || last == p ? run : last;
}

static bool is_ascii_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* What the third pattern matches at p; p: nothing. */
static const char *match(bool cjk, const char *p, const char *end)
{
    const char *second, *third;
    uint8_t bits = bits_in(cjk, p, end, &second);
    bool mark = (bits & (TD_RE_P | TD_RE_SYM)) != 0;
    if (mark && (unsigned char)*p < 0x80 && second < end && is_ascii_letter(*second)) {
        while (second < end && is_ascii_letter(*second))
            second++;
        return second;
    }
    if (bits & (TD_RE_L | TD_RE_M))
        return skip(cjk, second, end, TD_RE_L | TD_RE_M);
    uint8_t after = second < end ? bits_in(cjk, second, end, &third) : 0;
    if (!mark && !tk_is_newline(*p) && (after & (TD_RE_L | TD_RE_M)))
        return skip(cjk, third, end, TD_RE_L | TD_RE_M);
    if (mark || (*p == ' ' && (after & (TD_RE_P | TD_RE_SYM)))) {
        const char *q = skip(cjk, second, end, TD_RE_P | TD_RE_SYM);
        while (!cjk && q < end && tk_is_newline(*q))
            q++;
        return q;
    }
    return bits & TD_RE_S ? white(p, end) : p;
}

/* ASCII of no class: a match begins with it only if a letter follows, and none has it inside. */
static bool is_control(char c)
{
    return (unsigned char)c < 0x80 && tk_ascii_bits[(unsigned char)c] == 0;
}

/* The next word in a piece that is not digits. */
static const char *word(const char *p, const char *end)
{
    const char *q = p, *next;
    bool cjk = (unsigned char)*p >= 0x80 && is_cjk(td_utf8_next(&q, end));
    q = match(cjk, p, end);
    if (q != p)
        return q;
    do { /* a gap: up to the next match or the end of the piece */
        while (end - q > 2 && is_control(q[1]) && is_control(q[2])) /* fast over long runs */
            q++;
        bits_in(cjk, q, end, &next);
        q = next;
    } while (q < end && (bits_in(cjk, q, end, &next) & TD_RE_N) == 0 && match(cjk, q, end) == q);
    return q;
}

uint32_t tk_scan_deepseek3(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len, *next;
    uint32_t n = 0;
    while (p < end && n < max) {
        if (tk_bits(p, end, &next) & TD_RE_N) {
            for (int k = 3; k > 0 && p < end && (tk_bits(p, end, &next) & TD_RE_N) != 0; k--)
                p = next;
        } else {
            p = word(p, end);
        }
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

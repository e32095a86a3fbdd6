/* kinds.c - scanners for pre-tokenizers that split by kinds of single characters: BertPreTokenizer,
 * Whitespace, WhitespaceSplit, and Metaspace.
 *
 * White space, which most of them drop, goes with the word behind it if it is one character, as the
 * words of a text mostly have a space in front; more of it is a word of its own, of which nothing
 * remains. */
#include "base/utf8.h"
#include "tokenizer/scanner/scanner.h"
#include "unicode/unicode_ref.h"

#define ALWAYS static inline __attribute__((always_inline))

/* What a character does to words: white space; part of a run; part of a run of others (Whitespace)
 * or a word by itself (BertPreTokenizer). */
typedef enum kind { SPACE, RUN, OTHER } kind;

/* Kinds of ASCII for the three pre-tokenizers, in two bits each. */
#define KINDS(bert, whitespace, split) ((bert) | (whitespace) << 2 | (split) << 4)
enum { BERT_AT = 0, WHITESPACE_AT = 2, SPLIT_AT = 4 };
#define S KINDS(SPACE, SPACE, SPACE)
#define C KINDS(RUN, OTHER, RUN) /* controls */
#define W KINDS(RUN, RUN, RUN)
#define P KINDS(OTHER, OTHER, RUN)
#define U KINDS(OTHER, RUN, RUN) /* the underscore */
static const uint8_t ascii_kinds[128] = {
    C, C, C, C, C, C, C, C, C, S, S, S, S, S, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C, C,
    S, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, W, W, W, W, W, W, W, W, W, W, P, P, P, P, P, P,
    P, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, P, P, P, P, U,
    P, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, W, P, P, P, P, C,
};

typedef kind kind_fn(uint32_t c);

ALWAYS kind bert_kind(uint32_t c)
{
    return td_tk_is_whitespace(c) ? SPACE : td_tk_is_punctuation(c) ? OTHER : RUN;
}

ALWAYS kind whitespace_kind(uint32_t c)
{
    return td_tk_is_word(c) ? RUN : td_tk_is_whitespace(c) ? SPACE : OTHER;
}

ALWAYS kind split_kind(uint32_t c)
{
    return td_tk_is_whitespace(c) ? SPACE : RUN;
}

/* The kind of the character at p, and the place behind it. */
ALWAYS kind kind_at(const char *p, const char *end, int at, kind_fn *wide, const char **ret_next)
{
    uint8_t b = (uint8_t)*p;
    *ret_next = p + 1;
    if (b < 0x80)
        return (kind)(ascii_kinds[b] >> at & 3);
    *ret_next = p;
    return wide(td_utf8_next(ret_next, end));
}

/* others_stand: each of kind OTHER is a word by itself. */
ALWAYS uint32_t scan(td_str text, uint32_t from, uint32_t *ends, uint32_t max, int at,
                     kind_fn *wide, bool others_stand)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len, *next;
    uint32_t n = 0;
    while (n < max && p < end) {
        kind k = kind_at(p, end, at, wide, &next);
        if (k == SPACE) {
            const char *last = p; /* of the white space */
            for (p = next; p < end; p = next) {
                k = kind_at(p, end, at, wide, &next);
                if (k != SPACE)
                    break;
                last = p;
            }
            if (p == end) {
                ends[n++] = (uint32_t)text.len;
                break;
            }
            uint32_t before = (uint32_t)(last - text.ptr);
            if (before != (n != 0 ? ends[n - 1] : from)) {
                ends[n++] = before;
                if (n == max)
                    break;
            }
        }
        kind first = k;
        for (p = next; p < end && !(others_stand && first == OTHER); p = next) {
            k = kind_at(p, end, at, wide, &next);
            if (k != first)
                break;
        }
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

uint32_t tk_scan_bert(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return scan(text, from, ends, max, BERT_AT, bert_kind, true);
}

uint32_t tk_scan_whitespace(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return scan(text, from, ends, max, WHITESPACE_AT, whitespace_kind, false);
}

uint32_t tk_scan_whitespace_split(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    return scan(text, from, ends, max, SPLIT_AT, split_kind, false);
}

uint32_t tk_scan_metaspace(td_str text, uint32_t from, uint32_t *ends, uint32_t max)
{
    const char *p = text.ptr + from, *end = text.ptr + text.len, *mark = TK_SCAN_MARK;
    uint32_t n = 0;
    while (n < max && p < end) {
        for (p++; p < end; p++)
            if (*p == ' ' || (*p == mark[0] && p[1] == mark[1] && p[2] == mark[2]))
                break;
        ends[n++] = (uint32_t)(p - text.ptr);
    }
    return n;
}

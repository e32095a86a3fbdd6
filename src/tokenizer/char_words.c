/* char_words.c - see char_words.h. */
#include "tokenizer/char_words.h"

/* Words until it is seen whether characters stand alone, and bytes of these that are worth it. */
enum { EAGER_LOOK = 2, EAGER_WORTH = 24, LOOK = 1024, WORTH = 96 };

void tk_char_words_start(tk_char_words *w, const tk_bpe *bpe, const tk_cuts *cuts, td_str mark,
                         td_id mark_id)
{
    unsigned at[128]; /* where the cuts have each character */
    w->cuts = cuts;
    for (unsigned i = 0; i < 128; i++) {
        at[i] = i == ' ' && mark.len == 1 ? (unsigned char)*mark.ptr : i;
        w->packed[i] = at[i] | (uint64_t)1 << 32;
    }
    if (mark.len != 0)
        w->packed[' '] = tk_cut_pack(mark.ptr, mark.len);
    for (int left = 0; left < 128; left++)
        for (int right = 0; right < 128; right++)
            w->ascii[left][right] = tk_can_cut_ascii(cuts, at[left], at[right]);
    tk_lone_start(&w->lone, bpe, &w->ascii[0][0], mark.len != 0 ? mark_id : TK_NO_ID);
}

/* The character at *p as the cuts know it; moves *p behind it. */
static inline uint64_t next_char(const tk_char_words *w, const char **p)
{
    unsigned char first = (unsigned char)**p;
    uint64_t c = tk_cut_next(p);
    return first == ' ' ? w->packed[' '] : c;
}

/* Goes on behind an ASCII character until another kind comes, max ends are there, or the text
 * ends. */
static inline const char *scan_ascii(const tk_char_words *w, const char *start, const char *p,
                                     const char *end, uint32_t *ends, uint32_t *n, uint32_t max)
{
    const uint8_t *row = w->ascii[(unsigned char)p[-1]];
    uint32_t count = *n;
    for (; p < end && count < max; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x80)
            break;
        ends[count] = (uint32_t)(p - start);
        count += row[c];
        row = w->ascii[c];
    }
    *n = count;
    return p;
}

/* Goes on over characters of three bytes, as scan_ascii does over ASCII; *left: the character in
 * front, packed. Whether a text may be cut is no branch, for it cannot be guessed. */
static inline const char *scan_threes(const tk_char_words *w, const char *start, const char *p,
                                      const char *end, uint32_t *ends, uint32_t *n, uint32_t max,
                                      uint64_t *left)
{
    const uint64_t *whole = w->cuts->whole;
    uint32_t count = *n;
    uint64_t before = *left;
    for (; end - p >= 3 && count < max && ((unsigned char)*p & 0xF0) == 0xE0; p += 3) {
        uint64_t c = tk_cut_pack(p, 3);
        uint32_t at = tk_cut_place(before, c);
        ends[count] = (uint32_t)(p - start);
        count += (whole[at >> 6] >> (at & 63) & 1) == 0;
        before = c;
    }
    *n = count;
    *left = before;
    return p;
}

uint32_t tk_char_words_scan(const tk_char_words *w, td_str text, uint32_t from, uint32_t *ends,
                            uint32_t max, tk_lone_watch *watch)
{
    const char *start = text.ptr, *end = start + text.len, *p = start + from;
    uint64_t left = next_char(w, &p);
    bool eager = watch->eager != 0;
    uint32_t n = 0, look = eager ? 1 : watch->words;
    while (n < max) {
        if ((unsigned char)p[-1] < 0x80) {
            p = scan_ascii(w, start, p, end, ends, &n, max);
            left = w->packed[(unsigned char)p[-1]];
        } else if (n < look) {
            p = scan_threes(w, start, p, end, ends, &n, look < max ? look : max, &left);
            if (n == look && n < max)
                continue;
        } else {
            if (tk_lone_run(&w->lone, p, end, eager ? EAGER_WORTH : WORTH)) {
                ends[n++] = (uint32_t)(p - start);
                break;
            }
            look = n + (eager ? EAGER_LOOK : LOOK);
            continue;
        }
        if (n == max)
            break;
        if (p == end) {
            ends[n++] = (uint32_t)text.len;
            break;
        }
        const char *y = p;
        uint64_t right = next_char(w, &p);
        if (tk_can_cut_at(w->cuts, left, right, y))
            ends[n++] = (uint32_t)(y - start);
        left = right;
    }
    watch->words = look > n ? look - n : 0;
    return n;
}

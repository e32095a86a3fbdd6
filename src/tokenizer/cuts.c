/* cuts.c - building and asking the filter of cuts.h. */
#include "tokenizer/cuts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/load/block.h"

enum { TOKEN_MAX = 4096 };

static inline bool has(const uint64_t *bits, uint32_t at)
{
    return (bits[at >> 6] >> (at & 63) & 1) != 0;
}

static inline void set(uint64_t *bits, uint32_t at)
{
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

static size_t char_len(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* The ASCII character that a packed one is or stands for; 0x80: none. */
static unsigned ascii_of(uint64_t packed, uint64_t mark)
{
    return packed >> 32 == 1 ? packed & 0x7F : packed == mark ? ' ' : 0x80;
}

/* All boundaries inside one product of a model of characters. mark: packed. */
static void add_chars(tk_cuts *c, td_str s, uint64_t mark)
{
    const char *p = s.ptr, *end = s.ptr + s.len;
    uint64_t left = p < end ? tk_cut_next(&p) : 0;
    while (p < end) {
        uint64_t right = tk_cut_next(&p);
        unsigned last = ascii_of(left, mark), first = ascii_of(right, mark);
        if ((last | first) < 0x80)
            c->ascii[last][first >> 6] |= (uint64_t)1 << (first & 63);
        if (left >> 32 != 1 || right >> 32 != 1)
            set(c->whole, tk_cut_place(left, right));
        left = right;
    }
}

/* All boundaries inside one product. */
static void add_product(tk_cuts *c, const char *s, size_t n)
{
    size_t left = 0; /* start of the character before the boundary, or of what there is of it */
    for (size_t p = 1; p < n; p++) {
        if (td_utf8_is_cont(s[p]))
            continue;
        size_t right = char_len((unsigned char)s[p]), there = n - p < right ? n - p : right;
        bool whole_left = !td_utf8_is_cont(s[left]) && p - left == char_len((unsigned char)s[left]);
        /* Bytes that cannot come from valid text make no boundary there. */
        if (p - left <= 4) {
            uint32_t at = tk_cut_place(tk_cut_pack(s + left, p - left), tk_cut_pack(s + p, there));
            unsigned char last = (unsigned char)s[p - 1], first = (unsigned char)s[p];
            if (whole_left && there == right) {
                set(c->whole, at);
            } else {
                set(c->partial, at);
                c->parts[last][first] |= (uint16_t)(1 << tk_cut_kind(p - left, there));
            }
        }
        left = p;
    }
}

/* Whether a token of byte characters may stand for bytes above 127. Those are the characters U+00A1
 * to U+00FF and U+0122 to U+0143, so their UTF-8 has a byte from A2 on that is not C4. */
static bool may_be_high(td_str token)
{
    for (size_t i = 0; i < token.len; i += TK_BLOCK) {
        tk_block b = tk_block_load(token.ptr + i);
        uint32_t there = token.len - i < TK_BLOCK ? (1u << (token.len - i)) - 1 : 0xFFFF;
        if ((tk_block_from(b, 0xA2) & ~tk_block_equal(b, (char)0xC4) & there) != 0)
            return true;
    }
    return false;
}

/* The bytes that a token of byte characters stands for; 0: it is none, or all ASCII. */
static size_t raw_bytes(td_str token, char *out)
{
    unsigned high = 0;
    size_t n = tk_chars_to_bytes(token, out, TOKEN_MAX);
    for (size_t i = 0; i < n; i++)
        high |= (unsigned char)out[i] & 0x80u;
    return high != 0 ? n : 0;
}

tk_cuts *tk_cuts_new(const tk_bpe *bpe, bool chars, td_str mark)
{
    tk_cuts *c = td_calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    char bytes[TOKEN_MAX];
    uint64_t packed = tk_cut_pack(mark.ptr, mark.len);
    for (td_id id = 0; id < bpe->vocab->id_end; id++) {
        if (id % 64 == 0 && bpe->merges.products[id / 64] == 0)
            id += 63; /* ids may be sparse */
        if (!tk_id_bit(bpe->merges.products, id))
            continue;
        td_str token = tk_vocab_spell(bpe->vocab, id);
        if (chars) {
            add_chars(c, token, packed);
            continue;
        }
        if (!may_be_high(token))
            continue;
        if (token.len > TOKEN_MAX) { /* no cut is sure then */
            memset(c, 0xFF, sizeof *c);
            break;
        }
        add_product(c, bytes, raw_bytes(token, bytes));
    }
    c->chars = chars;
    return c;
}

bool tk_cut_has_partial(const tk_cuts *c, uint64_t left, uint64_t right, uint32_t kinds)
{
    uint32_t left_len = (uint32_t)(left >> 32), right_len = (uint32_t)(right >> 32);
    for (; kinds != 0; kinds &= kinds - 1) {
        unsigned kind = (unsigned)__builtin_ctz(kinds);
        uint32_t n = kind / 4 + 1, k = kind % 4 + 1; /* of the left's end, of the right's start */
        if (n > left_len || k > right_len)
            continue;
        uint32_t suffix = (uint32_t)left & (uint32_t)(((uint64_t)1 << 8 * n) - 1);
        uint32_t prefix = (uint32_t)right >> 8 * (right_len - k);
        if (has(c->partial, tk_cut_place(suffix | (uint64_t)n << 32, prefix | (uint64_t)k << 32)))
            return true;
    }
    return false;
}

/* y moved over ASCII characters, some may be left. */
static const char *skip_ascii(const char *y, const char *stop)
{
    uint64_t w;
    for (; stop - y >= (ptrdiff_t)sizeof w; y += sizeof w) {
        memcpy(&w, y, sizeof w);
        if ((w & 0x8080808080808080u) != 0)
            break;
    }
    return y;
}

uint32_t tk_cut_places(const tk_cuts *c, const char *text, uint32_t from, uint32_t end,
                       uint32_t *ends, uint32_t max)
{
    const char *y = text + from, *stop = text + end;
    uint32_t n = 0;
    uint64_t left = tk_cut_next(&y);
    const char *behind = c->chars ? y : skip_ascii(text + from, stop);
    if (behind > y) {
        left = tk_cut_pack(behind - 1, 1);
        y = behind;
    }
    while (y < stop && n < max) {
        const char *z = y;
        uint64_t right = tk_cut_next(&z);
        ends[n] = (uint32_t)(y - text);
        n += tk_can_cut_at(c, left, right, y); /* no branch: nobody can guess it */
        left = right;
        y = z;
    }
    if (n < max)
        ends[n++] = end;
    return n;
}

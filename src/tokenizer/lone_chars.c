/* lone_chars.c - see lone_chars.h. */
#include "tokenizer/lone_chars.h"

#include <string.h>

#include "base/utf8.h"

static const td_id LOW = ((td_id)1 << TK_LONE_SHIFT) - 1;

static td_id entry_of(uint32_t ids, td_id first)
{
    return ids << TK_LONE_SHIFT | first;
}

/* Characters that the vocabulary does not have: all of one lead byte begin with the same id. */
static void set_bytes(tk_lone_chars *l)
{
    for (uint32_t lead = 0xEF; lead >= 0xC2; lead--) { /* E0 first, which reaches below U+0800 */
        bool three = lead >= 0xE0;
        uint32_t from = three ? (lead & 15) << 12 : (lead & 31) << 6;
        td_id entry = entry_of(three ? 3 : 2, l->bytes[lead]);
        for (uint32_t c = from; c < from + (three ? 0x1000 : 0x40); c++)
            l->first[c] = entry;
    }
    memset(l->first, 0, 0x80 * sizeof *l->first);
}

void tk_lone_start(tk_lone_chars *l, const tk_bpe *bpe, const uint8_t *can_cut, td_id space)
{
    const tk_vocab *v = bpe->vocab;
    l->bytes = bpe->bytes;
    l->can_cut = can_cut;
    tk_lone_set_cpu(l, td_cpu_best());
    set_bytes(l);
    for (uint32_t c = 0; c < 128; c++)
        l->ascii[c] = bpe->direct[c] != TK_NO_ID ? bpe->direct[c] : bpe->bytes[c];
    if (space != TK_NO_ID)
        l->ascii[' '] = space;
    for (uint32_t at = 0; at < v->size; at = tk_vocab_next(v, at)) {
        td_str s = tk_vocab_text(v, at);
        if (s.len != 2 && s.len != 3)
            continue;
        const char *p = s.ptr;
        uint32_t c = td_utf8_next(&p, s.ptr + s.len);
        td_id id = tk_vocab_head_at(v, at).id;
        if (c >= 0x80 && p == s.ptr + s.len)
            l->first[c] = tk_id_bit(bpe->merges.parts, id) ? 0 : entry_of(1, id);
    }
}

/* ---- for any CPU ---- */

static inline bool is_three(const char *p)
{
    return ((unsigned char)*p & 0xF0) == 0xE0;
}

/* The character of three bytes at p. */
static inline td_id three_at(const tk_lone_chars *l, const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return l->first[(b[0] & 15) << 12 | (b[1] & 63) << 6 | (b[2] & 63)];
}

static inline td_id two_at(const tk_lone_chars *l, const char *p)
{
    return l->first[((unsigned char)p[0] & 31) << 6 | ((unsigned char)p[1] & 63)];
}

/* Whether the ASCII character at p ends before the next one whatever is behind that. */
static inline bool ends_here(const tk_lone_chars *l, const char *p)
{
    unsigned char next = (unsigned char)p[1];
    if (next < 0x80)
        return l->can_cut[128 * (unsigned char)*p + next] != 0;
    return next < 0xF0 && (is_three(p + 1) ? three_at(l, p + 1) : two_at(l, p + 1)) != 0;
}

/* The character at p, if it is not of three bytes: moves p behind it and puts its ids out. Returns
 * how many those are, 0: it does not stand alone. */
static inline uint32_t put_other(const tk_lone_chars *l, const char **p, td_id *out)
{
    const char *s = *p;
    unsigned char lead = (unsigned char)*s;
    if (lead < 0x80) {
        if (!ends_here(l, s))
            return 0;
        if (out != NULL)
            out[0] = l->ascii[lead];
        *p = s + 1;
        return 1;
    }
    td_id entry = lead < 0xE0 ? two_at(l, s) : 0;
    if (entry == 0)
        return 0;
    if (out != NULL) {
        out[0] = entry & LOW;
        out[1] = l->bytes[(unsigned char)s[1]];
    }
    *p = s + 2;
    return entry >> TK_LONE_SHIFT;
}

static inline const char *run_plain(const tk_lone_chars *l, const char *p, const char *end,
                                    td_id *out, size_t *ret_count)
{
    size_t n = 0;
    while (end - p > TK_LONE_UNSEEN) {
        if (!is_three(p)) {
            uint32_t count = put_other(l, &p, out != NULL ? out + n : NULL);
            if (count == 0)
                break;
            n += count;
            continue;
        }
        td_id entry = three_at(l, p);
        if (entry == 0)
            break;
        if (out != NULL) {
            out[n] = entry & LOW;
            out[n + 1] = l->bytes[(unsigned char)p[1]];
            out[n + 2] = l->bytes[(unsigned char)p[2]];
        }
        n += entry >> TK_LONE_SHIFT;
        p += 3;
    }
    *ret_count = n;
    return p;
}

static const char *put_plain(const tk_lone_chars *l, const char *p, const char *end, td_id *out,
                             size_t *ret_count)
{
    return out != NULL ? run_plain(l, p, end, out, ret_count)
                       : run_plain(l, p, end, NULL, ret_count);
}

/* ---- AVX2 ---- */

#if TD_X86

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi2")))

/* Where the ids of bytes follow each other: those of a character are its bytes and a constant. */
AVX2 static inline __attribute__((always_inline)) const char *
run_avx2(const tk_lone_chars *l, const char *p, const char *end, td_id *out, size_t *ret_count)
{
    const __m128i base = _mm_set1_epi32((int)l->bytes[0]);
    td_id *to = out;
    size_t n = 0;
    while (end - p > TK_LONE_UNSEEN) {
        uint32_t b;
        memcpy(&b, p, sizeof b);
        if ((b & 0xF0) != 0xE0) {
            uint32_t count = put_other(l, &p, to);
            if (count == 0)
                break;
            n += count;
            to = out != NULL ? to + count : NULL;
            continue;
        }
        td_id entry = l->first[_pext_u32(__builtin_bswap32(b), 0x0F3F3F00)];
        if (entry == 0)
            break;
        n += entry >> TK_LONE_SHIFT;
        p += 3;
        if (out == NULL)
            continue;
        __m128i ids = _mm_add_epi32(_mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)b)), base);
        ids = _mm_insert_epi32(ids, (int)(entry & LOW), 0);
        _mm_storeu_si128((__m128i *)(void *)to, ids);
        to += entry >> TK_LONE_SHIFT;
    }
    *ret_count = out != NULL ? (size_t)(to - out) : n;
    return p;
}

AVX2 static const char *put_avx2(const tk_lone_chars *l, const char *p, const char *end,
                                 td_id *out, size_t *ret_count)
{
    return out != NULL ? run_avx2(l, p, end, out, ret_count)
                       : run_avx2(l, p, end, NULL, ret_count);
}

static bool has_bytes_in_order(const tk_lone_chars *l)
{
    uint32_t b = 1;
    while (b < 256 && l->bytes[b] == l->bytes[0] + b)
        b++;
    return b == 256;
}

#endif

void tk_lone_set_cpu(tk_lone_chars *l, td_cpu cpu)
{
    l->put = put_plain;
#if TD_X86
    if (cpu >= TD_CPU_AVX2 && has_bytes_in_order(l))
        l->put = put_avx2;
#else
    (void)cpu;
#endif
}

bool tk_lone_run(const tk_lone_chars *l, const char *p, const char *end, uint32_t bytes)
{
    size_t count;
    if (end - p < bytes + TK_LONE_UNSEEN || (unsigned char)*p < 0x80)
        return false;
    return l->put(l, p, p + bytes + TK_LONE_UNSEEN, NULL, &count) - p >= bytes;
}

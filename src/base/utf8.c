#include "base/utf8.h"

#include <string.h>

#include "base/selfcheck.h"

size_t td_utf8_count(td_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += !td_utf8_is_cont(s.ptr[i]);
    return n;
}

bool td_utf8_is_ascii(td_str s)
{
    size_t i = 0;
    uint64_t any = 0;
    for (; i + 8 <= s.len; i += 8) {
        uint64_t w;
        memcpy(&w, s.ptr + i, 8);
        any |= w;
    }
    for (; i < s.len; i++)
        any |= (uint64_t)(unsigned char)s.ptr[i];
    return (any & 0x8080808080808080u) == 0;
}

/* Length of the valid sequence at s[0..n), 0 if there is none. */
static size_t sequence(const unsigned char *s, size_t n, bool surrogates)
{
    unsigned char lo = 0x80, hi = 0xBF;
    size_t len;
    if (s[0] < 0xC2)
        return s[0] < 0x80;
    if (s[0] < 0xE0) {
        len = 2;
    } else if (s[0] < 0xF0) {
        len = 3;
        if (s[0] == 0xE0)
            lo = 0xA0;
        else if (s[0] == 0xED && !surrogates)
            hi = 0x9F;
    } else if (s[0] < 0xF5) {
        len = 4;
        if (s[0] == 0xF0)
            lo = 0x90;
        else if (s[0] == 0xF4)
            hi = 0x8F;
    } else {
        return 0;
    }
    if (n < len || s[1] < lo || s[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return len;
}

static inline size_t ascii_words(td_str s)
{
    size_t i = 0;
    uint64_t w;
    while (i + 8 <= s.len && (memcpy(&w, s.ptr + i, 8), (w & 0x8080808080808080u) == 0))
        i += 8;
    while (i < s.len && ((unsigned char)s.ptr[i] & 0x80) == 0)
        i++;
    return i;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(TD_NO_SIMD)

#include <immintrin.h>

/* Sixteen bytes at a time. Each pair of neighbours is looked up by three of its four half-bytes;
 * the lookups name the errors that these half-bytes allow, so what all three name is an error. The
 * bit TWO_CONT is one only where no third or fourth byte is due, which is_due says. */
enum {
    TOO_SHORT = 1 << 0, /* lead byte, then no continuation */
    TOO_LONG = 1 << 1,  /* ASCII, then a continuation */
    OVER_3 = 1 << 2,    /* E0 80..9F */
    TOO_LARGE = 1 << 3, /* F4 90..BF, F5.. */
    SURROGATE = 1 << 4, /* ED A0..BF */
    OVER_2 = 1 << 5,    /* C0, C1 */
    OVER_4 = 1 << 6,    /* F0 80..8F, and F5.. 80..8F */
    TWO_CONT = 1 << 7,  /* two continuations */
    ANY_LOW = TOO_SHORT | TOO_LONG | TWO_CONT,
    F_LOW = ANY_LOW | TOO_LARGE | OVER_4,
    CONT = TOO_LONG | OVER_2 | TWO_CONT,
};

#define ROW(...) _mm_setr_epi8(__VA_ARGS__)

__attribute__((target("ssse3"))) static __m128i pair_errors(__m128i v, __m128i before,
                                                            bool surrogates)
{
    const char wrong = (char)TWO_CONT, ed = (char)(F_LOW | (surrogates ? 0 : SURROGATE));
    const __m128i lead_high =
        ROW(TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, wrong,
            wrong, wrong, wrong, TOO_SHORT | OVER_2, TOO_SHORT, TOO_SHORT | OVER_3 | SURROGATE,
            TOO_SHORT | TOO_LARGE | OVER_4);
    const __m128i lead_low =
        ROW((char)(ANY_LOW | OVER_2 | OVER_3 | OVER_4), (char)(ANY_LOW | OVER_2), (char)ANY_LOW,
            (char)ANY_LOW, (char)(ANY_LOW | TOO_LARGE), (char)F_LOW, (char)F_LOW, (char)F_LOW,
            (char)F_LOW, (char)F_LOW, (char)F_LOW, (char)F_LOW, (char)F_LOW, ed, (char)F_LOW,
            (char)F_LOW);
    const char c8 = (char)(CONT | OVER_3 | OVER_4), c9 = (char)(CONT | OVER_3 | TOO_LARGE),
               ca = (char)(CONT | SURROGATE | TOO_LARGE);
    const __m128i next_high =
        ROW(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
            c8, c9, ca, ca, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT);
    const __m128i low4 = _mm_set1_epi8(0x0F);
    __m128i a = _mm_shuffle_epi8(lead_high, _mm_and_si128(_mm_srli_epi16(before, 4), low4));
    __m128i b = _mm_shuffle_epi8(lead_low, _mm_and_si128(before, low4));
    __m128i c = _mm_shuffle_epi8(next_high, _mm_and_si128(_mm_srli_epi16(v, 4), low4));
    return _mm_and_si128(_mm_and_si128(a, b), c);
}

/* Where the first 64 bytes from i on begin that are not all ASCII. The next ones are asked for well
 * ahead: a text that is looked at for the first time comes from far away. */
static inline size_t skip_ascii(td_str s, size_t i)
{
    enum { AHEAD = 1536 };
    for (; i + 64 <= s.len; i += 64) {
        const __m128i *p = (const __m128i *)(const void *)(s.ptr + i);
        __m128i a = _mm_or_si128(_mm_loadu_si128(p), _mm_loadu_si128(p + 1));
        __m128i b = _mm_or_si128(_mm_loadu_si128(p + 2), _mm_loadu_si128(p + 3));
        if (_mm_movemask_epi8(_mm_or_si128(a, b)) != 0)
            break;
        __builtin_prefetch(s.len - i > AHEAD ? s.ptr + i + AHEAD : s.ptr);
    }
    return i;
}

/* Bit i: byte i of the sixteen at p is not ASCII. */
static inline unsigned high16(const char *p)
{
    return (unsigned)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* Bytes of ASCII at the start of s, of at least sixteen. */
static size_t ascii_blocks(td_str s)
{
    size_t i = skip_ascii(s, 0);
    for (; i + 16 <= s.len; i += 16) {
        unsigned high = high16(s.ptr + i);
        if (high != 0)
            return i + (unsigned)__builtin_ctz(high);
    }
    unsigned high = high16(s.ptr + s.len - 16); /* and some before i once more, which are ASCII */
    return high != 0 ? s.len - 16 + (unsigned)__builtin_ctz(high) : s.len;
}

/* A character boundary up to which s is valid: at least all but the last block and the one that
 * holds the first error. */
__attribute__((target("ssse3"))) static size_t check_blocks(td_str s, bool surrogates)
{
    const __m128i zero = _mm_setzero_si128();
    __m128i last = zero;
    size_t i = skip_ascii(s, 0);
    for (; i + 16 <= s.len; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(s.ptr + i));
        if (_mm_movemask_epi8(_mm_or_si128(v, last)) == 0) {
            /* ASCII, and nothing before it that could be incomplete */
            size_t more = skip_ascii(s, i + 16);
            i = more - 16;
            last = zero; /* as good as what stands there */
            continue;
        }
        __m128i before2 = _mm_alignr_epi8(v, last, 14), before3 = _mm_alignr_epi8(v, last, 13);
        __m128i third = _mm_subs_epu8(before2, _mm_set1_epi8((char)(0xE0 - 0x80)));
        __m128i fourth = _mm_subs_epu8(before3, _mm_set1_epi8((char)(0xF0 - 0x80)));
        __m128i is_due = _mm_and_si128(_mm_or_si128(third, fourth), _mm_set1_epi8((char)0x80));
        __m128i errors = pair_errors(v, _mm_alignr_epi8(v, last, 15), surrogates);
        __m128i bad = _mm_xor_si128(errors, is_due);
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(bad, zero)) != 0xFFFF)
            break;
        last = v;
    }
    for (size_t back = 1; back <= 3 && back <= i; back++)
        if (!td_utf8_is_cont(s.ptr[i - back]))
            return i - back; /* this last character may go on behind i */
    return i; /* behind three continuations a character of four bytes is complete */
}

static size_t skip_valid(td_str s, bool surrogates)
{
    return __builtin_cpu_supports("ssse3") ? check_blocks(s, surrogates) : 0;
}

#else

static size_t ascii_blocks(td_str s)
{
    return ascii_words(s);
}

static size_t skip_valid(td_str s, bool surrogates)
{
    (void)s;
    (void)surrogates;
    return 0;
}

#endif

size_t td_utf8_ascii_run(td_str s)
{
    return s.len >= 16 ? ascii_blocks(s) : ascii_words(s);
}

/* The same again without vectors. */
static void check_skipped(td_str s, size_t skipped, bool surrogates)
{
#ifdef TD_SELFCHECK
    for (size_t i = 0, n; i < skipped; i += n) {
        n = sequence((const unsigned char *)s.ptr + i, s.len - i, surrogates);
        if (n == 0 || n > skipped - i)
            td_selfcheck_fail("UTF-8: %zu bytes passed, byte %zu is wrong", skipped, i);
    }
#else
    (void)s;
    (void)skipped;
    (void)surrogates;
#endif
}

static size_t check(td_str s, bool surrogates)
{
    size_t i = s.len >= 32 ? skip_valid(s, surrogates) : 0;
    check_skipped(s, i, surrogates);
    while (i < s.len) {
        uint64_t w;
        while (i + 8 <= s.len && (memcpy(&w, s.ptr + i, 8), (w & 0x8080808080808080u) == 0))
            i += 8;
        if (i == s.len)
            break;
        size_t n = sequence((const unsigned char *)s.ptr + i, s.len - i, surrogates);
        if (n == 0)
            return i;
        i += n;
    }
    return s.len;
}

size_t td_utf8_check_strict(td_str s)
{
    return check(s, false);
}

size_t td_utf8_check(td_str s)
{
    return check(s, true);
}

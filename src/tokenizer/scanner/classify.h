/* classify.h - the classes of the 64 bytes of a block by vectors, for each instruction set. */
#ifndef TD_SRC_TOKENIZER_SCANNER_CLASSIFY_H
#define TD_SRC_TOKENIZER_SCANNER_CLASSIFY_H

#include "base/cpu.h"
#include "tokenizer/scanner/blocks.h"
#include "tokenizer/scanner/wide.h"

#if TD_X86

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* Knows no characters but ASCII. */
INLINE void no_wide(const char *p, tk_block *b)
{
    (void)p;
    (void)b;
}

/* Known characters, by their first bytes. */
INLINE void put_wide(tk_block *b, uint64_t han, uint64_t hangul, uint64_t marks)
{
    uint64_t known = han | hangul | marks;
    b->han = han | han << 1 | han << 2;
    b->hangul = hangul | hangul << 1 | hangul << 2;
    b->tails = known << 1 | known << 2;
    b->high &= ~(b->tails | known);
}

/* ---- SSE2: four times 16 bytes ---- */

typedef struct consts0 {
    char none;
} consts0;

INLINE consts0 make_consts0(void)
{
    return (consts0){ 0 };
}

INLINE uint64_t mask16(__m128i v)
{
    return (uint16_t)_mm_movemask_epi8(v);
}

/* Bytes from low to high, both ASCII; bytes with the top bit are negative and never in range. */
INLINE __m128i range16(__m128i v, char low, char high)
{
    return _mm_and_si128(_mm_cmpgt_epi8(v, _mm_set1_epi8((char)(low - 1))),
                         _mm_cmplt_epi8(v, _mm_set1_epi8((char)(high + 1))));
}

INLINE void classify_sse2(const char *p, tk_block *b, const consts0 *none)
{
    (void)none;
    *b = (tk_block){ 0 };
    for (int i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        __m128i lower = _mm_or_si128(v, _mm_set1_epi8(0x20));
        __m128i newline = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')),
                                       _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
        __m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
        int at = 16 * i;
        b->letter |= mask16(range16(lower, 'a', 'z')) << at;
        b->upper |= mask16(range16(v, 'A', 'Z')) << at;
        b->digit |= mask16(range16(v, '0', '9')) << at;
        b->space |= mask16(_mm_or_si128(range16(v, '\t', '\r'), blank)) << at;
        b->newline |= mask16(newline) << at;
        b->blank |= mask16(blank) << at;
        b->apostrophe |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('\''))) << at;
        b->slash |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('/'))) << at;
        b->underscore |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8('_'))) << at;
        b->high |= mask16(v) << at;
        b->e2 |= mask16(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xE2))) << at;
        b->control |= mask16(_mm_or_si128(range16(v, 0, 31), _mm_cmpeq_epi8(v, _mm_set1_epi8(127))))
                      << at;
    }
    b->control &= ~b->space;
}

/* ---- AVX2: twice 32 bytes ---- */

#define AVX2 "avx2,bmi,bmi2,popcnt"
#define INLINE_AVX2 __attribute__((target(AVX2))) INLINE

INLINE_AVX2 uint64_t mask32(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* Sixteen bytes twice, in a register: the compiler would make them again for each block. */
INLINE_AVX2 __m256i both32(__m128i once)
{
    __m256i v = _mm256_broadcastsi128_si256(once);
    __asm__("" : "+x"(v));
    return v;
}

/* Classes as bits of a byte: those that its low and its high four bits have in common. Letters come
 * in two, with the low bits from 1 on and up to 10. */
enum {
    FIRST_LETTERS = 0x80,
    LAST_LETTERS = 0x40,
    DIGIT = 0x20,
    OTHER_SPACE = 0x10,
    NEWLINE = 0x08,
    BLANK = 0x04,
    APOSTROPHE = 0x02,
    SLASH = 0x01,
    LETTER_DIGIT = FIRST_LETTERS | LAST_LETTERS | DIGIT,
};

typedef struct consts2 {
    __m256i low, high, four, letters;
} consts2;

INLINE_AVX2 consts2 make_consts2(void)
{
    const char letters = (char)(FIRST_LETTERS | LAST_LETTERS), all = (char)LETTER_DIGIT;
    const char first = (char)FIRST_LETTERS;
    __m128i low = _mm_setr_epi8(LAST_LETTERS | DIGIT | BLANK, all, all, all, all, all, all,
                                (char)(LETTER_DIGIT | APOSTROPHE), all,
                                (char)(LETTER_DIGIT | OTHER_SPACE), (char)(letters | NEWLINE),
                                (char)(first | OTHER_SPACE), (char)(first | OTHER_SPACE),
                                (char)(first | NEWLINE), first, (char)(first | SLASH));
    __m128i high = _mm_setr_epi8(OTHER_SPACE | NEWLINE, 0, BLANK | APOSTROPHE | SLASH, DIGIT, first,
                                 LAST_LETTERS, first, LAST_LETTERS, 0, 0, 0, 0, 0, 0, 0, 0);
    return (consts2){ .low = both32(low),
                      .high = both32(high),
                      .four = both32(_mm_set1_epi8(15)),
                      .letters = both32(_mm_set1_epi8(LAST_LETTERS)) };
}

/* Which bytes have a class: its bit is moved to the top of each. */
#define CLASS32(classes, class) mask32(_mm256_slli_epi16(classes, __builtin_clz(class) - 24))

INLINE_AVX2 void classify_avx2(const char *p, tk_block *b, const consts2 *k)
{
    *b = (tk_block){ 0 };
    for (int i = 0; i < 2; i++) {
        int at = 32 * i;
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + at));
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(v, 4), k->four);
        __m256i c =
            _mm256_and_si256(_mm256_shuffle_epi8(k->low, v), _mm256_shuffle_epi8(k->high, high));
        b->letter |= mask32(_mm256_adds_epu8(c, k->letters)) << at;
        b->upper |= mask32(_mm256_slli_epi16(v, 2)) << at; /* those that are not, so far */
        b->digit |= CLASS32(c, DIGIT) << at;
        b->space |= CLASS32(c, OTHER_SPACE) << at;
        b->newline |= CLASS32(c, NEWLINE) << at;
        b->blank |= CLASS32(c, BLANK) << at;
        b->apostrophe |= CLASS32(c, APOSTROPHE) << at;
        b->slash |= CLASS32(c, SLASH) << at;
        b->underscore |= mask32(_mm256_cmpeq_epi8(v, _mm256_set1_epi8('_'))) << at;
        b->high |= mask32(v) << at;
        b->e2 |= mask32(_mm256_cmpeq_epi8(v, _mm256_set1_epi8((char)0xE2))) << at;
        __m256i del = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(127));
        __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(31)), v);
        b->control |= mask32(_mm256_or_si256(low, del)) << at;
    }
    b->upper = b->letter & ~b->upper;
    b->space |= b->newline | b->blank;
    b->control &= ~b->space;
}

/* 32 bytes whose last six bits say where in a table. */
typedef struct places32 {
    __m256i low, fifth, sixth; /* four bits; one, and one more, as the top bits of the bytes */
} places32;

INLINE_AVX2 places32 places32_of(const char *p)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return (places32){ _mm256_and_si256(v, _mm256_set1_epi8(15)), _mm256_slli_epi16(v, 3),
                       _mm256_slli_epi16(v, 2) };
}

INLINE_AVX2 __m256i in_row32(const uint8_t *row, __m256i low)
{
    __m128i once = _mm_load_si128((const __m128i *)(const void *)row);
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(once), low);
}

INLINE_AVX2 __m256i in_table32(const uint8_t *rows, const places32 *at)
{
    __m256i near = _mm256_blendv_epi8(in_row32(rows, at->low), in_row32(rows + 16, at->low),
                                      at->fifth);
    __m256i far = _mm256_blendv_epi8(in_row32(rows + 32, at->low), in_row32(rows + 48, at->low),
                                     at->fifth);
    return _mm256_blendv_epi8(near, far, at->sixth);
}

/* What is set in all three of the tables from table on. Of first bytes only the low bits are looked
 * at: all that there are lie in the third row. */
INLINE_AVX2 __m256i look32(int table, const places32 *first, const places32 *second,
                           const places32 *third)
{
    const uint8_t (*rows)[64] = tk_wide_tables + table;
    __m256i a = in_row32(rows[0] + 32, first->low);
    return _mm256_and_si256(_mm256_and_si256(a, in_table32(rows[1], second)),
                            in_table32(rows[2], third));
}

/* Which bytes have some of the bits. */
INLINE_AVX2 uint64_t any32(__m256i v, char bits)
{
    __m256i none = _mm256_cmpeq_epi8(_mm256_and_si256(v, _mm256_set1_epi8(bits)),
                                     _mm256_setzero_si256());
    return (uint32_t)~_mm256_movemask_epi8(none);
}

/* The known characters among those that are not ASCII. Two bytes behind the block can be read. */
INLINE_AVX2 void wide_avx2(const char *p, tk_block *b)
{
    uint64_t han = 0, hangul = 0, marks = 0;
    for (int i = 0; i < 2; i++) {
        const char *s = p + 32 * i;
        const places32 first = places32_of(s), second = places32_of(s + 1);
        const places32 third = places32_of(s + 2);
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)s);
        __m256i lead = _mm256_cmpeq_epi8(_mm256_and_si256(v, _mm256_set1_epi8((char)0xF0)),
                                         _mm256_set1_epi8((char)0xE0));
        __m256i letters = _mm256_and_si256(lead, look32(TK_WIDE_LETTERS, &first, &second, &third));
        __m256i others = _mm256_and_si256(lead, look32(TK_WIDE_OTHERS, &first, &second, &third));
        int at = 32 * i;
        han |= any32(letters, -1) << at;
        hangul |= any32(others, TK_WIDE_HANGUL) << at;
        marks |= any32(others, TK_WIDE_MARKS) << at;
    }
    put_wide(b, han, hangul, marks);
}

/* ---- AVX-512: all at once ---- */

#define AVX512 "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,popcnt"
#define INLINE_AVX512 __attribute__((target(AVX512))) INLINE

INLINE_AVX512 uint64_t range64(__m512i v, __m512i low, __m512i width)
{
    return _mm512_cmple_epu8_mask(_mm512_sub_epi8(v, low), width);
}

/* A byte 64 times, in a register: the compiler would make it again for each block. */
INLINE_AVX512 __m512i all64(char c)
{
    __m512i v = _mm512_set1_epi8(c);
    __asm__("" : "+v"(v));
    return v;
}

typedef struct consts512 {
    __m512i blank, a, letters, upper, zero, digits, tab, spaces, newline, ret, apostrophe, slash;
} consts512;

INLINE_AVX512 consts512 make_consts512(void)
{
    return (consts512){ .blank = all64(' '),
                        .a = all64('a'),
                        .letters = all64(25),
                        .upper = all64('A'),
                        .zero = all64('0'),
                        .digits = all64(9),
                        .tab = all64('\t'),
                        .spaces = all64('\r' - '\t'),
                        .newline = all64('\n'),
                        .ret = all64('\r'),
                        .apostrophe = all64('\''),
                        .slash = all64('/') };
}

INLINE_AVX512 void classify_avx512(const char *p, tk_block *b, const consts512 *k)
{
    __m512i v = _mm512_loadu_si512(p);
    b->letter = range64(_mm512_or_si512(v, k->blank), k->a, k->letters);
    b->upper = range64(v, k->upper, k->letters);
    b->digit = range64(v, k->zero, k->digits);
    b->newline = _mm512_cmpeq_epi8_mask(v, k->newline) | _mm512_cmpeq_epi8_mask(v, k->ret);
    b->blank = _mm512_cmpeq_epi8_mask(v, k->blank);
    b->space = range64(v, k->tab, k->spaces) | b->blank;
    b->apostrophe = _mm512_cmpeq_epi8_mask(v, k->apostrophe);
    b->slash = _mm512_cmpeq_epi8_mask(v, k->slash);
    b->underscore = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('_'));
    b->high = _mm512_movepi8_mask(v);
    b->e2 = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8((char)0xE2));
    b->han = b->hangul = b->tails = b->beyond = 0;
    b->control = (_mm512_cmplt_epu8_mask(v, k->blank) |
                  _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(127))) &
                 ~b->space;
}

/* What is set in all three of the tables from table on. */
INLINE_AVX512 __m512i look64(int table, __m512i first, __m512i second, __m512i third)
{
    const uint8_t (*rows)[64] = tk_wide_tables + table;
    __m512i a = _mm512_permutexvar_epi8(first, _mm512_load_si512(rows[0]));
    __m512i b = _mm512_permutexvar_epi8(second, _mm512_load_si512(rows[1]));
    __m512i c = _mm512_permutexvar_epi8(third, _mm512_load_si512(rows[2]));
    return _mm512_and_si512(_mm512_and_si512(a, b), c);
}

/* The known characters among those that are not ASCII. Two bytes behind the block can be read. */
INLINE_AVX512 void wide_avx512(const char *p, tk_block *b)
{
    __m512i v = _mm512_loadu_si512(p), second = _mm512_loadu_si512(p + 1);
    __m512i third = _mm512_loadu_si512(p + 2);
    uint64_t first = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8((char)0xE0));
    __m512i letters = look64(TK_WIDE_LETTERS, v, second, third);
    __m512i others = look64(TK_WIDE_OTHERS, v, second, third);
    uint64_t han = first & _mm512_test_epi8_mask(letters, letters);
    uint64_t hangul = first & _mm512_test_epi8_mask(others, _mm512_set1_epi8(TK_WIDE_HANGUL));
    uint64_t marks = first & _mm512_test_epi8_mask(others, _mm512_set1_epi8(TK_WIDE_MARKS));
    put_wide(b, han, hangul, marks);
}

#endif

#endif

/* fast_loops.c - see fast_loops.h. What a word costs is the number of instructions here. */
#include "tokenizer/fast_loops.h"

#include "tokenizer/key.h"

static const td_id low_bits = ((td_id)1 << TK_COUNT_SHIFT) - 1;

/* ---- for any CPU ---- */

static uint32_t hash_plain(const uint64_t key[2])
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t a = key[0] ^ 0x9E3779B97F4A7C15u, b = key[1] ^ 0xD6E8FEB86659FD93u;
    return (uint32_t)(a * b ^ (uint64_t)((wide)a * b >> 64));
}

static uint32_t take_plain(tk_batch *b, const tk_cache *c, const char *text, uint32_t start,
                           const uint32_t *ends, uint32_t n, bool part)
{
    for (uint32_t i = 0, k = b->count; i < n; i++, k++) {
        uint32_t len = ends[i] - start;
        if (len > TK_CACHED_BYTES)
            return i;
        tk_key_make(text + start, len, part, b->keys[k]);
        b->hashes[k] = hash_plain(b->keys[k]);
        b->ends[k] = ends[i];
        __builtin_prefetch(tk_own_pair(c, b->hashes[k]));
        start = ends[i];
    }
    return n;
}

static uint32_t locate_plain(const tk_cache *c, tk_batch *b, uint16_t *words)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        b->places[i] = tk_place_in(c, tk_own_pair(c, b->hashes[i]), b->keys[i]);
        words[n] = (uint16_t)i;
        n += b->places[i] == 0;
    }
    return n;
}

static inline uint32_t put_any(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink,
                               bool counting)
{
    td_id *out = counting ? NULL : sink->ids + sink->count;
    size_t count = 0;
    for (; i < b->count; i++) {
        const tk_pair *pair = tk_own_pair(c, b->hashes[i]);
        const uint64_t *key = b->keys[i];
        bool first = ((pair->keys[0][0] ^ key[0]) | (pair->keys[0][1] ^ key[1])) == 0;
        bool second = ((pair->keys[1][0] ^ key[0]) | (pair->keys[1][1] ^ key[1])) == 0;
        if (!(first | second))
            break;
        const td_id *ids = pair->ids[second];
        td_id head = ids[0], n = head >> TK_COUNT_SHIFT;
        if (!counting && n > TK_CACHED_IDS) {
            memcpy(out + count, c->more + (head & low_bits), TK_SINK_SLACK * sizeof *ids);
        } else if (!counting) {
            memcpy(out + count, ids, TK_CACHED_IDS * sizeof *ids);
            out[count] = head & low_bits;
        }
        count += n;
    }
    sink->count += count;
    return i;
}

static uint32_t put_plain(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink)
{
    return put_any(c, b, i, sink, false);
}

static uint32_t count_plain(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink)
{
    return put_any(c, b, i, sink, true);
}

static const tk_loops plain = { hash_plain, take_plain, locate_plain, put_plain, count_plain };

/* ---- of which there is one version ---- */

typedef td_id ids_of_place __attribute__((vector_size(TK_CACHED_IDS * sizeof(td_id))));

static inline uint32_t put_places(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink,
                                  bool counting)
{
    const ids_of_place mask = { low_bits, UINT32_MAX, UINT32_MAX, UINT32_MAX };
    td_id *out = counting ? NULL : sink->ids + sink->count;
    const char *pairs = (const char *)c->pairs;
    uint32_t end = b->count;
    size_t count = 0;
    for (; i < end && tk_is_place(b->places[i]); i++) {
        const char *at = pairs + b->places[i];
        td_id head;
        memcpy(&head, at, sizeof head);
        if (counting) {
            count += head >> TK_COUNT_SHIFT;
            continue;
        }
        ids_of_place ids;
        memcpy(&ids, at, sizeof ids);
        ids &= mask; /* as one store */
        memcpy(out, &ids, sizeof ids);
        if (head >> TK_COUNT_SHIFT > TK_CACHED_IDS)
            memcpy(out, c->more + (head & low_bits), TK_SINK_SLACK * sizeof *out);
        out += head >> TK_COUNT_SHIFT;
    }
    sink->count = counting ? sink->count + count : (size_t)(out - sink->ids);
    return i;
}

uint32_t tk_put_places(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink)
{
    return sink->counting ? put_places(c, b, i, sink, true) : put_places(c, b, i, sink, false);
}

/* ---- AVX2 and AES ---- */

#if TD_X86

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,aes,bmi,bmi2,popcnt")))

/* Two rounds: behind the first, a column depends on four bytes only. */
AVX2 static inline uint32_t hash_of(__m128i key)
{
    const __m128i seed = _mm_set_epi64x((long long)0xD6E8FEB86659FD93u, 0x1E3779B97F4A7C15);
    __m128i h = _mm_aesenc_si128(_mm_aesenc_si128(key, seed), seed);
    return (uint32_t)_mm_cvtsi128_si32(h);
}

AVX2 static uint32_t hash_avx2(const uint64_t key[2])
{
    return hash_of(_mm_loadu_si128((const __m128i *)(const void *)key));
}

AVX2 static uint32_t take_avx2(tk_batch *b, const tk_cache *c, const char *text, uint32_t start,
                               const uint32_t *ends, uint32_t n, bool part)
{
    const char *rows = (const char *)tk_key_rows[part], *pairs = (const char *)c->pairs;
    __m128i *keys = (__m128i *)(void *)b->keys[b->count];
    uint32_t *hashes = b->hashes + b->count, *to = b->ends + b->count;
    uint32_t own_mask = c->own_mask, i = 0;
    __asm__("" : "+r"(rows)); /* as one register */
    for (; i < n; i++) {
        uint32_t end = ends[i], len = end - start;
        __m128i key = _mm_loadu_si128((const __m128i *)(const void *)(text + start));
        if (len > TK_CACHED_BYTES)
            break;
        const __m128i *row = (const __m128i *)(const void *)(rows + (size_t)len * 32);
        key = _mm_or_si128(_mm_and_si128(key, row[0]), row[1]);
        uint32_t hash = hash_of(key);
        _mm_store_si128(keys++, key);
        hashes[i] = hash;
        to[i] = end;
        __builtin_prefetch(pairs + (hash & own_mask));
        start = end;
    }
    return i;
}

/* Both keys of a pair are compared at once, in halves: a word is there where two halves that belong
 * together are equal. By these bits: where its ids lie in the pair, in bytes; 0: nowhere. */
#define SECOND (uint8_t)(offsetof(tk_pair, ids) + sizeof(td_id[4]))
#define FIRST (uint8_t) offsetof(tk_pair, ids)
static const uint8_t ids_at[16] = { 0, 0, 0, FIRST, 0,      0,      0,      FIRST,
                                    0, 0, 0, FIRST, SECOND, SECOND, SECOND, FIRST };

/* Where the ids of a word lie in a pair, as above. */
AVX2 static inline __attribute__((always_inline)) size_t ids_in(const char *pair,
                                                                const uint64_t *word,
                                                                const uint8_t *places)
{
    __m256i key = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)word));
    __m256i both = _mm256_load_si256((const __m256i *)(const void *)pair);
    return places[_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(key, both)))];
}

AVX2 static uint32_t locate_avx2(const tk_cache *c, tk_batch *b, uint16_t *words)
{
    const char *pairs = (const char *)c->pairs;
    const uint8_t *places = ids_at;
    uint32_t own_mask = c->own_mask, count = b->count, n = 0;
    __asm__("" : "+r"(places));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = b->hashes[i] & own_mask;
        uint32_t at = (uint32_t)ids_in(pairs + own, b->keys[i], places);
        b->places[i] = own + at;
        words[n] = (uint16_t)i;
        n += at == 0;
    }
    return n;
}

AVX2 static inline __attribute__((always_inline)) uint32_t
put_vectors(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink, bool counting)
{
    const __m128i mask = _mm_set_epi32(-1, -1, -1, (int)low_bits);
    const char *pairs = (const char *)c->pairs;
    const uint8_t *places = ids_at;
    uint32_t own_mask = c->own_mask, n = b->count;
    td_id *out = counting ? NULL : sink->ids + sink->count;
    size_t count = 0;
    __asm__("" : "+r"(places)); /* in a register, not made for each word */
    for (; i < n; i++) {
        const char *pair = pairs + (b->hashes[i] & own_mask);
        size_t at = ids_in(pair, b->keys[i], places);
        if (at == 0)
            break;
        td_id head;
        memcpy(&head, pair + at, sizeof head);
        if (counting) {
            count += head >> TK_COUNT_SHIFT;
            continue;
        }
        __m128i ids = _mm_load_si128((const __m128i *)(const void *)(pair + at));
        _mm_storeu_si128((__m128i *)(void *)out, _mm_and_si128(ids, mask));
        if (head >> TK_COUNT_SHIFT > TK_CACHED_IDS)
            memcpy(out, c->more + (head & low_bits), TK_SINK_SLACK * sizeof *out);
        out += head >> TK_COUNT_SHIFT;
    }
    sink->count = counting ? sink->count + count : (size_t)(out - sink->ids);
    return i;
}

AVX2 static uint32_t put_avx2(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink)
{
    return put_vectors(c, b, i, sink, false);
}

AVX2 static uint32_t count_avx2(const tk_cache *c, const tk_batch *b, uint32_t i, tk_sink *sink)
{
    return put_vectors(c, b, i, sink, true);
}

const tk_loops *tk_loops_of(td_cpu cpu)
{
    static const tk_loops avx2 = { hash_avx2, take_avx2, locate_avx2, put_avx2, count_avx2 };
    return cpu >= TD_CPU_AVX2 ? &avx2 : &plain;
}

#else

const tk_loops *tk_loops_of(td_cpu cpu)
{
    (void)cpu;
    return &plain;
}

#endif

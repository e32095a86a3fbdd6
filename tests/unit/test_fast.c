/* The fast way gives the ids of the general one, for models that no trainer would make: merges in
 * any order, several ways to one entry, entries that merging never reaches. */
#include "tokenizers.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/fast_loops.h"
#include "tokenizer/key.h"

enum { LETTERS = 7, ENTRIES_MAX = 400, TEXT_MAX = 3000 };

/* Bytes that words are made of: é and 中 are parts of characters to such a model. */
static const char *const letters[] = { "a", "b", " ", "é", "中", "丮", "|" };

typedef struct made {
    char entries[ENTRIES_MAX][40]; /* raw bytes; the first 256 are the single bytes */
    uint8_t lens[ENTRIES_MAX];
    uint32_t count;
} made;

static void put_text(td_buf *b, const char *bytes, size_t len)
{
    td_buf_byte(b, '"');
    for (size_t i = 0; i < len; i++) {
        uint32_t c = tk_byte_to_char((uint8_t)bytes[i]);
        if (c == '"' || c == '\\')
            td_buf_byte(b, '\\');
        td_buf_code_point(b, c);
    }
    td_buf_byte(b, '"');
}

static uint32_t find(const made *m, const char *bytes, size_t len)
{
    uint32_t i = 0;
    while (i < m->count && (m->lens[i] != len || memcmp(m->entries[i], bytes, len) != 0))
        i++;
    return i;
}

static uint32_t add(made *m, const char *bytes, size_t len)
{
    uint32_t i = find(m, bytes, len);
    if (i == m->count) {
        memcpy(m->entries[i], bytes, len);
        m->lens[m->count++] = (uint8_t)len;
    }
    return i;
}

/* A part for the next merge: an entry that was made, or a byte of the letters. */
static uint32_t pick_part(const made *m)
{
    if (m->count > 256 && pick(3) != 0)
        return 256 + pick(m->count - 256);
    const char *s = letters[pick(LETTERS)];
    return (uint8_t)s[pick((uint32_t)strlen(s))];
}

/* ordered: merges come in the order in which a trainer would make them. twins: two entries share
 * an id, as in broken files. prefix: texts get a space in front. bar: | is an added token; many:
 * so are others. split: Qwen 2's pattern is in front; a space then goes in front of each word, for
 * which there is no fast way. */
typedef struct kind {
    bool ordered, ignore_merges, twins, prefix, bar, many, split;
} kind;

static const char qwen2[] =
    "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    "|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*"
    "|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}, \"behavior\": \"Isolated\", "
    "\"invert\": false}, ";

static void put_model(td_buf *b, uint32_t merges, kind k)
{
    static made m;
    static uint32_t pairs[ENTRIES_MAX][2];
    uint32_t n = 0;
    m.count = 256;
    for (uint32_t i = 0; i < 256; i++) {
        m.entries[i][0] = (char)i;
        m.lens[i] = 1;
    }
    while (n < merges && m.count < ENTRIES_MAX) {
        uint32_t left = pick_part(&m), right = pick_part(&m);
        char both[80];
        size_t len = (size_t)m.lens[left] + m.lens[right];
        if (len > 20)
            continue;
        memcpy(both, m.entries[left], m.lens[left]);
        memcpy(both + m.lens[left], m.entries[right], m.lens[right]);
        add(&m, both, len);
        if (pick(12) == 0)
            continue; /* an entry without a merge */
        pairs[n][0] = left;
        pairs[n++][1] = right;
    }
    for (uint32_t i = n; !k.ordered && i > 1; i--) {
        uint32_t other = pick(i), left = pairs[other][0], right = pairs[other][1];
        memcpy(pairs[other], pairs[i - 1], sizeof *pairs);
        pairs[i - 1][0] = left;
        pairs[i - 1][1] = right;
    }
    td_buf_printf(b, "\"model\": {\"type\": \"BPE\", \"ignore_merges\": %s, \"vocab\": {",
                  k.ignore_merges ? "true" : "false");
    for (uint32_t i = 0; i < m.count; i++) {
        td_buf_put(b, i != 0 ? TD_STR(", ") : TD_STR(""));
        put_text(b, m.entries[i], m.lens[i]);
        td_buf_printf(b, ": %u", k.twins && i + 1 == m.count && i >= 256 ? i - 1 : i);
    }
    td_buf_put(b, TD_STR("}, \"merges\": ["));
    for (uint32_t i = 0; i < n; i++) {
        td_buf_put(b, i != 0 ? TD_STR(", [") : TD_STR("["));
        put_text(b, m.entries[pairs[i][0]], m.lens[pairs[i][0]]);
        td_buf_byte(b, ',');
        put_text(b, m.entries[pairs[i][1]], m.lens[pairs[i][1]]);
        td_buf_byte(b, ']');
    }
    td_buf_put(b, TD_STR("]}"));
}

#define TOKEN(id, content, lstrip, rstrip, normalized)                                             \
    "{\"id\": " id ", \"content\": \"" content "\", \"single_word\": false, \"lstrip\": " lstrip   \
    ", \"rstrip\": " rstrip ", \"normalized\": " normalized ", \"special\": true}"

static const char many_tokens[] =
    TOKEN("999", "|", "false", "false", "false") ", "
    TOKEN("1000", "\\n", "false", "false", "false") ", "
    TOKEN("1001", "\\n\\n", "false", "false", "false") ", "
    TOKEN("1002", "<t>", "true", "true", "false") ", "
    TOKEN("1003", "bab", "false", "false", "true") ", "
    TOKEN("1004", "||||||||||||||||||||||||", "false", "false", "false") ", "
    TOKEN("1005", "^", "false", "false", "false");

static td_tokenizer *make(uint32_t merges, kind k)
{
    td_buf b = { 0 };
    td_buf_printf(&b,
                  "{\"added_tokens\": [%s], \"normalizer\": null, \"pre_tokenizer\": {\"type\": "
                  "\"Sequence\", \"pretokenizers\": [%s{\"type\": \"ByteLevel\", "
                  "\"add_prefix_space\": %s, \"trim_offsets\": true, \"use_regex\": %s}]}, ",
                  k.many  ? many_tokens
                  : k.bar ? TOKEN("999", "|", "false", "false", "false")
                          : "",
                  k.split ? qwen2 : "", k.prefix ? "true" : "false", k.split ? "false" : "true");
    put_model(&b, merges, k);
    td_buf_put(&b, TD_STR("}"));
    td_buf_byte(&b, '\0');
    td_tokenizer *tok = load(b.ptr);
    assert_int_equal(tok->fast != NULL, !k.twins && !(k.split && k.prefix));
    td_buf_done(&b);
    return tok;
}

static size_t words_of_letters(char *out, uint32_t parts)
{
    size_t len = 0;
    for (uint32_t i = 0; i < parts; i++) {
        const char *s = letters[pick(4) ? pick(LETTERS) : pick(2)];
        memcpy(out + len, s, strlen(s));
        len += strlen(s);
    }
    return len;
}

static void compare(td_encoder *a, td_encoder *b, td_str text)
{
    td_error err = TD_ERROR_INIT;
    td_ids want, got;
    size_t count;
    assert_int_equal(td_encode(b, text, 0, &want, &err), TD_OK);
    assert_int_equal(td_encode(a, text, 0, &got, &err), TD_OK);
    assert_int_equal(got.count, want.count);
    if (want.count != 0)
        assert_memory_equal(got.ids, want.ids, want.count * sizeof *want.ids);
    assert_int_equal(td_count(a, text, 0, &count, &err), TD_OK);
    assert_int_equal(count, want.count);
    assert_int_equal(td_encode(b, text, TD_ENCODE_OFFSETS, &want, &err), TD_OK);
    assert_int_equal(td_encode(a, text, TD_ENCODE_OFFSETS, &got, &err), TD_OK);
    assert_int_equal(got.count, want.count);
    if (want.count == 0)
        return;
    assert_memory_equal(got.ids, want.ids, want.count * sizeof *want.ids);
    assert_memory_equal(got.starts, want.starts, want.count * sizeof *want.starts);
    assert_memory_equal(got.ends, want.ends, want.count * sizeof *want.ends);
}

/* bytes: entries are written in characters that stand for bytes. */
static void compare_entries(td_encoder *a, td_encoder *b, td_tokenizer *tok, bool bytes)
{
    for (td_id id = 0; id < td_tokenizer_vocab_size(tok); id++) {
        char raw[1024];
        size_t n = 0;
        td_str s = td_token_text(tok, id);
        bool fits = s.len <= sizeof raw;
        for (const char *p = s.ptr, *end = s.ptr + s.len; bytes && fits && p < end;) {
            int byte = tk_char_to_byte(td_utf8_next(&p, end));
            raw[n++] = (char)byte;
            fits = byte >= 0;
        }
        td_str word = bytes ? (td_str){ raw, n } : s;
        if (fits && td_utf8_check_strict(word) == word.len)
            compare(a, b, word);
    }
}

/* The fast way as it is on another CPU. */
static void set_cpu(td_tokenizer *tok, td_cpu cpu)
{
    tk_fast *f = (tk_fast *)(uintptr_t)tok->fast;
    if (f == NULL)
        return;
    f->loops = tk_loops_of(cpu);
    if (f->scanner != NULL)
        f->run = tk_scan_best(f->scanner->run, cpu);
}

static void run_model(uint32_t merges, kind k, td_cpu cpu)
{
    td_tokenizer *tok = make(merges, k);
    set_cpu(tok, cpu);
    td_encoder *cached = td_encoder_new(tok), *uncached = td_encoder_new(tok);
    td_encoder *general = td_encoder_new(tok);
    tk_encoder_force(uncached, TK_FORCE_UNCACHED);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    compare_entries(cached, general, tok, true);
    compare_entries(uncached, general, tok, true);
    for (int i = 0; i < 60; i++) {
        static char text[TEXT_MAX];
        size_t len = words_of_letters(text, 1 + pick(i % 10 ? 20 : TEXT_MAX / 4));
        char *exact = malloc(len); /* so that reading beyond the end shows */
        assert_non_null(exact);
        memcpy(exact, text, len);
        compare(cached, general, (td_str){ exact, len });
        compare(uncached, general, (td_str){ exact, len });
        free(exact);
    }
    td_encoder_free(cached);
    td_encoder_free(uncached);
    td_encoder_free(general);
    td_tokenizer_free(tok);
}

static void test_random_models(void **unused)
{
    (void)unused;
    for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++)
        for (int i = 0; i < 140; i++)
            run_model(1 + pick(140),
                      (kind){ i % 2 == 0, i % 5 == 0, i % 7 == 0, i % 11 == 0, i % 3 == 0, false,
                              i % 4 == 3 },
                      cpu);
}

/* Every entry of real models, as a text of its own. */
static void test_real_entries(void **unused)
{
    (void)unused;
    static const char *const names[] = { "qwen3", "deepseek_v3", "llama3_1", "gptoss", "gemma3" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        td_tokenizer *tok = load_real(names[i]);
        if (tok == NULL)
            continue;
        assert_non_null(tok->fast);
        td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
        tk_encoder_force(general, TK_FORCE_GENERAL);
        compare_entries(enc, general, tok, tok->fast->scanner != NULL);
        td_encoder_free(enc);
        td_encoder_free(general);
        td_tokenizer_free(tok);
    }
}

/* The cache is bounded, and words that come back behind many others are still right. */
static void test_many_words(void **unused)
{
    (void)unused;
    td_tokenizer *tok = make(120, (kind){ .ordered = true });
    td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    static char text[1 << 16];
    for (int round = 0; round < 60; round++) {
        size_t len = 0;
        while (len < sizeof text - 32)
            len += (size_t)snprintf(text + len, 32, " %x", pick(round % 3 ? 1u << 24 : 1u << 10));
        compare(enc, general, (td_str){ text, len });
    }
    assert_true(td_encoder_bytes(enc) < 24u << 20);
    td_encoder_free(enc);
    td_encoder_free(general);
    td_tokenizer_free(tok);
}

/* The first known of eight words have been encoded, the others have not. */
static void check_new(td_encoder *enc, uint32_t known)
{
    static tk_batch b;
    static uint16_t words[TK_BATCH];
    b.count = 8;
    for (uint32_t i = 0; i < 8; i++) {
        char word[16] = { ' ', i < known ? 'p' : 'q', (char)('q' + i) };
        tk_key_make(word, 3, false, b.keys[i]);
        b.hashes[i] = enc->cache.hash(b.keys[i]);
    }
    assert_int_equal(enc->tok->fast->loops->locate(&enc->cache, &b, words), 8 - known);
    for (uint32_t i = known; i < 8; i++)
        assert_int_equal(words[i - known], i);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(tk_is_place(b.places[i]), i < known);
        if (i < known)
            assert_memory_equal(tk_place_key(&enc->cache, b.places[i]), b.keys[i], 16);
    }
}

/* Which words are new is known, and those that come again soon are looked up once. */
static void test_new_words_again(void **unused)
{
    (void)unused;
    td_tokenizer *tok = make(120, (kind){ .ordered = true });
    td_error err = TD_ERROR_INIT;
    static char text[1 << 11];
    size_t known = 0, len = 0, count;
    for (unsigned i = 0; i < 400; i++) {
        known = i == 100 ? len : known;
        len += (size_t)snprintf(text + len, sizeof text - len, " %c%c", 'p' + i / 100,
                                'q' + i % 8);
    }
    for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
        set_cpu(tok, cpu);
        td_encoder *enc = td_encoder_new(tok);
        assert_int_equal(td_count(enc, (td_str){ text, known }, 0, &count, &err), TD_OK);
        assert_int_equal(enc->cache.fresh, 8);
        assert_false(enc->cache.settled);
        for (uint32_t n = 0; n <= 8; n++)
            check_new(enc, n);
        uint32_t before = enc->cache.fresh;
        assert_int_equal(td_count(enc, (td_str){ text, len }, 0, &count, &err), TD_OK);
        assert_int_equal(enc->cache.fresh - before, 24);
        assert_false(enc->cache.settled);
        assert_int_equal(td_count(enc, (td_str){ text, len }, 0, &count, &err), TD_OK);
        assert_true(enc->cache.settled);
        td_encoder_free(enc);
    }
    td_tokenizer_free(tok);
}

/* Text with added tokens between words, next to each other and far apart. */
static size_t text_with_tokens(char *out, size_t room)
{
    static const char *const tokens[] = { "|", "\n", "\n\n", "<t>", "^", " <t> ", "bab",
                                          "||||||||||||||||||||||||", "\r\n" };
    uint32_t words = 1 + pick(6), kinds = 1 + pick(sizeof tokens / sizeof *tokens);
    size_t len = 0, full = 1 + pick((uint32_t)room - 800);
    while (len < full) {
        for (uint32_t i = pick(words + 1); i != 0; i--)
            len += words_of_letters(out + len, 1 + pick(pick(20) ? 6 : 60));
        const char *s = tokens[pick(kinds)];
        for (uint32_t i = 1 + pick(pick(4) ? 1 : 12); i != 0; i--) {
            memcpy(out + len, s, strlen(s));
            len += strlen(s);
        }
    }
    return len;
}

/* Added tokens share batches with the words around them. */
static void test_added_tokens(void **unused)
{
    (void)unused;
    static char text[20000];
    for (int i = 0; i < 40; i++) {
        td_tokenizer *tok = make(1 + pick(140), (kind){ .many = true,
                                                        .ordered = i % 2 == 0,
                                                        .prefix = i % 5 == 0,
                                                        .ignore_merges = i % 3 == 0 });
        set_cpu(tok, (td_cpu)pick((uint32_t)td_cpu_best() + 1));
        td_encoder *cached = td_encoder_new(tok), *uncached = td_encoder_new(tok);
        td_encoder *general = td_encoder_new(tok);
        tk_encoder_force(uncached, TK_FORCE_UNCACHED);
        tk_encoder_force(general, TK_FORCE_GENERAL);
        for (int k = 0; k < 20; k++) {
            size_t len = text_with_tokens(text, k % 4 ? 2000 : sizeof text);
            compare(cached, general, (td_str){ text, len });
            compare(uncached, general, (td_str){ text, len });
        }
        td_encoder_free(cached);
        td_encoder_free(uncached);
        td_encoder_free(general);
        td_tokenizer_free(tok);
    }
}

/* A hash that sends all words to few places of the cache. */
static uint32_t crowded_hash(const uint64_t key[2])
{
    return (uint32_t)((key[0] ^ key[1] * 3) * 0x9E3779B97F4A7C15u >> 32) & 0x00C000C0;
}

static uint32_t crowded_take(tk_batch *b, const tk_cache *c, const char *text, uint32_t start,
                             const uint32_t *ends, uint32_t n, bool part)
{
    (void)c;
    for (uint32_t i = 0, k = b->count; i < n; i++, k++) {
        if (ends[i] - start > TK_CACHED_BYTES)
            return i;
        tk_key_make(text + start, ends[i] - start, part, b->keys[k]);
        b->hashes[k] = crowded_hash(b->keys[k]);
        b->ends[k] = ends[i];
        start = ends[i];
    }
    return n;
}

/* Words push each other out while others of the same batch still need their places. */
static void test_crowded_cache(void **unused)
{
    (void)unused;
    static tk_loops loops;
    static char text[TEXT_MAX];
    for (int i = 0; i < 60; i++) {
        td_tokenizer *tok = make(1 + pick(140), (kind){ .ordered = i % 2 == 0,
                                                        .ignore_merges = i % 5 == 0,
                                                        .many = i % 3 == 0 });
        td_cpu cpu = (td_cpu)pick((uint32_t)td_cpu_best() + 1);
        set_cpu(tok, cpu);
        loops = *tk_loops_of(cpu);
        loops.hash = crowded_hash;
        loops.take = crowded_take;
        ((tk_fast *)(uintptr_t)tok->fast)->loops = &loops;
        td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
        tk_encoder_force(general, TK_FORCE_GENERAL);
        for (int k = 0; k < 40; k++) {
            size_t len = i % 3 == 0 ? text_with_tokens(text, sizeof text)
                                    : words_of_letters(text, 1 + pick(k % 10 ? 60 : TEXT_MAX / 4));
            compare(enc, general, (td_str){ text, len });
        }
        assert_true(enc->cache.moved > 40);
        td_encoder_free(enc);
        td_encoder_free(general);
        td_tokenizer_free(tok);
    }
}

/* The table grows, and the block of words of many ids is emptied, between the words of a batch. */
static void test_moving(void **unused)
{
    (void)unused;
    enum { LEN = 15, NEW = 400, WORDS = 20000 };
    td_tokenizer *tok = make(10, (kind){ .ordered = true });
    td_error err = TD_ERROR_INIT;
    char *text = malloc((size_t)LEN * WORDS);
    assert_non_null(text);
    for (size_t i = 0; i < WORDS; i++) { /* some come again, soon or late */
        size_t number = i <= NEW || i % 4 != 3 ? i : i % 8 == 3 ? i - NEW / 2 : i % NEW;
        text[LEN * i] = ' ';
        for (size_t k = 1; k < LEN; k++, number /= 9)
            text[LEN * i + k] = (char)('q' + number % 9);
    }
    td_encoder *general = td_encoder_new(tok);
    tk_encoder_force(general, TK_FORCE_GENERAL);
    td_ids want, got;
    assert_int_equal(td_encode(general, (td_str){ text, LEN * WORDS }, 0, &want, &err), TD_OK);
    for (td_cpu cpu = TD_CPU_SCALAR; cpu <= td_cpu_best(); cpu++) {
        set_cpu(tok, cpu);
        td_encoder *enc = td_encoder_new(tok);
        assert_int_equal(td_encode(enc, (td_str){ text, LEN }, 0, &got, &err), TD_OK);
        uint32_t small = enc->cache.own_mask;
        assert_int_equal(td_encode(enc, (td_str){ text, LEN * WORDS }, 0, &got, &err), TD_OK);
        assert_int_equal(got.count, want.count);
        assert_memory_equal(got.ids, want.ids, want.count * sizeof *want.ids);
        assert_true(enc->cache.own_mask > small);
        assert_true(enc->cache.more_len < LEN * WORDS * 3 / 4); /* it was emptied */
        td_encoder_free(enc);
    }
    td_encoder_free(general);
    td_tokenizer_free(tok);
    free(text);
}

/* A word whose many ids there is no memory for is not there. */
static void test_no_room(void **unused)
{
    (void)unused;
    tk_cache c = { 0 };
    uint64_t key[2];
    uint32_t count;
    td_id ids[TK_LANE_SHORT] = { 1, 2, 3, 4, 5 };
    assert_true(tk_cache_start(&c, crowded_hash));
    tk_key_make("word............", 4, false, key);
    uint32_t hash = crowded_hash(key), place = tk_cache_reserve(&c, key, hash);
    td_alloc_fail_at = 1;
    uint32_t moved = c.moved;
    tk_cache_fill(&c, place, key, hash, ids, 5);
    td_alloc_fail_at = 0;
    assert_int_not_equal(c.moved, moved);
    assert_null(tk_cache_find(&c, key, hash, ids, &count));
    tk_cache_fill(&c, tk_cache_reserve(&c, key, hash), key, hash, ids, 5);
    const td_id *found = tk_cache_find(&c, key, hash, ids, &count);
    assert_non_null(found);
    assert_int_equal(count, 5);
    assert_memory_equal(found, ((td_id[]){ 1, 2, 3, 4, 5 }), 5 * sizeof *found);
    tk_cache_done(&c);
}

/* A model of 256 bytes and some more in JSON: what stands before the entry of more. */
static void put_bytes(td_buf *b, const char *normalizer, bool ignore_merges)
{
    td_buf_printf(b,
                  "{\"added_tokens\": [], \"normalizer\": %s, \"pre_tokenizer\": {\"type\": "
                  "\"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
                  "\"use_regex\": true}, \"model\": {\"type\": \"BPE\", "
                  "\"ignore_merges\": %s, \"merges\": [], \"vocab\": {",
                  normalizer, ignore_merges ? "true" : "false");
    for (int i = 0; i < 256; i++) {
        put_text(b, (char[]){ (char)i }, 1);
        td_buf_printf(b, ": %d, ", i);
    }
}

/* What is ASCII is not normalized, the text behind it is. */
static void test_ascii_and_others(void **unused)
{
    (void)unused;
    static const char *const forms[] = { "NFC", "NFD", "NFKC", "NFKD" };
    static const char *const texts[] = { "abc", "e\xCC\x81", "abc", "abc e\xCC\x81", "\xC3\xA9 a",
                                         "\xEF\xAC\x81", "" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        td_buf b = { 0 };
        char normalizer[32];
        snprintf(normalizer, sizeof normalizer, "{\"type\": \"%s\"}", forms[i]);
        put_bytes(&b, normalizer, false);
        td_buf_put(&b, TD_STR("\"no\": 256}}}"));
        td_buf_byte(&b, '\0');
        td_tokenizer *tok = load(b.ptr);
        assert_non_null(tok->fast);
        td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
        tk_encoder_force(general, TK_FORCE_GENERAL);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            compare(enc, general, td_str_from(texts[k]));
        td_encoder_free(enc);
        td_encoder_free(general);
        td_tokenizer_free(tok);
        td_buf_done(&b);
    }
}

/* Under ignore_merges a long word that is an entry is that entry; as a part of a word it is merged,
 * whichever comes first. */
static void test_long_parts(void **unused)
{
    (void)unused;
    td_buf b = { 0 };
    put_bytes(&b, "null", true);
    td_buf_put(&b, TD_STR("\"aaaaaaaaaaaaaaaaaaaa\": 256}}}"));
    td_buf_byte(&b, '\0');
    static const char *const texts[] = {
        "aaaaaaaaaaaaaaaaaaaa 中aaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaa",
        "中aaaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaa,aaaaaaaaaaaaaaaaaaaa",
        "中aaaaaaaaaaaaaaaaaaaab aaaaaaaaaaaaaaaaaaaab,aaaaaaaaaaaaaaaaaaaa,"
        "aaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        td_tokenizer *tok = load(b.ptr);
        assert_non_null(tok->fast);
        td_encoder *enc = td_encoder_new(tok), *general = td_encoder_new(tok);
        tk_encoder_force(general, TK_FORCE_GENERAL);
        for (size_t k = 0; k < 3; k++)
            compare(enc, general, td_str_from(texts[(i + k) % 3]));
        td_encoder_free(enc);
        td_encoder_free(general);
        td_tokenizer_free(tok);
    }
    td_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_models),
        cmocka_unit_test(test_real_entries),
        cmocka_unit_test(test_many_words),
        cmocka_unit_test(test_crowded_cache),
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_new_words_again),
        cmocka_unit_test(test_added_tokens),
        cmocka_unit_test(test_ascii_and_others),
        cmocka_unit_test(test_long_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

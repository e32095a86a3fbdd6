/* Encodes arbitrary text with small tokenizers, one for each scanner: the fast way, the general
 * way, the count and the segments must agree, and offsets stay inside the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "tokenizer/byte_chars.h"
#include "tokenizer/internal.h"
#include "tokenizer/segments.h"

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define TAIL "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"
#define UPPER "[\\\\p{Lu}\\\\p{Lt}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define LOWER "[\\\\p{Ll}\\\\p{Lm}\\\\p{Lo}\\\\p{M}]"
#define LEAD "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"
#define OTHER "[^\\\\s\\\\p{L}\\\\p{N}]"
#define SPLIT(pattern)                                                                             \
    "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"" pattern                                    \
    "\"}, \"behavior\": \"Isolated\", \"invert\": false}, "

static const char *const splits[] = {
    SPLIT(CONTRACTIONS "|" LEAD "\\\\p{L}+|\\\\p{N}{1,3}| ?" OTHER "+[\\\\r\\\\n]*|" TAIL),
    SPLIT(CONTRACTIONS "|" LEAD "\\\\p{L}+|\\\\p{N}| ?" OTHER "+[\\\\r\\\\n]*|" TAIL),
    SPLIT(LEAD UPPER "*" LOWER "+" CONTRACTIONS "?|" LEAD UPPER "+" LOWER "*" CONTRACTIONS
                     "?|\\\\p{N}{1,3}| ?" OTHER "+[\\\\r\\\\n/]*|" TAIL),
    SPLIT("\\\\p{N}{1,3}") SPLIT("[一-龥぀-ゟ゠-ヿ]+")
        SPLIT("[!\\\"#$%&'()*+,\\\\-./:;<=>?@\\\\[\\\\\\\\\\\\]^_`{|}~][A-Za-z]+"
              "|[^\\r\\n\\\\p{L}\\\\p{P}\\\\p{S}]?[\\\\p{L}\\\\p{M}]+"
              "| ?[\\\\p{P}\\\\p{S}]+[\\r\\n]*"
              "|\\\\s*[\\r\\n]+|\\\\s+(?!\\\\S)|\\\\s+"), /* line ends as themselves */
    "",
    "", /* with a space in front of texts */
};
enum { SPLITS = sizeof splits / sizeof *splits };

/* Normalizer, pre-tokenizer and model of other kinds; apostrophes for quotation marks. */
static const char *const others[] = {
    "'normalizer': {'type': 'BertNormalizer', 'clean_text': true, 'handle_chinese_chars': true, "
    "'strip_accents': null, 'lowercase': true}, 'pre_tokenizer': {'type': 'BertPreTokenizer'}, "
    "'model': {'type': 'WordPiece', 'unk_token': '?', 'continuing_subword_prefix': '#', "
    "'max_input_chars_per_word': 30, 'vocab': {'?': 0, 'a': 1, '#a': 2, 'th': 3, '#e': 4, "
    "'中': 5, '.': 6, 'e': 7, '#国': 8, '#th': 9, '1': 10}}",
    "'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'Nmt'}, {'type': 'NFKC'}, "
    "{'type': 'Replace', 'pattern': {'Regex': ' {2,}'}, 'content': ' '}]}, 'pre_tokenizer': "
    "{'type': 'Metaspace', 'replacement': '▁', 'prepend_scheme': 'always', 'split': true}, "
    "'model': {'type': 'Unigram', 'unk_id': 0, 'byte_fallback': false, 'vocab': [['?', 0], "
    "['▁', -2], ['▁a', -3], ['a', -2.5], ['b', -4], ['ab', -3.5], ['th', -3], ['the', -4.25], "
    "['e', -2], ['▁th', -3.25], ['中', -5], ['fi', -6]]}",
    "'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'NFC'}, {'type': 'Lowercase'}]}, "
    "'pre_tokenizer': {'type': 'Whitespace'}, 'model': {'type': 'BPE', 'unk_token': '?', "
    "'fuse_unk': true, 'end_of_word_suffix': '/', 'vocab': {'?': 0, 'a': 1, 'a/': 2, 'b': 3, "
    "'b/': 4, 'ab/': 5, 'aa': 6, 'aa/': 7, 'é': 8, 'é/': 9, 'aé/': 10}, 'merges': ['a b/', "
    "'a a', 'a a/', 'a é/']}",
    "'normalizer': {'type': 'Sequence', 'normalizers': [{'type': 'NFD'}, {'type': "
    "'StripAccents'}]}, 'pre_tokenizer': {'type': 'Sequence', 'pretokenizers': [{'type': "
    "'WhitespaceSplit'}, {'type': 'Digits', 'individual_digits': false}, {'type': 'Punctuation', "
    "'behavior': 'MergedWithNext'}]}, 'model': {'type': 'WordLevel', 'unk_token': '?', 'vocab': "
    "{'?': 0, 'a': 1, 'e': 2, 'the': 3, '11': 4, '.a': 5}}",
};
enum { COUNT = SPLITS + sizeof others / sizeof *others };

static td_encoder *fast[COUNT], *general[COUNT];

static void put_char(td_buf *b, uint8_t byte)
{
    uint32_t c = tk_byte_to_char(byte);
    if (c == '"' || c == '\\')
        td_buf_byte(b, '\\');
    td_buf_code_point(b, c);
}

/* 256 bytes, and merges of neighbours in a few words. */
static void put_model(td_buf *b)
{
    static const char *const words[] = { "th",   "e ", " t",       "an",       "  ",
                                         "\n\n", "11", "\xE4\xB8", "\xAD\xE6", "\xC3\xA9",
                                         "'s",   "aa", "\xCC\x81" };
    td_buf_put(b, TD_STR("\"model\": {\"type\": \"BPE\", \"vocab\": {"));
    for (uint32_t i = 0; i < 256; i++) {
        td_buf_put(b, i != 0 ? TD_STR(", \"") : TD_STR("\""));
        put_char(b, (uint8_t)i);
        td_buf_printf(b, "\": %u", i);
    }
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        td_buf_put(b, TD_STR(", \""));
        put_char(b, (uint8_t)words[i][0]);
        put_char(b, (uint8_t)words[i][1]);
        td_buf_printf(b, "\": %u", 256 + i);
    }
    td_buf_put(b, TD_STR("}, \"merges\": ["));
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
        td_buf_put(b, i != 0 ? TD_STR(", [\"") : TD_STR("[\""));
        put_char(b, (uint8_t)words[i][0]);
        td_buf_put(b, TD_STR("\", \""));
        put_char(b, (uint8_t)words[i][1]);
        td_buf_put(b, TD_STR("\"]"));
    }
    td_buf_put(b, TD_STR("]}"));
}

/* A byte-level model behind a split. */
static void put_split(td_buf *b, uint32_t k)
{
    td_buf_printf(b,
                  "\"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\": {\"type\": "
                  "\"Sequence\", \"pretokenizers\": [%s{\"type\": \"ByteLevel\", "
                  "\"add_prefix_space\": %s, \"trim_offsets\": true, \"use_regex\": %s}]}, ",
                  splits[k], k + 1 == SPLITS ? "true" : "false",
                  splits[k][0] == '\0' ? "true" : "false");
    put_model(b);
}

static void put_other(td_buf *b, const char *text)
{
    for (; *text != '\0'; text++)
        td_buf_byte(b, *text == '\'' ? '"' : *text);
}

static void start(uint32_t k)
{
    td_buf b = { 0 };
    td_buf_put(&b, TD_STR("{\"added_tokens\": [{\"id\": 300, \"content\": \"<x>\", "
                          "\"single_word\": false, \"lstrip\": false, \"rstrip\": true, "
                          "\"normalized\": false, \"special\": true}, {\"id\": 301, \"content\": "
                          "\"then\", \"single_word\": true, \"lstrip\": true, \"rstrip\": false, "
                          "\"normalized\": true, \"special\": false}], "));
    if (k < SPLITS)
        put_split(&b, k);
    else
        put_other(&b, others[k - SPLITS]);
    td_buf_byte(&b, '}');
    td_tokenizer *tok = NULL;
    td_error err = TD_ERROR_INIT;
    if (td_tokenizer_new_from_json(td_buf_view(&b), &tok, &err) != TD_OK || tok->fast == NULL) {
        fprintf(stderr, "tokenizer %u: %s\n", k, err.code != TD_OK ? err.message : "no scanner");
        abort();
    }
    fast[k] = td_encoder_new(tok);
    general[k] = td_encoder_new(tok);
    tk_encoder_force(general[k], TK_FORCE_GENERAL);
    td_tokenizer_free(tok);
    td_buf_done(&b);
}

static void compare(uint32_t k, td_str text)
{
    td_error err = TD_ERROR_INIT;
    td_ids a, b;
    size_t count = 0, sum = 0, n;
    td_code code = td_encode(general[k], text, TD_ENCODE_OFFSETS, &b, &err);
    td_error_clear(&err);
    if (td_encode(fast[k], text, 0, &a, &err) != code)
        __builtin_trap();
    td_error_clear(&err);
    if (code != TD_OK)
        return;
    if (a.count != b.count || (a.count != 0 && memcmp(a.ids, b.ids, a.count * sizeof *a.ids) != 0))
        __builtin_trap();
    for (size_t i = 0; i < b.count; i++)
        if (b.starts[i] > b.ends[i] || b.ends[i] > text.len)
            __builtin_trap();
    size_t want = a.count;
    if (td_count(fast[k], text, 0, &count, &err) != TD_OK || count != want)
        __builtin_trap();
    td_cutter *c = td_cutter_new(fast[k]);
    td_segment stretch, s;
    if (c == NULL)
        __builtin_trap();
    tk_cutter_force_short(c);
    if (td_cutter_begin(c, text, 0, &err) != TD_OK)
        __builtin_trap();
    while (td_cutter_stretch(c, &stretch)) {
        if (td_cutter_enter(c, &stretch, &err) != TD_OK)
            __builtin_trap();
        while (td_cutter_next(c, &s)) {
            if (td_segment_count(fast[k], &s, &n, &err) != TD_OK)
                __builtin_trap();
            sum += n;
        }
    }
    td_cutter_free(c);
    if (sum != want)
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    uint32_t k = data[0] % COUNT;
    if (fast[k] == NULL)
        start(k);
    compare(k, (td_str){ (const char *)data + 1, size - 1 });
    return 0;
}

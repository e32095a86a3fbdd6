/* scanner.c - which hand-made scanner a pre-tokenizer gets: patterns known by their exact text,
 * with behaviours that keep every word, and pre-tokenizers known by their type. */
#include "tokenizer/scanner/scanner.h"

#include <string.h>

#include "base/str.h"
#include "tokenizer/pretok/pretok.h"

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define TAIL "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define O200K_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"

const char tk_pattern_cl100k[] = CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" TAIL;
const char tk_pattern_qwen2[] = CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" TAIL;
const char tk_pattern_gpt2[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const char tk_pattern_o200k[] =
    "[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "*" O200K_LOWER "+" CONTRACTIONS
    "?|[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "+" O200K_LOWER "*" CONTRACTIONS
    "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" TAIL;
/* As tiktoken spells it since 0.8, with what it means there: white space at the very end of a text
 * is one word, line ends or not. */
const char tk_pattern_cl100k_base[] = CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
    "|\\s+\\z|\\s*[\\r\\n]|\\s+(?!\\S)|\\s";
/* Mistral's: o200k's without contractions and with single digits. */
const char tk_pattern_tekken[] = "[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "*" O200K_LOWER
                                 "+|[^\\r\\n\\p{L}\\p{N}]?" O200K_UPPER "+" O200K_LOWER
                                 "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" TAIL;
static const char deepseek3_digits[] = "\\p{N}{1,3}";
static const char deepseek3_cjk[] =
    "[\xE4\xB8\x80-\xE9\xBE\xA5\xE3\x81\x80-\xE3\x82\x9F\xE3\x82\xA0-\xE3\x83\xBF]+";
static const char deepseek3_pattern[] =
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
    "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
    "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"; /* line ends as themselves, not as escapes */

/* Lists of patterns, each with the scanner that stands for all of them together. complete: every
 * character is part of some match, so that removing what is not changes nothing. */
static const struct {
    const char *patterns[3];
    bool complete;
    tk_scanner scanner;
} known[] = {
    { { tk_pattern_cl100k }, true, { "cl100k", tk_scan_cl100k, true } },
    { { tk_pattern_qwen2 }, true, { "qwen2", tk_scan_qwen2, true } },
    { { tk_pattern_o200k }, true, { "o200k", tk_scan_o200k, true } },
    { { tk_pattern_gpt2 }, true, { "gpt2", tk_scan_gpt2, true } },
    { { tk_pattern_cl100k_base }, true, { "cl100k_base", tk_scan_cl100k_base, true } },
    { { tk_pattern_tekken }, true, { "tekken", tk_scan_tekken, true } },
    { { deepseek3_digits, deepseek3_cjk, deepseek3_pattern },
      false,
      { "deepseek3", tk_scan_deepseek3, true } },
};

/* Whether p splits by pattern and keeps hits and gaps as pieces of their own. */
static bool splits_by(const tk_pretok *p, const char *pattern, bool complete)
{
    if (!tk_is_split(p))
        return false;
    const tk_split_pretok *s = (const tk_split_pretok *)p;
    bool is_string;
    td_str source = tk_regex_source(s->pattern, &is_string);
    bool keeps = s->behavior == TK_ISOLATED ||
                 (s->behavior == TK_REMOVED && s->invert && complete);
    return !is_string && keeps && td_str_eq(source, td_str_from(pattern));
}

static bool fits(size_t k, const tk_pretok *const *parts, uint32_t count)
{
    uint32_t n = 0;
    while (n < 3 && known[k].patterns[n] != NULL)
        n++;
    if (n != count)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!splits_by(parts[i], known[k].patterns[i], known[k].complete))
            return false;
    return true;
}

const tk_scanner *tk_scanner_of(const tk_pretok *pretok, bool *ret_prefix)
{
    const tk_pretok *const *parts = pretok->parts != NULL ? pretok->parts : &pretok;
    uint32_t count = pretok->parts != NULL ? pretok->part_count : 1;
    if (count == 0 || !tk_is_byte_level(parts[count - 1]))
        return NULL;
    const tk_byte_level *last = (const tk_byte_level *)parts[count - 1];
    *ret_prefix = last->add_prefix_space;
    static const tk_scanner gpt2 = { "gpt2", tk_scan_gpt2, true };
    if (last->use_regex)
        return count == 1 ? &gpt2 : NULL;
    if (last->add_prefix_space) /* in front of every piece, not of the text */
        return NULL;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (fits(k, parts, count - 1))
            return &known[k].scanner;
    return NULL;
}

const tk_scanner *tk_kinds_scanner(const tk_pretok *pretok)
{
    static const struct {
        const char *type;
        tk_scanner scanner;
    } kinds[] = {
        { "BertPreTokenizer", { "bert", tk_scan_bert, false } },
        { "Whitespace", { "whitespace", tk_scan_whitespace, false } },
        { "WhitespaceSplit", { "whitespace_split", tk_scan_whitespace_split, false } },
    };
    static const tk_scanner marks = { "metaspace", tk_scan_metaspace, false };
    const tk_metaspace *spaces = tk_as_metaspace(pretok);
    if (spaces != NULL)
        return spaces->split && td_str_eq(spaces->text, TD_STR(TK_SCAN_MARK)) ? &marks : NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(pretok->type, kinds[i].type) == 0)
            return &kinds[i].scanner;
    return NULL;
}

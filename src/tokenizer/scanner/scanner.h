/* scanner.h - where the words of a pre-tokenizer end, straight from the text.
 *
 * A scanner is the hand-made form of one pattern (or list of patterns) of a model family, chosen
 * by the exact text of the pattern, and finds the same words as the regex engine; or that of a
 * pre-tokenizer which splits by kinds of characters, chosen by its type (kinds.c). Words cover the
 * text without gaps. Scanners look forward only, so scanning may start at any word's start. */
#ifndef TD_SRC_TOKENIZER_SCANNER_SCANNER_H
#define TD_SRC_TOKENIZER_SCANNER_SCANNER_H

#include "base/cpu.h"
#include "tokenizer/pipeline.h"

/* Writes ends of the words of text from byte from on (a word's start), at least one and at most
 * max, and returns how many: all up to text.len where they are few enough; versions for vectors
 * write at least max - 64 otherwise. text is valid UTF-8, not empty. */
typedef uint32_t (*tk_scan_fn)(td_str text, uint32_t from, uint32_t *ends, uint32_t max);

typedef struct tk_scanner {
    const char *name;
    tk_scan_fn run;
    /* No match has a letter directly followed by white space or by punctuation other than an
     * apostrophe, and there is no look-around but \s+(?!\S): texts may be cut there (chunks.c). */
    bool letter_ends;
} tk_scanner;

/* Patterns by which whole files are known (formats/). */
extern const char tk_pattern_cl100k[], tk_pattern_cl100k_base[], tk_pattern_qwen2[],
    tk_pattern_gpt2[], tk_pattern_o200k[], tk_pattern_tekken[];

/* The scanner of a pre-tokenizer that ends in byte-level encoding; NULL: there is none.
 * *ret_prefix: whether what is to be scanned gets a space in front where it has none. */
const tk_scanner *tk_scanner_of(const tk_pretok *pretok, bool *ret_prefix);

/* The scanner of a pre-tokenizer that drops white space or splits at marks; NULL: it is another. */
const tk_scanner *tk_kinds_scanner(const tk_pretok *pretok);

/* The version of a scalar scanner for that CPU: same words, faster (blocks.c). */
tk_scan_fn tk_scan_best(tk_scan_fn scalar, td_cpu cpu);

uint32_t tk_scan_cl100k(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_cl100k_base(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_qwen2(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_gpt2(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_o200k(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_tekken(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_deepseek3(td_str text, uint32_t from, uint32_t *ends, uint32_t max);

/* kinds.c: the words of pre-tokenizers that drop white space or split at marks. White space that is
 * dropped is in front of words or a word by itself. */
uint32_t tk_scan_bert(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_whitespace(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_whitespace_split(td_str text, uint32_t from, uint32_t *ends, uint32_t max);
uint32_t tk_scan_metaspace(td_str text, uint32_t from, uint32_t *ends, uint32_t max);

#define TK_SCAN_MARK "\xE2\x96\x81" /* U+2581, of tk_scan_metaspace */

#endif

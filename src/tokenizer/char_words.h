/* char_words.h - words of a model of characters: what lies between places that no merge reaches
 * across. */
#ifndef TD_SRC_TOKENIZER_CHAR_WORDS_H
#define TD_SRC_TOKENIZER_CHAR_WORDS_H

#include "tokenizer/cuts.h"
#include "tokenizer/lone_chars.h"
#include "tokenizer/spaces.h"

/* Answers of the cuts for ASCII characters, with the mark in the place of the space. */
typedef struct tk_char_words {
    const tk_cuts *cuts;
    uint64_t packed[128];    /* ASCII characters, see tk_cut_pack */
    uint8_t ascii[128][128]; /* left, right: 1 where the text may be cut */
    tk_lone_chars lone;
} tk_char_words;

/* mark: see tk_spaces; mark_id: its symbol. */
void tk_char_words_start(tk_char_words *w, const tk_bpe *bpe, const tk_cuts *cuts, td_str mark,
                         td_id mark_id);

/* When it is seen whether characters stand alone, from text to text: documents in one language
 * mostly come together. */
typedef struct tk_lone_watch {
    uint32_t words; /* so many before the next time */
    uint32_t eager; /* not 0: again and again, for there was a run of such just before */
} tk_lone_watch;

/* Ends of up to max words from from (a character boundary before the end) on; at least one. Where
 * it is seen that a run of characters begins that stand alone, there are fewer than max, and the
 * last one ends there. */
uint32_t tk_char_words_scan(const tk_char_words *w, td_str text, uint32_t from, uint32_t *ends,
                            uint32_t max, tk_lone_watch *watch);

#endif

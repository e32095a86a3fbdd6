/* lone_chars.h - characters that stand alone in a model of characters: no merge takes them, so what
 * is before and behind them does not matter. Their ids come from a table, without words.
 *
 * In scripts for which a vocabulary has few merges, nearly all are such; those that it does not
 * have at all are bytes. ASCII characters come along where they, too, happen to stand alone. */
#ifndef TD_SRC_TOKENIZER_LONE_CHARS_H
#define TD_SRC_TOKENIZER_LONE_CHARS_H

#include "base/cpu.h"
#include "tokenizer/model/bpe.h"

typedef struct tk_lone_chars tk_lone_chars;
struct tk_lone_chars {
    /* By code point: how many ids above bit TK_LONE_SHIFT, and the first of them; the others are
     * those of the bytes. 0: a merge takes the character, or it is ASCII. */
    td_id first[1 << 16];
    td_id ascii[128];
    const td_id *bytes;
    const uint8_t *can_cut; /* between ASCII characters: 128 * left + right */
    /* For this CPU. Puts out the ids of all characters from p on that stand alone, as far as end;
     * nothing reaches across p. Returns where they end; *ret_count: how many ids that are, at most
     * one a byte. out NULL: they are only counted. */
    const char *(*put)(const tk_lone_chars *l, const char *p, const char *end, td_id *out,
                       size_t *ret_count);
};

enum {
    TK_LONE_SHIFT = 28,
    TK_LONE_SLACK = 3,  /* ids that may be written behind those that count */
    TK_LONE_UNSEEN = 4, /* bytes before the end that may be left */
};

/* space: the id of U+0020; TK_NO_ID: the vocabulary says it. */
void tk_lone_start(tk_lone_chars *l, const tk_bpe *bpe, const uint8_t *can_cut, td_id space);

/* The version for another CPU, which does the same. */
void tk_lone_set_cpu(tk_lone_chars *l, td_cpu cpu);

/* Whether a character that is not ASCII stands alone at p, and those behind it for so many bytes
 * do. */
bool tk_lone_run(const tk_lone_chars *l, const char *p, const char *end, uint32_t bytes);

#endif

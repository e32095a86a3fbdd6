/* bpe_sweeps.h - merging many pairs of short words at once.
 *
 * One merge after the other, in the order of rank, is one look into the tables after the other. But
 * many pairs can be merged at once, and what that makes is the same:
 *
 * Take a pair of rank r, and go to the left from it over pairs of higher ranks, up to the beginning
 * of the word or to a pair whose bound (merges_bounds.c) is above r; and so to the right. Until the
 * pair is merged, no symbol in between takes part in anything: the first merge to do so would be
 * one of those higher pairs, or would take the outermost symbol from outside, at a rank that is not
 * below the bound; and the pair of rank r comes before either. So it will be merged. To merge it
 * now changes nothing but that pairs of its product are there early, and these do not come before
 * their time: they have ranks above r, except those of hasty ids. A hasty id is made only where
 * both ways lead to the ends of the word: its pair has the lowest rank of all then.
 *
 * This holds for all such pairs of a sweep one by one, as a bound speaks of all symbols that end or
 * begin with a byte. For the same reason the bounds of two bytes that meet stay true while other
 * symbols grow up to there: the left one as long as the right byte is by itself, the right one as
 * long as the left byte is. Where codes of ranks are the same, nothing is known and nothing is
 * merged. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_SWEEPS_H
#define TD_SRC_TOKENIZER_MODEL_BPE_SWEEPS_H

#include "base/cpu.h"
#include "tokenizer/model/bpe_lanes.h"

#if TD_X86
/* Merges the words of n lanes, 0 < n <= TK_LANES, as long as sweeps are worth it; m->swept. Returns
 * how many words may have to be merged further: rest. w: room of tk_row_bytes. */
uint32_t tk_merge_sweeps(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w,
                         tk_lane **rest);
uint32_t tk_merge_sweeps_avx2(const tk_merges *m, tk_lane *lanes, uint32_t n, tk_row *w,
                              tk_lane **rest);
#endif

#endif

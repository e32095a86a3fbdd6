/* bpe_few.h - merging a few short words, with AVX-512. */
#ifndef TD_SRC_TOKENIZER_MODEL_BPE_FEW_H
#define TD_SRC_TOKENIZER_MODEL_BPE_FEW_H

#include "base/cpu.h"
#include "tokenizer/model/bpe_lanes.h"

#if TD_X86
/* Merges the words of n lanes as far as it goes; the pointers change places. Ids and ranks fit into
 * slots: m->square_end is not 0. */
void tk_merge_few(const tk_merges *m, tk_lane **lanes, uint32_t n);
#endif

#endif

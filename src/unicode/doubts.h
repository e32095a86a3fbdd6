/* doubts.h - passing over characters of which something is certain, at memory speed.
 *
 * Whoever asks something of each character notes those for which the answer is not the usual one;
 * td_doubts_skip then passes over what is far from them. Doubt falls on a few characters more than
 * those noted, so that it can be looked up by vectors: on all with the same lead byte if that is of
 * two bytes, on a block of 64 if it is of three, and on all above U+FFFF. */
#ifndef TD_SRC_UNICODE_DOUBTS_H
#define TD_SRC_UNICODE_DOUBTS_H

#include "tokdrain/base.h"

typedef struct td_doubts {
    /* Bytes that are in doubt by themselves: by the lower half, a bit for the upper one from 0 to
     * 7, and from 8 to 15. */
    uint8_t low[16], high[16];
    uint8_t blocks[64]; /* by the last six bits of the second byte, a bit for a group of leads */
} td_doubts;

/* The bit in td_doubts.blocks by the last four bits of a lead of three bytes. What is all Han or
 * Hangul shares one, as does the private part. */
#define TD_DOUBTS_GROUPS 1, 2, 4, 8, 128, 128, 128, 128, 128, 128, 16, 64, 64, 64, 128, 32

/* Notes a character up to U+FFFF. All of doubts is zero before the first one. */
void td_doubts_add(td_doubts *doubts, uint32_t c);

/* p (where a character begins) moved to where one begins, over certain ones only: not necessarily
 * over all there are, and none at all on a CPU without the vectors. */
const char *td_doubts_skip(const td_doubts *doubts, const char *p, const char *end);

#endif

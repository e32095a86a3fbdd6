/* bit_places.h - where the bits of a byte are, for loops over masks without a branch for each. */
#ifndef TD_SRC_BASE_BIT_PLACES_H
#define TD_SRC_BASE_BIT_PLACES_H

#include <stdint.h>

/* By a byte: the places of its bits from the lowest on, a byte each, the first one lowest. Bytes
 * behind those are below 8, and say nothing. */
extern const uint64_t td_bit_places[256];

#endif

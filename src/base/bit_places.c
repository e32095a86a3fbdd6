/* bit_places.c - see bit_places.h. */
#include "base/bit_places.h"

/* The places of the bits of half a byte. */
#define HALF_0 0
#define HALF_1 0x00
#define HALF_2 0x01
#define HALF_3 0x0100
#define HALF_4 0x02
#define HALF_5 0x0200
#define HALF_6 0x0201
#define HALF_7 0x020100
#define HALF_8 0x03
#define HALF_9 0x0300
#define HALF_10 0x0301
#define HALF_11 0x030100
#define HALF_12 0x0302
#define HALF_13 0x030200
#define HALF_14 0x030201
#define HALF_15 0x03020100

/* count: bits of the lower half. */
#define PLACES(low, count, high) (HALF_##low | (uint64_t)(HALF_##high + 0x04040404) << 8 * (count))
#define ROW(high)                                                                                  \
    PLACES(0, 0, high), PLACES(1, 1, high), PLACES(2, 1, high), PLACES(3, 2, high),                \
        PLACES(4, 1, high), PLACES(5, 2, high), PLACES(6, 2, high), PLACES(7, 3, high),            \
        PLACES(8, 1, high), PLACES(9, 2, high), PLACES(10, 2, high), PLACES(11, 3, high),          \
        PLACES(12, 2, high), PLACES(13, 3, high), PLACES(14, 3, high), PLACES(15, 4, high)

const uint64_t td_bit_places[256] = {
    ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15),
};

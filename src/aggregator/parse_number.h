/* parse_number.h - numbers of a command line as Python's int() and float() read them. */
#ifndef TD_SRC_AGGREGATOR_PARSE_NUMBER_H
#define TD_SRC_AGGREGATOR_PARSE_NUMBER_H

#include "tokdrain/base.h"

/* Surrounding spaces and single underscores between digits are fine. Integers beyond 64 bits
 * become the nearest that fits. false: not a number. */
bool td_parse_int(const char *text, int64_t *ret);
bool td_parse_float(const char *text, double *ret); /* also "inf", "nan" and the like */
/* Bytes with an optional unit: B, K, M, G (with or without iB: powers of 1024). */
bool td_parse_size(const char *text, size_t *ret);

#endif

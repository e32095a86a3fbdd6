/* fuzz.h - the one function that every fuzz target defines. */
#ifndef TD_FUZZ_FUZZ_H
#define TD_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif

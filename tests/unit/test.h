/* test.h - cmocka with the headers that it wants in front, in the order that it wants them. */
#ifndef TD_TESTS_UNIT_TEST_H
#define TD_TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* setjmp.h and friends must come first */
#include <cmocka.h>

#include "base/str.h"
#include "tokdrain/base.h"

/* Compares views and prints both as text when they differ. */
#define assert_str(actual, expected_literal)                                                       \
    do {                                                                                           \
        td_str actual_ = (actual), expected_ = TD_STR(expected_literal);                           \
        if (!td_str_eq(actual_, expected_))                                                        \
            fail_msg("expected \"%s\", got \"%.*s\"", expected_literal, (int)actual_.len,          \
                     actual_.ptr ? actual_.ptr : "");                                              \
    } while (0)

#endif

#include "base/selfcheck.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void td_selfcheck_fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("tokdrain selfcheck: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs("\n", stderr);
    va_end(args);
    abort();
}

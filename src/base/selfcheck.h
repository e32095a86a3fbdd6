/* selfcheck.h - builds that do everything twice (-Dselfcheck=true, `make selfcheck`).
 *
 * Such a build compares each short way with the long one while the normal tests run: it is slow,
 * and ends with abort() at the first difference. The checks live in a selfcheck.c for each layer;
 * in other builds their calls are empty inline functions. */
#ifndef TD_SRC_BASE_SELFCHECK_H
#define TD_SRC_BASE_SELFCHECK_H

#include "tokdrain/base.h"

#ifdef TD_SELFCHECK
/* Prints "tokdrain selfcheck: ..." to standard error and aborts. */
_Noreturn void td_selfcheck_fail(const char *fmt, ...) TD_PRINTF(1, 2);
#endif

#endif

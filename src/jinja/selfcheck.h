/* selfcheck.h - double checks of templates (base/selfcheck.h). */
#ifndef TD_SRC_JINJA_SELFCHECK_H
#define TD_SRC_JINJA_SELFCHECK_H

#include "jinja/bytecode.h"

#ifdef TD_SELFCHECK
/* Before each run: the code is still what the verifier passed. */
void jj_check_template(const td_template *t);
#else
static inline void jj_check_template(const td_template *t)
{
    (void)t;
}
#endif

#endif

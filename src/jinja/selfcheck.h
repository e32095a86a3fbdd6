/* selfcheck.h - double checks of templates (base/selfcheck.h). */
#ifndef TD_SRC_JINJA_SELFCHECK_H
#define TD_SRC_JINJA_SELFCHECK_H

#include "jinja/bytecode.h"
#include "value/json.h"

#ifdef TD_SELFCHECK
/* Before each run: the code is still what the verifier passed. */
void jj_check_template(const td_template *t);
/* known is what would be written for v. */
void jj_check_json(td_value v, const td_json_style *style, td_str known);
#else
static inline void jj_check_template(const td_template *t)
{
    (void)t;
}
static inline void jj_check_json(td_value v, const td_json_style *style, td_str known)
{
    (void)v;
    (void)style;
    (void)known;
}
#endif

#endif

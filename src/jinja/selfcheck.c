#include "jinja/selfcheck.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/selfcheck.h"

void jj_check_template(const td_template *t)
{
    td_error err = TD_ERROR_INIT;
    size_t fail_at = td_alloc_fail_at; /* the allocations of a check are none of a test's */
    td_alloc_fail_at = 0;
    if (jj_verify(t, &err) != TD_OK)
        td_selfcheck_fail("template %s: %s", t->name, err.message);
    td_alloc_fail_at = fail_at;
}

#include "jinja/selfcheck.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/selfcheck.h"
#include "base/str.h"

void jj_check_template(const td_template *t)
{
    td_error err = TD_ERROR_INIT;
    size_t fail_at = td_alloc_fail_at; /* the allocations of a check are none of a test's */
    td_alloc_fail_at = 0;
    if (jj_verify(t, &err) != TD_OK)
        td_selfcheck_fail("template %s: %s", t->name, err.message);
    td_alloc_fail_at = fail_at;
}

void jj_check_json(td_value v, const td_json_style *style, td_str known)
{
    td_error err = TD_ERROR_INIT;
    td_buf text = { 0 };
    size_t fail_at = td_alloc_fail_at;
    td_alloc_fail_at = 0;
    td_code code = td_json_write(&text, v, style, &err);
    td_alloc_fail_at = fail_at;
    if (code != TD_OK && code != TD_E_INTERNAL)
        td_selfcheck_fail("JSON text: known of what has none: %s", err.message);
    if (code == TD_OK && !td_str_eq(td_buf_view(&text), known))
        td_selfcheck_fail("JSON text: '%.*s' known, '%.*s' written", (int)known.len, known.ptr,
                          (int)text.len, text.ptr);
    td_buf_done(&text);
    td_error_clear(&err);
}

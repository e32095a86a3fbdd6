/* json_text.c - JSON texts of values that other renders had before: looked up, not written. */
#include "base/str.h"
#include "jinja/builtins.h"
#include "jinja/selfcheck.h"
#include "jinja/vm_internal.h"

bool jj_known_json(const jj_vm *vm, td_value v, const td_json_style *style, td_str *ret)
{
    if (vm->texts == NULL || vm->check_texts || !td_json_texts_find(vm->texts, v, style, ret))
        return false;
    jj_check_json(v, style, *ret);
    return true;
}

td_code jj_note_json(jj_vm *vm, td_value v, const td_json_style *style, td_str text)
{
    td_str known;
    if (vm->texts == NULL)
        return TD_OK;
    if (vm->check_texts && td_json_texts_find(vm->texts, v, style, &known) &&
        !td_str_eq(known, text))
        return td_fail(vm->err, TD_E_VERIFY, "tojson gives another text than before");
    td_json_texts_put(vm->texts, v, style, text);
    return TD_OK;
}

td_code jj_emit_json(jj_vm *vm, const jj_builtin *b, td_value v)
{
    static const td_json_style plain = { 0 };
    size_t mark = vm->out->len;
    td_str known;
    if (jj_known_json(vm, v, &plain, &known) && td_buf_put(vm->out, known) == TD_OK)
        return TD_OK;
    td_error err = TD_ERROR_INIT;
    td_code code = td_json_write(vm->out, v, &plain, &err);
    td_error_clear(&err);
    if (code == TD_OK)
        return jj_note_json(vm, v, &plain,
                            (td_str){ vm->out->ptr + mark, vm->out->len - mark });
    vm->out->len = mark; /* the filter itself tells what is wrong */
    const td_value absent = { .tag = JJ_ABSENT }, args[4] = { absent, absent, absent, absent };
    jj_args none = { .pos = args, .npos = b->max };
    TD_TRY(b->fn(vm, v, &none, &v));
    return jj_emit_value(vm, v);
}

/* fuzz_template.c - templates from strangers: the whole input is one template.
 *
 * Beyond not crashing within the limits: what compiles passes the verifier again, renders the same
 * twice, and once more with the JSON texts of the time before, and the dumps of all stages can be
 * made. */
#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "fuzz.h"
#include "jinja/bytecode.h"
#include "jinja/jinja.h"
#include "tokdrain/template.h"
#include "value/json.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static const char variables[] =
    "{\"messages\": [{\"role\": \"user\", \"content\": \"hi <b>\"}, {\"role\": \"assistant\", "
    "\"content\": \"\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": "
    "{\"a\": [1, 2.5, null, true]}}}]}], \"tools\": [{\"type\": \"function\"}], \"n\": 5, "
    "\"s\": \"na\\u00efve \\ud83d\\ude42\", \"f\": 2.5, \"big\": 123456789012345678901234567890, "
    "\"l\": [3, 1, 2], \"d\": {\"a\": 1, \"items\": 2}, \"no\": null, "
    "\"add_generation_prompt\": true, \"bos_token\": \"<s>\"}";

static void dump_all(td_str source)
{
    for (int stage = TD_DUMP_TOKENS; stage <= TD_DUMP_CODE; stage++) {
        char *text = NULL;
        if (td_template_dump(source, "t", (td_dump)stage, &text, NULL) == TD_OK)
            td_text_free(text);
    }
}

static td_code render(const td_template *t, const td_dict *vars, jj_workspace *ws, td_buf *out)
{
    td_error err = TD_ERROR_INIT;
    jj_spans spans = { 0 };
    jj_limits limits = { .steps_max = 200000, .memory_bytes_max = 16 << 20,
                         .output_bytes_max = 1 << 20 };
    jj_now now = { .fixed = true };
    td_code code = jj_render(t, vars, &limits, &now, ws, out, &spans, &err);
    CHECK(code == err.code);
    CHECK(code != TD_E_INTERNAL);
    free(spans.items);
    td_error_clear(&err);
    return code;
}

static void check_template(const td_template *t)
{
    td_arena arena = { 0 };
    td_error err = TD_ERROR_INIT;
    td_buf first = { 0 }, second = { 0 };
    td_value vars;
    CHECK(jj_verify(t, &err) == TD_OK);
    td_str json = { variables, sizeof variables - 1 };
    CHECK(td_json_read(&arena, json, &vars, &err) == TD_OK);
    jj_workspace *ws = jj_workspace_new();
    CHECK(ws != NULL);
    td_code code = render(t, vars.as.dict, ws, &first);
    CHECK(code == render(t, vars.as.dict, ws, &second));
    CHECK(code != TD_OK || first.len == second.len);
    td_json_texts *texts = td_json_texts_new(&arena, vars, 1 << 20);
    CHECK(texts != NULL);
    jj_workspace_set_texts(ws, texts, false);
    for (int round = 0; round < 2; round++) {
        second.len = 0;
        CHECK(code == render(t, vars.as.dict, ws, &second));
        CHECK(code != TD_OK || td_str_eq(td_buf_view(&first), td_buf_view(&second)));
    }
    td_json_texts_done(texts);
    jj_workspace_free(ws);
    td_buf_done(&first);
    td_buf_done(&second);
    td_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    td_str source = { (const char *)data, size };
    td_template *t = NULL;
    td_error err = TD_ERROR_INIT;
    td_code code = td_template_new(source, "fuzz.jinja", &t, &err);
    CHECK(code != TD_E_INTERNAL);
    if (code == TD_OK) {
        check_template(t);
        td_template_free(t);
    }
    td_error_clear(&err);
    dump_all(source);
    return 0;
}

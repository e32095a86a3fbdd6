/* render_tool.c - renders templates, so that tests can compare with the reference.
 *
 * Each line of standard input is {"template": text, "vars": {...}} or {"vars": {...}} for the
 * template of the line before; "spans": true asks for generation spans, "steps", "memory" and
 * "output" set limits, "now": [seconds, microseconds, offset] or null is what strftime_now sees (a
 * fixed moment, or the clock), "dump": "tokens" | "ast" | "code" shows a stage instead. Each line
 * of output is {"ok": text, "spans": [[start, end, start code point, end code point], ...]} or
 * {"error": message, "kind", "line", "column", "message_index", "excerpt"}.
 *
 * What has a fixed moment is rendered again, with JSON texts remembered from the time before;
 * the tool aborts when that changes anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "jinja/jinja.h"
#include "tokdrain/template.h"
#include "value/json.h"

static const td_value *field(const td_value *v, const char *name)
{
    return td_dict_find(v->as.dict, td_str_from(name));
}

static uint64_t number(const td_value *request, const char *name)
{
    const td_value *v = field(request, name);
    return v != NULL && v->tag == TD_V_INT ? (uint64_t)v->as.integer : 0;
}

static void put_error(td_buf *out, td_error *err)
{
    td_code code = td_buf_put(out, TD_STR("{\"error\": "));
    code |= td_json_write_string(out, td_str_from(err->message), true);
    code |= td_buf_printf(out, ", \"kind\": \"%s\", \"line\": %u, \"column\": %u, "
                               "\"message_index\": %lld, \"excerpt\": ",
                          td_code_name(err->code), err->line, err->column,
                          (long long)err->message_index);
    code |= td_json_write_string(out, td_str_from(err->excerpt != NULL ? err->excerpt : ""), true);
    code |= td_buf_byte(out, '}');
    td_error_clear(err);
    if (code != TD_OK)
        abort();
}

static void put_text(td_buf *out, td_str text, const jj_spans *spans)
{
    td_code code = td_buf_put(out, TD_STR("{\"ok\": "));
    code |= td_json_write_string(out, text, true);
    code |= td_buf_put(out, TD_STR(", \"spans\": ["));
    for (size_t i = 0; i < spans->count; i++) {
        jj_span s = spans->items[i];
        code |= td_buf_printf(out, "%s[%zu, %zu, %zu, %zu]", i != 0 ? ", " : "", s.start, s.end,
                              s.start_code_points, s.end_code_points);
    }
    code |= td_buf_put(out, TD_STR("]}"));
    if (code != TD_OK)
        abort();
}

static void dump(td_buf *out, td_str source, td_str stage)
{
    td_error err = TD_ERROR_INIT;
    jj_spans none = { 0 };
    char *text = NULL;
    td_dump what = td_str_eq(stage, TD_STR("tokens")) ? TD_DUMP_TOKENS
                   : td_str_eq(stage, TD_STR("ast"))  ? TD_DUMP_AST
                                                      : TD_DUMP_CODE;
    if (td_template_dump(source, "template", what, &text, &err) != TD_OK) {
        put_error(out, &err);
        return;
    }
    put_text(out, td_str_from(text), &none);
    td_text_free(text);
}

static jj_now moment(const td_value *given)
{
    jj_now now = { .fixed = given == NULL || given->tag == TD_V_LIST,
                   .unix_seconds = 1767225600 };
    if (given != NULL && given->tag == TD_V_LIST && given->len == 3) {
        now.unix_seconds = given->as.items[0].as.integer;
        now.microseconds = (uint32_t)given->as.items[1].as.integer;
        now.utc_offset_seconds = (int32_t)given->as.items[2].as.integer;
    }
    return now;
}

typedef struct job {
    const td_template *t;
    const td_value *vars;
    jj_limits limits;
    jj_now now;
    jj_workspace *ws;
} job;

static td_code render(const job *j, td_buf *text, jj_spans *spans, td_error *err)
{
    return jj_render(j->t, j->vars->as.dict, &j->limits, &j->now, j->ws, text, spans, err);
}

/* As render; then again with the texts of the values that vars holds, the last time checked. */
static td_code render_and_again(td_arena *a, const job *j, td_buf *text, jj_spans *spans,
                                td_error *err)
{
    td_code code = render(j, text, spans, err);
    td_json_texts *texts =
        j->now.fixed && code != TD_E_TIMEOUT ? td_json_texts_new(a, *j->vars, 1 << 22) : NULL;
    for (int round = 0; round < 3 && texts != NULL; round++) {
        td_buf again = { 0 };
        td_error other = TD_ERROR_INIT;
        jj_workspace_set_texts(j->ws, texts, round == 2);
        if (render(j, &again, NULL, &other) != code ||
            !td_str_eq(td_buf_view(text), td_buf_view(&again)) || other.line != err->line ||
            other.column != err->column || other.message_index != err->message_index ||
            (code != TD_OK && strcmp(other.message, err->message) != 0))
            abort();
        td_buf_done(&again);
        td_error_clear(&other);
    }
    jj_workspace_set_texts(j->ws, NULL, false);
    if (texts != NULL)
        td_json_texts_done(texts);
    return code;
}

static void answer(td_arena *a, td_str line, td_template **t, jj_workspace *ws, td_buf *out)
{
    td_error err = TD_ERROR_INIT;
    td_value request;
    if (td_json_read(a, line, &request, &err) != TD_OK) {
        put_error(out, &err);
        return;
    }
    const td_value *source = field(&request, "template"), *vars = field(&request, "vars");
    const td_value *stage = field(&request, "dump"), *spans_wanted = field(&request, "spans");
    if (stage != NULL) {
        dump(out, td_as_str(*source), td_as_str(*stage));
        return;
    }
    if (source != NULL) {
        td_template_free(*t);
        *t = NULL;
        if (td_template_new(td_as_str(*source), "template", t, &err) != TD_OK) {
            put_error(out, &err);
            return;
        }
    }
    if (*t == NULL || vars == NULL) {
        td_fail(&err, TD_E_INPUT, "no template or no vars");
        put_error(out, &err);
        return;
    }
    td_buf text = { 0 };
    jj_spans spans = { 0 };
    job j = { .t = *t,
              .vars = vars,
              .limits = { .steps_max = number(&request, "steps"),
                          .memory_bytes_max = number(&request, "memory"),
                          .output_bytes_max = number(&request, "output") },
              .now = moment(field(&request, "now")),
              .ws = ws };
    td_code code = render_and_again(a, &j, &text, spans_wanted != NULL ? &spans : NULL, &err);
    if (code == TD_OK)
        put_text(out, td_buf_view(&text), &spans);
    else
        put_error(out, &err);
    td_buf_done(&text);
    free(spans.items);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    td_template *t = NULL;
    jj_workspace *ws = jj_workspace_new();
    td_buf out = { 0 };
    td_arena a = { 0 };
    while ((n = getline(&line, &cap, stdin)) > 0) {
        answer(&a, (td_str){ line, (size_t)n }, &t, ws, &out);
        fwrite(out.ptr, 1, out.len, stdout);
        putchar('\n');
        fflush(stdout);
        out.len = 0;
        td_arena_reset(&a);
    }
    td_template_free(t);
    jj_workspace_free(ws);
    td_buf_done(&out);
    td_arena_done(&a);
    free(line);
    return 0;
}

/* template.c - the public API of templates: from source text to verified code, and its dumps. */
#include "tokdrain/template.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "jinja/emit.h"
#include "jinja/vm_internal.h"

enum { SOURCE_BYTES_MAX = 256 << 20, FOLD_STEPS_MAX = 1 << 20, FOLD_BYTES_MAX = 64 << 20,
       COMPILE_BYTES_MAX = 256 << 20 };

void td_template_free(td_template *t)
{
    if (t == NULL)
        return;
    td_arena_done(&t->arena);
    td_free(t->name);
    td_free(t);
}

td_str jj_source(const td_template *t)
{
    return t->original;
}

void jj_each_literal(const td_template *t, void (*visit)(void *user, td_str text), void *user)
{
    for (uint32_t i = 0; i < t->literal_count; i++)
        visit(user, t->literals[i]);
}

/* ---- the stages ---- */

/* What the stages leave behind for the next one; all of it in scratch. */
typedef struct jj_stages {
    td_arena scratch;
    td_str source;
    jj_tokens tokens;
    jj_names names;
    jj_node *root;
} jj_stages;

static td_code lex_source(jj_stages *s, td_str source, td_error *err)
{
    if (source.len > SOURCE_BYTES_MAX)
        return td_fail(err, TD_E_LIMIT, "template of more than %d bytes", SOURCE_BYTES_MAX);
    size_t bad = td_utf8_check(source);
    if (bad != source.len)
        return td_fail_at(err, TD_E_INPUT, bad, "template is not UTF-8");
    TD_TRY(jj_normalize(&s->scratch, source, &s->source, err));
    return jj_lex(&s->scratch, s->source, &s->tokens, err);
}

static td_code parse_source(jj_stages *s, td_str source, td_error *err)
{
    TD_TRY(lex_source(s, source, err));
    s->names.arena = &s->scratch;
    TD_TRY(jj_parse(&s->scratch, &s->names, s->source, &s->tokens, &s->root, err));
    return jj_check_indent(s->root, err);
}

static td_code collect_literals(jj_compiler *c, const jj_node *n)
{
    uint32_t i = 0;
    if ((n->kind == JJ_N_DATA || n->kind == JJ_N_CONST) && td_is_str(n->value))
        TD_TRY(jj_add_literal(c, td_as_str(n->value)));
    for (const jj_node *child; (child = jj_child(n, &i)) != NULL;)
        TD_TRY(collect_literals(c, child));
    return TD_OK;
}

static td_code intern_special(jj_compiler *c)
{
    c->name_loop = jj_intern(c->names, TD_STR("loop"));
    c->name_self = jj_intern(c->names, TD_STR("self"));
    c->name_super = jj_intern(c->names, TD_STR("super"));
    c->name_caller = jj_intern(c->names, TD_STR("caller"));
    c->name_kwargs = jj_intern(c->names, TD_STR("kwargs"));
    c->name_varargs = jj_intern(c->names, TD_STR("varargs"));
    bool ok = c->name_loop != 0 && c->name_self != 0 && c->name_super != 0 &&
              c->name_caller != 0 && c->name_kwargs != 0 && c->name_varargs != 0;
    return ok ? TD_OK : jj_compile_nomem(c);
}

static td_code compile(jj_stages *s, td_template *t, td_error *err)
{
    jj_vm fold_vm;
    td_buf out = { 0 };
    td_error fold_err = TD_ERROR_INIT;
    jj_compiler c = { .arena = &s->scratch, .t = t, .names = &s->names, .err = err,
                      .fold_vm = &fold_vm };
    jj_vm_init(&fold_vm, t, &t->arena, &out, &fold_err);
    fold_vm.steps_left = fold_vm.limits.steps_max = FOLD_STEPS_MAX;
    t->arena.limit = t->original.len * 64 + FOLD_BYTES_MAX;
    s->scratch.limit = s->scratch.total + COMPILE_BYTES_MAX;
    td_code code = intern_special(&c);
    if (code == TD_OK)
        code = collect_literals(&c, s->root);
    if (code == TD_OK)
        code = jj_compile_template(&c, s->root);
    if (code == TD_OK) {
        jj_thread_jumps(t);
        code = jj_verify(t, err);
    }
    jj_vm_done(&fold_vm);
    td_buf_done(&out);
    td_error_clear(&fold_err);
    return code;
}

static td_code make(td_template *t, td_str source, const char *name, td_error *err)
{
    jj_stages s = { 0 };
    t->ctx_messages = UINT32_MAX;
    t->original = td_arena_copy(&t->arena, source);
    if (name == NULL)
        name = "template";
    t->name = td_strndup(name, strlen(name));
    td_code code = t->original.ptr != NULL && t->name != NULL ? TD_OK : td_fail_nomem(err);
    if (code == TD_OK)
        code = parse_source(&s, t->original, err);
    if (code == TD_OK) {
        t->source = td_arena_copy(&t->arena, s.source);
        code = t->source.ptr != NULL ? compile(&s, t, err) : td_fail_nomem(err);
    }
    if (code != TD_OK && s.source.ptr != NULL)
        td_error_locate(err, s.source);
    if (code != TD_OK && t->name != NULL)
        td_error_in_file(err, t->name);
    td_arena_done(&s.scratch);
    return code;
}

static td_code template_new(td_str source, const char *name, td_template **ret, td_error *err)
{
    td_template *t = td_calloc(1, sizeof *t);
    if (t == NULL)
        return td_fail_nomem(err);
    td_code code = make(t, source, name, err);
    if (code == TD_OK)
        *ret = t;
    else
        td_template_free(t);
    return code;
}

static td_code hand_over(td_code code, td_error *local, td_error *err)
{
    if (code != TD_OK && err != NULL)
        td_error_move(err, local);
    else
        td_error_clear(local);
    return code;
}

td_code td_template_new(td_str source, const char *name, td_template **ret_template,
                        td_error *err)
{
    td_error local = TD_ERROR_INIT;
    return hand_over(template_new(source, name, ret_template, &local), &local, err);
}

size_t td_template_warnings(const td_template *t,
                            void (*report)(void *user, const td_error *warning), void *user)
{
    for (uint32_t i = 0; i < t->warning_count; i++) {
        td_error e = TD_ERROR_INIT;
        td_fail_text(&e, TD_E_TEMPLATE, t->warnings[i].at, t->warnings[i].message);
        td_error_locate(&e, t->source);
        td_error_in_file(&e, t->name);
        report(user, &e);
        td_error_clear(&e);
    }
    return t->warning_count;
}

/* ---- dumps ---- */

static td_code dump_tokens(const jj_stages *s, td_buf *out)
{
    for (uint32_t i = 0; i < s->tokens.count; i++) {
        jj_token t = s->tokens.items[i];
        TD_TRY(td_buf_printf(out, "%u %s", t.at, jj_token_name((jj_token_kind)t.kind)));
        if (t.kind >= JJ_T_DATA && t.kind <= JJ_T_FLOAT && t.kind != JJ_T_VAR_BEGIN) {
            TD_TRY(td_buf_append(out, " |", 2));
            for (uint32_t k = t.at; k < t.end; k++)
                TD_TRY(s->source.ptr[k] == '\n' ? td_buf_append(out, "\\n", 2)
                                                : td_buf_byte(out, s->source.ptr[k]));
            TD_TRY(td_buf_byte(out, '|'));
        }
        if (t.kind == JJ_T_ERROR)
            TD_TRY(td_buf_printf(out, " %s", s->tokens.error));
        TD_TRY(td_buf_byte(out, '\n'));
    }
    return TD_OK;
}

static td_code dump_stage(td_str source, const char *name, td_dump stage, td_buf *out,
                          td_error *err)
{
    if (stage == TD_DUMP_CODE) {
        td_template *t = NULL;
        TD_TRY(template_new(source, name, &t, err));
        td_code code = jj_code_dump(t, out);
        td_template_free(t);
        return code == TD_OK ? TD_OK : td_buf_fail(out, err, code, "dump");
    }
    jj_stages s = { 0 };
    td_code code = stage == TD_DUMP_TOKENS ? lex_source(&s, source, err)
                                           : parse_source(&s, source, err);
    if (code != TD_OK) {
        if (s.source.ptr != NULL)
            td_error_locate(err, s.source);
        td_error_in_file(err, name != NULL ? name : "template");
    } else {
        code = stage == TD_DUMP_TOKENS ? dump_tokens(&s, out)
                                       : jj_ast_dump(s.root, &s.names, out);
        if (code != TD_OK)
            td_buf_fail(out, err, code, "dump");
    }
    td_arena_done(&s.scratch);
    return code;
}

td_code td_template_dump(td_str source, const char *name, td_dump stage, char **ret_text,
                         td_error *err)
{
    td_buf out = { 0 };
    td_error local = TD_ERROR_INIT;
    td_code code = dump_stage(source, name, stage, &out, &local);
    if (code == TD_OK) {
        *ret_text = td_buf_detach(&out);
        if (*ret_text == NULL)
            code = td_fail_nomem(&local);
    }
    td_buf_done(&out);
    return hand_over(code, &local, err);
}

void td_text_free(char *text)
{
    td_free(text);
}

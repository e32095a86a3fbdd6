/* cmd_check.c - does a template compile, and what in it would fail later? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/hide_tag.h"
#include "cli/run.h"

typedef struct checker {
    FILE *out;
    const char *dump;
    size_t templates, errors, warnings;
} checker;

static void print_finding(FILE *out, const td_error *e, const char *what)
{
    fprintf(out, "%s:%u:%u: %s: %s\n", e->file != NULL ? e->file : "template", e->line, e->column,
            what, e->message);
    const char *end = e->excerpt != NULL ? strchr(e->excerpt, '\n') : NULL;
    if (end != NULL)
        fprintf(out, "    %.*s\n    %s\n", (int)(end - e->excerpt), e->excerpt, end + 1);
}

static void on_warning(void *user, const td_error *warning)
{
    checker *c = user;
    print_finding(c->out, warning, "warning");
}

static void dump(checker *c, td_str source, const char *name)
{
    td_dump stage = c->dump[0] == 't'   ? TD_DUMP_TOKENS
                    : c->dump[0] == 'a' ? TD_DUMP_AST
                                        : TD_DUMP_CODE;
    td_error err = TD_ERROR_INIT;
    char *text = NULL;
    if (td_template_dump(source, name, stage, &text, &err) == TD_OK)
        fputs(text, c->out);
    td_text_free(text); /* what is wrong is said by the compilation */
    td_error_clear(&err);
}

/* A copy with the newlines that positions of errors are counted with; NULL: no memory. */
static char *with_plain_newlines(td_str source, size_t *ret_len)
{
    char *copy = malloc(source.len + 1);
    size_t n = 0;
    for (size_t i = 0; copy != NULL && i < source.len; i++) {
        if (source.ptr[i] != '\r')
            copy[n++] = source.ptr[i];
        else if (i + 1 == source.len || source.ptr[i + 1] != '\n')
            copy[n++] = '\n';
    }
    *ret_len = n;
    return copy;
}

/* One error ends a compilation; the tag it is in is then hidden, to find the others. */
static void find_errors(checker *c, char *source, size_t len, const char *name)
{
    enum { ERRORS_MAX = 100 };
    td_error err = TD_ERROR_INIT;
    td_template *t = NULL;
    uint64_t last = TD_NO_OFFSET;
    for (int i = 0; i < ERRORS_MAX; i++) {
        td_code code = td_template_new((td_str){ source, len }, name, &t, &err);
        if (code == TD_OK) {
            c->warnings += td_template_warnings(t, on_warning, c);
            td_template_free(t);
            break;
        }
        if (err.offset == last && last != TD_NO_OFFSET) /* hiding did not help */
            break;
        last = err.offset;
        c->errors++;
        print_finding(c->out, &err, "error");
        if (code != TD_E_TEMPLATE || last == TD_NO_OFFSET ||
            !cli_hide_tag(source, len, (size_t)err.offset))
            break;
        td_error_clear(&err);
    }
    td_error_clear(&err);
}

static void check_source(checker *c, td_str source, const char *name)
{
    size_t len;
    char *copy = with_plain_newlines(source, &len);
    c->templates++;
    if (c->dump != NULL)
        dump(c, source, name);
    if (copy == NULL) {
        c->errors++;
        cli_complain("%s: out of memory", name);
        return;
    }
    find_errors(c, copy, len, name);
    free(copy);
}

static bool is_dir(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

static int check_model(checker *c, const cli_options *o, const char *name)
{
    cli_options own = *o;
    own.model = name;
    own.model_options.templates_only = true;
    td_model *model = NULL;
    int status = cli_load_model(&own, &model);
    if (status != CLI_OK)
        return status;
    size_t count = td_model_template_count(model);
    if (count == 0)
        fprintf(c->out, "%s: no chat template\n", name != NULL ? name : "built-in model");
    for (size_t i = 0; i < count; i++) {
        td_model_template t = td_model_template_at(model, i);
        check_source(c, t.source, t.file);
    }
    td_model_free(model);
    return CLI_OK;
}

static int check_file(checker *c, const char *name)
{
    size_t len;
    char *text = cli_read_file(name, &len);
    if (text == NULL) {
        cli_complain("%s: %s", name, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    check_source(c, (td_str){ text, len }, strcmp(name, "-") == 0 ? "standard input" : name);
    free(text);
    return CLI_OK;
}

int cmd_check(const cli_options *o)
{
    checker c = { .out = stdout, .dump = o->dump };
    if (o->output != NULL && (c.out = fopen(o->output, "w")) == NULL) {
        cli_complain("%s: %s", o->output, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    int status = CLI_OK;
    if (o->model != NULL || o->file_count == 0)
        status = check_model(&c, o, o->model);
    for (int i = 0; i < o->file_count && status == CLI_OK; i++)
        status =
            is_dir(o->files[i]) ? check_model(&c, o, o->files[i]) : check_file(&c, o->files[i]);
    if (status == CLI_OK && o->dump == NULL)
        fprintf(c.out, "%zu template%s: %zu error%s, %zu warning%s\n", c.templates,
                c.templates == 1 ? "" : "s", c.errors, c.errors == 1 ? "" : "s", c.warnings,
                c.warnings == 1 ? "" : "s");
    if (status == CLI_OK && c.errors != 0)
        status = CLI_SOME_FAILED;
    if (fflush(c.out) != 0 && errno != EPIPE) {
        cli_complain("the output cannot be written: %s", strerror(errno));
        status = CLI_CANNOT_OPEN;
    }
    if (c.out != stdout)
        fclose(c.out);
    return status;
}

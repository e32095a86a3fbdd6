/* common.c - opening models and files, interrupts, tallies. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/show.h"

int cli_load_model(const cli_options *o, td_model **ret_model)
{
    if (o->counter.worker_command != NULL)
        return CLI_OK; /* its processes load it */
    td_error err = TD_ERROR_INIT;
    if (td_model_new(o->model, &o->model_options, ret_model, &err) == TD_OK)
        return CLI_OK;
    cli_complain_error(&err);
    td_error_clear(&err);
    return CLI_CANNOT_OPEN;
}

char *cli_read_file(const char *name, size_t *ret_len)
{
    int fd = strcmp(name, "-") == 0 ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t cap = 64 * 1024, len = 0;
    char *buf = malloc(cap + 1);
    for (;;) {
        if (buf == NULL) {
            errno = ENOMEM;
            break;
        }
        ssize_t got = read(fd, buf + len, cap - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(buf);
            buf = NULL;
            break;
        }
        len += (size_t)got;
        if (got == 0)
            break;
        if (len == cap) {
            char *more = realloc(buf, cap * 2 + 1);
            if (more == NULL)
                free(buf);
            buf = more;
            cap *= 2;
        }
    }
    int why = errno;
    if (fd > STDERR_FILENO)
        close(fd);
    errno = why;
    if (buf != NULL) {
        buf[len] = '\0';
        *ret_len = len;
    }
    return buf;
}

/* Options that do not go together with external workers, or not without. */
static int worker_options(const cli_options *o, td_counter_options *ret)
{
    const char *wrong = NULL;
    if (o->counter.worker_command == NULL) {
        if (o->workers != 0 || o->counter.worker_memory != 0)
            wrong = "--workers and --worker-memory need --worker-command";
    } else if (o->model_options.compat != TD_COMPAT_TRANSFORMERS) {
        wrong = "--compat does not go with --worker-command: its processes load the model";
    } else if (o->model_options.encoding != NULL) {
        wrong = "--encoding does not go with --worker-command: its processes load the model";
    } else if (o->counter.now.fixed) {
        wrong = "--now does not go with --worker-command: its processes render";
    }
    if (wrong != NULL) {
        cli_complain("%s: %s", o->command_name, wrong);
        return CLI_USAGE;
    }
    ret->worker_model = o->model;
    ret->worker_revision = o->model_options.revision;
    if (o->workers != 0)
        ret->jobs = o->workers;
    return CLI_OK;
}

int cli_counter_options(const cli_options *o, td_counter_options *ret, char **ret_text)
{
    *ret = o->counter;
    *ret_text = NULL;
    int status = worker_options(o, ret);
    if (status != CLI_OK)
        return status;
    if (o->template_kwargs != NULL)
        ret->chat_template_kwargs = (td_str){ o->template_kwargs, strlen(o->template_kwargs) };
    if (o->template_file == NULL)
        return CLI_OK;
    size_t len;
    *ret_text = cli_read_file(o->template_file, &len);
    if (*ret_text == NULL) {
        cli_complain("%s: %s", o->template_file, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    ret->chat_template = (td_str){ *ret_text, len };
    ret->template_file = o->template_file;
    return CLI_OK;
}

int cli_new_counter(td_model *model, const td_counter_options *options, td_counter **ret_counter)
{
    td_error err = TD_ERROR_INIT;
    td_code code = td_counter_new(model, options, ret_counter, &err);
    if (code == TD_OK)
        return CLI_OK;
    cli_complain_error(&err);
    td_error_clear(&err);
    return code == TD_E_INPUT ? CLI_USAGE : CLI_CANNOT_OPEN;
}

/* An error of the program's own. */
static void set_error(td_error *err, td_code code, const char *text, uint64_t n)
{
    *err = (td_error)TD_ERROR_INIT;
    err->code = code;
    snprintf(err->text, sizeof err->text, text, (unsigned long long)n);
    err->message = err->text;
    err->message_len = strlen(err->text);
}

static void keep(void *user, const char *bytes)
{
    (void)user;
    (void)bytes;
}

td_request *cli_request_of_line(const cli_lines *in, cli_line kind, const char *line, size_t len,
                                bool borrow)
{
    td_request *r = NULL;
    td_error err = TD_ERROR_INIT;
    td_code code;
    if (kind == LINE_TOO_LONG) {
        td_error failure;
        set_error(&failure, TD_E_LIMIT, "the line is longer than %llu bytes (--max-input)",
                  in->line_max);
        failure.line = (uint32_t)in->line_number;
        failure.offset = in->offset;
        code = td_request_new_failed(&failure, &r, &err);
    } else {
        code = td_request_new((td_str){ line, len }, borrow ? keep : NULL, NULL, &r, &err);
    }
    if (code != TD_OK) {
        cli_complain_error(&err);
        td_error_clear(&err);
        return NULL;
    }
    td_request_set_origin(r, in->name, in->line_number, in->offset);
    return r;
}

/* ---- interrupts ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void cli_catch_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

/* ---- tallies ---- */

void cli_note_result(cli_failures *f, const td_result *r, bool quiet)
{
    f->items++;
    if (r->error.code == TD_OK)
        return;
    if (r->via == TD_VIA_FALLBACK)
        f->fallbacks++;
    else
        f->failed++;
    bool first = f->of_kind[r->error.code]++ == 0;
    bool show = first && (r->via == TD_VIA_FALLBACK || r->error.excerpt != NULL);
    if (show && !quiet)
        cli_complain_error(&r->error);
}

void cli_print_failures(const cli_failures *f, bool quiet)
{
    if (quiet)
        return;
    if (f->fallbacks != 0)
        fprintf(stderr, "tokdrain: %llu of %llu items counted by fallback\n",
                (unsigned long long)f->fallbacks, (unsigned long long)f->items);
    if (f->failed == 0)
        return;
    fprintf(stderr, "tokdrain: %llu of %llu items failed:", (unsigned long long)f->failed,
            (unsigned long long)f->items);
    const char *comma = " ";
    for (int kind = TD_E_INPUT; kind <= TD_E_INTERNAL; kind++) {
        if (f->of_kind[kind] == 0)
            continue;
        fprintf(stderr, "%s%llu %s", comma, (unsigned long long)f->of_kind[kind],
                td_code_name((td_code)kind));
        comma = ", ";
    }
    fputc('\n', stderr);
}

int cli_end_output(cli_out *out, int status)
{
    switch (cli_out_close(out)) {
    case WRITE_OK:
        return status;
    case WRITE_CLOSED:
        return CLI_OK;
    case WRITE_FAILED:
        break;
    }
    cli_complain("%s: %s", out->name, strerror(out->error));
    return CLI_CANNOT_OPEN;
}

/* ---- statistics ---- */

void cli_stats_add(cli_stats *s, const td_result *r)
{
    if (!r->counted)
        return;
    s->text_bytes += r->text_bytes;
    s->reused += r->reused;
    if (s->count == s->cap && !s->lost) {
        size_t cap = s->cap != 0 ? s->cap * 2 : 1024;
        uint64_t *more = realloc(s->counts, cap * sizeof *more);
        s->lost = more == NULL;
        if (more != NULL) {
            s->counts = more;
            s->cap = cap;
        }
    }
    if (!s->lost)
        s->counts[s->count++] = r->tokens;
}

static int by_number(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

/* The smallest count that so many percent of all do not exceed. */
static uint64_t percentile(const cli_stats *s, unsigned percent)
{
    if (s->count == 0)
        return 0;
    size_t rank = (s->count * percent + 99) / 100;
    return s->counts[rank > 0 ? rank - 1 : 0];
}

void cli_stats_print(cli_stats *s, const cli_failures *f, FILE *out, bool json)
{
    double seconds = (double)(cli_now_ns() - s->start_ns) / 1e9;
    if (s->count != 0)
        qsort(s->counts, s->count, sizeof *s->counts, by_number);
    uint64_t total = 0;
    for (size_t i = 0; i < s->count; i++)
        total += s->counts[i];
    double mean = s->count != 0 ? (double)total / (double)s->count : 0;
    double mb = (double)s->text_bytes / 1e6 / seconds, rate = (double)f->items / seconds;
    if (json) {
        fprintf(out,
                "{\"requests\": %llu, \"failed\": %llu, \"fallbacks\": %llu, \"tokens\": "
                "{\"total\": %llu, \"mean\": %.3f, \"p50\": %llu, \"p90\": %llu, \"p99\": %llu, "
                "\"max\": %llu}, \"reused\": %llu, \"seconds\": %.6f, \"mb_per_s\": %.3f, "
                "\"prompts_per_s\": %.3f}\n",
                (unsigned long long)f->items, (unsigned long long)f->failed,
                (unsigned long long)f->fallbacks, (unsigned long long)total, mean,
                (unsigned long long)percentile(s, 50), (unsigned long long)percentile(s, 90),
                (unsigned long long)percentile(s, 99), (unsigned long long)percentile(s, 100),
                (unsigned long long)s->reused, seconds, mb, rate);
        return;
    }
    char n[11][32];
    const char *cells[] = {
        "requests",  cli_number(n[0], f->items),
        "failed",    cli_number(n[1], f->failed),
        "tokens",    cli_number(n[2], total),
        "  mean",    cli_real(n[3], mean),
        "  p50",     cli_number(n[4], percentile(s, 50)),
        "  p90",     cli_number(n[5], percentile(s, 90)),
        "  p99",     cli_number(n[6], percentile(s, 99)),
        "  max",     cli_number(n[7], percentile(s, 100)),
        "  reused",  cli_number(n[8], s->reused),
        "MB/s",      cli_real(n[9], mb),
        "prompts/s", cli_real(n[10], rate),
    };
    cli_table(out, cells, sizeof cells / sizeof *cells / 2, 2);
}

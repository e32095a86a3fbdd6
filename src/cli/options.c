/* options.c - one table of options, from which parsing and every --help come. */
#include "cli/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALL_RUNS = CMD_COUNT | CMD_RENDER | CMD_ENCODE | CMD_DECODE | CMD_DRAIN,
    TEMPLATES = CMD_COUNT | CMD_RENDER | CMD_ENCODE | CMD_DRAIN,
    LISTS = CMD_COUNT | CMD_RENDER | CMD_ENCODE | CMD_DECODE,
    COUNTS = CMD_COUNT | CMD_DRAIN,
};

typedef struct option {
    const char *name;
    char letter;         /* 0: none */
    const char *value;   /* what the value is called; NULL: a switch */
    bool value_optional; /* --name or --name=VALUE */
    unsigned commands;
    bool (*set)(cli_options *o, const char *value); /* false: the value is wrong */
    const char *help;
} option;

void cli_complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tokdrain: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

void cli_complain_error(const td_error *err)
{
    fputs("tokdrain: ", stderr);
    if (err->file != NULL) {
        fputs(err->file, stderr);
        if (err->line != 0)
            fprintf(stderr, ":%u", err->line);
        if (err->line != 0 && err->column != 0)
            fprintf(stderr, ":%u", err->column);
        fputs(": ", stderr);
    }
    fprintf(stderr, "%s: %s\n", td_code_name(err->code), err->message);
    if (err->excerpt == NULL)
        return;
    const char *line = err->excerpt, *end = strchr(line, '\n');
    if (end != NULL)
        fprintf(stderr, "    %.*s\n    %s\n", (int)(end - line), line, end + 1);
}

/* ---- setters ---- */

#define TEXT_OPTION(name, field)                                                                   \
    static bool name(cli_options *o, const char *value)                                            \
    {                                                                                              \
        o->field = value;                                                                          \
        return true;                                                                               \
    }
#define SWITCH_OPTION(name, field)                                                                 \
    static bool name(cli_options *o, const char *value)                                            \
    {                                                                                              \
        (void)value;                                                                               \
        o->field = true;                                                                           \
        return true;                                                                               \
    }

TEXT_OPTION(set_model, model)
TEXT_OPTION(set_revision, model_options.revision)
TEXT_OPTION(set_encoding, model_options.encoding)
TEXT_OPTION(set_output, output)
TEXT_OPTION(set_template, template_file)
TEXT_OPTION(set_template_kwargs, template_kwargs)
TEXT_OPTION(set_text, text)
TEXT_OPTION(set_warm, warm)
TEXT_OPTION(set_sweep_pending, sweep_pending)
TEXT_OPTION(set_sweep_jobs, sweep_jobs)
TEXT_OPTION(set_worker_command, counter.worker_command)
SWITCH_OPTION(set_no_reuse, counter.no_reuse)
SWITCH_OPTION(set_verify, counter.verify)
SWITCH_OPTION(set_parse_arguments, counter.parse_arguments)
SWITCH_OPTION(set_fallback, counter.fallback)
SWITCH_OPTION(set_offsets, counter.offsets)
SWITCH_OPTION(set_pieces, counter.pieces)
SWITCH_OPTION(set_skip_special, counter.skip_special_tokens)
SWITCH_OPTION(set_add_special, add_special_tokens)
SWITCH_OPTION(set_json, json)
SWITCH_OPTION(set_plain, plain)
SWITCH_OPTION(set_nul, nul)
SWITCH_OPTION(set_help, help)

static bool set_compat(cli_options *o, const char *value)
{
    bool as_is = strcmp(value, "tokenizer.json") == 0;
    o->model_options.compat = as_is ? TD_COMPAT_TOKENIZER_JSON : TD_COMPAT_TRANSFORMERS;
    return as_is || strcmp(value, "transformers") == 0;
}

static bool set_jobs(cli_options *o, const char *value)
{
    uint64_t n;
    if (!cli_parse_count(value, &n) || n == 0 || n > 1024)
        return false;
    o->counter.jobs = (unsigned)n;
    return true;
}

static bool set_workers(cli_options *o, const char *value)
{
    uint64_t n;
    if (!cli_parse_count(value, &n) || n == 0 || n > 1024)
        return false;
    o->workers = (unsigned)n;
    return true;
}

static bool set_worker_memory(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->counter.worker_memory) && o->counter.worker_memory != 0;
}

static bool set_repeat(cli_options *o, const char *value)
{
    uint64_t n;
    if (!cli_parse_count(value, &n) || n == 0 || n > 1000000)
        return false;
    o->repeat = (unsigned)n;
    return true;
}

static bool set_memory(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->counter.memo_bytes);
}

static bool set_max_input(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->input_max);
}

static bool set_max_output(cli_options *o, const char *value)
{
    return cli_parse_size(value, &o->counter.limits.output_bytes_max);
}

static bool set_max_steps(cli_options *o, const char *value)
{
    return cli_parse_count(value, &o->counter.limits.steps_max) && o->counter.limits.steps_max != 0;
}

static bool set_timeout(cli_options *o, const char *value)
{
    return cli_parse_seconds(value, &o->counter.limits.timeout_ns);
}

static bool set_drain_timeout(cli_options *o, const char *value)
{
    return cli_parse_seconds(value, &o->drain_timeout_ns);
}

static bool set_now(cli_options *o, const char *value)
{
    return cli_parse_moment(value, &o->counter.now);
}

static bool set_summary(cli_options *o, const char *value)
{
    o->summary = value != NULL ? SUMMARY_ONLY : SUMMARY_TABLE;
    return value == NULL || strcmp(value, "only") == 0;
}

static bool set_progress(cli_options *o, const char *value)
{
    static const char *const names[] = { "auto", "always", "never" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->progress = (cli_when)i;
            return true;
        }
    }
    return false;
}

static bool set_log_level(cli_options *o, const char *value)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(value, names[i]) == 0) {
            o->quiet = i == 0;
            return true;
        }
    }
    return false;
}

static bool set_dump(cli_options *o, const char *value)
{
    o->dump = value;
    return strcmp(value, "tokens") == 0 || strcmp(value, "ast") == 0 || strcmp(value, "code") == 0;
}

/* ---- the table ---- */

#define EVERY (ALL_RUNS | CMD_INFO | CMD_CHECK)

static const option options[] = {
    { "model", 'm', "MODEL", false, EVERY, set_model,
      "model directory, vocabulary file, or a name in the hub cache (default: built in)" },
    { "revision", 0, "NAME", false, EVERY, set_revision, "revision of a cached model (main)" },
    { "compat", 0, "MODE", false, EVERY, set_compat,
      "rules for a directory: transformers (default) or tokenizer.json" },
    { "encoding", 0, "NAME", false, EVERY, set_encoding,
      "family of a file of tiktoken ranks: cl100k_base, llama3, ... (told by their number)" },
    { "output", 'o', "FILE", false, EVERY, set_output, "write to FILE instead of standard output" },
    { "template", 0, "FILE", false, TEMPLATES, set_template,
      "chat template for requests without one" },
    { "template-kwargs", 0, "JSON", false, TEMPLATES, set_template_kwargs,
      "template variables for all requests (a request's own win)" },
    { "parse-arguments", 0, NULL, false, TEMPLATES, set_parse_arguments,
      "parse the JSON text of tool-call arguments before rendering" },
    { "now", 0, "ISO8601", false, TEMPLATES, set_now, "the moment that strftime_now sees" },
    { "fallback", 0, NULL, false, COUNTS, set_fallback,
      "count a prompt that fails to render as plain text" },
    { "summary", 0, "only", true, CMD_COUNT, set_summary,
      "table on standard error; =only: without the results" },
    { "plain", 0, NULL, false, CMD_RENDER | CMD_ENCODE | CMD_DECODE, set_plain,
      "print texts (ids) alone instead of JSON lines" },
    { "null", '0', NULL, false, CMD_RENDER | CMD_DECODE, set_nul,
      "as --plain, each text ended by NUL instead of a newline" },
    { "text", 0, "TEXT", false, CMD_ENCODE, set_text, "encode TEXT instead of requests" },
    { "add-special-tokens", 0, NULL, false, CMD_ENCODE, set_add_special,
      "with --text: run the post-processor" },
    { "tokens", 0, NULL, false, CMD_ENCODE, set_pieces,
      "add the tokens as the vocabulary spells them" },
    { "offsets", 0, NULL, false, CMD_ENCODE, set_offsets, "add code-point offsets" },
    { "skip-special-tokens", 0, NULL, false, CMD_DECODE, set_skip_special,
      "leave special tokens out" },
    { "dump", 0, "STAGE", false, CMD_CHECK, set_dump, "print tokens, ast or code of the template" },
    { "warm", 0, "FILE", false, CMD_DRAIN, set_warm, "count these requests first, untimed" },
    { "repeat", 0, "N", false, CMD_DRAIN, set_repeat,
      "drain the same backlog N times on one memo" },
    { "drain-timeout", 0, "SECONDS", false, CMD_DRAIN, set_drain_timeout,
      "stop a drain after this time (0: no limit)" },
    { "sweep-pending", 0, "N,N,...", false, CMD_DRAIN, set_sweep_pending,
      "drain backlogs of these sizes" },
    { "sweep-jobs", 0, "N,N,...", false, CMD_DRAIN, set_sweep_jobs,
      "drain with these numbers of jobs" },
    { "json", 0, NULL, false, CMD_COUNT | CMD_INFO | CMD_DRAIN, set_json,
      "print one JSON object (count: the summary)" },
    { "jobs", 'j', "N", false, ALL_RUNS, set_jobs,
      "worker threads (default: the cores available)" },
    { "memory", 0, "SIZE", false, COUNTS, set_memory,
      "bound of the memo of counted segments (256MiB)" },
    { "no-reuse", 0, NULL, false, COUNTS, set_no_reuse, "count every prompt in full" },
    { "verify", 0, NULL, false, COUNTS, set_verify, "count again without reuse and compare" },
    { "worker-command", 0, "CMD", false, ALL_RUNS, set_worker_command,
      "have processes of this shell command do the work instead of the built-in engine" },
    { "workers", 0, "N", false, ALL_RUNS, set_workers,
      "with --worker-command: at most so many processes (default: the cores available)" },
    { "worker-memory", 0, "SIZE", false, ALL_RUNS, set_worker_memory,
      "with --worker-command: memory of all of them together (no bound)" },
    { "max-input", 0, "SIZE", false, ALL_RUNS, set_max_input, "longest input line (256MiB)" },
    { "max-output", 0, "SIZE", false, TEMPLATES, set_max_output, "longest rendered text (256MiB)" },
    { "max-steps", 0, "N", false, TEMPLATES, set_max_steps,
      "template steps of one item (100000000)" },
    { "timeout", 0, "SECONDS", false, ALL_RUNS, set_timeout, "time of one item (no limit)" },
    { "progress", 0, "WHEN", false, ALL_RUNS, set_progress,
      "auto (on a terminal), always or never" },
    { "log-level", 0, "LEVEL", false, EVERY, set_log_level,
      "error, warning (default), info or debug" },
    { "help", 'h', NULL, false, EVERY, set_help, "this text" },
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

static const option *find_long(const char *name, size_t len, unsigned commands)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((options[i].commands & commands) != 0 && strlen(options[i].name) == len &&
            memcmp(options[i].name, name, len) == 0)
            return &options[i];
    }
    return NULL;
}

static const option *find_letter(char letter, cli_command command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((options[i].commands & (unsigned)command) != 0 && options[i].letter == letter)
            return &options[i];
    }
    return NULL;
}

static bool unknown(const cli_options *o, const char *arg, size_t len)
{
    bool elsewhere = len > 2 && find_long(arg + 2, len - 2, EVERY) != NULL;
    cli_complain("%s: %s option %.*s (see tokdrain %s --help)", o->command_name,
                 elsewhere ? "other commands have the" : "unknown", (int)len, arg, o->command_name);
    return false;
}

static bool apply(cli_options *o, const option *opt, const char *value)
{
    if (opt->set(o, value))
        return true;
    cli_complain("%s: --%s does not take \"%s\": %s", o->command_name, opt->name,
                 value != NULL ? value : "", opt->help);
    return false;
}

/* --name, --name=value, --name value */
static bool parse_long(cli_options *o, int argc, char **argv, int *at)
{
    const char *arg = argv[*at];
    const char *equals = strchr(arg, '=');
    size_t len = equals != NULL ? (size_t)(equals - arg) : strlen(arg);
    const option *opt = find_long(arg + 2, len - 2, o->command);
    if (opt == NULL)
        return unknown(o, arg, len);
    if (opt->value == NULL && equals != NULL) {
        cli_complain("%s: --%s takes no value", o->command_name, opt->name);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (opt->value != NULL && !opt->value_optional && value == NULL) {
        if (*at + 1 >= argc) {
            cli_complain("%s: --%s needs a value (%s)", o->command_name, opt->name, opt->value);
            return false;
        }
        value = argv[++*at];
    }
    return apply(o, opt, value);
}

/* -j2, -j 2, -0 */
static bool parse_letters(cli_options *o, int argc, char **argv, int *at)
{
    for (const char *p = argv[*at] + 1; *p != '\0'; p++) {
        const option *opt = find_letter(*p, o->command);
        if (opt == NULL) {
            cli_complain("%s: unknown option -%c (see tokdrain %s --help)", o->command_name, *p,
                         o->command_name);
            return false;
        }
        if (opt->value == NULL) {
            if (!apply(o, opt, NULL))
                return false;
            continue;
        }
        if (p[1] != '\0')
            return apply(o, opt, p + 1);
        if (*at + 1 >= argc) {
            cli_complain("%s: -%c needs a value (%s)", o->command_name, *p, opt->value);
            return false;
        }
        return apply(o, opt, argv[++*at]);
    }
    return true;
}

/* The folder of the hub cache: HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub. */
static char *hub_cache(void)
{
    static const struct {
        const char *variable, *below;
    } places[] = {
        { "HF_HUB_CACHE", "" },
        { "HF_HOME", "/hub" },
        { "XDG_CACHE_HOME", "/huggingface/hub" },
        { "HOME", "/.cache/huggingface/hub" },
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *dir = getenv(places[i].variable);
        if (dir == NULL || dir[0] == '\0')
            continue;
        size_t len = strlen(dir) + strlen(places[i].below) + 1;
        char *path = malloc(len);
        if (path != NULL)
            snprintf(path, len, "%s%s", dir, places[i].below);
        return path;
    }
    return NULL;
}

bool cli_parse(int argc, char **argv, cli_command command, cli_options *ret)
{
    *ret = (cli_options){
        .command = command, .command_name = argv[1], .repeat = 1, .input_max = (size_t)256 << 20
    };
    ret->files = calloc((size_t)argc, sizeof *ret->files);
    if (ret->files == NULL)
        return false;
    bool only_files = false;
    for (int i = 2; i < argc; i++) {
        const char *arg = argv[i];
        if (only_files || arg[0] != '-' || arg[1] == '\0') {
            ret->files[ret->file_count++] = argv[i];
        } else if (strcmp(arg, "--") == 0) {
            only_files = true;
        } else if (arg[1] == '-') {
            if (!parse_long(ret, argc, argv, &i))
                return false;
        } else if (!parse_letters(ret, argc, argv, &i)) {
            return false;
        }
    }
    if (ret->text != NULL && ret->file_count != 0) {
        cli_complain("%s: --text and a FILE exclude each other", ret->command_name);
        return false;
    }
    if (ret->text == NULL && ret->add_special_tokens) {
        cli_complain("%s: --add-special-tokens needs --text (a request says it for itself)",
                     ret->command_name);
        return false;
    }
    ret->plain |= ret->nul;
    ret->model_options.hub_cache = ret->hub_cache = hub_cache();
    return true;
}

void cli_options_done(cli_options *o)
{
    free(o->files);
    free(o->hub_cache);
}

void cli_print_help(cli_command command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const option *o = &options[i];
        if ((o->commands & (unsigned)command) == 0)
            continue;
        char left[64];
        const char *value = o->value != NULL ? o->value : "";
        const char *join = o->value == NULL ? "" : o->value_optional ? "[=" : " ";
        const char *close = o->value_optional ? "]" : "";
        if (o->letter != 0)
            snprintf(left, sizeof left, "-%c, --%s%s%s%s", o->letter, o->name, join, value, close);
        else
            snprintf(left, sizeof left, "    --%s%s%s%s", o->name, join, value, close);
        printf("  %-30s %s\n", left, o->help);
    }
}

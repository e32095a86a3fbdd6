/* options.h - the command line, parsed. */
#ifndef TD_SRC_CLI_OPTIONS_H
#define TD_SRC_CLI_OPTIONS_H

#include "tokdrain/tokdrain.h"

/* Exit statuses, as docs/cli.md has them. */
enum {
    CLI_OK = 0,
    CLI_SOME_FAILED = 1,
    CLI_USAGE = 2,
    CLI_CANNOT_OPEN = 3,
    CLI_INTERRUPTED = 130,
};

typedef enum cli_command {
    CMD_COUNT = 1 << 0,
    CMD_RENDER = 1 << 1,
    CMD_ENCODE = 1 << 2,
    CMD_DECODE = 1 << 3,
    CMD_INFO = 1 << 4,
    CMD_CHECK = 1 << 5,
    CMD_DRAIN = 1 << 6,
} cli_command;

typedef enum cli_summary { SUMMARY_NONE, SUMMARY_TABLE, SUMMARY_ONLY } cli_summary;
typedef enum cli_when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } cli_when;

typedef struct cli_options {
    cli_command command;
    const char *command_name;
    bool help;

    const char *model, *output;
    td_model_options model_options;
    td_counter_options counter;
    size_t input_max; /* bytes of a line */
    const char *template_file, *template_kwargs;

    cli_summary summary;
    cli_when progress;
    bool quiet; /* --log-level error: no closing line */
    bool json, plain, nul, add_special_tokens;
    const char *text; /* encode --text */
    const char *dump; /* check --dump */

    unsigned workers; /* 0: as many as jobs */

    /* drain */
    const char *warm;
    unsigned repeat;
    uint64_t drain_timeout_ns;
    const char *sweep_pending, *sweep_jobs;

    char **files;
    int file_count;
    char *hub_cache; /* behind model_options */
} cli_options;

/* Parses argv[2..] of a command. false: said what is wrong on standard error (exit CLI_USAGE). */
bool cli_parse(int argc, char **argv, cli_command command, cli_options *ret);
/* Also after a failure. */
void cli_options_done(cli_options *o);
/* A command's options, on standard output. */
void cli_print_help(cli_command command);

/* Reads a number; false: text is none (or does not fit). */
bool cli_parse_count(const char *text, uint64_t *ret);
bool cli_parse_size(const char *text, size_t *ret);         /* 64, 64k, 1MiB, 2GB */
bool cli_parse_seconds(const char *text, uint64_t *ret_ns); /* 1.5 */
bool cli_parse_moment(const char *text, td_now *ret);       /* ISO 8601 */

/* "tokdrain: ..." on standard error. */
void cli_complain(const char *fmt, ...) TD_PRINTF(1, 2);
/* A library error with its place and excerpt. */
void cli_complain_error(const td_error *err);

#endif

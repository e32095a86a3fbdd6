/* run.h - what the commands share: opening things, reading requests, printing results. */
#ifndef TD_SRC_CLI_RUN_H
#define TD_SRC_CLI_RUN_H

#include <stdio.h>

#include "cli/io.h"
#include "cli/options.h"

int cmd_list(const cli_options *o); /* count, render, encode, decode */
int cmd_info(const cli_options *o);
int cmd_check(const cli_options *o);
int cmd_drain(const cli_options *o);

/* Loads the model of the options (none where external workers count); says why not and gives
 * CLI_CANNOT_OPEN. */
int cli_load_model(const cli_options *o, td_model **ret_model);
/* Counter options with the texts that files hold; CLI_CANNOT_OPEN (CLI_USAGE) after saying why.
 * *ret_text is the caller's to free. */
int cli_counter_options(const cli_options *o, td_counter_options *ret, char **ret_text);
int cli_new_counter(td_model *model, const td_counter_options *options, td_counter **ret_counter);
/* A whole file ("-": standard input) in memory, NUL behind it; NULL: errno tells. */
char *cli_read_file(const char *name, size_t *ret_len);

/* The request of a line, which is copied or (borrow) outlives it with some bytes of slack behind;
 * NULL after saying that memory is out. */
td_request *cli_request_of_line(const cli_lines *in, cli_line kind, const char *line, size_t len,
                                bool borrow);

/* true after SIGINT; a second one ends the program at once. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

/* How many items failed of what kind. */
typedef struct cli_failures {
    uint64_t items, failed, fallbacks;
    uint64_t of_kind[TD_E_INTERNAL + 1];
    bool excerpt_shown;
} cli_failures;

void cli_note_result(cli_failures *f, const td_result *r, bool quiet);
/* The closing line on standard error, when something failed. */
void cli_print_failures(const cli_failures *f, bool quiet);
/* Ends the output; the exit status when it failed, else status. */
int cli_end_output(cli_out *out, int status);

/* Statistics of a run, for --summary. */
typedef struct cli_stats {
    uint64_t *counts;
    size_t count, cap;
    uint64_t text_bytes, reused;
    uint64_t start_ns;
    bool lost; /* out of memory: no percentiles */
} cli_stats;

void cli_stats_add(cli_stats *s, const td_result *r);
void cli_stats_print(cli_stats *s, const cli_failures *f, FILE *out, bool json);

#endif

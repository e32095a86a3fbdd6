/* show.h - what people see on a terminal: progress, tables, numbers with separators. */
#ifndef TD_SRC_CLI_SHOW_H
#define TD_SRC_CLI_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"

uint64_t cli_now_ns(void);
uint64_t cli_peak_rss_bytes(void);

/* "1,234,567" into out (at least 32 bytes); returns out. */
char *cli_number(char *out, uint64_t n);
/* Three significant digits or whole: "0.123", "12.3", "1,234"; out has at least 32 bytes. */
char *cli_real(char *out, double x);

/* One line on standard error that is drawn over itself. */
typedef struct cli_progress {
    bool on, drawn;
    const char *what;
    uint64_t start_ns, drawn_ns;
} cli_progress;

void cli_progress_start(cli_progress *p, cli_when when, const char *what);
/* done of total items or bytes (total 0: unknown); items is what the rate is about. Draws at most
 * a few times a second. */
void cli_progress_draw(cli_progress *p, uint64_t done, uint64_t total, uint64_t items);
/* Wipes the line. */
void cli_progress_end(cli_progress *p);

/* Rows of two or more columns; the first is left, the others right aligned. */
void cli_table(FILE *out, const char *const *cells, size_t rows, size_t columns);

/* JSON text (of the library: known to be good) as indented "key  value" lines. */
void cli_print_json(FILE *out, const char *json);
/* A text as a JSON string. */
void cli_json_string(FILE *out, const char *text);

#endif

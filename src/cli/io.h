/* io.h - lines in, bytes out, with every failure told apart. */
#ifndef TD_SRC_CLI_IO_H
#define TD_SRC_CLI_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- lines ---- */

typedef struct cli_lines {
    const char *name; /* for messages: the file, or "-" */
    int fd;
    char *buf;
    size_t start, end, cap; /* unread bytes of buf */
    size_t line_max;
    bool at_end, skipping;
    uint64_t line_number; /* of the line handed out last, 1-based */
    uint64_t offset;      /* of that line's first byte in the file */
    uint64_t next_offset;
    uint64_t size; /* of the whole file; 0: unknown */
} cli_lines;

typedef enum cli_line {
    LINE_GOOD,
    LINE_TOO_LONG, /* refused; the rest of it is skipped */
    LINE_END,
    LINE_FAILED, /* errno tells */
} cli_line;

/* "-" is standard input. false: it cannot be opened (errno tells). */
bool cli_lines_open(cli_lines *in, const char *name, size_t line_max);
/* The next line that is not blank, without its end (\n or \r\n); a view until the next call. A byte
 * order mark in front of the file is no part of it. */
cli_line cli_lines_next(cli_lines *in, const char **ret_line, size_t *ret_len);
void cli_lines_close(cli_lines *in);

/* ---- output ---- */

typedef enum cli_written { WRITE_OK, WRITE_CLOSED, WRITE_FAILED } cli_written;

typedef struct cli_out {
    const char *name;
    int fd;
    char *buf;
    size_t len;
    cli_written state; /* sticks: after a failure nothing more is written */
    int error;         /* errno of the failure */
} cli_out;

/* NULL is standard output. false: it cannot be created (errno tells). */
bool cli_out_open(cli_out *out, const char *name);
void cli_out_put(cli_out *out, const char *bytes, size_t len);
void cli_out_text(cli_out *out, const char *text);
void cli_out_flush(cli_out *out);
/* Flushes and closes; a disk that is full shows here at the latest. */
cli_written cli_out_close(cli_out *out);

#endif

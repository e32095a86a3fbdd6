#include "cli/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 * 1024, OUT_CAP = 64 * 1024 };

bool cli_lines_open(cli_lines *in, const char *name, size_t line_max)
{
    *in = (cli_lines){ .name = name, .fd = STDIN_FILENO, .line_max = line_max };
    if (strcmp(name, "-") != 0) {
        in->fd = open(name, O_RDONLY | O_CLOEXEC);
        if (in->fd < 0)
            return false;
    }
    struct stat st;
    if (fstat(in->fd, &st) == 0 && S_ISREG(st.st_mode))
        in->size = (uint64_t)st.st_size;
    if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        cli_lines_close(in);
        errno = EISDIR;
        return false;
    }
    in->cap = CHUNK;
    in->buf = malloc(in->cap);
    return in->buf != NULL;
}

void cli_lines_close(cli_lines *in)
{
    if (in->fd > STDERR_FILENO)
        close(in->fd);
    free(in->buf);
    in->buf = NULL;
}

/* Reads more bytes behind those there are. false: the end, or a failure (errno not 0). */
static bool fill(cli_lines *in)
{
    if (in->start != 0) {
        memmove(in->buf, in->buf + in->start, in->end - in->start);
        in->end -= in->start;
        in->start = 0;
    }
    if (in->end == in->cap) {
        size_t cap = in->cap * 2;
        char *buf = realloc(in->buf, cap);
        if (buf == NULL) {
            errno = ENOMEM;
            return false;
        }
        in->buf = buf;
        in->cap = cap;
    }
    ssize_t got;
    do {
        got = read(in->fd, in->buf + in->end, in->cap - in->end);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        if (got == 0)
            errno = 0;
        in->at_end = got == 0;
        return false;
    }
    in->end += (size_t)got;
    return true;
}

static bool is_blank(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    }
    return true;
}

/* Drops the rest of a line that was refused. */
static cli_line skip_rest(cli_lines *in)
{
    for (;;) {
        size_t have = in->end - in->start;
        char *nl = have != 0 ? memchr(in->buf + in->start, '\n', have) : NULL;
        size_t gone = nl != NULL ? (size_t)(nl - in->buf) + 1 - in->start : have;
        in->start += gone;
        in->next_offset += gone;
        if (nl != NULL || in->at_end) {
            in->skipping = false;
            return LINE_GOOD;
        }
        if (!fill(in) && errno != 0)
            return LINE_FAILED;
    }
}

static void skip_mark(cli_lines *in)
{
    while (in->end - in->start < 3 && !in->at_end) {
        if (!fill(in))
            break;
    }
    if (in->end - in->start >= 3 && memcmp(in->buf + in->start, "\xEF\xBB\xBF", 3) == 0) {
        in->start += 3;
        in->next_offset += 3;
    }
}

/* The next line's length in the buffer; without its newline. */
static cli_line find_line(cli_lines *in, size_t *ret_len, bool *ret_newline)
{
    size_t seen = 0;
    for (;;) {
        size_t have = in->end - in->start;
        char *from = in->buf + in->start;
        char *nl = have > seen ? memchr(from + seen, '\n', have - seen) : NULL;
        *ret_newline = nl != NULL;
        *ret_len = nl != NULL ? (size_t)(nl - from) : have;
        if (*ret_len > in->line_max)
            return LINE_TOO_LONG;
        if (nl != NULL)
            return LINE_GOOD;
        seen = have;
        if (in->at_end)
            return have != 0 ? LINE_GOOD : LINE_END;
        if (!fill(in) && errno != 0)
            return LINE_FAILED;
    }
}

cli_line cli_lines_next(cli_lines *in, const char **ret_line, size_t *ret_len)
{
    if (in->line_number == 0)
        skip_mark(in);
    for (;;) {
        if (in->skipping && skip_rest(in) == LINE_FAILED)
            return LINE_FAILED;
        size_t len;
        bool newline;
        cli_line found = find_line(in, &len, &newline);
        if (found == LINE_END || found == LINE_FAILED)
            return found;
        in->line_number++;
        in->offset = in->next_offset;
        if (found == LINE_TOO_LONG) {
            in->skipping = true;
            return LINE_TOO_LONG;
        }
        const char *line = in->buf + in->start;
        in->start += len + newline;
        in->next_offset += len + newline;
        if (len != 0 && line[len - 1] == '\r')
            len--;
        if (is_blank(line, len))
            continue;
        *ret_line = line;
        *ret_len = len;
        return LINE_GOOD;
    }
}

/* ---- output ---- */

bool cli_out_open(cli_out *out, const char *name)
{
    *out = (cli_out){ .name = name != NULL ? name : "standard output", .fd = STDOUT_FILENO };
    if (name != NULL && strcmp(name, "-") != 0) {
        out->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (out->fd < 0)
            return false;
    }
    out->buf = malloc(OUT_CAP);
    return out->buf != NULL;
}

static void write_all(cli_out *out, const char *bytes, size_t len)
{
    while (len != 0 && out->state == WRITE_OK) {
        ssize_t n = write(out->fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            out->error = errno;
            out->state = errno == EPIPE ? WRITE_CLOSED : WRITE_FAILED;
            return;
        }
        bytes += n;
        len -= (size_t)n;
    }
}

void cli_out_flush(cli_out *out)
{
    write_all(out, out->buf, out->len);
    out->len = 0;
}

void cli_out_put(cli_out *out, const char *bytes, size_t len)
{
    if (len > OUT_CAP - out->len)
        cli_out_flush(out);
    if (len > OUT_CAP) {
        write_all(out, bytes, len);
        return;
    }
    if (len != 0)
        memcpy(out->buf + out->len, bytes, len);
    out->len += len;
}

void cli_out_text(cli_out *out, const char *text)
{
    cli_out_put(out, text, strlen(text));
}

cli_written cli_out_close(cli_out *out)
{
    if (out->buf != NULL)
        cli_out_flush(out);
    if (out->fd != STDOUT_FILENO && close(out->fd) != 0 && out->state == WRITE_OK) {
        out->error = errno;
        out->state = WRITE_FAILED;
    }
    free(out->buf);
    out->buf = NULL;
    return out->state;
}

#include "cli/show.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

uint64_t cli_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

uint64_t cli_peak_rss_bytes(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (uint64_t)usage.ru_maxrss * 1024;
}

char *cli_number(char *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *to = out;
    for (int i = 0; i < len; i++) {
        if (i != 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

char *cli_real(char *out, double x)
{
    if (x >= 100)
        return cli_number(out, (uint64_t)(x + 0.5));
    snprintf(out, 32, "%.*f", x >= 10 ? 1 : x >= 1 ? 2 : 3, x);
    return out;
}

/* ---- progress ---- */

static const uint64_t DRAW_EVERY_NS = 100000000;

void cli_progress_start(cli_progress *p, cli_when when, const char *what)
{
    bool on = when == WHEN_ALWAYS || (when == WHEN_AUTO && isatty(STDERR_FILENO));
    *p = (cli_progress){ .on = on, .what = what, .start_ns = cli_now_ns() };
    p->drawn_ns = p->start_ns;
}

static void draw_bar(double share)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    int full = (int)(share * WIDTH);
    for (int i = 0; i < WIDTH; i++)
        bar[i] = i < full ? '#' : '-';
    bar[WIDTH] = '\0';
    fprintf(stderr, " [%s] %3d%%", bar, (int)(share * 100));
}

void cli_progress_draw(cli_progress *p, uint64_t done, uint64_t total, uint64_t items)
{
    if (!p->on)
        return;
    uint64_t now = cli_now_ns();
    if (now - p->drawn_ns < DRAW_EVERY_NS)
        return;
    p->drawn_ns = now;
    p->drawn = true;
    double seconds = (double)(now - p->start_ns) / 1e9;
    char number[32], rate[32];
    fprintf(stderr, "\r\x1b[K%s", p->what);
    if (total != 0)
        draw_bar(done < total ? (double)done / (double)total : 1.0);
    fprintf(stderr, "  %s items  %s/s", cli_number(number, items),
            cli_real(rate, (double)items / seconds));
    if (total != 0 && done != 0 && done < total) {
        double left = seconds * (double)(total - done) / (double)done;
        unsigned s = left < 359999 ? (unsigned)(left + 0.5) : 359999;
        if (s >= 3600)
            fprintf(stderr, "  ETA %u:%02u:%02u", s / 3600, s / 60 % 60, s % 60);
        else
            fprintf(stderr, "  ETA %u:%02u", s / 60, s % 60);
    }
    fflush(stderr);
}

void cli_progress_end(cli_progress *p)
{
    if (p->drawn)
        fputs("\r\x1b[K", stderr);
    p->drawn = false;
}

/* ---- tables ---- */

static size_t shown_width(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

void cli_table(FILE *out, const char *const *cells, size_t rows, size_t columns)
{
    size_t width[16] = { 0 };
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns && c < 16; c++) {
            size_t w = shown_width(cells[r * columns + c]);
            if (w > width[c])
                width[c] = w;
        }
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns && c < 16; c++) {
            const char *cell = cells[r * columns + c];
            int pad = (int)(width[c] - shown_width(cell));
            if (c == 0)
                fprintf(out, "%s%*s", cell, pad, "");
            else
                fprintf(out, "  %*s%s", pad, "", cell);
        }
        fputc('\n', out);
    }
}

/* ---- JSON for people ---- */

static const char *string_end(const char *p)
{
    for (p++; *p != '\0' && *p != '"'; p++) {
        if (*p == '\\' && p[1] != '\0')
            p++;
    }
    return *p == '"' ? p + 1 : p;
}

/* Writes the text between p and end, two quotes dropped. */
static void put_plain(FILE *out, const char *p, const char *end)
{
    bool quoted = end - p >= 2 && *p == '"';
    fwrite(p + quoted, 1, (size_t)(end - p) - 2 * quoted, out);
}

void cli_print_json(FILE *out, const char *json)
{
    int depth = 0;
    bool is_value = false; /* what comes next stands behind a key */
    for (const char *p = json; *p != '\0';) {
        if (*p == '{' || *p == '[') {
            if (is_value)
                fputc('\n', out);
            is_value = false;
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
            if (is_value)
                fputc('\n', out);
            is_value = false;
        } else if (*p == ',' || *p == ' ' || *p == ':' || *p == '\n') {
            p++;
        } else {
            const char *end = *p == '"' ? string_end(p) : p + strcspn(p, ",}] \n");
            bool is_key = *p == '"' && !is_value && *end == ':';
            if (!is_value)
                fprintf(out, "%*s", depth > 1 ? 2 * (depth - 1) : 0, "");
            put_plain(out, p, end);
            fputs(is_key ? ": " : "\n", out);
            is_value = is_key;
            p = end;
        }
    }
}

void cli_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

/* bench_json.c - speed of the JSON reader and writer on the lines of a file.
 *
 *     bench_json FILE [MILLISECONDS]
 *
 * Three figures: reading; writing by the reader's flags; writing as if the strings came from
 * elsewhere. MB/s count bytes of the text read, or written; the best round counts. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "bench_file.h"
#include "value/json.h"

typedef struct job {
    td_str *lines;
    td_value *values;
    size_t count, bytes;
    td_arena arena;
    td_buf out;
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool split_lines(job *j, const char *text, size_t len)
{
    size_t cap = 0;
    for (const char *p = text, *end = text + len; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        eol = eol != NULL ? eol : end;
        if (j->count == cap) {
            cap = cap * 2 + 64;
            td_str *lines = realloc(j->lines, cap * sizeof *lines);
            if (lines == NULL)
                return false;
            j->lines = lines;
        }
        j->lines[j->count++] = (td_str){ p, (size_t)(eol - p) };
        j->bytes += (size_t)(eol - p);
        p = eol + 1;
    }
    j->values = malloc(j->count * sizeof *j->values);
    return j->values != NULL;
}

static bool read_all(job *j, bool keep)
{
    td_arena_reset(&j->arena);
    for (size_t i = 0; i < j->count; i++) {
        td_error err = TD_ERROR_INIT;
        if (!keep)
            td_arena_reset(&j->arena);
        if (td_json_read(&j->arena, j->lines[i], &j->values[i], &err) != TD_OK) {
            fprintf(stderr, "line %zu: %s\n", i + 1, err.message);
            td_error_clear(&err);
            return false;
        }
    }
    return true;
}

static bool write_all(job *j)
{
    const td_json_style style = { 0 };
    td_error err = TD_ERROR_INIT;
    j->out.len = 0;
    for (size_t i = 0; i < j->count; i++)
        if (td_json_write(&j->out, j->values[i], &style, &err) != TD_OK) {
            fprintf(stderr, "line %zu: %s\n", i + 1, err.message);
            td_error_clear(&err);
            return false;
        }
    return true;
}

static void forget_flags(td_value *v)
{
    v->flags = 0;
    if (v->tag == TD_V_LIST)
        for (uint32_t i = 0; i < v->len; i++)
            forget_flags((td_value *)(uintptr_t)&v->as.items[i]);
    if (v->tag == TD_V_DICT)
        for (uint32_t i = 0; i < v->as.dict->count; i++) {
            forget_flags(&v->as.dict->entries[i].key);
            forget_flags(&v->as.dict->entries[i].val);
        }
}

static bool read_step(job *j)
{
    return read_all(j, false);
}

static bool measure(job *j, const char *what, bool (*step)(job *), double seconds)
{
    double best = 1e9, start = now();
    int rounds = 0;
    while (rounds < 3 || now() - start < seconds) {
        double t = now();
        if (!step(j))
            return false;
        t = now() - t;
        best = t < best ? t : best;
        rounds++;
    }
    size_t bytes = step == read_step ? j->bytes : j->out.len;
    printf("%-24s %8.1f us/line %9.1f MB/s\n", what, best * 1e6 / (double)j->count,
           (double)bytes / best / 1e6);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_json FILE [MILLISECONDS]\n");
        return 2;
    }
    double seconds = argc > 2 ? (double)strtol(argv[2], NULL, 10) / 1e3 : 1;
    size_t len;
    char *text = read_file(argv[1], &len);
    job j = { 0 };
    if (text == NULL || !split_lines(&j, text, len)) {
        fprintf(stderr, "cannot read %s\n", argv[1]);
        return 1;
    }
    bool ok = measure(&j, "read", read_step, seconds) && read_all(&j, true) &&
              measure(&j, "write, from JSON text", write_all, seconds);
    for (size_t i = 0; ok && i < j.count; i++)
        forget_flags(&j.values[i]);
    ok = ok && measure(&j, "write, scanning", write_all, seconds);
    td_buf_done(&j.out);
    td_arena_done(&j.arena);
    free(j.values);
    free(j.lines);
    free(text);
    return ok ? 0 : 1;
}

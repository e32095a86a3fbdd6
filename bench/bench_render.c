/* bench_render.c - renders chat templates on the orders of bench/render.py; see there for the
 * protocol. One thread; times are the CPU time of that thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "bench_file.h"
#include "jinja/jinja.h"
#include "value/json.h"

typedef struct work {
    char *text; /* of the inputs, one JSON object a line */
    td_str *lines;
    td_value *values;
    size_t *chosen;
    size_t count, chosen_count;
    td_arena values_arena, arena;
    td_template *template;
    jj_workspace *ws;
    td_buf out;
} work;

/* The moment that strftime_now sees: 2026-01-01. */
static const jj_now moment = { .fixed = true, .unix_seconds = 1767225600 };

static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool set_template(work *w, const char *path)
{
    size_t len;
    char *source = read_file(path, &len);
    td_error err = TD_ERROR_INIT;
    td_template_free(w->template);
    w->template = NULL;
    bool ok = source != NULL &&
              td_template_new((td_str){ source, len }, "template", &w->template, &err) == TD_OK;
    td_error_clear(&err);
    free(source);
    return ok;
}

static void choose(work *w, const char *list)
{
    w->chosen_count = 0;
    while (*list != '\0' && w->chosen_count < w->count) {
        char *end;
        size_t i = strtoul(list, &end, 10);
        if (end == list || i >= w->count)
            return;
        w->chosen[w->chosen_count++] = i;
        list = *end == ',' ? end + 1 : end;
    }
}

static bool read_line(td_arena *a, td_str line, td_value *ret)
{
    td_error err = TD_ERROR_INIT;
    bool ok = td_json_read(a, line, ret, &err) == TD_OK && ret->tag == TD_V_DICT;
    td_error_clear(&err);
    return ok;
}

static bool set_inputs(work *w, const char *path)
{
    size_t len;
    free(w->text);
    free(w->lines);
    free(w->values);
    free(w->chosen);
    td_arena_reset(&w->values_arena);
    w->count = w->chosen_count = 0;
    w->lines = NULL;
    w->values = NULL;
    w->chosen = NULL;
    w->text = read_file(path, &len);
    if (w->text == NULL)
        return false;
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += w->text[i] == '\n';
    w->lines = calloc(lines + 1, sizeof *w->lines);
    w->values = calloc(lines + 1, sizeof *w->values);
    w->chosen = calloc(lines + 1, sizeof *w->chosen);
    if (w->lines == NULL || w->values == NULL || w->chosen == NULL)
        return false;
    for (char *p = w->text, *end = p + len; p < end; w->count++) {
        char *eol = memchr(p, '\n', (size_t)(end - p));
        eol = eol != NULL ? eol : end;
        w->lines[w->count] = (td_str){ p, (size_t)(eol - p) };
        if (!read_line(&w->values_arena, w->lines[w->count], &w->values[w->count]))
            return false;
        w->chosen[w->count] = w->count;
        p = eol + 1;
    }
    w->chosen_count = w->count;
    return true;
}

static bool render(work *w, td_value vars)
{
    td_error err = TD_ERROR_INIT;
    w->out.len = 0;
    td_code code = jj_render(w->template, vars.as.dict, NULL, &moment, w->ws, &w->out, NULL, &err);
    td_error_clear(&err);
    return code == TD_OK;
}

/* Every output behind its length; a length of all ones: it failed. */
static bool write_outputs(work *w, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL)
        return false;
    for (size_t i = 0; i < w->count; i++) {
        uint64_t len = render(w, w->values[i]) ? w->out.len : UINT64_MAX;
        for (int k = 0; k < 8; k++)
            fputc((int)(len >> 8 * k & 0xFF), f);
        if (len != UINT64_MAX && len != 0)
            fwrite(w->out.ptr, 1, w->out.len, f);
    }
    return fclose(f) == 0;
}

/* Nanoseconds of one pass over the chosen inputs; 0: something failed. */
static uint64_t time_passes(work *w, bool json, uint64_t at_least)
{
    uint64_t start = cpu_ns(), spent, passes = 0;
    do {
        for (size_t i = 0; i < w->chosen_count; i++) {
            td_value vars = w->values[w->chosen[i]];
            if (json) {
                td_arena_reset(&w->arena);
                if (!read_line(&w->arena, w->lines[w->chosen[i]], &vars))
                    return 0;
            }
            if (!render(w, vars))
                return 0;
        }
        passes++;
        spent = cpu_ns() - start;
    } while (spent < at_least);
    return spent / passes;
}

static void obey(work *w, char *line)
{
    char *rest = strchr(line, ' ');
    if (rest != NULL)
        *rest++ = '\0';
    else
        rest = line + strlen(line);
    bool ok = true;
    if (strcmp(line, "version") == 0) {
        printf("tokdrain %s\n", td_version());
        return;
    }
    if (strcmp(line, "time") == 0) {
        char *number = strchr(rest, ' ');
        uint64_t at_least = number != NULL ? strtoull(number, NULL, 10) : 0;
        printf("%" PRIu64 "\n", time_passes(w, strncmp(rest, "json", 4) == 0, at_least));
        return;
    }
    if (strcmp(line, "template") == 0)
        ok = set_template(w, rest);
    else if (strcmp(line, "inputs") == 0)
        ok = set_inputs(w, rest);
    else if (strcmp(line, "outputs") == 0)
        ok = w->template != NULL && write_outputs(w, rest);
    else if (strcmp(line, "choose") == 0)
        choose(w, rest);
    else
        ok = false;
    puts(ok ? "ok" : "error");
}

int main(void)
{
    work w = { .ws = jj_workspace_new() };
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    if (w.ws == NULL)
        return 1;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        line[strcspn(line, "\n")] = '\0';
        obey(&w, line);
        fflush(stdout);
    }
    free(line);
    free(w.text);
    free(w.lines);
    free(w.values);
    free(w.chosen);
    td_template_free(w.template);
    td_arena_done(&w.values_arena);
    td_arena_done(&w.arena);
    td_buf_done(&w.out);
    jj_workspace_free(w.ws);
    return 0;
}

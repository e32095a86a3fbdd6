/* cmd_drain.c - the probe: how long does a backlog take?
 *
 * The given requests are read and decoded first, then queued while the counter is paused; the clock
 * runs from the start of the drain to its last result. --repeat drains the same backlog again on
 * the same memo, a sweep starts a new counter for each point. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run.h"
#include "cli/show.h"

enum { SLACK = 64 }; /* bytes that a reader may look at behind a line */

/* The lines of all files, as they are. */
typedef struct backlog {
    char **lines;
    size_t *lengths;
    const char **files;
    uint64_t *numbers, *offsets;
    bool *too_long;
    size_t count, cap;
} backlog;

static void free_backlog(backlog *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->lines[i]);
    free(b->lines);
    free(b->lengths);
    free(b->files);
    free(b->numbers);
    free(b->offsets);
    free(b->too_long);
}

static bool grow_array(void *array, size_t cap, size_t item)
{
    void **slot = array;
    void *more = realloc(*slot, cap * item);
    if (more != NULL)
        *slot = more;
    return more != NULL;
}

static bool keep_line(backlog *b, const cli_lines *in, cli_line kind, const char *line, size_t len)
{
    if (b->count == b->cap) {
        size_t cap = b->cap != 0 ? b->cap * 2 : 512;
        if (!grow_array(&b->lines, cap, sizeof *b->lines) ||
            !grow_array(&b->lengths, cap, sizeof *b->lengths) ||
            !grow_array(&b->files, cap, sizeof *b->files) ||
            !grow_array(&b->numbers, cap, sizeof *b->numbers) ||
            !grow_array(&b->offsets, cap, sizeof *b->offsets) ||
            !grow_array(&b->too_long, cap, sizeof *b->too_long))
            return false;
        b->cap = cap;
    }
    char *copy = calloc(len + SLACK, 1);
    if (copy == NULL)
        return false;
    if (len != 0)
        memcpy(copy, line, len);
    size_t i = b->count++;
    b->lines[i] = copy;
    b->lengths[i] = len;
    b->files[i] = in->name;
    b->numbers[i] = in->line_number;
    b->offsets[i] = in->offset;
    b->too_long[i] = kind == LINE_TOO_LONG;
    return true;
}

static int read_backlog(backlog *b, const cli_options *o, const char *name)
{
    cli_lines in;
    if (!cli_lines_open(&in, name, o->input_max)) {
        cli_complain("%s: %s", name, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    int status = CLI_OK;
    for (;;) {
        const char *line = NULL;
        size_t len = 0;
        cli_line kind = cli_lines_next(&in, &line, &len);
        if (kind == LINE_END)
            break;
        if (kind == LINE_FAILED || !keep_line(b, &in, kind, line, len)) {
            cli_complain("%s: %s", name, strerror(errno));
            status = CLI_CANNOT_OPEN;
            break;
        }
    }
    cli_lines_close(&in);
    return status;
}

/* A fresh request of line i, decoded; NULL: out of memory, said. */
static td_request *request_of(const backlog *b, size_t i, size_t line_max)
{
    cli_lines place = { .name = b->files[i],
                        .line_number = b->numbers[i],
                        .offset = b->offsets[i],
                        .line_max = line_max };
    td_request *r = cli_request_of_line(&place, b->too_long[i] ? LINE_TOO_LONG : LINE_GOOD,
                                        b->lines[i], b->lengths[i], /* borrow */ true);
    if (r != NULL)
        td_request_decode(r);
    return r;
}

/* One measured drain. */
typedef struct drain_run {
    unsigned jobs, turn;
    size_t pending;
    td_drained drained;
    uint64_t tokens, reused, text_bytes, failed, seen;
} drain_run;

typedef struct drain {
    const cli_options *o;
    const td_counter_options *options;
    td_model *model;
    backlog work, warm;
    cli_failures failures;
    cli_progress progress;
    drain_run *runs, *current;
    size_t run_count, run_cap;
    uint64_t memo_bytes, memo_entries, scratch_bytes;
    td_counter_stats external; /* of --worker-command */
} drain;

static void on_result(void *user, td_result *r)
{
    drain *d = user;
    d->current->tokens += r->counted ? r->tokens : 0;
    d->current->reused += r->counted ? r->reused : 0;
    d->current->text_bytes += r->text_bytes;
    d->current->failed += r->error.code != TD_OK && r->via != TD_VIA_FALLBACK;
    cli_note_result(&d->failures, r, d->o->quiet);
    d->current->seen++;
    cli_progress_draw(&d->progress, d->current->seen, d->current->pending, d->current->seen);
    td_result_free(r);
}

static int warm_up(drain *d, td_counter *counter)
{
    td_counter_resume(counter);
    size_t submitted = 0, collected = 0;
    while (collected < d->warm.count) {
        if (submitted < d->warm.count) {
            td_request *r = request_of(&d->warm, submitted, d->o->input_max);
            if (r == NULL)
                return CLI_CANNOT_OPEN;
            while (!td_counter_try_submit(counter, r, submitted)) {
                td_result_free(td_counter_next(counter, -1));
                collected++;
            }
            submitted++;
        } else {
            td_result_free(td_counter_next(counter, -1));
            collected++;
        }
        cli_progress_draw(&d->progress, collected, d->warm.count, collected);
        if (cli_interrupted())
            return CLI_INTERRUPTED;
    }
    td_counter_pause(counter);
    return CLI_OK;
}

static drain_run *add_run(drain *d)
{
    if (d->run_count == d->run_cap) {
        size_t cap = d->run_cap != 0 ? d->run_cap * 2 : 16;
        if (!grow_array(&d->runs, cap, sizeof *d->runs))
            return NULL;
        d->run_cap = cap;
    }
    d->runs[d->run_count] = (drain_run){ 0 };
    return &d->runs[d->run_count++];
}

static int drain_once(drain *d, td_counter *counter, size_t pending, unsigned turn)
{
    d->current = add_run(d);
    if (d->current == NULL)
        return CLI_CANNOT_OPEN;
    d->current->pending = pending;
    d->current->turn = turn;
    for (size_t i = 0; i < pending; i++) {
        td_request *r = request_of(&d->work, i, d->o->input_max);
        if (r == NULL)
            return CLI_CANNOT_OPEN;
        if (!td_counter_try_submit(counter, r, i)) {
            td_request_free(r);
            cli_complain("drain: the queue is full");
            return CLI_CANNOT_OPEN;
        }
    }
    d->current->drained = td_counter_drain(counter, d->o->drain_timeout_ns, on_result, d);
    td_counter_stats stats = td_counter_get_stats(counter);
    d->current->jobs = stats.jobs;
    d->memo_bytes = stats.memo_bytes;
    d->memo_entries = stats.memo_entries;
    d->scratch_bytes = stats.scratch_bytes;
    d->external = stats;
    td_counter_drop_pending(counter);
    return cli_interrupted() ? CLI_INTERRUPTED : CLI_OK;
}

/* One point of the sweep: a new counter, warmed, drained as often as asked. */
static int drain_point(drain *d, size_t pending, unsigned jobs)
{
    td_counter_options options = *d->options;
    options.jobs = d->o->workers != 0 && jobs > d->o->workers ? d->o->workers : jobs;
    options.paused = true;
    options.queue_items = pending > 1024 ? pending : 1024;
    options.queue_bytes = SIZE_MAX;
    td_counter *counter = NULL;
    int status = cli_new_counter(d->model, &options, &counter);
    if (status == CLI_OK && d->warm.count != 0)
        status = warm_up(d, counter);
    for (unsigned turn = 0; turn < d->o->repeat && status == CLI_OK; turn++)
        status = drain_once(d, counter, pending, turn);
    td_counter_free(counter);
    return status;
}

/* ---- lists of numbers ---- */

typedef struct numbers {
    uint64_t items[64];
    size_t count;
} numbers;

static bool parse_numbers(const char *text, uint64_t max, numbers *ret)
{
    ret->count = 0;
    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        char one[24];
        uint64_t n;
        if (len >= sizeof one || ret->count == sizeof ret->items / sizeof *ret->items)
            return false;
        memcpy(one, text, len);
        one[len] = '\0';
        if (!cli_parse_count(one, &n) || n == 0 || n > max)
            return false;
        ret->items[ret->count++] = n;
        text += len + (text[len] == ',');
    }
    return ret->count != 0;
}

/* ---- printing ---- */

static double seconds_of(const drain_run *r)
{
    return (double)(r->drained.elapsed_ns != 0 ? r->drained.elapsed_ns : 1) / 1e9;
}

static void print_json(const drain *d, FILE *out)
{
    fprintf(out, "{\"pending\": %zu, \"model\": ", d->work.count);
    cli_json_string(out, d->o->model != NULL ? d->o->model : "built-in");
    fprintf(out, ", \"version\": \"%s\", \"warm\": %zu, \"runs\": [", td_version(), d->warm.count);
    for (size_t i = 0; i < d->run_count; i++) {
        const drain_run *r = &d->runs[i];
        double s = seconds_of(r);
        fprintf(out,
                "%s{\"pending\": %zu, \"jobs\": %u, \"turn\": %u, \"drain_s\": %.6f, "
                "\"counted\": %llu, \"failed\": %llu, \"final_pending\": %llu, "
                "\"prompts_per_s\": %.3f, \"tokens\": %llu, \"tokens_per_s\": %.1f, "
                "\"reused\": %llu, \"text_bytes\": %llu, \"mb_per_s\": %.3f}",
                i != 0 ? ", " : "", r->pending, r->jobs, r->turn + 1,
                (double)r->drained.elapsed_ns / 1e9, (unsigned long long)r->drained.counted,
                (unsigned long long)r->failed, (unsigned long long)r->drained.pending,
                (double)r->drained.counted / s, (unsigned long long)r->tokens,
                (double)r->tokens / s, (unsigned long long)r->reused,
                (unsigned long long)r->text_bytes, (double)r->text_bytes / 1e6 / s);
    }
    fprintf(out,
            "], \"memo_bytes\": %llu, \"memo_entries\": %llu, \"scratch_bytes\": %llu, "
            "\"peak_rss_bytes\": %llu",
            (unsigned long long)d->memo_bytes, (unsigned long long)d->memo_entries,
            (unsigned long long)d->scratch_bytes, (unsigned long long)cli_peak_rss_bytes());
    if (d->o->counter.worker_command != NULL)
        fprintf(out,
                ", \"workers\": {\"running\": %llu, \"started\": %llu, \"load_s\": %.3f, "
                "\"rss_bytes\": %llu}",
                (unsigned long long)d->external.workers_running,
                (unsigned long long)d->external.workers_started,
                (double)d->external.worker_load_ns / 1e9,
                (unsigned long long)d->external.worker_memory_bytes);
    fputs("}\n", out);
}

enum { COLUMNS = 9, CELL = 32 };

static void print_table(const drain *d, FILE *out)
{
    static const char *const heads[COLUMNS] = { "pending",  "jobs",      "turn",
                                                "drain s",  "prompts/s", "tokens",
                                                "tokens/s", "reused",    "MB/s" };
    size_t rows = d->run_count + 1;
    char(*text)[CELL] = calloc(rows * COLUMNS, CELL);
    const char **cells = calloc(rows * COLUMNS, sizeof *cells);
    if (text != NULL && cells != NULL) {
        for (size_t i = 0; i < rows * COLUMNS; i++)
            cells[i] = i < COLUMNS ? heads[i] : text[i];
        for (size_t i = 0; i < d->run_count; i++) {
            const drain_run *r = &d->runs[i];
            char(*row)[CELL] = &text[(i + 1) * COLUMNS];
            double s = seconds_of(r);
            cli_number(row[0], r->pending);
            cli_number(row[1], r->jobs);
            cli_number(row[2], r->turn + 1);
            snprintf(row[3], CELL, "%.4f", (double)r->drained.elapsed_ns / 1e9);
            cli_real(row[4], (double)r->drained.counted / s);
            cli_number(row[5], r->tokens);
            cli_number(row[6], (uint64_t)((double)r->tokens / s));
            snprintf(row[7], CELL, "%.1f%%",
                     r->tokens != 0 ? 100.0 * (double)r->reused / (double)r->tokens : 0.0);
            cli_real(row[8], (double)r->text_bytes / 1e6 / s);
        }
        cli_table(out, cells, rows, COLUMNS);
    }
    free(text);
    free(cells);
    char a[CELL], b[CELL];
    fprintf(out, "peak RSS %s MB, memo %s MB\n", cli_real(a, (double)cli_peak_rss_bytes() / 1e6),
            cli_real(b, (double)d->memo_bytes / 1e6));
    if (d->o->counter.worker_command != NULL)
        fprintf(out, "workers %llu (started %llu), up to %s MB each, loaded in %s s\n",
                (unsigned long long)d->external.workers_running,
                (unsigned long long)d->external.workers_started,
                cli_real(a, (double)d->external.worker_memory_bytes / 1e6),
                cli_real(b, (double)d->external.worker_load_ns / 1e9));
}

static int print_runs(const drain *d, int status)
{
    FILE *out = d->o->output != NULL ? fopen(d->o->output, "w") : stdout;
    if (out == NULL) {
        cli_complain("%s: %s", d->o->output, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    if (d->o->json)
        print_json(d, out);
    else
        print_table(d, out);
    bool ok = fflush(out) == 0 || errno == EPIPE;
    if (out != stdout)
        ok = fclose(out) == 0 && ok;
    if (ok)
        return status;
    cli_complain("the output cannot be written: %s", strerror(errno));
    return CLI_CANNOT_OPEN;
}

static int drain_all(drain *d)
{
    numbers pending = { .count = 0 }, jobs = { .count = 0 };
    if (d->o->sweep_pending != NULL &&
        !parse_numbers(d->o->sweep_pending, d->work.count, &pending)) {
        cli_complain("drain: --sweep-pending takes numbers from 1 to %zu", d->work.count);
        return CLI_USAGE;
    }
    if (d->o->sweep_jobs != NULL && !parse_numbers(d->o->sweep_jobs, 1024, &jobs)) {
        cli_complain("drain: --sweep-jobs takes numbers from 1 to 1024");
        return CLI_USAGE;
    }
    if (pending.count == 0)
        pending = (numbers){ { d->work.count }, 1 };
    if (jobs.count == 0)
        jobs = (numbers){ { d->options->jobs }, 1 };
    int status = CLI_OK;
    for (size_t j = 0; j < jobs.count && status == CLI_OK; j++) {
        for (size_t p = 0; p < pending.count && status == CLI_OK; p++)
            status = drain_point(d, (size_t)pending.items[p], (unsigned)jobs.items[j]);
    }
    return status;
}

static int read_inputs(drain *d)
{
    const cli_options *o = d->o;
    int status = CLI_OK;
    if (o->file_count == 0)
        status = read_backlog(&d->work, o, "-");
    for (int i = 0; i < o->file_count && status == CLI_OK; i++)
        status = read_backlog(&d->work, o, o->files[i]);
    if (status == CLI_OK && o->warm != NULL)
        status = read_backlog(&d->warm, o, o->warm);
    return status;
}

static int end_status(const drain *d, int status)
{
    uint64_t left = 0;
    for (size_t i = 0; i < d->run_count; i++)
        left += d->runs[i].drained.pending;
    cli_print_failures(&d->failures, d->o->quiet);
    if (left != 0 && !d->o->quiet)
        fprintf(stderr, "tokdrain: %llu items still pending when the time was up\n",
                (unsigned long long)left);
    return status == CLI_OK && (d->failures.failed != 0 || left != 0) ? CLI_SOME_FAILED : status;
}

int cmd_drain(const cli_options *o)
{
    td_counter_options options;
    char *text;
    drain d = { .o = o, .options = &options };
    int status = cli_counter_options(o, &options, &text);
    if (status == CLI_OK)
        status = read_inputs(&d);
    if (status == CLI_OK)
        status = cli_load_model(o, &d.model);
    if (status == CLI_OK) {
        cli_progress_start(&d.progress, o->progress, "drain");
        status = drain_all(&d);
        cli_progress_end(&d.progress);
    }
    if (status == CLI_OK || status == CLI_INTERRUPTED)
        status = end_status(&d, print_runs(&d, status));
    free(text);
    free(d.runs);
    free_backlog(&d.work);
    free_backlog(&d.warm);
    td_model_free(d.model);
    return status;
}

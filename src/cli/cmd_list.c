/* cmd_list.c - count, render, encode, decode: requests in, a line for each out.
 *
 * Idea:  one thread reads and submits, this one collects and prints. So results appear as soon as
 *        they are there even when the input pauses, and neither can block the other for good: the
 *        counter's queue is bounded and the collector never waits for the reader's next line
 *        without flushing first. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/run.h"
#include "cli/show.h"

enum { QUEUE_BYTES = 16 << 20, POLL_NS = 50000000 };

typedef struct reader {
    const cli_options *o;
    td_counter *counter;
    atomic_uint_fast64_t bytes_read;
    uint64_t bytes_total; /* 0: unknown */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t news;  /* submitted grew, or ended */
    uint64_t submitted;
    bool ended;
    int status;
} reader;

static void tell(reader *r, bool ended, int status)
{
    pthread_mutex_lock(&r->lock);
    r->submitted += !ended;
    r->ended |= ended;
    if (ended)
        r->status = status;
    pthread_cond_signal(&r->news);
    pthread_mutex_unlock(&r->lock);
}

static int submit(reader *r, td_request *request, uint64_t index)
{
    if (request == NULL)
        return CLI_CANNOT_OPEN;
    td_error err = TD_ERROR_INIT;
    if (td_counter_submit(r->counter, request, index, &err) == TD_OK) {
        tell(r, false, 0);
        return CLI_OK;
    }
    cli_complain_error(&err);
    td_error_clear(&err);
    return CLI_CANNOT_OPEN;
}

static int read_one_file(reader *r, const char *name, uint64_t *index)
{
    cli_lines in;
    if (!cli_lines_open(&in, name, r->o->input_max)) {
        cli_complain("%s: %s", name, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    int status = CLI_OK;
    uint64_t before = atomic_load(&r->bytes_read);
    while (status == CLI_OK && !cli_interrupted()) {
        const char *line = NULL;
        size_t len = 0;
        cli_line kind = cli_lines_next(&in, &line, &len);
        if (kind == LINE_END)
            break;
        if (kind == LINE_FAILED) {
            cli_complain("%s: %s", name, strerror(errno));
            status = CLI_CANNOT_OPEN;
            break;
        }
        status = submit(r, cli_request_of_line(&in, kind, line, len, false), (*index)++);
        atomic_store(&r->bytes_read, before + in.next_offset);
    }
    cli_lines_close(&in);
    return status;
}

static void *read_all(void *user)
{
    reader *r = user;
    const cli_options *o = r->o;
    uint64_t index = 0;
    int status = CLI_OK;
    if (o->text != NULL) {
        td_request *request = NULL;
        td_error err = TD_ERROR_INIT;
        td_str text = { o->text, strlen(o->text) };
        if (td_request_new_text(text, o->add_special_tokens, &request, &err) != TD_OK)
            cli_complain_error(&err);
        td_error_clear(&err);
        status = submit(r, request, index);
    } else if (o->file_count == 0) {
        status = read_one_file(r, "-", &index);
    }
    for (int i = 0; i < o->file_count && status == CLI_OK && o->text == NULL; i++)
        status = read_one_file(r, o->files[i], &index);
    tell(r, true, status);
    return NULL;
}

/* The bytes of all inputs when every one is an ordinary file; says which cannot be opened. */
static int look_at_inputs(const cli_options *o, uint64_t *ret_total)
{
    bool known = o->file_count != 0 && o->text == NULL;
    *ret_total = 0;
    for (int i = 0; i < o->file_count && o->text == NULL; i++) {
        cli_lines in;
        if (strcmp(o->files[i], "-") == 0) {
            known = false;
            continue;
        }
        if (!cli_lines_open(&in, o->files[i], o->input_max)) {
            cli_complain("%s: %s", o->files[i], strerror(errno));
            return CLI_CANNOT_OPEN;
        }
        known &= in.size != 0;
        *ret_total += in.size;
        cli_lines_close(&in);
    }
    if (!known)
        *ret_total = 0;
    return CLI_OK;
}

/* ---- printing ---- */

static void put_number(cli_out *out, uint64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    cli_out_put(out, text, (size_t)len);
}

/* One line a token: id, text, place. */
static void put_pieces(cli_out *out, const td_model *model, const td_result *r)
{
    for (size_t i = 0; i < r->ids_count; i++) {
        td_str piece = td_token_text(td_model_tokenizer(model), r->ids[i]);
        put_number(out, r->ids[i]);
        cli_out_text(out, "\t");
        cli_out_put(out, piece.ptr, piece.len);
        if (r->starts != NULL && r->ends != NULL) {
            cli_out_text(out, "\t");
            put_number(out, r->starts[i]);
            cli_out_text(out, "-");
            put_number(out, r->ends[i]);
        }
        cli_out_text(out, "\n");
    }
}

static void put_plain(cli_out *out, const cli_options *o, const td_model *model, const td_result *r)
{
    if (r->error.code != TD_OK) {
        fprintf(stderr, "tokdrain: item %llu: ", (unsigned long long)r->index);
        fprintf(stderr, "%s: %s\n", td_code_name(r->error.code), r->error.message);
        return;
    }
    if (o->command == CMD_ENCODE && o->counter.pieces) {
        put_pieces(out, model, r);
        return;
    }
    if (o->command == CMD_ENCODE) {
        for (size_t i = 0; i < r->ids_count; i++) {
            if (i != 0)
                cli_out_text(out, " ");
            put_number(out, r->ids[i]);
        }
    } else {
        cli_out_put(out, r->text.ptr, r->text.len);
    }
    cli_out_put(out, o->nul ? "" : "\n", 1);
}

typedef struct printer {
    const cli_options *o;
    const td_model *model;
    cli_out out;
    cli_failures failures;
    cli_stats stats;
    cli_progress progress;
} printer;

static void print_result(printer *p, td_result *r)
{
    const cli_options *o = p->o;
    cli_note_result(&p->failures, r, o->quiet || o->plain);
    if (o->summary != SUMMARY_NONE)
        cli_stats_add(&p->stats, r);
    td_str line;
    if (o->plain) {
        put_plain(&p->out, o, p->model, r);
    } else if (o->summary != SUMMARY_ONLY) {
        td_error err = TD_ERROR_INIT;
        if (td_result_json(r, &line, &err) != TD_OK) {
            cli_complain_error(&err);
            p->out.state = WRITE_FAILED;
            p->out.error = ENOMEM;
        } else {
            cli_out_put(&p->out, line.ptr, line.len);
            cli_out_put(&p->out, "\n", 1);
        }
        td_error_clear(&err);
    }
    td_result_free(r);
}

/* Waits for something to collect. false: everything was submitted and printed. */
static bool wait_for_news(reader *r, uint64_t printed)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&r->lock);
    if (r->submitted == printed && !r->ended)
        pthread_cond_timedwait(&r->news, &r->lock, &until);
    bool more = r->submitted != printed || !r->ended;
    pthread_mutex_unlock(&r->lock);
    return more;
}

static void collect(printer *p, reader *r)
{
    uint64_t printed = 0;
    while (p->out.state == WRITE_OK && !cli_interrupted()) {
        td_result *result = td_counter_next(r->counter, 0);
        if (result == NULL) {
            cli_out_flush(&p->out);
            result = td_counter_next(r->counter, POLL_NS);
        }
        cli_progress_draw(&p->progress, atomic_load(&r->bytes_read), r->bytes_total, printed);
        if (result != NULL) {
            print_result(p, result);
            printed++;
        } else if (!wait_for_news(r, printed)) {
            return;
        }
    }
    if (!cli_interrupted())
        return;
    /* what is finished and next in line is still printed */
    td_counter_pause(r->counter);
    td_result *result;
    while (p->out.state == WRITE_OK && (result = td_counter_next(r->counter, 0)) != NULL)
        print_result(p, result);
}

static bool init_reader(reader *r, const cli_options *o, td_counter *counter)
{
    pthread_condattr_t attr;
    r->o = o;
    r->counter = counter;
    return pthread_condattr_init(&attr) == 0 &&
           pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
           pthread_cond_init(&r->news, &attr) == 0 && pthread_mutex_init(&r->lock, NULL) == 0 &&
           pthread_condattr_destroy(&attr) == 0;
}

/* Prints the end of a run and gives its exit status. */
static int finish(printer *p, int status)
{
    const cli_options *o = p->o;
    if (p->out.state == WRITE_OK)
        cli_print_failures(&p->failures, o->quiet);
    if (o->summary != SUMMARY_NONE && p->out.state == WRITE_OK) {
        cli_out_flush(&p->out);
        bool to_output = o->summary == SUMMARY_ONLY && o->json;
        cli_stats_print(&p->stats, &p->failures, to_output ? stdout : stderr, o->json);
        fflush(stdout);
    }
    free(p->stats.counts);
    if (status == CLI_OK && p->failures.failed != 0)
        status = CLI_SOME_FAILED;
    return cli_end_output(&p->out, status);
}

static int run(const cli_options *o, td_model *model, td_counter *counter)
{
    printer p = { .o = o, .model = model, .stats.start_ns = cli_now_ns() };
    reader r = { .status = CLI_OK };
    int status = look_at_inputs(o, &r.bytes_total);
    if (status != CLI_OK)
        return status;
    if (!cli_out_open(&p.out, o->output)) {
        cli_complain("%s: %s", o->output, strerror(errno));
        return CLI_CANNOT_OPEN;
    }
    cli_progress_start(&p.progress, o->progress, o->command_name);
    pthread_t thread;
    if (!init_reader(&r, o, counter) || pthread_create(&thread, NULL, read_all, &r) != 0) {
        cli_complain("a thread could not be started");
        return CLI_CANNOT_OPEN;
    }
    collect(&p, &r);
    cli_progress_end(&p.progress);
    if (cli_interrupted() || p.out.state != WRITE_OK) {
        /* the reader may sit in a read that nobody ends: leave without it */
        status = finish(&p, CLI_OK);
        if (cli_interrupted() && status != CLI_CANNOT_OPEN)
            status = CLI_INTERRUPTED;
        fflush(stderr);
        _Exit(status);
    }
    pthread_join(thread, NULL);
    pthread_cond_destroy(&r.news);
    pthread_mutex_destroy(&r.lock);
    return finish(&p, r.status);
}

int cmd_list(const cli_options *o)
{
    static const td_operation operations[] = {
        [CMD_COUNT] = TD_DO_COUNT,
        [CMD_RENDER] = TD_DO_RENDER,
        [CMD_ENCODE] = TD_DO_ENCODE,
        [CMD_DECODE] = TD_DO_DECODE,
    };
    td_model *model = NULL;
    td_counter *counter = NULL;
    td_counter_options options;
    char *text;
    int status = cli_counter_options(o, &options, &text);
    options.operation = operations[o->command];
    options.queue_bytes = QUEUE_BYTES;
    options.lines = !o->plain && o->summary != SUMMARY_ONLY;
    if (status == CLI_OK)
        status = cli_load_model(o, &model);
    if (status == CLI_OK)
        status = cli_new_counter(model, &options, &counter);
    free(text);
    if (status == CLI_OK)
        status = run(o, model, counter);
    td_counter_free(counter);
    td_model_free(model);
    return status;
}

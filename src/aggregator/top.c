#include "aggregator/top.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "aggregator/parse_number.h"
#include "aggregator/top_view.h"
#include "aggregator/transport.h"
#include "base/error.h"
#include "base/str.h"
#include "base/thread.h"
#include "value/json.h"

typedef struct top_options {
    const char *endpoint;
    bool once, json;
    double timeout; /* seconds without a snapshot; 0: no limit */
} top_options;

static const char help[] =
    "usage: tokdrain top ENDPOINT [--once] [--json] [--timeout SECONDS]\n"
    "\n"
    "Shows what a running aggregator publishes. ENDPOINT is its metrics socket:\n"
    "ipc://DIR/NAME, or the path DIR/NAME.\n"
    "\n"
    "  --once             show the next snapshot and end\n"
    "  --json             each snapshot as a line of JSON, laid out as final_snapshot.json\n"
    "  --timeout SECONDS  give up when no snapshot comes for so long (10 with --once; 0: never)\n";

static int usage(const char *what, const char *which)
{
    fprintf(stderr, "tokdrain top: %s%s\n%s", what, which, help);
    return 2;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, top_options *o)
{
    bool has_timeout = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--once") == 0) {
            o->once = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (strcmp(argv[i], "--timeout") == 0) {
            has_timeout = true;
            if (++i == argc || !td_parse_float(argv[i], &o->timeout) || !(o->timeout >= 0))
                return usage("--timeout needs a number of seconds", "");
        } else if (argv[i][0] == '-' || o->endpoint != NULL) {
            return usage("unknown argument ", argv[i]);
        } else {
            o->endpoint = argv[i];
        }
    }
    if (o->endpoint == NULL)
        return usage("an endpoint is needed", "");
    if (!has_timeout)
        o->timeout = o->once ? 10 : 0;
    return -1;
}

/* The screen to draw on; nothing when lines just follow one another. */
static td_top_screen find_screen(const top_options *o)
{
    struct winsize size = { 0 };
    if (o->once || !isatty(STDOUT_FILENO))
        return (td_top_screen){ 0 };
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
        return (td_top_screen){ .columns = 80, .rows = 24 };
    return (td_top_screen){ .columns = size.ws_col, .rows = size.ws_row };
}

static td_code print_text(const top_options *o, td_value snapshot, td_top_past *past, td_buf *out)
{
    td_top_screen screen = find_screen(o);
    td_buf text = { 0 };
    td_code code = td_top_print(&text, snapshot, o->endpoint, &screen, past);
    if (code == TD_OK)
        code = screen.rows != 0 ? td_top_draw(out, td_buf_view(&text), &screen)
                                : td_buf_put(out, td_buf_view(&text));
    td_buf_done(&text);
    return code;
}

static td_code print_snapshot(const top_options *o, td_str frame, td_top_past *past, bool *ret_last,
                              td_error *err)
{
    td_arena arena = { 0 };
    td_buf out = { 0 };
    td_value snapshot;
    td_json_style style = { .ensure_ascii = true };
    td_code code = td_top_read(&arena, frame, &snapshot, err);
    if (code == TD_OK && o->json) {
        code = td_json_write(&out, snapshot, &style, err);
        if (code == TD_OK && td_buf_byte(&out, '\n') != TD_OK)
            code = td_fail_nomem(err);
    } else if (code == TD_OK) {
        if (print_text(o, snapshot, past, &out) != TD_OK)
            code = td_fail_nomem(err);
    }
    if (code == TD_OK) {
        td_str state = td_top_state(snapshot);
        *ret_last = td_str_eq(state, TD_STR("complete")) || td_str_eq(state, TD_STR("interrupted"));
        fwrite(out.ptr, 1, out.len, stdout);
        fflush(stdout);
    }
    td_buf_done(&out);
    td_arena_done(&arena);
    return code;
}

/* Until the run's last snapshot; the exit status. */
static int watch(const top_options *o, td_transport *t)
{
    td_top_past past = { 0 };
    uint64_t last_seen = td_now_ns();
    for (bool last = false; !last;) {
        td_transport_wait(t, -1, 100);
        td_message *m = td_transport_receive(t);
        if (m == NULL) {
            if (o->timeout > 0 && (double)(td_now_ns() - last_seen) / 1e9 > o->timeout) {
                fprintf(stderr, "tokdrain top: no snapshot from %s for %g s\n", o->endpoint,
                        o->timeout);
                return 1;
            }
            continue;
        }
        last_seen = td_now_ns();
        td_error err = TD_ERROR_INIT;
        td_code code = print_snapshot(o, td_message_bytes(m), &past, &last, &err);
        td_message_unref(m);
        if (code != TD_OK)
            fprintf(stderr, "tokdrain top: %s\n", err.message);
        td_error_clear(&err);
        if (ferror(stdout))
            return 0; /* whoever read us has gone */
        last = last || (o->once && code == TD_OK);
    }
    return 0;
}

int td_top_main(int argc, char **argv)
{
    top_options o = { 0 };
    int status = parse(argc, argv, &o);
    if (status >= 0)
        return status;
    td_error err = TD_ERROR_INIT;
    td_transport *t = NULL;
    if (td_transport_new("", &t, &err) == TD_OK &&
        td_transport_connect_to(t, o.endpoint, &err) == TD_OK) {
        status = watch(&o, t);
    } else {
        fprintf(stderr, "tokdrain top: %s\n", err.message);
        td_error_clear(&err);
        status = 3;
    }
    td_transport_free(t);
    return status;
}

#include "aggregator/options.h"

#include <math.h>
#include <stdio.h>
#include <stdarg.h>

#include "aggregator/parse_number.h"
#include "base/buf.h"
#include "base/str.h"
#include "metrics/registry.h"

#define PROGRAM "tokdrain aggregate"

typedef enum flag_type { SWITCH, TEXT, INTEGER, REAL, SERIES, SIZE } flag_type;

typedef struct flag {
    const char *name; /* without the dashes */
    flag_type type;
    bool required, is_extension;
    size_t at; /* offset in td_service_options */
    const char *help;
} flag;

#define AT(member) offsetof(td_service_options, member)

static const flag flags[] = {
    { "socket-dir", TEXT, true, false, AT(socket_dir), "directory of the ZeroMQ IPC sockets" },
    { "socket-name", TEXT, true, false, AT(socket_name), "event socket in it, to connect to" },
    { "metrics-socket", TEXT, true, false, AT(metrics_socket), "metrics socket in it, to bind" },
    { "metrics-output-dir", TEXT, true, false, AT(output_dir),
      "existing directory for final_snapshot.json" },
    { "publish-interval", REAL, false, false, AT(publish_interval),
      "seconds between live snapshots (0.25)" },
    { "drain-timeout", REAL, false, false, AT(drain_timeout),
      "seconds for tokenization after the end; 0 is no limit (0)" },
    { "hdr-sig-figs", INTEGER, false, false, AT(hdr_digits),
      "significant digits of live percentiles, 1 to 5 (3)" },
    { "n-histogram-buckets", INTEGER, false, false, AT(buckets), "buckets of a histogram (30)" },
    { "tokenizer", TEXT, false, false, AT(tokenizer), "model directory or cached hub name" },
    { "tokenizer-workers", INTEGER, false, false, AT(workers),
      "threads that tokenize during the run; 0: only after the end (4)" },
    { "streaming", SWITCH, false, false, AT(streaming), "measure ttft, chunk_delta and tpot" },
    { "readiness-path", TEXT, false, false, AT(readiness_path), "socket of the parent's PULL" },
    { "readiness-id", INTEGER, false, false, AT(readiness_id), "integer to send there (0)" },
    { "early-stopping", SWITCH, false, false, AT(early_stopping),
      "add early-stopping percentiles to the final snapshot" },
    { "series", SERIES, false, true, AT(series),
      "count only these of isl,osl,tpot (all; extension)" },
    { "memory", SIZE, false, true, AT(memo_bytes),
      "bound of the memory for counted segments (256MiB; extension)" },
    { "worker-command", TEXT, false, true, AT(worker_command),
      "processes that tokenize, instead of the built-in engine (extension)" },
    { "workers", INTEGER, false, true, AT(worker_count),
      "at most so many of them (--tokenizer-workers; extension)" },
    { "worker-memory", SIZE, false, true, AT(worker_memory),
      "memory of all of them together (no bound; extension)" },
    { "prometheus", INTEGER, false, true, AT(prometheus_port),
      "serve the live snapshot on this port of 127.0.0.1; 0: any (extension)" },
};
enum { FLAGS = sizeof flags / sizeof *flags };

/* ---- messages ---- */

static void print_usage(FILE *out)
{
    fprintf(out, "usage: " PROGRAM " [-h]");
    for (size_t i = 0; i < FLAGS; i++) {
        const flag *f = &flags[i];
        fprintf(out, f->required ? " --%s" : " [--%s", f->name);
        fprintf(out, "%s%s", f->type == SWITCH ? "" : " VALUE", f->required ? "" : "]");
    }
    fputc('\n', out);
}

static td_parsed print_help(void)
{
    print_usage(stdout);
    printf("\nThe metrics aggregator: reads events, counts tokens, publishes snapshots.\n\n");
    for (size_t i = 0; i < FLAGS; i++)
        printf("  --%-20s %s\n", flags[i].name, flags[i].help);
    return TD_PARSED_HELP;
}

static td_parsed wrong(const char *fmt, ...) TD_PRINTF(1, 2);

static td_parsed wrong(const char *fmt, ...)
{
    print_usage(stderr);
    fprintf(stderr, PROGRAM ": error: ");
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return TD_PARSED_WRONG;
}

/* ---- values ---- */

static bool parse_series(const char *text, unsigned *ret)
{
    static const struct {
        td_str name;
        td_series_id id;
    } names[] = { { { "isl", 3 }, TD_SERIES_ISL },
                  { { "osl", 3 }, TD_SERIES_OSL },
                  { { "tpot", 4 }, TD_SERIES_TPOT } };
    *ret = 0;
    td_str rest = td_str_from(text);
    for (bool more = true; more;) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        td_str name = { rest.ptr, comma != NULL ? (size_t)(comma - rest.ptr) : rest.len };
        size_t i = 0;
        while (i < 3 && !td_str_eq(name, names[i].name))
            i++;
        if (i == 3)
            return false;
        *ret |= 1u << names[i].id;
        more = comma != NULL;
        rest = more ? td_str_from_offset(rest, name.len + 1) : rest;
    }
    return true;
}

static bool set_value(const flag *f, const char *text, td_service_options *o)
{
    void *at = (char *)o + f->at;
    switch (f->type) {
    case SWITCH: *(bool *)at = true; return true;
    case TEXT: *(const char **)at = text; return true;
    case INTEGER: return td_parse_int(text, at);
    case REAL: return td_parse_float(text, at);
    case SERIES: return parse_series(text, at);
    case SIZE: return td_parse_size(text, at);
    }
    return false;
}

static td_parsed wrong_value(const flag *f, const char *text)
{
    static const char *const kinds[] = { [INTEGER] = "int", [REAL] = "float", [SERIES] = "series",
                                         [SIZE] = "size" };
    return wrong("argument --%s: invalid %s value: '%s'", f->name, kinds[f->type], text);
}

/* Whether an argument stands for itself rather than for a flag: negative numbers do, too. */
static bool is_plain(const char *text)
{
    if (text[0] != '-' || text[1] == '\0' || strchr(text, ' ') != NULL)
        return true;
    const char *p = text + 1;
    size_t digits = strspn(p, "0123456789");
    if (p[digits] == '.') {
        size_t behind = strspn(p + digits + 1, "0123456789");
        return behind != 0 && p[digits + 1 + behind] == '\0';
    }
    return digits != 0 && p[digits] == '\0';
}

/* ---- flags ---- */

typedef struct match {
    const flag *only; /* NULL: none or several */
    bool is_help;
    td_buf several; /* their names, when the beginning fits more than one */
} match;

/* The flag of which name is the spelling or the unique beginning. */
static match find_flag(td_str name)
{
    match m = { 0 };
    for (size_t i = 0; i < FLAGS; i++) {
        if (td_str_eq(name, td_str_from(flags[i].name))) {
            m.only = &flags[i];
            return m;
        }
    }
    size_t count = td_str_starts(TD_STR("help"), name);
    m.is_help = count != 0;
    (void)td_buf_printf(&m.several, "%s", count != 0 ? "--help" : "");
    for (size_t i = 0; i < FLAGS; i++) {
        if (flags[i].is_extension || !td_str_starts(td_str_from(flags[i].name), name))
            continue;
        (void)td_buf_printf(&m.several, "%s--%s", count != 0 ? ", " : "", flags[i].name);
        m.only = &flags[i];
        count++;
    }
    if (count > 1) {
        m.only = NULL;
        m.is_help = false;
    } else {
        td_buf_done(&m.several);
    }
    return m;
}

typedef struct reader {
    int argc, at;
    char **argv;
    td_service_options *options;
    bool seen[FLAGS];
    bool only_plain; /* behind "--" */
    td_buf unknown;
} reader;

static td_parsed take_flag(reader *r, const flag *f, const char *value)
{
    const char *text = value;
    if (f->type == SWITCH && value != NULL)
        return wrong("argument --%s: ignored explicit argument '%s'", f->name, value);
    if (f->type != SWITCH && value == NULL) {
        if (r->at + 1 >= r->argc || !is_plain(r->argv[r->at + 1]))
            return wrong("argument --%s: expected one argument", f->name);
        text = r->argv[++r->at];
    }
    r->seen[f - flags] = true;
    return set_value(f, text, r->options) ? TD_PARSED_OK : wrong_value(f, text);
}

static td_parsed take_help(const char *value)
{
    return value == NULL ? print_help()
                         : wrong("argument -h/--help: ignored explicit argument '%s'", value);
}

/* What stands between the dashes and the value. */
static td_str name_of(const char *arg)
{
    return (td_str){ arg + 2, strcspn(arg + 2, "=") };
}

/* Refuses beginnings of several flags, wherever they stand, before anything is looked at. */
static td_parsed check_spelling(int argc, char **argv)
{
    td_parsed result = TD_PARSED_OK;
    for (int i = 1; i < argc && result == TD_PARSED_OK && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0)
            continue;
        match m = find_flag(name_of(argv[i]));
        if (m.several.len != 0)
            result = wrong("ambiguous option: %s could match %.*s", argv[i], (int)m.several.len,
                           m.several.ptr);
        td_buf_done(&m.several);
    }
    return result;
}

static td_parsed take_argument(reader *r)
{
    const char *arg = r->argv[r->at];
    if (strcmp(arg, "--") == 0)
        r->only_plain = true;
    if (!r->only_plain && strncmp(arg, "-h", 2) == 0)
        return take_help(arg[2] == '\0' ? NULL : arg + 2 + (arg[2] == '='));
    if (!r->only_plain && arg[0] == '-' && arg[1] == '-') {
        const char *equals = strchr(arg, '=');
        match m = find_flag(name_of(arg));
        td_buf_done(&m.several);
        if (m.is_help)
            return take_help(equals != NULL ? equals + 1 : NULL);
        if (m.only != NULL)
            return take_flag(r, m.only, equals != NULL ? equals + 1 : NULL);
    }
    (void)td_buf_printf(&r->unknown, " %s", arg);
    return TD_PARSED_OK;
}

static bool was_given(const reader *r, size_t at)
{
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].at == at && r->seen[i])
            return true;
    return false;
}

static td_parsed check_complete(const reader *r)
{
    td_buf missing = { 0 };
    for (size_t i = 0; i < FLAGS; i++)
        if (flags[i].required && !r->seen[i])
            (void)td_buf_printf(&missing, "%s--%s", missing.len != 0 ? ", " : "", flags[i].name);
    if (missing.len != 0) {
        td_parsed result = wrong("the following arguments are required: %.*s", (int)missing.len,
                                 missing.ptr);
        td_buf_done(&missing);
        return result;
    }
    if (r->unknown.len != 0)
        return wrong("unrecognized arguments:%.*s", (int)r->unknown.len, r->unknown.ptr);
    /* Values that could only fail later, in the middle of a run. */
    const td_service_options *o = r->options;
    if (!(o->publish_interval > 0))
        return wrong("argument --publish-interval: must be greater than 0");
    if (isnan(o->drain_timeout))
        return wrong("argument --drain-timeout: must be a number of seconds");
    if (o->buckets < 1 || o->buckets > 100000)
        return wrong("argument --n-histogram-buckets: must be 1 to 100000");
    bool has_count = was_given(r, AT(worker_count));
    if (has_count && (o->worker_count < 1 || o->worker_count > 1024))
        return wrong("argument --workers: must be 1 to 1024");
    bool has_memory = was_given(r, AT(worker_memory));
    if (has_memory && o->worker_memory == 0)
        return wrong("argument --worker-memory: must be more than 0");
    if (o->worker_command == NULL && (has_count || has_memory))
        return wrong("--workers and --worker-memory need --worker-command");
    if (o->prometheus_port < -1 || o->prometheus_port > 65535)
        return wrong("argument --prometheus: must be a port, 0 to 65535");
    return TD_PARSED_OK;
}

td_parsed td_service_parse(int argc, char **argv, td_service_options *ret)
{
    *ret = (td_service_options){
        .publish_interval = 0.25,
        .hdr_digits = 3,
        .buckets = 30,
        .workers = 4,
        .prometheus_port = -1,
        .series = 1u << TD_SERIES_ISL | 1u << TD_SERIES_OSL | 1u << TD_SERIES_TPOT,
    };
    reader r = { .argc = argc, .argv = argv, .options = ret };
    td_parsed result = check_spelling(argc, argv);
    for (r.at = 1; r.at < argc && result == TD_PARSED_OK; r.at++)
        result = take_argument(&r);
    if (result == TD_PARSED_OK)
        result = check_complete(&r);
    td_buf_done(&r.unknown);
    if (ret->tokenizer != NULL && *ret->tokenizer == '\0')
        ret->tokenizer = NULL;
    if (ret->readiness_path != NULL && *ret->readiness_path == '\0')
        ret->readiness_path = NULL;
    return result;
}

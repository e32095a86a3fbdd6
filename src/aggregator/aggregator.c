/* aggregator.c - start-up in the order that a parent relies on, and the way back. */
#include "aggregator/aggregator.h"

#include <stdio.h>

#include "aggregator/files.h"
#include "aggregator/log.h"
#include "aggregator/service.h"
#include "aggregator/signals.h"
#include "base/error.h"

typedef struct parts {
    td_registry registry;
    bool has_registry;
    td_tokens *tokens;
    td_transport *transport;
    td_http *http;
    int wake_fd;
} parts;

static void warn(void *user, const char *text)
{
    (void)user;
    td_log(TD_FROM_REGISTRY, TD_LOG_WARNING, "%s", text);
}

static int fatal(const char *text)
{
    fprintf(stderr, "FATAL: %s\n", text);
    return 1;
}

static int crash(const char *kind, td_error *err)
{
    td_log(TD_FROM_MAIN, TD_LOG_ERROR, "metrics aggregator subprocess crashed (%s)\n%s: %s", kind,
           kind, err->message);
    td_error_clear(err);
    return 1;
}

static int start_tokens(const td_service_options *o, parts *p)
{
    td_error err = TD_ERROR_INIT;
    td_tokens_options tokens = { .tokenizer = o->tokenizer,
                                 .workers = o->workers > 1024 ? 1024 : (unsigned)o->workers,
                                 .memo_bytes = o->memo_bytes,
                                 .series = o->series,
                                 .worker_command = o->worker_command,
                                 .processes = (unsigned)o->worker_count,
                                 .worker_memory = o->worker_memory };
    if (o->tokenizer == NULL && o->worker_command == NULL)
        return 0;
    if (td_tokens_new(&tokens, &p->registry, &p->tokens, &err) == TD_OK)
        return 0;
    if (err.code != TD_E_INTERNAL && err.code != TD_E_WORKER)
        return crash(err.code == TD_E_INPUT ? "OSError" : "ValueError", &err);
    fprintf(stderr, "FATAL: the tokenizer pool cannot start: %s\n", err.message);
    td_error_clear(&err);
    return 1;
}

static int open_sockets(const td_service_options *o, parts *p)
{
    td_error err = TD_ERROR_INIT;
    if (td_transport_new(o->socket_dir, &p->transport, &err) != TD_OK ||
        td_transport_bind_metrics(p->transport, o->metrics_socket, &err) != TD_OK)
        return crash("ZMQError", &err);
    td_log(TD_FROM_SOCKETS, TD_LOG_INFO, "Publisher bound to ipc://%s/%s", o->socket_dir,
           o->metrics_socket);
    if (td_transport_connect_events(p->transport, o->socket_name, &err) != TD_OK)
        return crash("ZMQError", &err);
    td_log(TD_FROM_SOCKETS, TD_LOG_INFO, "Subscriber connected to ipc://%s/%s", o->socket_dir,
           o->socket_name);
    return 0;
}

static int start_http(const td_service_options *o, parts *p)
{
    td_error err = TD_ERROR_INIT;
    if (o->prometheus_port < 0)
        return 0;
    if (td_http_new((unsigned)o->prometheus_port, &p->http, &err) != TD_OK)
        return crash("OSError", &err);
    td_log(TD_FROM_MAIN, TD_LOG_INFO, "Prometheus metrics at http://127.0.0.1:%u/metrics",
           td_http_port(p->http));
    return 0;
}

static int start(const td_service_options *o, parts *p)
{
    if (o->workers < 0)
        return fatal("--tokenizer-workers must be >= 0");
    if (!td_output_is_dir(o->output_dir)) {
        fprintf(stderr,
                "FATAL: --metrics-output-dir %s does not exist or is not a directory. "
                "Create it before starting the aggregator.\n",
                o->output_dir);
        return 1;
    }
    td_error err = TD_ERROR_INIT;
    int digits = o->hdr_digits >= 1 && o->hdr_digits <= 5 ? (int)o->hdr_digits : 0;
    if (td_registry_init(&p->registry, o->streaming, digits, (uint32_t)o->buckets, warn, NULL,
                         &err) != TD_OK)
        return crash("ValueError", &err);
    p->has_registry = true;
    int status = start_tokens(o, p);
    if (status == 0)
        status = open_sockets(o, p);
    if (status == 0)
        status = start_http(o, p);
    if (status != 0)
        return status;
    if (td_signals_install(&p->wake_fd, &err) != TD_OK)
        return crash("OSError", &err);
    if (td_output_mark_ready(o->output_dir, &err) != TD_OK)
        return crash("OSError", &err);
    if (o->readiness_path != NULL &&
        td_transport_announce(p->transport, o->readiness_path, o->readiness_id, &err) != TD_OK)
        return crash("ZMQError", &err);
    return 0;
}

int td_aggregate_main(int argc, char **argv)
{
    td_service_options options;
    switch (td_service_parse(argc, argv, &options)) {
    case TD_PARSED_OK: break;
    case TD_PARSED_HELP: return 0;
    case TD_PARSED_WRONG: return 2;
    }
    parts p = { .wake_fd = -1 };
    int status = start(&options, &p);
    if (status == 0) {
        td_service service;
        td_service_init(&service, &options, &p.registry, p.tokens, p.transport, p.http,
                        p.wake_fd);
        td_service_run(&service);
        td_service_done(&service);
    }
    td_http_free(p.http);
    td_tokens_free(p.tokens);
    td_transport_free(p.transport);
    if (p.has_registry)
        td_registry_done(&p.registry);
    return status;
}

#include "aggregator/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define MODULE "inference_endpoint.async_utils."

/* Operators search for these names, so they are the ones that they know. */
static const char *const sources[] = {
    [TD_FROM_MAIN] = "__main__",
    [TD_FROM_SERVICE] = MODULE "services.metrics_aggregator.aggregator",
    [TD_FROM_TABLE] = MODULE "services.metrics_aggregator.metrics_table",
    [TD_FROM_TOKENS] = MODULE "services.metrics_aggregator.token_metrics",
    [TD_FROM_REGISTRY] = MODULE "services.metrics_aggregator.registry",
    [TD_FROM_PUBLISHER] = MODULE "services.metrics_aggregator.publisher",
    [TD_FROM_SOCKETS] = MODULE "transport.zmq.pubsub",
};

static const struct {
    const char *name, *colour;
} levels[] = {
    [TD_LOG_INFO] = { "INFO", "\033[32m" },
    [TD_LOG_WARNING] = { "WARNING", "\033[33m" },
    [TD_LOG_ERROR] = { "ERROR", "\033[31m" },
};

static void write_all(const char *ptr, size_t len)
{
    while (len != 0) {
        ssize_t n = write(STDOUT_FILENO, ptr, len);
        if (n <= 0)
            return;
        ptr += n;
        len -= (size_t)n;
    }
}

void td_log(td_log_source source, td_log_level level, const char *fmt, ...)
{
    const char *force = getenv("FORCE_COLOR_LOGGING");
    bool colour = force != NULL && *force != '\0';
    struct timespec now;
    struct tm local;
    char stamp[32] = "";
    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &local) != NULL)
        strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M:%S", &local);
    char text[1024], *message = text;
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(text, sizeof text, fmt, ap);
    td_buf line = { 0 }, whole = { 0 };
    if (len >= (int)sizeof text && td_buf_reserve(&whole, (size_t)len + 1) == TD_OK) {
        vsnprintf(whole.ptr, (size_t)len + 1, fmt, again);
        message = whole.ptr;
    }
    va_end(again);
    va_end(ap);
    if (td_buf_printf(&line, "%s,%03d - %s - %s%s%s - %s\n", stamp, (int)(now.tv_nsec / 1000000),
                      sources[source], colour ? levels[level].colour : "", levels[level].name,
                      colour ? "\033[0m" : "", message) == TD_OK)
        write_all(line.ptr, line.len);
    td_buf_done(&line);
    td_buf_done(&whole);
}

/* service.c - the loop: one thread owns the sockets, the tables and the series.
 *
 * Each round sleeps until there is an event, a signal or something due; then handles signals, a
 * bounded burst of events, finished counts, the snapshot that is due, and the end of the run. */
#include "aggregator/service.h"

#include <math.h>

#include "aggregator/early_log.h"
#include "aggregator/files.h"
#include "aggregator/frame.h"
#include "aggregator/log.h"
#include "aggregator/prometheus.h"
#include "aggregator/signals.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"

enum {
    BURST_MESSAGES = 512,     /* read before looking at anything else */
    COLLECT_MS = 2,           /* how often finished counts are asked for while some are due */
    IDLE_MS = 1000,
    INTERRUPTED_LINGER_MS = 2000, /* a parent that said stop does not wait for long */
};
#define BURST_NS UINT64_C(20000000)
#define GIVE_BACK_BYTES UINT64_C(67108864)

static uint64_t to_ns(double seconds)
{
    double ns = seconds * 1e9;
    return ns < 1 ? 1 : ns < 9e18 ? (uint64_t)ns : UINT64_C(9000000000000000000);
}

void td_service_init(td_service *s, const td_service_options *options, td_registry *registry,
                     td_tokens *tokens, td_transport *transport, td_http *http, int wake_fd)
{
    *s = (td_service){ .options = options,
                       .registry = registry,
                       .tokens = tokens,
                       .transport = transport,
                       .http = http,
                       .wake_fd = wake_fd,
                       .interval_ns = to_ns(options->publish_interval) };
    td_session_init(&s->session, registry, tokens, options->streaming);
}

void td_service_done(td_service *s)
{
    td_session_done(&s->session);
    td_arena_done(&s->arena);
    td_buf_done(&s->text);
}

static uint64_t pending(const td_service *s)
{
    return s->tokens != NULL ? td_tokens_pending(s->tokens) : 0;
}

static uint64_t failed(const td_service *s)
{
    return s->tokens != NULL ? td_tokens_failed(s->tokens) : 0;
}

/* ---- snapshots ---- */

static td_code put_topic(td_buf *out)
{
    static const char topic[TD_TOPIC_BYTES] = "MET";
    return td_buf_append(out, topic, sizeof topic);
}

/* Served before it is sent: who has a snapshot finds none that is older behind the port. */
static void publish(td_service *s, const td_snapshot *snap)
{
    s->text.len = 0;
    if (s->http != NULL && td_prometheus_write(snap, &s->text) == TD_OK)
        td_http_set(s->http, td_buf_view(&s->text));
    s->text.len = 0;
    td_code code = put_topic(&s->text);
    if (code == TD_OK)
        code = td_snapshot_msgpack(snap, &s->text);
    if (code != TD_OK || !td_transport_publish(s->transport, td_buf_view(&s->text)))
        td_log(TD_FROM_PUBLISHER, TD_LOG_ERROR, "a snapshot could not be published");
}

static void tick(td_service *s)
{
    td_snapshot snap;
    td_arena_reset(&s->arena);
    if (td_registry_snapshot(s->registry, &snap, s->draining ? TD_RUN_DRAINING : TD_RUN_LIVE,
                             pending(s), (int64_t)td_now_ns(), &s->arena))
        publish(s, &snap);
}

static void tick_when_due(td_service *s)
{
    if (!s->session.has_started)
        return;
    uint64_t now = td_now_ns();
    if (s->next_tick_ns == 0)
        s->next_tick_ns = now + s->interval_ns;
    if (now < s->next_tick_ns)
        return;
    tick(s);
    s->next_tick_ns += s->interval_ns;
    now = td_now_ns();
    if (s->next_tick_ns <= now) /* fell behind: leave the missed ones out */
        s->next_tick_ns = now + s->interval_ns;
}

static void write_final(td_service *s, const td_snapshot *snap)
{
    td_error err = TD_ERROR_INIT;
    s->text.len = 0;
    td_code code = td_snapshot_json(snap, &s->text);
    if (code != TD_OK)
        code = td_buf_fail(&s->text, &err, code, "snapshot");
    else
        code = td_output_write_final(s->options->output_dir, td_buf_view(&s->text), &err);
    if (code != TD_OK)
        td_log(TD_FROM_PUBLISHER, TD_LOG_ERROR, "final_snapshot.json was not written: %s",
               err.message);
    td_error_clear(&err);
    publish(s, snap);
}

static void finish(td_service *s, bool interrupted)
{
    td_snapshot snap;
    td_session_set_durations(&s->session);
    td_arena_reset(&s->arena);
    int64_t now = (int64_t)td_now_ns();
    bool ok = interrupted ? td_registry_snapshot(s->registry, &snap, TD_RUN_INTERRUPTED,
                                                 pending(s), now, &s->arena)
                          : td_registry_finish(s->registry, &snap, pending(s), now,
                                               s->options->early_stopping, &s->arena);
    if (ok)
        write_final(s, &snap);
    else
        td_log(TD_FROM_REGISTRY, TD_LOG_ERROR, "out of memory: there is no final snapshot");
    if (ok && !interrupted && s->options->early_stopping)
        td_log_early(&snap);
}

/* ---- events ---- */

static void handle_message(td_service *s, td_message *m, int64_t now_ns)
{
    td_str frame = td_message_bytes(m);
    td_records records;
    td_error err = TD_ERROR_INIT;
    if (td_frame_read(frame, &records, &err) != TD_OK) {
        td_log(TD_FROM_SOCKETS, TD_LOG_ERROR,
               "Failed to decode batch message (%zu bytes), dropping. %s",
               frame.len - TD_TOPIC_BYTES, err.message);
        td_error_clear(&err);
        return;
    }
    td_record record = { .message = m };
    while (td_frame_next(&records, &record.bytes)) {
        record.may_share = record.bytes.len >= records.large_min;
        td_session_record(&s->session, record, now_ns);
    }
}

/* true: everything that had arrived was handled. */
static bool receive(td_service *s)
{
    uint64_t start = td_now_ns(), now = start;
    td_message *m;
    for (int i = 0; i < BURST_MESSAGES && now - start < BURST_NS; i++) {
        m = td_transport_receive(s->transport);
        if (m == NULL)
            return true;
        s->passed_bytes += td_message_bytes(m).len;
        handle_message(s, m, (int64_t)now);
        td_message_unref(m);
        now = td_now_ns();
    }
    return false;
}

/* What a backlog of frames took is not kept for the next one. */
static void give_back(td_service *s)
{
    if (s->passed_bytes < GIVE_BACK_BYTES || pending(s) != failed(s) || s->session.has_ended)
        return;
    s->passed_bytes = 0;
    td_alloc_trim();
}

/* ---- the end ---- */

static void begin_drain(td_service *s)
{
    double timeout = s->options->drain_timeout;
    s->draining = true;
    s->has_deadline = timeout != 0 && !isinf(timeout);
    td_log(TD_FROM_SERVICE, TD_LOG_INFO, "ENDED event received, shutting down aggregator");
    td_log(TD_FROM_SERVICE, TD_LOG_INFO, "Draining %llu pending tokenizations...",
           (unsigned long long)pending(s));
    if (timeout < 0)
        s->has_deadline = true;
    s->deadline_ns = td_now_ns() + (timeout > 0 ? to_ns(timeout) : 0);
    if (s->tokens != NULL)
        td_tokens_drain(s->tokens);
}

/* True when everything is counted that will be. */
static bool is_drained(td_service *s)
{
    if (s->tokens != NULL)
        td_tokens_collect(s->tokens);
    return pending(s) == failed(s);
}

static void end_drain(td_service *s, bool expired)
{
    double timeout = s->options->drain_timeout;
    if (expired && s->tokens != NULL)
        td_tokens_stop(s->tokens);
    unsigned long long left = pending(s);
    if (expired && left != 0)
        td_log(TD_FROM_TOKENS, TD_LOG_WARNING,
               "tokenizer drain timed out after %.1fs; %llu items not counted", timeout, left);
    else if (left != 0)
        td_log(TD_FROM_TOKENS, TD_LOG_ERROR, "tokenizer drain failed; %llu items not counted",
               left);
    if (left == 0)
        td_log(TD_FROM_SERVICE, TD_LOG_INFO, "Tokenizations fully drained (n_pending_tasks=0)");
    else if (timeout != 0)
        td_log(TD_FROM_SERVICE, TD_LOG_WARNING,
               "tokenizer drain incomplete (budget %.1fs); %llu tokenizations did not complete",
               timeout, left);
    else
        td_log(TD_FROM_SERVICE, TD_LOG_WARNING,
               "tokenizer drain incomplete (budget unlimited); %llu tokenizations did not complete",
               left);
    finish(s, false);
    td_log(TD_FROM_SERVICE, TD_LOG_INFO, "Aggregator finalized: %llu total records processed",
           (unsigned long long)s->session.records);
}

/* ---- the loop ---- */

static int wait_ms(const td_service *s)
{
    if (pending(s) != failed(s))
        return COLLECT_MS;
    if (s->next_tick_ns == 0)
        return IDLE_MS;
    uint64_t now = td_now_ns();
    if (now >= s->next_tick_ns)
        return 0;
    uint64_t left = (s->next_tick_ns - now) / 1000000 + 1;
    return left < IDLE_MS ? (int)left : IDLE_MS;
}

void td_service_run(td_service *s)
{
    for (;;) {
        td_transport_wait(s->transport, s->wake_fd, wait_ms(s));
        td_signals got = td_signals_take();
        if (got.interrupt)
            td_log(TD_FROM_MAIN, TD_LOG_INFO,
                   "metrics aggregator received SIGINT \xE2\x80\x94 ignoring (parent's ENDED path "
                   "is authoritative)");
        if (got.terminate) {
            td_log(TD_FROM_MAIN, TD_LOG_WARNING,
                   "metrics aggregator received SIGTERM; writing INTERRUPTED final snapshot");
            td_transport_set_linger(s->transport, INTERRUPTED_LINGER_MS);
            finish(s, true);
            return;
        }
        bool is_idle = receive(s);
        if (s->tokens != NULL)
            td_tokens_collect(s->tokens);
        if (is_idle)
            give_back(s);
        tick_when_due(s);
        if (s->session.has_ended && !s->draining)
            begin_drain(s);
        if (!s->draining)
            continue;
        bool drained = is_drained(s);
        if (drained || (s->has_deadline && td_now_ns() >= s->deadline_ns)) {
            end_drain(s, !drained);
            return;
        }
    }
}

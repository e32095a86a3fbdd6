/* transport.h - the sockets of the service; nothing else knows ZeroMQ.
 *
 * Functions that can fail give TD_E_INPUT for what the operator can mend (a path that is too long,
 * an address in use) with the system's words. One thread at a time. */
#ifndef TD_SRC_AGGREGATOR_TRANSPORT_H
#define TD_SRC_AGGREGATOR_TRANSPORT_H

#include "aggregator/message.h"
#include "tokdrain/base.h"

typedef struct td_transport td_transport;

/* No sockets yet; dir holds all of them. */
TD_NODISCARD td_code td_transport_new(const char *dir, td_transport **ret, td_error *err);
/* Closes everything; waits up to the lingering times for messages that are not delivered yet. */
void td_transport_free(td_transport *t);

/* Publishes on dir/name, making dir when it is missing. */
TD_NODISCARD td_code td_transport_bind_metrics(td_transport *t, const char *name, td_error *err);
/* Subscribes to everything on dir/name; no message is ever dropped on our side. */
TD_NODISCARD td_code td_transport_connect_events(td_transport *t, const char *name, td_error *err);
/* The same for an endpoint of any kind ("ipc://...", "tcp://..."); a plain path is one of ipc. */
TD_NODISCARD td_code td_transport_connect_to(td_transport *t, const char *endpoint, td_error *err);
/* Sends one msgpack integer to dir/name, without waiting for its delivery. */
TD_NODISCARD td_code td_transport_announce(td_transport *t, const char *name, int64_t id,
                                           td_error *err);

/* Sleeps until an event came, wake_fd (-1: none) is readable, or the time is over. */
void td_transport_wait(td_transport *t, int wake_fd, int timeout_ms);
/* The next message, owned by the caller, or NULL when none waits (or memory is short: it stays). */
td_message *td_transport_receive(td_transport *t);
/* Sends a frame to whoever listens; false when it cannot be sent. */
bool td_transport_publish(td_transport *t, td_str frame);
/* How long td_transport_free may wait for the last published frame. */
void td_transport_set_linger(td_transport *t, int milliseconds);

#endif

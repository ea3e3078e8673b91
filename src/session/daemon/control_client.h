/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_client: sends a request to a session in the background, and waits for its answer.
 *
 * A reply with an error code is not a failure of the call. -ECONNREFUSED: no process listens: the
 * session is just starting or ending, or was killed. -ECONNRESET: it closed the connection without
 * an answer. -ETIMEDOUT: there was no answer in time (control_silence.h). All set an error. When
 * the call returns after a stop, the session's name is free. Stateless. One thread. Uses: base,
 * session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_CLIENT_H
#define ASSAY_SESSION_DAEMON_CONTROL_CLIENT_H

#include "session/daemon/control_message.h"
#include "session/daemon/session_registry.h"

/*
 * `pid`: its process if known, else 0. The caller frees `reply`, also after an error.
 */
int control_client_ask(const struct session_registry *place, const char *name, pid_t pid,
                       const struct control_request *request, struct control_reply *reply,
                       struct error *err);

#endif

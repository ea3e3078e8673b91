/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_client: asks a session in the background something, and waits for its answer.
 *
 * A reply with a code is no failure of the call. -ECONNREFUSED: nobody listens there: the
 * session begins just now, ends just now, or was killed. -ECONNRESET: it went away without an
 * answer. -ETIMEDOUT: there was none in time (control_silence.h). All with sentences. When the call
 * returns after a stop, the session's name is free. Nothing is held. One thread. Uses: base,
 * session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_CLIENT_H
#define ASSAY_SESSION_DAEMON_CONTROL_CLIENT_H

#include "session/daemon/control_message.h"
#include "session/daemon/session_registry.h"

/*
 * `pid`: its process, as far as that is known, else 0. `reply` is the caller's to free, after
 * errors too.
 */
int control_client_ask(const struct session_registry *place, const char *name, pid_t pid,
                       const struct control_request *request, struct control_reply *reply,
                       struct error *err);

#endif

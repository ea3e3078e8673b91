/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: the session's side of its socket: reads requests and answers them, and never waits
 * for a client.
 *
 * control_open() listens. Whenever control_fd() is readable, control_serve() reads what
 * has come and calls `hear` for each complete request; nothing blocks. At most 16 clients are
 * connected at a time: a new one takes the place of the one that has been silent for longest.
 * A request for which `hear` returned CONTROL_LATER is passed to it again by the next
 * control_serve(), one with CONTROL_AT_END is answered by control_end(), at the session's end.
 * `hear` may call control_serve(), for other requests than its own.
 * Both sides check the user of the other: this user, or root. -errno with a sentence. One
 * thread. Uses: base, session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_H
#define ASSAY_SESSION_DAEMON_CONTROL_H

#include "session/daemon/control_message.h"
#include "session/daemon/session_registry.h"

struct control;

enum control_answer { CONTROL_NOW, CONTROL_LATER, CONTROL_AT_END };

/* CONTROL_NOW: `reply`, zeroed before, is filled. */
typedef enum control_answer control_hear_fn(void *ctx, const struct control_request *request,
                                            struct control_reply *reply);

int control_open(struct control **out, const struct session_registry *place, const char *name,
                 control_hear_fn *hear, void *ctx, struct error *err);
int control_fd(const struct control *c);
void control_serve(struct control *c);
/* A client waits for its answer, or for the end. */
bool control_is_awaited(const struct control *c);
/* Answers all clients that wait or have just come, for at most some seconds. */
void control_end(struct control *c, const struct control_reply *last);
void control_close(struct control *c);

#endif

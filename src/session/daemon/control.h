/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: the server side of a session's control socket. It reads requests and answers them, and
 * never waits for a client.
 *
 * control_open() listens. When control_fd() is readable, control_serve() reads the data, and calls
 * `hear` for complete requests; no call blocks. At most 16 clients are connected: a new client
 * replaces the one with the longest silence. A client that waits for the end (`hear` returned
 * false) is answered by control_end() at the session's end. Both sides check the user of the other
 * side: this user, or root. -errno with an error. One thread. Uses: base, session.
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
/* True if a client waits for the end. */
bool control_is_awaited(const struct control *c);
/* Answers all clients within a few seconds. They stay connected until control_close().*/
void control_end(struct control *c, const struct control_reply *last);
void control_close(struct control *c);

#endif

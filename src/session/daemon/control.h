/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: the session's side of its socket: hears requests, answers them, and never waits
 * for whom it talks to.
 *
 * control_open() listens. Whenever control_fd() is readable, control_serve() takes what
 * has come and has `hear` answer whole requests; nothing blocks. At most 16 are served at a
 * time: who comes then takes the place of who has been silent for longest. One that is to
 * wait for the end (`hear` said so) is answered by control_end(), at the session's end.
 * Both sides look whom they talk to: this user, or root. -errno with a sentence. One
 * thread. Uses: base, session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_H
#define ASSAY_SESSION_DAEMON_CONTROL_H

#include "session/daemon/control_message.h"
#include "session/daemon/session_registry.h"

struct control;

/* Fills `reply`, zeroed; false: not now, but at the end. */
typedef bool control_hear_fn(void *ctx, const struct control_request *request,
                             struct control_reply *reply);

int control_open(struct control **out, const struct session_registry *place, const char *name,
                 control_hear_fn *hear, void *ctx, struct error *err);
int control_fd(const struct control *c);
void control_serve(struct control *c);
/* Somebody waits for the end. */
bool control_is_awaited(const struct control *c);
/* Answers all that wait or just came, for at most some seconds. They stay connected until: */
void control_end(struct control *c, const struct control_reply *last);
void control_close(struct control *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_silence: limits the time to wait for an answer of a session, and creates the error if
 * there is none: the state of its process from /proc, and the way out.
 *
 * control_silence_begin() when the request was sent; control_silence_look() at intervals. It
 * returns true when the wait is over: after three seconds of a stopped process, which cannot
 * answer; for a status, after ten seconds of any other process. A stop and a snapshot may take
 * long: the wait is over after a minute without a sign of work, and after ten minutes.
 * Plain data. One thread. Uses: base, session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_SILENCE_H
#define ASSAY_SESSION_DAEMON_CONTROL_SILENCE_H

#include "session/daemon/control_message.h"

#include <sys/types.h>

struct control_silence {
	pid_t pid; /* 0: unknown, or not visible in this namespace */
	enum control_verb verb;
	char state;                     /* as in /proc/PID/stat; 0: unknown */
	uint64_t began_ns, ran_ns;      /* monotonic; its CPU time */
	uint64_t worked_ns, stopped_ns; /* time of its last work; time when it was stopped, 0: it is
	                                   not stopped */
};

void control_silence_begin(struct control_silence *s, pid_t pid, enum control_verb verb);
/* True if the client must stop waiting. */
bool control_silence_look(struct control_silence *s);
/* Sets the error and returns -ETIMEDOUT. `name`: of the session. */
int control_silence_tell(const struct control_silence *s, const char *name, struct error *err);

#endif

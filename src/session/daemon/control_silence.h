/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_silence: how long an answer of a session is waited for, and what is said when there is
 * none: what /proc tells of its process, and the way out.
 *
 * control_silence_begin() when it was asked; control_silence_look() every now and then, which
 * tells when to wait no longer: after three seconds of a process that is stopped, which cannot
 * answer; after ten of any other one, where a status is wanted. The end and a snapshot take what
 * they take: for them it is after a minute without a trace of work, ten minutes at most.
 * Plain data. One thread. Uses: base, session.
 */
#ifndef ASSAY_SESSION_DAEMON_CONTROL_SILENCE_H
#define ASSAY_SESSION_DAEMON_CONTROL_SILENCE_H

#include "session/daemon/control_message.h"

#include <sys/types.h>

struct control_silence {
	pid_t pid; /* 0: not known, or not seen from here */
	enum control_verb verb;
	char state;                /* as /proc/PID/stat has it; 0: not known */
	uint64_t began_ns, ran_ns; /* monotonic; CPU time of its */
	uint64_t worked_ns,
	        stopped_ns; /* when it was seen to work last; stopped since, 0: is not */
};

void control_silence_begin(struct control_silence *s, pid_t pid, enum control_verb verb);
/* True: it has been long enough. */
bool control_silence_look(struct control_silence *s);
/* -ETIMEDOUT, with its sentence. `name`: the session's. */
int control_silence_tell(const struct control_silence *s, const char *name, struct error *err);

#endif

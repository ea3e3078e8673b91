/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * start_session: a session in the background or of a service: its name, its output, and its course
 * in the process that samples. `assay start` and `assay agent` use it.
 *
 *	struct start s = {.o = options, .command = "start", .place.fd = -1, .claim.fd = -1};
 *	start_prepare(&s)		checks everything, and claims the name: an exit status
 *	start_sample(&s, begun, err)	until the end of the session
 *	start_done(&s)
 *
 * start_prepare() prints its errors. One thread. Uses: base, session.
 */
#ifndef ASSAY_CMD_SESSION_START_SESSION_H
#define ASSAY_CMD_SESSION_START_SESSION_H

#include "cmd/session/record_options.h"
#include "cmd/session/session_command.h"
#include "cmd/session/start_sink.h"
#include "session/daemon/background.h"
#include "session/daemon/daemon.h"

struct start_options {
	struct record_options record;
	struct start_sink_options sink;
	struct session_name_option name;
	bool foreground;
};

#define START_NOTE_BYTES 2048

struct start {
	const struct start_options *o;
	const char *command; /* for messages */
	const char *name;
	struct session_registry place;
	struct session_claim claim;
	struct session_options session;
	struct start_sink_plan sink;
	proc_ids pids;
	struct buf what, what_less;
	struct daemon daemon; /* of `assay start` */
	bool watched;         /* a parent waits for this process: background.h */
	/*
	 * A note of the state, START_NOTE_BYTES that another process may change at any time; empty:
	 * none. NULL: there is no such process.
	 */
	const char *note;
	bool moves_earlier; /* the recording of an earlier session that was just reported */
};

int start_prepare(struct start *s);
/* begun: as in background.h, with the struct start; NULL: the process runs in the foreground. */
int start_sample(struct start *s, background_begun_fn *begun, struct error *err);
void start_done(struct start *s);

#endif

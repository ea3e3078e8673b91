/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * background: a session that is controlled over its socket: runs session_record() with the control
 * socket attached, and leaves the final status where clients can read it.
 *
 * background_run() samples until a stop request, a signal, the exit of the processes, or an error.
 * When sampling has started, it calls `begun` with the current account. If sampling never starts,
 * the error has the reason, and no files remain. At the end, the client that requested the stop
 * gets the last account; without such a client it is written to the session's registry. The claim
 * is released. Returns 0, or -errno with the sentence that is also in the account. One thread.
 * Uses: base, event, session.
 * account too. One thread. Uses: base, event, session.
 */
#ifndef ASSAY_SESSION_DAEMON_BACKGROUND_H
#define ASSAY_SESSION_DAEMON_BACKGROUND_H

#include "session/session.h"
#include "session/daemon/session_registry.h"

struct trigger;

/* Not 0: the session must stop. */
typedef int background_begun_fn(void *ctx, const struct session_account *now);

struct background_options {
	struct session_options *session; /* its sink is set; background_run() sets the hooks */
	struct session_claim *claim;
	const char *what;        /* description of the sampled processes, for users */
	const char *what_less;   /* as above, if the user may not sample the whole machine */
	enum session_kind kind;  /* of the sink */
	struct trigger *trigger; /* NULL: none */
	unsigned snapshots_max;  /* maximum number of snapshots with automatic names; 0: the default
	                            of snapshot_name.h */
	bool watched; /* a parent waits for this process: a normal end is not reported again */
	background_begun_fn *begun; /* NULL: none */
	/*
	 * Fills the account of what was sent, and adds notes; also after the end of the sink. NULL:
	 * nothing is sent.
	 */
	void (*delivery)(void *ctx, struct session_account *a);
	void *ctx;
};

int background_run(const struct background_options *o, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * background: a session that is controlled over its socket: session_record(), with somebody to
 * hear what is asked meanwhile, and its account kept where others find it.
 *
 * background_run() samples until it is asked to stop, a signal comes, the processes are gone or
 * something fails. When sampling has begun it tells so (`begun`), with the account as it is
 * then; if it never does, the error says why and nothing is left. At the end
 * whoever asked to stop gets the last account, and it is left in the session's place where
 * nobody did. The claim is released. 0, or -errno with the sentence that stands in the
 * account too. One thread. Uses: base, event, session.
 */
#ifndef ASSAY_SESSION_DAEMON_BACKGROUND_H
#define ASSAY_SESSION_DAEMON_BACKGROUND_H

#include "session/session.h"
#include "session/daemon/session_registry.h"

struct trigger;

/* Not 0: it is not to go on. */
typedef int background_begun_fn(void *ctx, const struct session_account *now);

struct background_options {
	struct session_options *session; /* its sink is set; hooks are for us to set */
	struct session_claim *claim;
	const char *what;        /* is sampled, for people */
	const char *what_less;   /* where not the whole machine may be */
	enum session_kind kind;  /* of the sink */
	struct trigger *trigger; /* NULL: none */
	unsigned snapshots_max;  /* that get names by themselves; 0: as snapshot_name.h has it */
	bool watched;            /* somebody waits for our process: that it ended well is no news */
	background_begun_fn *begun; /* NULL: nobody wants to know */
	void *ctx;
};

int background_run(const struct background_options *o, struct error *err);

#endif

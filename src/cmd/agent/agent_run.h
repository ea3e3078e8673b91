/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_run: the course of an agent: sessions one after the other, each in a process of its own.
 *
 * This process keeps the rights to begin a session, which a session drops; it reads no data but
 * the configuration and the session's account. The process of a session ends with it (SIGTERM). A
 * session that began and was killed or failed is followed by another one after a pause. SIGHUP
 * reads the configuration again: if it is correct, the session ends and the next one has it, else
 * the session continues. If a session with the new configuration cannot begin, the next one has the
 * earlier configuration. With a central configuration the first session waits some seconds for it,
 * and it is asked for once a minute: a change has the effect of SIGHUP. SIGTERM and SIGINT end the
 * agent, with the session's exit status. Returns the exit status, after messages. One thread. Uses:
 * base, session, web.
 */
#ifndef ASSAY_CMD_AGENT_AGENT_RUN_H
#define ASSAY_CMD_AGENT_AGENT_RUN_H

#include "base/error.h"
#include "cmd/agent/agent_central.h"
#include "cmd/session/start_session.h"
#include "web/web_address.h"

struct agent_course {
	const struct start_options *options; /* of the next session */
	/* Replaces `options` if the configuration is correct. `keep`: a session has begun with
	 * them. 1: `options` are replaced, but have none of the server, for the reason in `err`.
	 */
	int (*reload)(void *ctx, bool keep, struct error *err);
	/* The same with central->lines. 1: nothing changes. */
	int (*take_central)(void *ctx, bool keep, struct error *err);
	/* Replaces `options` by those that were kept last. */
	void (*go_back)(void *ctx);
	void *ctx;
	struct agent_central *central;     /* its url NULL: none */
	int lock;                          /* descriptor that a session must not have; -1: none */
	const struct web_address *metrics; /* NULL: none */
};

int agent_run(struct agent_course *c);

#endif

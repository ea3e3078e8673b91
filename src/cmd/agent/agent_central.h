/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * agent_central: what the central configuration of a server says about this machine.
 *
 * A server is a stranger to the agent, which may be root's. So a process without any rights asks
 * it, chooses the options of this machine, and passes them on as lines `option = value`, or the
 * sentence of an error. It is bounded in time, CPU time and bytes (base/limit.h), and ends after
 * one answer. The lines are checked as those of a file (agent_config.h).
 *
 *	agent_central_start(&c, err)	one question; c->url and the files are set
 *	agent_central_take(&c, err)	when agent_central_fd(c) is readable, or at c->deadline_ns
 *	agent_central_stop(&c)
 *
 * Of several patterns with the same option, the one with the most characters other than * and ?
 * counts, of several of these the one that was set last. The caller waits for the process, c->pid,
 * which is 0 when it is known to have ended. One thread. Uses: base, store.
 */
#ifndef ASSAY_CMD_AGENT_AGENT_CENTRAL_H
#define ASSAY_CMD_AGENT_AGENT_CENTRAL_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct agent_central {
	const char *url, *token_file, *ca_file; /* url NULL: there is none; files: or NULL */
	pid_t pid;                              /* of the process; 0: none */
	int fd;                                 /* its answer, while it is asked */
	bool asked;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
	struct buf lines;     /* of the last answer */
};

int agent_central_start(struct agent_central *c, struct error *err);
int agent_central_fd(const struct agent_central *c); /* -1: no answer is expected */
/* 0: `lines` has all; -EAGAIN: not yet; else the sentence of the process, or why there is none. */
int agent_central_take(struct agent_central *c, struct error *err);
void agent_central_stop(struct agent_central *c);

/* Whether a text has no control character: a line feed would begin another line. */
bool agent_central_is_text(const char *text);

/*
 * Whether a machine could use these lines, as far as this one can say (cmd/agent/agent.c). `name`:
 * of the text, in sentences.
 */
int agent_central_check(const char *name, const char *lines, struct error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daemon: a separate process for a session in the background, and the report of its start to the
 * starting process.
 *
 * daemon_fork() returns twice. The child, in its own process session, calls daemon_settle(): then
 * it has no terminal, no open descriptors except the given ones, "/" as directory, umask 077, and
 * default signals; environment and priority do not change. It reports its start once, by
 * daemon_ready(). The parent waits with daemon_wait(), which returns the text, or an error if the
 * child exited without a report. -errno with an error. One thread: call it before other threads
 * are created. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_DAEMON_H
#define ASSAY_SESSION_DAEMON_DAEMON_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct daemon {
	pid_t pid; /* 0: this is the child */
	int ready; /* end of a pipe: the child writes, the parent reads; -1: none */
};

int daemon_fork(struct daemon *d, struct error *err);
/* `keep`: descriptors that stay open; their new numbers are stored in the same places. */
int daemon_settle(struct daemon *d, int **keep, size_t count, int log, struct error *err);
/* -EPIPE: the parent is gone, and does not know this session. */
int daemon_ready(struct daemon *d, const struct buf *text);
int daemon_wait(struct daemon *d, struct buf *text, struct error *err);

#endif

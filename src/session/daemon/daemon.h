/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * daemon: a process of its own for a session in the background, and how whoever started it
 * learns that it works.
 *
 * daemon_fork() returns twice. The child, in a session of its own, calls daemon_settle(): it
 * then has no terminal, nothing that was open but what it names, "/" as directory, umask 077,
 * signals as at login; its environment and its priority are those it was started with. It
 * tells how it went by daemon_ready(), once. The parent hears it by daemon_wait(): the text,
 * or that the child died without a word. -errno with a sentence. One thread: call it before
 * there are others. Uses: base.
 */
#ifndef ASSAY_SESSION_DAEMON_DAEMON_H
#define ASSAY_SESSION_DAEMON_DAEMON_H

#include "base/memory/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

struct daemon {
	pid_t pid; /* 0: we are the child */
	int ready; /* the pipe: the child's end to write, the parent's to read; -1: none */
};

int daemon_fork(struct daemon *d, struct error *err);
/* `keep`: descriptors that stay open, at the numbers given back in their places. */
int daemon_settle(struct daemon *d, int **keep, size_t count, int log, struct error *err);
/* -EPIPE: the parent is gone, and does not know of us. */
int daemon_ready(struct daemon *d, const struct buf *text);
int daemon_wait(struct daemon *d, struct buf *text, struct error *err);

#endif

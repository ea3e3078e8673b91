/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets: the processes that a recording follows if it is not machine-wide: the command, the
 * requested processes, or all processes of this user.
 *
 * Plain data, created where it is needed. targets_threads() and targets_processes() append to a
 * list, and read /proc at each call. Pids are those of this process's own namespace. One thread.
 * Uses: base, source.
 */
#ifndef ASSAY_SESSION_TARGETS_H
#define ASSAY_SESSION_TARGETS_H

#include "source/proc/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct targets {
	int32_t command;      /* 0: none */
	const proc_ids *pids; /* requested; NULL: none */
	bool own;             /* all processes of this user except the recorder */
	int32_t helper;       /* the recorder's own second process, 0: none */
};

/* The threads to sample. A command that does not run yet has one thread. */
void targets_threads(const struct targets *t, proc_ids *threads);
/* Children of the requested processes. They are not sampled if they were forked before. */
void targets_children(const struct targets *t, proc_ids *pids);
void targets_processes(const struct targets *t, proc_ids *pids);

/* True if all requested processes have exited, and no others are followed. */
bool targets_gone(const struct targets *t);

#endif

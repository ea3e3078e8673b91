/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * targets: whom a recording follows that is not of the whole machine: the
 * command, the processes asked for, or all that are ours.
 *
 * Plain data, made where it is needed; lists are appended to, as things are at
 * that moment. Pids are those of our own namespace. One
 * thread. Uses: base, source.
 */
#ifndef ASSAY_SESSION_TARGETS_H
#define ASSAY_SESSION_TARGETS_H

#include "source/proc/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct targets {
	int32_t command;      /* 0: none */
	const proc_ids *pids; /* asked for; NULL: none */
	bool own;             /* all processes of this user, but the recorder */
	int32_t helper;       /* the recorder's own second process, 0: none */
};

/* To be sampled; of the command, which does not run yet, its only one. */
void targets_threads(const struct targets *t, proc_ids *threads);
void targets_processes(const struct targets *t, proc_ids *pids);

/* All that were asked for by pid have ended, and nobody else is followed. */
bool targets_gone(const struct targets *t);

#endif

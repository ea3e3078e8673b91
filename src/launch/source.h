/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source: a producer of records that lives as long as a COMMAND: the call tables and the tag rings
 * of its processes, the kernel's function tracer.
 *
 * command_run() (command_run.h) calls, in this order and from one thread:
 *
 *	environment()	sets the variables that COMMAND gets
 *	begin()		COMMAND exists as `pid`, and has not executed its program
 *	drain()		again and again while COMMAND runs: reads the records that are there
 *	end()		COMMAND has ended, or the user stopped waiting: reads the rest
 *
 * The functions between begin() and end() run with the signals held that end a command. An error
 * of begin(), drain() or end() ends COMMAND. Each operation may be NULL. The owner opens and frees
 * the source, and counts losses in its model. 0 or -errno. Uses: base.
 */
#ifndef ASSAY_LAUNCH_SOURCE_H
#define ASSAY_LAUNCH_SOURCE_H

#include "base/error.h"

#include <sys/types.h>

struct command_environment;
struct source;

struct source_ops {
	void (*environment)(struct source *s, struct command_environment *e);
	int (*begin)(struct source *s, pid_t pid, struct error *err);
	/* *wait_ms: the time until the next call, unless a signal comes earlier. */
	int (*drain)(struct source *s, int *wait_ms, struct error *err);
	int (*end)(struct source *s, struct error *err);
};

/* All sources begin with it. */
struct source {
	const struct source_ops *ops;
	int wakes; /* drain() is also called when this descriptor has input; 0: none */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path: programs with a constructed schedule, whose critical path is known: PROGRAM [--faster
 * FUNCTION PERCENT].
 *
 * The program calls path_begin() first and truth_end() last, and logs the steps of its critical
 * path with truth_step(). Each function that computes asks path_ns() for its CPU time, which the
 * option makes shorter.
 */
#ifndef PATH_H
#define PATH_H

#include "truth.h"

#include <semaphore.h>

static const char *path_faster = "";
static uint64_t path_percent;

static inline void path_begin(const char *program, int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--faster")) {
		path_faster = argv[2];
		path_percent = strtoull(argv[3], NULL, 10);
	}
	truth_begin(program);
}

static inline uint64_t path_ns(const char *function, uint64_t ns)
{
	return strcmp(function, path_faster) ? ns : ns - ns * path_percent / 100;
}

/* A function that computes for `ms` of CPU time. */
#define COMPUTES(name, ms)                                                                         \
	static APART void name(void)                                                               \
	{                                                                                          \
		truth_compute(path_ns(#name, (ms)*MS));                                            \
		__asm__ volatile("");                                                              \
	}

/* Calls a function that computes, as a step of the critical path. */
#define STEP(name)                                                                                 \
	do {                                                                                       \
		struct truth_mark step_from = truth_mark();                                        \
		name();                                                                            \
		truth_step(step_from, "running", #name);                                           \
	} while (0)

#endif

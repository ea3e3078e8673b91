/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named_model: named call paths numbered as the public tables want them: processes and threads
 * of their owners, stacks with inlined functions as frames of their own, and calls, which have
 * a row for each way to a path that has values, with sums.
 *
 * named_model_new() goes over it once; plain data then; `n` must outlive it. Memory is a few
 * words a path and row. named_model_free(). Any thread. Uses: base, profile.
 */
#ifndef ASSAY_SQL_NAMED_MODEL_H
#define ASSAY_SQL_NAMED_MODEL_H

#include "profile/named_paths.h"

#define NAMED_CALLS_MAX ((size_t)1 << 24) /* 700 MB */

struct named_process {
	uint32_t name; /* text */
	int32_t pid;   /* 0: not known */
	uint32_t instance;
};

struct named_thread {
	uint32_t process, name;
	int32_t tid; /* 0: not known */
};

struct named_stack {
	uint32_t parent, line; /* a line of the model is a frame */
	uint32_t depth;
};

struct named_call {
	uint32_t parent; /* call; NAMED_NONE */
	uint32_t path, owner;
	uint32_t row;  /* NAMED_NONE: a mere way to others */
	int64_t total; /* net of it and all below */
};

/* Which value it is; NAMED_NONE: there is no such one. */
struct named_columns {
	uint32_t count;                                    /* how often the main one is */
	uint32_t calls, net, blocked, preempted, runnable; /* by their names */
};

struct named_model {
	const struct named_paths *n;
	struct named_columns columns;
	VEC(struct named_process) processes;
	VEC(struct named_thread) threads;
	uint32_t *owner_process, *owner_thread; /* by owner; thread NAMED_NONE */
	uint32_t *line_place;                   /* by line */
	VEC(struct named_stack) stacks;         /* [0]: the root; callers stand before callees */
	uint32_t *path_stack;                   /* by path: its innermost frame's */
	VEC(struct named_call) calls;           /* likewise; none without calls and net */
	bool too_many;                          /* calls: there are more, and sums do not hold */
};

struct named_model *named_model_new(const struct named_paths *n);
void named_model_free(struct named_model *m);

#endif

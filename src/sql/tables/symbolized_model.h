/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_model: named call paths with the ids that the public tables need: processes and
 * threads of the owners; stacks, in which each inlined function is a separate frame; and calls,
 * with one row for each path that has values and for each path above it, with sums.
 *
 * symbolized_model_new() makes one pass over `n`, which must outlive the model. The result is plain
 * data. Memory: a few words per path and row. Free with symbolized_model_free(). Any thread. Uses:
 * base, profile.
 */
#ifndef ASSAY_SQL_TABLES_SYMBOLIZED_MODEL_H
#define ASSAY_SQL_TABLES_SYMBOLIZED_MODEL_H

#include "profile/symbolized_profile.h"

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
	uint32_t parent, line; /* a line of `n` is a frame */
	uint32_t depth;
};

struct named_call {
	uint32_t parent; /* call; NAMED_NONE */
	uint32_t path, owner;
	uint32_t row;  /* NAMED_NONE: it has no values of its own */
	int64_t total; /* net of this call and of all its callees */
};

/* Indexes of values; NAMED_NONE: the profile does not have the value. */
struct named_columns {
	uint32_t count; /* the value that counts the main value (samples, objects) */
	uint32_t calls, net, blocked, preempted, runnable; /* found by name */
};

struct symbolized_model {
	const struct symbolized_profile *n;
	struct named_columns columns;
	VEC(struct named_process) processes;
	VEC(struct named_thread) threads;
	uint32_t *owner_process, *owner_thread; /* by owner; thread may be NAMED_NONE */
	uint32_t *line_place;                   /* place of each line */
	VEC(struct named_stack) stacks;         /* [0] is the root; a caller precedes its callees */
	uint32_t *path_stack;                   /* by path: the stack of its innermost frame */
	VEC(struct named_call) calls; /* callers first; empty without values calls and net */
	bool too_many;                /* above NAMED_CALLS_MAX: calls and sums are incomplete */
};

struct symbolized_model *symbolized_model_new(const struct symbolized_profile *n);
void symbolized_model_free(struct symbolized_model *m);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_options: what the user wants recorded, as session_record() takes it.
 *
 * Plain data, zeroed is none of it; whoever fills it in keeps what it points to
 * until session_record() returns. Only read: any thread. Uses: event, profile, source.
 */
#ifndef ASSAY_SESSION_SESSION_OPTIONS_H
#define ASSAY_SESSION_SESSION_OPTIONS_H

#include "event/event.h"
#include "profile/stack/stack_walk.h"
#include "source/proc/proc.h"

#include <stdbool.h>
#include <stdint.h>

struct session_sink;

struct session_progress {
	uint64_t elapsed_ns;
	uint64_t bytes;
};

typedef void session_progress_fn(void *ctx, const struct session_progress *progress);

struct session;

/*
 * Functions that the session calls from its own thread, for a control socket and for triggers.
 * All but task() and serve() are called between two reads of the rings only. All but task() may
 * call the functions that session.h lists for hooks. Each may be NULL.
 */
struct session_hooks {
	void *ctx;
	void (*begun)(void *ctx, struct session *s); /* sampling is on */
	int fd;                                      /* polled for input; -1: none */
	/*
	 * The descriptor is readable, or the rings were read, or long work (a read, a flush, a
	 * snapshot) has a pause: session_is_busy() is true in the last case. Must not block.
	 */
	void (*serve)(void *ctx, struct session *s);
	/*
	 * Each record that tells of a task, decoded: COMM, FORK, EXIT (ordered sessions alone).
	 * Called in the midst of a read: takes note, and acts at the next look.
	 */
	void (*task)(void *ctx, struct session *s, const struct event *e);
	/* At least so often, where set: triggers look at the machine. 0: never. */
	uint32_t look_ms;
	void (*look)(void *ctx, struct session *s);
	/* SIGUSR2 came: a snapshot is wanted. */
	void (*signalled)(void *ctx, struct session *s);
};

struct session_options {
	const char *output;        /* the file that the sink writes */
	const char *const *events; /* perf's names; none: cycles or cpu-clock */
	size_t event_count;
	uint64_t frequency_hz; /* samples a second and CPU; 0 with period */
	uint64_t period;       /* a sample every so many events; 0 with frequency */
	bool frequency_asked;  /* given by the user, not the default */
	bool machine_wide;
	const proc_ids *pids; /* whom to follow; empty with machine_wide or a command */
	char **command;       /* NULL-terminated argv, or NULL; with pids it is not followed */
	uint64_t duration_ns; /* sampling ends after this time; 0: no bound */
	bool user_callchain;  /* by the kernel, along frame pointers, unless unwind is set: */
	bool unwind;          /* walk stacks by their tables, while recording */
	enum stack_method method;
	uint32_t stack_bytes; /* copied with each sample, for unwinding */
	bool data_addresses;
	bool off_cpu;
	bool witness;
	uint64_t memory_bytes;         /* for all rings together, 0: by itself */
	session_progress_fn *progress; /* about once a second; NULL: none */
	/* What is to be known before sampling begins; NULL: it is a note. */
	void (*remark)(void *ctx, const char *sentence);
	/* Sampling begins: from now on a signal ends it, and not the process. NULL: not wanted. */
	void (*begins)(void *ctx);
	void *ctx;
	struct session_sink *sink;  /* taken over, whatever the outcome */
	struct session_hooks hooks; /* zeroed with fd -1: none */
	bool hooked;                /* hooks are set */
	double budget; /* share of a CPU's time that measuring may take, 0.01 = 1 %; 0: no bound */
	bool all_cgroups; /* record in which cgroup each sample was taken, and their names */
};

/* Processes are followed by their ids: a command bounds the time of sampling, and is not sampled.
 */
static inline bool session_follows_pids(const struct session_options *o)
{
	return o->pids && o->pids->count;
}

#endif

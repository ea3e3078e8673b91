/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_options: the options of session_record().
 *
 * Plain data; zeroed has no options. The caller keeps all referenced data until session_record()
 * returns. Read only: any thread. Uses: event, profile, source.
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
 * Callbacks for parts beside the measurement: a control socket, triggers. All are called by the
 * session's thread. All except task() are called between two reads of the rings, and may call the
 * functions of session.h that are for hooks. Each may be NULL.
 */
struct session_hooks {
	void *ctx;
	void (*begun)(void *ctx, struct session *s); /* sampling has started */
	int fd;                                      /* polled for input; -1: none */
	void (*serve)(void *ctx, struct session *s); /* `fd` is readable; must not block */
	/*
	 * Each decoded record about a task: COMM, FORK, EXIT (only in ordered sessions). It is
	 * called during a read, so it may only store the fact, for the next look().
	 */
	void (*task)(void *ctx, struct session *s, const struct event *e);
	/* look() is called at least at this interval, for triggers. 0: never. */
	uint32_t look_ms;
	void (*look)(void *ctx, struct session *s);
	/* SIGUSR2 was received: it requests a snapshot. */
	void (*signalled)(void *ctx, struct session *s);
};

struct session_options {
	const char *output;        /* the output file; also of a given sink */
	const char *const *events; /* perf's names; none: cycles or cpu-clock */
	size_t event_count;
	uint64_t frequency_hz; /* samples per second and CPU; 0 with period */
	uint64_t period;       /* number of events per sample; 0 with frequency */
	bool frequency_asked;  /* given by the user, not the default */
	bool machine_wide;
	const proc_ids *pids; /* processes to follow; empty with machine_wide or a command */
	/* NULL-terminated; NULL: none. With pids the command runs and is not sampled. */
	char **command;
	uint64_t duration_ns; /* sampling ends after this time; 0: no limit */
	bool user_callchain;  /* by the kernel, along frame pointers, unless unwind is set*/
	bool unwind;          /* walk stacks with unwind tables while recording */
	enum stack_method method;
	uint32_t stack_bytes; /* copied with each sample, for unwinding */
	bool data_addresses;
	bool off_cpu;
	bool waits; /* switches and wake-ups of the whole machine, with stacks; else as off_cpu */
	bool system_calls; /* entry and return of each system call, without stacks */
	bool witness;
	bool calibrate;                /* first measure by how much sampling slows programs */
	uint64_t memory_bytes;         /* for all rings together, 0: automatic */
	uint64_t flush_ns;             /* a file is flushed so often; 0: by the data's age */
	session_progress_fn *progress; /* about once a second; NULL: none */
	/* Called with a remark before sampling starts; NULL: the remark becomes a note. */
	void (*remark)(void *ctx, const char *sentence);
	/* Sampling begins: from now on a signal ends it, and not the process. NULL: not wanted. */
	void (*begins)(void *ctx);
	void *ctx;
	struct session_sink *sink;  /* owned by the session; NULL: a perf.data file, `output` */
	struct session_hooks hooks; /* zeroed with fd -1: none */
	bool hooked;                /* `hooks` is set */
	double budget; /* limit of the measurement's share of a CPU's time, 0.01 = 1 %; 0: none */
	bool all_cgroups; /* record the cgroup of each sample, and the names of cgroups */
	bool labels;      /* record the labels of processes (keep/label_keeper.h) */
	const char *pod_labels, *label_file; /* NULL: none; used with `labels` */
};

/* Processes are followed by their ids: a command limits the duration, and is not sampled.
 */
static inline bool session_follows_pids(const struct session_options *o)
{
	return o->pids && o->pids->count;
}

#endif

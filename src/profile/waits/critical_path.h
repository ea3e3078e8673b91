/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * critical_path: the chain of on-CPU times and waits that decided the elapsed time of a thread.
 *
 * The path is followed backwards from a thread at the end of a time range. While the thread runs,
 * the time is its own. A wait that another thread ended continues in that thread, at the time of
 * the wake-up; the time between the wake-up and the switch in is runnable. A wait that an interrupt
 * or a kernel thread ended, or whose end is not known, belongs to the path itself: it is blocked,
 * and the path continues in the same thread before it. The begin of a thread continues in the
 * thread that created it.
 *
 *	critical_path_find(&c, profile, &request)
 *	read c.segments, c.sums
 *	critical_path_done(&c)
 *
 * Segments cover [from_ns, to_ns) without gaps and overlaps, in the order of time. The functions of
 * on-CPU time come from the samples of the clock (profile.axis); a thread's on-CPU time is divided
 * in proportion to the samples in its segments, and the sums are exact. Times are ns of the
 * recording's clock. The profile has waits (profile_builder_options.waits) of one recording, and
 * does not change. Any number of threads may use one profile. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_WAITS_CRITICAL_PATH_H
#define ASSAY_PROFILE_WAITS_CRITICAL_PATH_H

#include "profile/profile.h"

enum critical_kind {
	CRITICAL_ON_CPU,
	CRITICAL_RUNNABLE, /* it waited for a CPU */
	CRITICAL_BLOCKED,  /* by an interrupt: timer, device; or its end is not known */
	CRITICAL_UNKNOWN,  /* the recording does not say what the thread did */
};

struct critical_segment {
	uint64_t start_ns, end_ns;
	uint32_t thread;
	uint32_t wait; /* index into profile.waits.waits; ID_NONE: on CPU, unknown */
	uint32_t path; /* where the thread waited; ID_NONE: on CPU, unknown */
	uint8_t kind;  /* enum critical_kind */
	uint8_t woken; /* of a wait: enum wait_woken */
};

struct critical_sum {
	uint32_t thread;
	uint32_t path; /* ID_NONE: on CPU without a sample, or unknown */
	uint8_t kind, woken;
	uint64_t ns;
	uint64_t count; /* segments; on CPU: samples */
};

/* The path went from a woken thread to its waker. */
struct critical_edge {
	uint64_t time_ns;
	uint32_t thread, waker;
	uint32_t wait;       /* ID_NONE: the begin of the thread */
	uint32_t waker_path; /* ID_NONE: no sample */
};

struct critical_request {
	uint32_t thread;         /* in which the path ends */
	uint64_t from_ns, to_ns; /* 0: of the log */
	/*
	 * True if the softirq in which a thread was woken, with this path, was raised by the thread
	 * in which it ran, and did not interrupt it. NULL: such wakers are not followed.
	 */
	bool (*is_own_softirq)(void *ctx, uint32_t waker_path);
	void *ctx;
};

struct critical_path {
	uint32_t thread;
	uint64_t from_ns, to_ns; /* to_ns: at most the exit of the thread */
	VEC(struct critical_segment) segments;
	VEC(struct critical_sum) sums;     /* largest first */
	VEC(struct critical_edge) edges;   /* in the order of time */
	uint64_t ns[CRITICAL_UNKNOWN + 1]; /* by kind */
	/* Waits that are not single in the log: the path may run through them without a trace. */
	uint64_t beyond;
};

void critical_path_find(struct critical_path *c, const struct profile *p,
                        const struct critical_request *request);
void critical_path_done(struct critical_path *c);

/*
 * The thread of a process that ran last before `to_ns` (0: the end of the log); ID_NONE: none of
 * them ran.
 */
uint32_t critical_path_last_thread(const struct profile *p, uint32_t process, uint64_t to_ns);

#endif

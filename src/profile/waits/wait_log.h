/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_log: for each time that a thread was off the CPU: where it waited, who woke it, and when.
 *
 * The input are switch records, the samples of ATTR_SWITCH and ATTR_WAKE events, new and exited
 * threads, in the order of time. A wait begins with the switch out. It is `blocked` until the
 * thread is woken and `runnable` from then until it is switched in; a preempted thread is runnable
 * for the whole time. A wait without a wake-up in the recording is blocked for the whole time, and
 * `woken` is WAIT_NOT_SEEN.
 *
 * The log has two parts. Sums are kept for each combination of thread, path, waker, path of the
 * waker and object; they are exact, and bounded by the distinct contents of the recording. Single
 * waits are kept in the order in which they ended, for times, percentiles and the critical path, up
 * to WAIT_LOG_MAX; later ones are counted in `beyond` and are in the sums only.
 *
 * Paths, threads and processes are ids of the profile. Times are ns of the recording's clock. A
 * zeroed struct is empty and collects nothing until `wanted` is set; wait_log_done() frees. Nothing
 * fails. One thread. Uses: base.
 */
#ifndef ASSAY_PROFILE_WAITS_WAIT_LOG_H
#define ASSAY_PROFILE_WAITS_WAIT_LOG_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define WAIT_LOG_MAX (1u << 20) /* single waits, 64 bytes each */

/* How a wait ended. */
enum wait_woken {
	WAIT_NOT_SEEN,     /* no wake-up was recorded: lost, or not traced */
	WAIT_PREEMPTED,    /* the thread was runnable; nothing had to wake it */
	WAIT_BY_THREAD,    /* `waker` is the thread */
	WAIT_BY_INTERRUPT, /* a hardware interrupt: timer, device */
	WAIT_BY_SOFTIRQ,   /* a softirq: timer wheel, network, block completion */
	WAIT_OPEN,         /* the thread was off the CPU until the end of the recording */
};

/* The key of the sums. */
struct wait_key {
	uint32_t thread;
	uint32_t path;        /* at the switch out; the unknown path if there is no sample */
	uint32_t waker;       /* thread; ID_NONE if `woken` is not WAIT_BY_THREAD */
	uint32_t waker_path;  /* ID_NONE: no sample */
	uint64_t argument;    /* first argument of the system call in which the thread waits: an
	                         address or a descriptor; 0 without user registers */
	uint32_t descriptor;  /* entry of `descriptors` for that number, or ID_NONE */
	uint8_t woken;        /* enum wait_woken */
	bool uninterruptible; /* state D: disk, page fault, kernel lock */
	bool in_system_call;  /* user registers were recorded: `argument` is valid */
};

struct wait_sum {
	struct wait_key key;
	uint64_t count;
	uint64_t blocked_ns, runnable_ns; /* sums */
	uint64_t max_ns;                  /* longest blocked + runnable */
};

struct wait {
	uint64_t out_ns, woken_ns, in_ns; /* woken_ns 0: not seen; in_ns: the end if WAIT_OPEN */
	uint32_t sum;                     /* index into `sums` */
	uint32_t instead;                 /* the thread that ran next on that CPU, or ID_NONE */
	uint16_t out_cpu, in_cpu, waker_cpu;
};

/* The name of an open descriptor of a process, from `from_ns` on. */
struct wait_descriptor {
	uint64_t from_ns;
	uint32_t process, number;
	char *name; /* owned */
};

/* The first wake-up of a new thread: it continues the path of the thread that created it. */
struct wait_birth {
	uint64_t time_ns;
	uint32_t thread, parent; /* parent ID_NONE: unknown */
	uint32_t parent_path;
};

struct wait_log {
	bool wanted;
	bool has_wakings; /* the recording has ATTR_WAKE events */
	uint64_t max;     /* single waits; 0: WAIT_LOG_MAX */
	uint64_t beyond;  /* waits that are in the sums only */
	uint64_t wakings; /* all wake-ups, also of threads that were not off the CPU */
	VEC(struct wait_sum) sums;
	VEC(struct wait) waits;
	VEC(struct wait_descriptor) descriptors;
	VEC(struct wait_birth) births;
	struct id_table sum_index;
	VEC(struct wait_thread) threads; /* state of each thread; wait_log.c */
};

#endif

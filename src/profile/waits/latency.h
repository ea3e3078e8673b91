/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latency: the weight of CPU samples in the elapsed time, in place of their CPU time.
 *
 * A sample of a thread has its weight divided by the number of threads that ran at that moment: of
 * its process, or on the whole machine. The sums of a process are then the time in which at least
 * one of its threads ran. Numbers of running threads come from switch records; a sample shows that
 * its thread runs, too. A thread that runs since before the recording is not counted before its
 * first record. The rest of a division is added to the next one with the same divisor, so that no
 * sum is more than one unit less per divisor.
 *
 * A zeroed struct is off; latency_done() frees. One thread. Uses: base.
 */
#ifndef ASSAY_PROFILE_WAITS_LATENCY_H
#define ASSAY_PROFILE_WAITS_LATENCY_H

#include "base/memory/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_LATENCY_EVENT "latency" /* its name in a profile */

enum latency_mode { LATENCY_OFF, LATENCY_OF_PROCESS, LATENCY_OF_MACHINE };

/* Threads that run now, and the rests of divisions, by divisor. */
struct latency_group {
	uint32_t running;
	VEC(uint64_t) rests;
};

struct latency_thread {
	bool runs;
	uint32_t process;
};

struct latency {
	uint8_t mode; /* enum latency_mode */
	struct latency_group machine;
	VEC(struct latency_group) processes; /* by id */
	VEC(struct latency_thread) threads;  /* by id */
	VEC(uint32_t) cpus;                  /* by number: the thread that runs, + 1 */
};

/* `cpu` is UINT16_MAX if it is not known. */
void latency_switch(struct latency *l, uint32_t thread, uint32_t process, uint16_t cpu, bool out);
/* The thread continues under another id, or ends for good: `now` ID_NONE. */
void latency_leave(struct latency *l, uint32_t old, uint32_t now, uint32_t process);
/* The part of the weight of a sample of a running thread. */
uint64_t latency_weight(struct latency *l, uint32_t thread, uint32_t process, uint64_t weight);
void latency_done(struct latency *l);

#endif

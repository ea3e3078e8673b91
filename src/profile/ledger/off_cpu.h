/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * off_cpu: charges the time that a thread spends off the CPU to the call path at which it was
 * switched out.
 *
 * The stack is in a sample of the context-switches event, which is taken in the switch: just before
 * the record of the switch out (present kernels), or just after. The time until the switch in is
 * added to the sample's row, as runnable if the thread was preempted, else as blocked up to the
 * wake-up, if one was recorded, and as runnable after it. A switch without a stack is charged to
 * the path "[unknown]". Times in ns. off_cpu_done() frees. Uses: base, profile.
 */
#ifndef ASSAY_PROFILE_LEDGER_OFF_CPU_H
#define ASSAY_PROFILE_LEDGER_OFF_CPU_H

#include "profile/profile.h"

struct off_cpu_thread {
	bool has_row, out, preempted, ended;
	uint16_t cpu;
	struct profile_row key; /* with has_row: key of the sample's row */
	uint64_t out_ns;
	uint64_t woken_ns; /* 0: no wake-up was recorded */
};

struct off_cpu {
	struct profile *profile;
	uint8_t event;                      /* the event whose rows are charged */
	bool active;                        /* the recording has such an event */
	bool part;                          /* time before start_ns is of no interest */
	uint32_t unknown_path;              /* for threads without a sample of their stack */
	uint64_t start_ns;                  /* of sampling; earlier time is not counted */
	VEC(struct off_cpu_thread) threads; /* by thread id */
};

void off_cpu_sample(struct off_cpu *o, uint32_t thread, const struct profile_row *key);
void off_cpu_switch(struct off_cpu *o, uint32_t thread, uint16_t cpu, uint64_t time_ns, bool out,
                    bool preempted);
/* A wake-up just before the switch out counts if there is none after it (waits/wait_log.h). */
void off_cpu_wake(struct off_cpu *o, uint32_t thread, uint64_t time_ns);
void off_cpu_exit(struct off_cpu *o, uint32_t thread);
/*
 * Charges the threads that are off the CPU up to that time, and continues after it; rows may be
 * removed then.
 */
void off_cpu_cut(struct off_cpu *o, uint64_t to_ns);
/*
 * After a cut: thread ids have changed (ID_NONE: removed), and earlier paths are invalid; threads
 * that are still off the CPU are charged to the unknown path.
 */
void off_cpu_renumber(struct off_cpu *o, const uint32_t *new_thread, size_t thread_count,
                      uint32_t unknown_path);
/* Charges the threads that are off the CPU up to the end. */
void off_cpu_finish(struct off_cpu *o, uint64_t end_ns);
void off_cpu_done(struct off_cpu *o);

#endif
